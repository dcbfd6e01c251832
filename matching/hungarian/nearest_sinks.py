"""Where some may stay unassigned: every row of a stage gets a dual change of its own, its distance to the nearest end.

One dual change Δ for all trees, as in the papers, finds one path where ends stay at their bound: the least key of all
ends stops every tree. So a second search goes backward. far_i is the shortest way from row i to an end (a free column,
or staying unassigned) over pairs within Δ, and far_j that of the row matched with column j, 0 for a free one. Rows rise
and columns fall by

    min(far, Δ - key).

Either number is larger for a row than for a column by their slack at most, hence so is the lesser: the duals stay
feasible, and free columns at their bound. For a free row with far ≤ Δ the whole shortest way becomes tight. So all free
rows within Δ have a path at once, and those that do not share an end are matched in one stage.

A pair counts as zero slack when slack + far_j is the very number far_i, and staying unassigned likewise: no tolerance.
"""

# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def keep_shortest_ways(delta, roots, rows, cols, costs, state, zeros):
    """Find the distances to the nearest ends, and keep of the pairs listed within Δ those on shortest ways.

    Parameters
    ----------
    delta : scalar
    roots : int64 (k,)
        The free rows; those whose nearest end is beyond Δ keep no pair.
    rows : int32 (l,)
        Rows that are matched with a column within Δ, the nearest to the roots first.
    cols, costs : (pairs,)
        As `zeros.first` and `zeros.last` say; updated.
    state : State
    zeros : Zeros
        `far`, `row_far` begin as no way, or that of staying unassigned; updated, as are `last` and `alone`.
    """
    while _pull(rows, cols, costs, state, zeros):
        pass
    _pull(roots, cols, costs, state, zeros)
    least = zeros.row_far[roots].min()
    within = max(delta, least)  # but for rounding the nearest end of all is within Δ
    for i in roots:
        if zeros.row_far[i] <= within:
            _keep_tight(i, cols, costs, state, zeros)
        else:
            zeros.last[i] = zeros.first[i]
            zeros.alone[i] = False
    for i in rows:
        _keep_tight(i, cols, costs, state, zeros)


@njit(cache=True, nogil=True)
def _pull(rows, cols, costs, state, zeros):
    """Lower the rows' distances to what their columns offer; return whether one fell."""
    fell = False
    for k in range(len(rows) - 1, -1, -1):
        i = rows[k]
        least = zeros.row_far[i]
        for e in range(zeros.first[i], zeros.last[i]):
            least = min(least, _through(i, e, cols, costs, state, zeros))
        if least < zeros.row_far[i]:
            fell = True
            zeros.row_far[i] = least
            if state.col_of_row[i] >= 0:
                zeros.far[state.col_of_row[i]] = least
    return fell


@njit(cache=True, nogil=True)
def _keep_tight(i, cols, costs, state, zeros):
    """Keep the row's pairs that lead to its nearest end."""
    kept = zeros.first[i]
    for e in range(zeros.first[i], zeros.last[i]):
        through = _through(i, e, cols, costs, state, zeros)
        if through < state.none and through == zeros.row_far[i]:
            cols[kept], costs[kept] = cols[e], costs[e]
            kept += 1
    zeros.last[i] = kept
    bound = state.row_bound[i]
    zeros.alone[i] = bound < state.none and max(bound - state.r[i], 0) == zeros.row_far[i]


@njit(cache=True, nogil=True, inline="always")
def _through(i, e, cols, costs, state, zeros):
    """Return the length of the row's way through a listed pair."""
    return max(costs[e] - state.v[cols[e]] - state.r[i], 0) + zeros.far[cols[e]]
