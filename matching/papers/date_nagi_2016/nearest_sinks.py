"""Where some may stay unassigned: every row of a dual phase gets a change of its own, its distance to the nearest sink.

One dual change Δ for all trees, as in the papers, finds one path where sinks stay at their bound: the least key of all
sinks stops every tree. So a second search goes backward. dist_i is the distance of row i to a sink (a free column,
or staying unassigned) over pairs within Δ, and dist_j that of the row matched with column j, 0 for a free one. Rows
rise and columns fall by

    min(dist, Δ - key).

Either number is larger for a row than for a column by their slack at most, hence so is the lesser: the duals stay
feasible, and free columns at their bound. For a free row with dist ≤ Δ the whole shortest path gets zero slack. So all
free rows within Δ have a path at once, and those that do not share a sink are matched in one dual phase.

A pair counts as zero slack when slack + dist_j is the very number dist_i, and staying unassigned likewise: no
tolerance.
"""

# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

from ...jit.compiled import compiled


@compiled
def keep_shortest_paths(delta, roots, rows, cols, costs, state, zeros):
    """Find the distances to the nearest sinks, and keep of the pairs listed within Δ those on shortest paths.

    Parameters
    ----------
    delta : scalar
    roots : int64 (k,)
        The free rows; those whose nearest sink is beyond Δ keep no pair.
    rows : int32 (l,)
        Rows that are matched with a column within Δ, the nearest to the roots first.
    cols, costs : (pairs,)
        As `zeros.first` and `zeros.last` say; updated.
    state : TreeState
    zeros : Zeros
        `col_dist`, `row_dist` begin as `none`, or as that of staying unassigned; updated, as are `last` and
        `may_leave`.
    """
    while _pull(rows, cols, costs, state, zeros):
        pass
    _pull(roots, cols, costs, state, zeros)
    least = zeros.row_dist[roots].min()
    within = max(delta, least)  # but for rounding the nearest sink of all is within Δ
    for i in roots:
        if zeros.row_dist[i] <= within:
            _keep_shortest(i, cols, costs, state, zeros)
        else:
            zeros.last[i] = zeros.first[i]
            zeros.may_leave[i] = False
    for i in rows:
        _keep_shortest(i, cols, costs, state, zeros)


@compiled
def _pull(rows, cols, costs, state, zeros):
    """Lower the rows' distances to what their columns offer; return whether one fell."""
    fell = False
    for k in range(len(rows) - 1, -1, -1):
        i = rows[k]
        least = zeros.row_dist[i]
        for e in range(zeros.first[i], zeros.last[i]):
            least = min(least, _through(i, e, cols, costs, state, zeros))
        if least < zeros.row_dist[i]:
            fell = True
            zeros.row_dist[i] = least
            if state.col_of_row[i] >= 0:
                zeros.col_dist[state.col_of_row[i]] = least
    return fell


@compiled
def _keep_shortest(i, cols, costs, state, zeros):
    """Keep the row's pairs that lead to its nearest sink."""
    kept = zeros.first[i]
    for e in range(zeros.first[i], zeros.last[i]):
        through = _through(i, e, cols, costs, state, zeros)
        if through < state.none and through == zeros.row_dist[i]:
            cols[kept], costs[kept] = cols[e], costs[e]
            kept += 1
    zeros.last[i] = kept
    bound = state.row_bound[i]
    zeros.may_leave[i] = bound < state.none and max(bound - state.r[i], 0) == zeros.row_dist[i]


@compiled(inline="always")
def _through(i, e, cols, costs, state, zeros):
    """Return the row's distance to a sink through a listed pair."""
    return max(costs[e] - state.v[cols[e]] - state.r[i], 0) + zeros.col_dist[cols[e]]
