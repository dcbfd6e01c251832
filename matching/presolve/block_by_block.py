"""The blocks of a batch matched one after the other, and their answers laid side by side."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import Infeasible
from ..problem import Problem
from .short_side import Matched, counted_together


def block_by_block(problem: Problem, method: Callable[[Problem], Matched]) -> Matched:
    """Match the blocks of a batch one after the other, and lay their answers side by side; counts add up."""
    parts: list[Matched] = []
    for b, block in enumerate(problem.blocks()):
        try:
            parts.append(method(block))
        except Infeasible as error:
            raise error.in_block(b) from None
    col_of_row, col_duals = (
        np.concatenate(side) for side in ([p.col_of_row for p in parts], [p.col_duals for p in parts])
    )
    return Matched(col_of_row, col_duals, *counted_together(parts))
