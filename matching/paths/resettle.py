"""One shortest augmenting path from an unassigned member whose dual is below its bound, touching what it reaches only.

The costs are those against leaving both ends unassigned, so every dual is at most 0, and that of an unassigned member
must be 0. The path ends at an unassigned member across, or at a member of the same side that becomes unassigned,
whichever is cheaper. Only the duals that it scanned change, so all that was optimal stays so.
"""

# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

import heapq

import numpy as np

from ..jit.compiled import compiled

NONE = -1


@compiled
def settle(start, side, across, cost, dist, pred):
    """Match one unassigned member, or raise its dual to its bound.

    Parameters
    ----------
    start : int
        Unassigned; its dual is below 0.
    side, across : tuple of (first, following, member, matched, dual)
        The start's side and the other: first edge of each member (members,), the edge after each edge (edges,), the
        member that each edge ends at (edges,), the matched edge of each member or −1 (members,), the duals (members,).
        `matched` and `dual` are written to.
    cost : float64 (edges,)
        +inf: not allowed.
    dist, pred : float64, int64 (members of the side,)
        Scratch; `dist` is +inf before and after.

    Returns
    -------
    own, own_matched, own_dual, other, other_matched, other_dual : arrays
        The members whose matched edge or dual may have changed, and what both were, of either side.
    """
    _, _, own_of, matched, dual = side
    _, _, other_of, other_matched, other_dual = across
    (length, last, last_edge), own, seen = _shortest_path(start, side, across, cost, dist, pred)
    other = _partners(own, last_edge, matched, other_of)
    before = own, matched[own], dual[own], other, other_matched[other], other_dual[other]
    for i in own:
        dual[i] = min(dual[i] + (length - dist[i]), 0.0)
    _exchange(start, last, last_edge, own_of, other_of, matched, other_matched, pred)
    if last_edge == NONE:
        dual[last] = 0.0
    for i in own:
        if matched[i] != NONE:
            other_dual[other_of[matched[i]]] = min(cost[matched[i]] - dual[i], 0.0)
    for i in seen:
        dist[i] = np.inf
    return before


@compiled
def _shortest_path(start, side, across, cost, dist, pred):
    """Dijkstra's search: (its length, the last member, its new edge or none), the members scanned, and those seen."""
    first, following, own_of, matched, dual = side
    _, _, other_of, other_matched, other_dual = across
    best, last, last_edge = np.inf, start, NONE
    seen, reached = [np.int64(start)], [np.int64(start)]
    reached.clear()
    dist[start] = 0.0
    heap = [(0.0, np.int64(start))]
    while len(heap) > 0:
        so_far, i = heapq.heappop(heap)
        if so_far >= best:
            break
        if so_far > dist[i]:
            continue
        reached.append(i)
        if so_far - dual[i] < best:
            best, last, last_edge = so_far - dual[i], i, NONE
        e = first[i]
        while e != NONE:
            j = other_of[e]
            through = so_far + max(cost[e] - dual[i] - other_dual[j], 0.0)
            if e != matched[i] and through < best:
                if other_matched[j] == NONE:
                    best, last, last_edge = through, i, e
                else:
                    k = own_of[other_matched[j]]
                    if through < dist[k]:
                        if dist[k] == np.inf:
                            seen.append(np.int64(k))
                        dist[k], pred[k] = through, e
                        heapq.heappush(heap, (through, np.int64(k)))
            e = following[e]
    return (best, last, last_edge), np.array(reached), seen


@compiled
def _partners(own, last_edge, matched, other_of):
    """Return the members across that the given ones are matched with, and the one at the end of the last edge."""
    other = np.empty(len(own) + 1, np.int64)
    n_other = 0
    for i in own:
        if matched[i] != NONE:
            other[n_other] = other_of[matched[i]]
            n_other += 1
    if last_edge != NONE:
        other[n_other] = other_of[last_edge]
        n_other += 1
    return other[:n_other]


@compiled
def _exchange(start, last, last_edge, own_of, other_of, matched, other_matched, pred):
    """Match along the path to member `last`, which takes `last_edge` or, where that is none, becomes unassigned."""
    i, new = last, last_edge
    while True:
        matched[i] = new
        if new != NONE:
            other_matched[other_of[new]] = new
        if i == start:
            return
        new = pred[i]
        i = own_of[new]
