"""A proof for unmatched costs far above all costs, whose duals would need more digits than a float has.

As many rows as can be are matched then, at the least cost, whatever the unmatched costs are. Where all pairs are
allowed, that is so already at unmatched costs no lower than the dearest pair within reach. So the matched edges are
proven for lower unmatched costs that say the same: duals are found for the matched edges alone, by shortest paths after
Bellman and Ford, and looked at as any others. Nothing here is the solvers'.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..problem import Problem
from ..problem.convert import transposed
from ..problem.costs import best_row_duals, edge_costs, largest_edge_cost
from ..problem.reach import within_reach
from ..tolerance import EPS, FAR, SHORTEST_ULPS


def at_lower_unmatched_costs(block: Problem, col_of_row: np.ndarray) -> Iterator[tuple[Problem, np.ndarray]]:
    """Yield a block with lower unmatched costs under which the same matching is the cheapest, and its column duals.

    Of equal sides first with rows that pay, then with columns, which leaves sentinels of either their own digits.

    Parameters
    ----------
    block : Problem
        One block of real costs on the host, with unmatched costs.
    col_of_row : int32 (rows,)

    Yields
    ------
    (Problem, float64 (columns,))
        Nothing where unmatched costs are not far above all costs, nor above all but those of rows and columns beyond
        reach.
    """
    n, m = block.shape
    if block.is_integer or not min(n, m) or not block.has_unmatched_cost:
        return
    assert block.row_unmatched is not None
    assert block.col_unmatched is not None
    exchange = 2.0 * min(n, m) * largest_edge_cost(block)
    least = float(block.row_unmatched.min()), float(block.col_unmatched.min())
    if sum(least) <= FAR * exchange:
        exchange = _dearest_within_reach(block)
        if sum(least) < exchange:
            return
    if exchange == 0.0:
        return
    # The longer side pays nothing, so that duals near its unmatched cost are small.
    for of_rows, of_cols in ((exchange, 0.0),) * (n <= m) + ((0.0, exchange),) * (n >= m):
        lower = replace(
            block,
            row_unmatched=block.row_unmatched - least[0] + of_rows,
            col_unmatched=block.col_unmatched - least[1] + of_cols,
        )
        yield lower, _col_duals(lower, col_of_row)


def _dearest_within_reach(block: Problem) -> float:
    """Return the largest cost of a matrix but of what is beyond reach; +inf where nothing is.

    Unmatched costs at least as high say that all within reach of the shorter side are matched.
    """
    kept = within_reach(block)
    return np.inf if kept is None else float(block.cost_matrix[np.ix_(*kept)].max())


def _col_duals(block: Problem, col_of_row: np.ndarray) -> np.ndarray:
    """Return the largest column duals by which no pair costs less than 0, and matched edges 0.

    There are none beside a better matching. Each is held to its own digits: of a sentinel's they would leave none to
    the others.
    """
    assert block.row_unmatched is not None
    assert block.col_unmatched is not None
    rows = np.flatnonzero(col_of_row >= 0)
    cols, r, v = col_of_row[rows], block.row_unmatched.astype(np.float64), block.col_unmatched.astype(np.float64)
    paid = edge_costs(block, rows, np.zeros(len(rows), np.int64), cols)
    turned = transposed(block)
    for _ in range(len(r) + 1):  # more rounds than a path has edges find a cycle: a better matching
        r[rows] = paid - v[cols]
        most, _ = best_row_duals(turned, r)
        if not (most < v - SHORTEST_ULPS * EPS * (abs(most) + abs(v))).any():
            break
        v = np.minimum(v, most)
    return v
