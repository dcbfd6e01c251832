"""Costs that lie in several parts, each on a GPU of its own: problems too large for one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..device import cuda
from ..errors import InvalidProblem
from ..problem import Problem, device_problem, host_problem
from ..problem.outline import Kind, Outline
from .high_unmatched_costs import refuse_high_unmatched_costs

PIECE = 2**28
"""Elements whose range is taken at a time."""


@dataclass(frozen=True, eq=False, repr=False)
class ShardedCosts(Outline):
    """A dense problem whose rows or columns are split over devices; make one with `ShardedCosts.of`.

    Attributes
    ----------
    shards : tuple of arrays (rows, columns)
        In the order of the rows (`axis` 0) or columns (`axis` 1); float32, float64, int32 or int64, +inf = forbidden.
    forbidden : tuple of (bool array or None)
        Masks of the same shapes; None where a shard has none, () where none has.
    axis : {0, 1}
        What is split: 0 the rows (for `HungarianClassical`), 1 the columns (for `HungarianTree(variant="paper")`).
    row_offsets, col_offsets, row_unmatched, col_unmatched
        Of the whole, as in `Problem`.
    """

    is_on_device: ClassVar[bool] = False
    """Answers are on the host."""

    shards: tuple[Any, ...]
    forbidden: tuple[Any, ...]
    axis: int
    row_offsets: np.ndarray
    col_offsets: np.ndarray
    row_unmatched: np.ndarray | None
    col_unmatched: np.ndarray | None
    kind: Kind = "dense"

    @classmethod
    def of(
        cls, shards: Any, *, axis: int, unmatched_cost: Any = None, forbidden: Sequence[Any] | None = None
    ) -> ShardedCosts:
        """State a problem by parts of its cost matrix that are on their devices already; nothing is moved.

        Parameters
        ----------
        shards : sequence of array (rows, columns)
            CuPy arrays, each on a device of its own, together the matrix; none is empty. Without an `unmatched_cost`
            there must not be more rows than columns: state the transposed problem.
        axis : {0, 1}
            0: they follow each other by rows; 1: by columns.
        unmatched_cost, forbidden
            As in `Problem.dense`; one mask a shard, on its device, or None.

        Raises
        ------
        InvalidProblem
            As `Problem.dense`, or the shards do not fit together, or `unmatched_cost` is so far above all costs that it
            would have to be lowered (`high_unmatched_costs`).
        """
        if not isinstance(shards, Sequence) or not len(shards) or axis not in (0, 1):
            found = len(shards) if isinstance(shards, Sequence) else repr(shards)
            raise InvalidProblem(
                f"shards need at least one array, and axis 0 or 1; got {found} and axis {axis!r}.", argument="shards"
            )
        given = [None] * len(shards) if forbidden is None else list(forbidden)
        if len(given) != len(shards):
            raise InvalidProblem(
                f"forbidden needs one mask for each shard, {len(shards)}; got {len(given)}.", argument="forbidden"
            )
        checked = [_checked(shard, mask) for shard, mask in zip(shards, given, strict=True)]
        costs = tuple(cost for cost, _, _ in checked)
        if len({cost.dtype for cost in costs}) > 1 or len({cost.shape[1 - axis] for cost in costs}) > 1:
            raise InvalidProblem(
                f"shards need the same dtype and the same number of {'columns' if axis == 0 else 'rows'}; got "
                f"{[f'{cost.dtype} {cost.shape}' for cost in costs]}.",
                argument="shards",
            )
        ends = sum(cost.shape[axis] for cost in costs), costs[0].shape[1 - axis]
        n, m = ends if axis == 0 else ends[::-1]
        if n > m and unmatched_cost is None:
            raise InvalidProblem(
                f"shards of {n} rows and {m} columns: every row must be matched and cannot be. State the transposed "
                "problem, or set unmatched_cost.",
                argument="shards",
            )
        largest = host_problem.largest_size(np.concatenate([found for _, _, found in checked]))
        dtype, sides = host_problem.one_arithmetic(costs[0].dtype, largest, unmatched_cost, n, m)
        row_u, col_u = (None, None) if sides is None else map(host_problem.spread, sides, (n, m))
        offsets = np.array([0, n]), np.array([0, m])
        masks = tuple(mask for _, mask, _ in checked) if forbidden is not None else ()
        stated = cls(tuple(_as_type(cost, dtype) for cost in costs), masks, axis, *offsets, row_u, col_u)
        host_problem.refuse_sums_beyond_range(largest, sides, *offsets, integer=stated.is_integer)
        refuse_high_unmatched_costs(stated, largest)
        return stated

    @property
    def cost_dtype(self) -> np.dtype[Any]:
        """Type of the costs."""
        return self.shards[0].dtype

    def __repr__(self) -> str:
        """Say what is where: showing the arrays would copy them to the host."""
        n, m = self.shape
        split = ("rows", "columns")[self.axis]
        return f"<ShardedCosts {n} x {m}, {self.shards[0].dtype}, {split} split over {', '.join(self.devices)}>"

    @property
    def devices(self) -> tuple[str, ...]:
        """The device of each shard: "cuda:N", or "cpu" for an array on the host."""
        return tuple(map(_place, self.shards))

    def checked_devices(self, device: str) -> str:
        """Return `devices`, joined by commas, on which these costs are solved; refuse any others than those."""
        there = ",".join(self.devices)
        if "cpu" in self.devices:
            raise InvalidProblem(
                f"shards on {there} cannot be solved: each must be on a CUDA device (cupy.asarray puts it there); or "
                "state the whole matrix with Problem.dense.",
                argument="shards",
            )
        if len(set(self.devices)) < len(self.devices):
            raise InvalidProblem(f"shards on {there}: each needs a device of its own.", argument="shards")
        if device not in ("auto", there):
            raise InvalidProblem(
                f"device={device!r}: these shards are on {there}; name those, or 'auto'.", argument="device"
            )
        return there

    def on_host(self) -> Problem:
        """Return the problem with all its costs on the host, for `verify`."""
        whole = np.concatenate([cuda.to_host(shard) for shard in self.shards], axis=self.axis)
        masks = list(map(_mask_on_host, self.shards, self.forbidden))
        mask = np.concatenate(masks, axis=self.axis) if masks else None
        unmatched_cost = None if self.row_unmatched is None else (self.row_unmatched, self.col_unmatched)
        return Problem.dense(whole, unmatched_cost=unmatched_cost, forbidden=mask)


def _place(array: Any) -> str:
    return f"cuda:{array.device.id}" if cuda.is_device_array(array) else "cpu"


def _mask_on_host(shard: Any, mask: Any) -> np.ndarray:
    return np.zeros(shard.shape, bool) if mask is None else cuda.to_host(mask)


def _checked(shard: Any, mask: Any) -> tuple[Any, Any, np.ndarray]:
    """Return a shard's costs, its mask and its range."""
    if not hasattr(shard, "ndim") or shard.ndim != 2:
        raise InvalidProblem(
            f"shards need arrays of 2 axes (rows, columns); got {getattr(shard, 'shape', shard)}.", argument="shards"
        )
    if 0 in shard.shape:
        raise InvalidProblem(
            f"each of the shards needs at least one row and one column; got shape {shard.shape}. Leave that one out.",
            argument="shards",
        )
    if cuda.is_device_array(mask) and _place(mask) != _place(shard):
        raise InvalidProblem(
            f"forbidden needs each mask beside its shard on {_place(shard)}; got one on {_place(mask)}.",
            argument="forbidden",
        )
    with cuda.device_of(shard):
        parts = device_problem if cuda.is_device_array(shard) else host_problem
        (_, n, m), data, flat_mask = parts.dense_parts(shard, mask)[:3]
        ranges = [_range(piece) for piece in _pieces(data)]
        flags = None if flat_mask is None else flat_mask.reshape(n, m)
        return data.reshape(n, m), flags, np.concatenate(ranges)


def _pieces(data: Any) -> Iterator[Any]:
    """Split a flat array, so that what is computed on the way stays small."""
    for at in range(0, max(data.size, 1), PIECE):
        yield data[at : at + PIECE]


def _range(values: Any) -> np.ndarray:
    if cuda.is_device_array(values):
        return device_problem.range_of(values)
    return np.array(host_problem.finite_range(values), values.dtype)


def _as_type(cost: Any, dtype: np.dtype[Any]) -> Any:
    with cuda.device_of(cost):
        return cost.astype(dtype, copy=False)
