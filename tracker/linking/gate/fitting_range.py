"""A search range within which candidate links are few enough to write out: what refusals of a longer one suggest."""

from __future__ import annotations

from ....matching.points.grid import build_grid, more_pairs_than
from ...calibrating.digits import in_digits
from .candidates import WideGate

HALVINGS = 12
MARGIN = 0.99
"""Part of the largest range found that is named: digits are rounded."""


def give_shorter(wide: WideGate) -> str:
    """Return the advice to give a range that fits from one frame to the next, with its length where there is one."""
    fits, too_long = 0.0, wide.radius
    for _ in range(HALVINGS):
        middle = (fits + too_long) / 2
        grid = build_grid(wide.later.grid.points, middle)
        if more_pairs_than(wide.more_than, wide.earlier.grid.points, grid, middle):
            too_long = middle
        else:
            fits = middle
    if not fits:
        return "Give a shorter search_range"
    return f"Give a shorter search_range: {in_digits(MARGIN * fits)} would fit there"
