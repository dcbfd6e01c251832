"""The blocks of a batch matched one after the other, and their answers laid side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from ..errors import Infeasible
from ..problem import Problem
from .short_side import Matched


def block_by_block(problem: Problem, method: Callable[[Problem], Matched]) -> Matched:
    """Match the blocks of a batch one after the other, and lay their answers side by side; counts add up."""
    parts: list[Matched] = []
    for b, block in enumerate(problem.blocks()):
        try:
            parts.append(method(block))
        except Infeasible as error:
            raise error.in_block(b) from None
    totals: Counter[str] = Counter()
    for _, _, counts in parts:
        totals.update(counts)
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts]), dict(totals)
