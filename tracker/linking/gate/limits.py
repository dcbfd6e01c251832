"""How many candidate links are held at a time: as many as pay, and no more than the memory budget has room for."""

from __future__ import annotations

from dataclasses import dataclass

EDGE_BUDGET = 1_000_000
"""Points and candidate links laid side by side in one solve: enough to keep any device busy, about 150 MB."""
MOST_WRITTEN = 10_000_000
"""Candidate links of one frame pair above which they are not written out: half a GB with the solver's own."""
FULL_MATRIX = 60_000_000
"""Pairs of two frames of which all costs may be held, half a GB too."""
BYTES_TOGETHER, BYTES_WRITTEN, BYTES_OF_MATRIX = 150, 50, 8
"""Of each of these."""


@dataclass(frozen=True)
class GateLimits:
    """What is held at a time.

    Attributes
    ----------
    together : int
        Points and candidate links of frame pairs that are solved side by side; one pair may have more.
    written : int
        Candidate links of one frame pair that are written out.
    matrix : int
        Pairs of two frames of which all costs are held, where the links are too many to write out; 0 where these are
        only to be solved: costs that are never stored take less memory and time.
    """

    together: int
    written: int
    matrix: int

    @classmethod
    def within(cls, budget: float = float("inf"), together: int | None = None, *, is_kept: bool = False) -> GateLimits:
        """Return what goes into a memory budget in bytes; `together`, where given, is no more than that.

        `is_kept` says that all candidate links are asked about, not only solved.
        """
        most, matrix = EDGE_BUDGET if together is None else together, FULL_MATRIX if is_kept else 0
        limits = (most, BYTES_TOGETHER), (MOST_WRITTEN, BYTES_WRITTEN), (matrix, BYTES_OF_MATRIX)
        return cls(*(int(min(limit, budget / each)) for limit, each in limits))
