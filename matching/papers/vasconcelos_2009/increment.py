"""The increment, which the paper does not name, and unmatched costs that it never reaches; on a CPU and a GPU alike."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import InvalidProblem

MOST_RAISES = 1_000_000
"""Bids of one column from which on prices are taken to rise without end."""


def tenth_of_spread(known: Sequence[float], rows: int) -> float:
    """Return a tenth of the largest cost difference over the rows: the objective is then off by that tenth at most.

    Parameters
    ----------
    known : sequence of float
        Least and largest finite costs, and what rows pay to stay unassigned, which they choose among. Where all are
        equal, a tenth of their size serves.
    rows : int
    """
    low, high = min(known, default=0.0), max(known, default=0.0)
    return 0.1 * ((high - low) or abs(high)) / max(rows, 1) or 1.0


def require_an_end(highest: float, largest: float, shape: tuple[int, int]) -> None:
    """Refuse unmatched costs, up to `highest`, far above whole costs, up to `largest`: bids would go all the way up.

    Raises
    ------
    InvalidProblem
    """
    needed, raises = 2 * min(shape) * largest, shape[0] + 1
    if highest > needed and highest * raises > MOST_RAISES:
        raise InvalidProblem(
            f"variant='paper' raises prices by 1 / (rows + 1) until they reach unmatched_cost; got {highest}, where "
            f"{needed} leads to the same matching. Lower it, give eps, or use the default variant.",
            argument="unmatched_cost",
        )
