"""How sure each link is: what the best assignment without it would cost more.

Taking a link out of an optimal assignment frees a row and a column. The cheapest repair is a shortest path from the row
to the column in the residual graph, whose lengths are the reduced costs c_ij - r_i - v_j ≥ 0 that the duals leave
(Ahuja, Magnanti & Orlin, Network Flows, 1993, ch. 12). A repair either stays among matched pairs, or leaves a row and a
column unassigned on the way; the second kind splits into two halves that two searches find for all links at once, and
bounds the search for the first kind, which stays near its link: what its last step costs at least is known before.
"""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

import numpy as np

from ....matching.certificate.assignment import Assignment
from ....matching.device import cuda
from ....matching.jit.column_heap import UNSEEN, append, pop, rise
from ....matching.jit.compiled import BORROWING, SMALL, compiled
from ....matching.jit.threads import ROWS_PER_TASK, processors, side_by_side
from ....matching.problem import Problem
from ....matching.problem.csr import transposed_csr
from ....matching.problem.flat_graph import global_columns
from . import gpu_margins
from .near_pairs import with_near_pairs


def link_margins(problem: Problem, answer: Assignment) -> np.ndarray:
    """Return the margin of every link: optimal cost without this link minus optimal cost.

    Parameters
    ----------
    problem : Problem
        Of any kind and number of blocks. Of matrices and point sets with too many pairs to write out, repairs go
        through the near ones (`near_pairs`, or those that `within_reach` has kept): a margin is then never below the
        true one.
    answer : Assignment
        Optimal, with its duals.

    Returns
    -------
    float64 (links,)
        In the unit of the cost, in the order of `answer.edges()`; +inf where no assignment can do without the link.
        0 means that another assignment is just as good. On a GPU where a sparse problem of one block is there.
    """
    if cuda.is_device_array(problem.indptr):
        return gpu_margins.link_margins(problem, answer)
    rows, cols = answer.edges()
    if len(rows) == 0:
        return np.zeros(0)
    problem = with_near_pairs(problem, answer)
    assert problem.indptr is not None
    r, v = (duals.astype(np.float64, copy=False) for duals in (answer.row_duals, answer.col_duals))
    indices = global_columns(problem)
    reduced = np.empty(len(indices))
    _reduce(problem.indptr, indices, problem.data, r, v, reduced)
    row_bound, col_bound = problem.dual_bounds()
    unassigned_row, unassigned_col = np.maximum(row_bound - r, 0.0), np.maximum(col_bound - v, 0.0)
    col_of_row = np.full(problem.n_rows, -1, dtype=np.int32)
    row_of_col = np.full(problem.n_cols, -1, dtype=np.int32)
    col_of_row[rows], row_of_col[cols] = cols, rows
    by_row = problem.indptr, indices, reduced
    by_col = transposed_csr(*by_row, problem.n_cols)
    of_rows = *by_col, unassigned_row, col_of_row, row_of_col
    of_cols = *by_row, unassigned_col, row_of_col, col_of_row
    settle_row, settle_col = side_by_side(lambda side: _settled(*side), [of_rows, of_cols])
    repairs = *by_row, row_of_col, settle_row, settle_col, *by_col
    cuts = np.linspace(0, len(rows), min(processors(), -(-len(rows) // ROWS_PER_TASK)) + 1).astype(np.int64)
    parts = side_by_side(lambda links: _margins(rows[links], cols[links], *repairs), list(map(slice, cuts, cuts[1:])))
    return np.concatenate(parts)


@compiled(plain=SMALL)
def _reduce(indptr, indices, data, r, v, reduced):
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            reduced[e] = max(data[e] - r[i] - v[indices[e]], 0.0)


@compiled(plain=SMALL)
def _settled(indptr, neighbours, reduced, unassigned, partner, partner_across):
    """Return for every freed member of one side the cheapest way to settle it that leaves a member unassigned.

    `indptr`, `neighbours`, `reduced` list, for each member of the other side, its edges to this side. A freed member
    stays unassigned, or takes an unassigned member across, or takes a matched one, whose partner is freed in turn.
    """
    cost = unassigned.copy()
    for across in range(len(indptr) - 1):
        if partner_across[across] < 0:
            for e in range(indptr[across], indptr[across + 1]):
                cost[neighbours[e]] = min(cost[neighbours[e]], reduced[e])
    heap, place = np.empty(len(cost), np.int32), np.empty(len(cost), np.int32)
    n_heap = np.int64(0)  # a plain 0 would have `_pass_on` compiled for it, too
    for k in range(len(cost)):
        place[k] = UNSEEN
    # Few are settled cheaper through another: only what changes is queued.
    for k in range(len(cost)):
        n_heap = _pass_on(k, indptr, neighbours, reduced, partner, cost, heap, n_heap, place)
    while n_heap > 0:
        k = np.int64(heap[0])
        n_heap = pop(heap, n_heap, cost, place)
        place[k] = UNSEEN
        n_heap = _pass_on(k, indptr, neighbours, reduced, partner, cost, heap, n_heap, place)
    return cost


@compiled
def _pass_on(k, indptr, neighbours, reduced, partner, cost, heap, n_heap, place):
    """Settle others by freeing the partner of one that is settled, where that is cheaper; return the heap's size."""
    across = partner[k]
    if across < 0:
        return n_heap
    for e in range(indptr[across], indptr[across + 1]):
        other, through = neighbours[e], cost[k] + reduced[e]
        if through < cost[other]:
            cost[other] = through
            if place[other] == UNSEEN:
                n_heap = append(other, heap, n_heap, place)
            rise(heap, place[other], cost, place)
    return n_heap


@compiled(**BORROWING)
def _begin_backs(freed, start, in_ptr, in_row, in_reduced, back):
    """Note what the last step of a repair costs each row that could take the freed column; return the least of it."""
    least = np.inf
    for at in range(in_ptr[freed], in_ptr[freed + 1]):
        if in_row[at] != start:
            back[in_row[at]] = in_reduced[at]
            least = min(least, in_reduced[at])
    return least


@compiled(plain=SMALL)
def _margins(rows, cols, indptr, indices, reduced, row_of_col, settle_row, settle_col, in_ptr, in_row, in_reduced):
    """Return per link the cheaper repair: through members left unassigned, or a ring of matched pairs.

    A row counts by its way back as soon as it is reached: of many particles as near as each other all are reached at
    once, and their turns come in no order that leads back. Those are passed by whose way back cannot pay: it costs the
    least last step at least; what settling the row costs more than settling the start, as it could be settled by that
    way and the start's own; and what settling the freed column costs more than settling the row's.
    """
    n = len(indptr) - 1
    margin, cost, back = np.empty(len(rows)), np.empty(n), np.empty(n)
    heap, place, touched = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    for row in range(n):
        cost[row] = back[row] = np.inf
    for link in range(len(rows)):
        start, freed = rows[link], cols[link]
        best, so_far, row = settle_row[start] + settle_col[freed], 0.0, start
        least = _begin_backs(freed, start, in_ptr, in_row, in_reduced, back)
        cost[start] = 0.0
        n_heap = n_touched = 0
        while so_far + least < best:
            for e in range(indptr[row], indptr[row + 1]):
                col, through = indices[e], so_far + reduced[e]
                if through + least >= best or col == freed:
                    continue
                owner = row_of_col[col]
                if owner < 0 or through >= cost[owner]:
                    continue
                is_far = through + settle_row[owner] > best + settle_row[start]
                if not is_far and through + settle_col[freed] <= best + settle_col[col]:
                    if cost[owner] == np.inf:
                        touched[n_touched] = owner
                        n_touched += 1
                        n_heap = append(owner, heap, n_heap, place)
                    cost[owner] = through
                    rise(heap, place[owner], cost, place)
                    best = min(best, through + back[owner])
            if n_heap == 0:
                break
            row = np.int64(heap[0])
            n_heap = pop(heap, n_heap, cost, place)
            so_far = cost[row]
        margin[link] = best
        cost[start] = np.inf
        for k in range(n_touched):
            cost[touched[k]] = np.inf
        for at in range(in_ptr[freed], in_ptr[freed + 1]):
            back[in_row[at]] = np.inf
    return margin
