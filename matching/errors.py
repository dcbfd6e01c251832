"""The errors this package raises on purpose, as one small tree; `NotConverged`, which has an answer, is beside that.

A message names the argument, what is needed, what came, and the remedy.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral

_NAMED = 5
"""Members that a message names, of many."""


class AuctrackError(Exception):
    """Root of the tree: catch this to catch everything auctrack raises on purpose."""


class InvalidProblem(AuctrackError, ValueError):
    """The costs, the graph or an option cannot state a matching problem.

    Attributes
    ----------
    argument : str
        The argument or option at fault, or the part of it: "cost", "indptr", "eps"; empty where several do not go
        together.
    """

    def __init__(self, message: str, *, argument: str = "") -> None:
        super().__init__(message)
        self.argument = argument


class Infeasible(AuctrackError, ValueError):
    """No matching satisfies the problem.

    Attributes
    ----------
    rows, columns : tuple of int
        A Hall violator: rows that together reach only `columns`, and there are fewer of those.
        (When the columns are the shorter side the roles are exchanged, see `side`.)
    side : {"rows", "columns"}
        Which side has more members than it has partners.
    block : int
        The block of a batch that they belong to; rows and columns are counted within it.
    reason : str
        The message without the block: it names the violator, and is only given where there is none.
    """

    def __init__(
        self,
        reason: str = "",
        *,
        rows: Sequence[int] = (),
        columns: Sequence[int] = (),
        side: str = "rows",
        block: int | None = None,
    ) -> None:
        if rows or columns:
            reason = _too_few(rows, columns) if side == "rows" else _too_few(columns, rows, "column", "row")
        super().__init__(reason if block is None else f"Block {block}: {reason}")
        self.reason = reason
        self.rows = tuple(rows)
        self.columns = tuple(columns)
        self.side = side
        self.block = block or 0
        self._named_block = block

    def in_block(self, block: int) -> Infeasible:
        """Return the same, said of block `block` of a batch."""
        return Infeasible(self.reason, rows=self.rows, columns=self.columns, side=self.side, block=block)

    def of_columns(self) -> Infeasible:
        """Return the same, found with rows and columns exchanged, said of the columns."""
        return Infeasible(rows=self.columns, columns=self.rows, side="columns", block=self._named_block)


def _too_few(members: Sequence[int], partners: Sequence[int], member: str = "row", partner: str = "column") -> str:
    """Say that these members have too few partners, and what helps."""
    who = f"{member} {members[0]}" if len(members) == 1 else f"{member}s {_some(members)}"
    if len(members) > _NAMED:
        who += f" ({len(members)} in all)"
    whom = f"only {len(partners)} {partner}{'s' if len(partners) > 1 else ''} ({_some(partners)}), so not all can be"
    return (
        f"{who} may be matched with {whom if partners else f'no {partner}'}. "
        "Allow more pairs, or set unmatched_cost so that some may stay unassigned."
    )


def _some(members: Sequence[int]) -> str:
    """Name the first members, so that a message says which."""
    return ", ".join(map(str, members[:_NAMED])) + (", …" if len(members) > _NAMED else "")


class DeviceUnavailable(AuctrackError, RuntimeError):
    """The device that was asked for is not there or cannot do the work."""


class DeviceMemoryExceeded(DeviceUnavailable, MemoryError):
    """The device is there, but the problem does not fit its free memory."""


def refuse_block_beyond(block: object, blocks: int) -> None:
    """Refuse a block that is not there, and what is no whole number."""
    if isinstance(block, bool) or not (isinstance(block, Integral) and 0 <= int(block) < blocks):
        raise InvalidProblem(f"block needs a whole number from 0 to {blocks - 1}; got {block!r}.", argument="block")
