"""How likely two tracks have exchanged a detection: both links of each at once, which no single link's margin sees.

A margin weighs what the best links lose without one of them, each at its own weight. Where two particles pass each
other, the likeliest error takes one detection of each for the other's: four links at once, or two where the other
detection belongs to nobody. Their weights count what ties a link to the next one twice, once from either side, so that
the links look sure in each other's light. Here such exchanges are weighed by the law of whole chains, each tie once.
"""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

import numpy as np

from ....matching.jit.compiled import compiled
from ....matching.jit.threads import side_by_side
from ..motion.law import tables
from ..motion.learning import Belief
from ..motion.sweep import densities_of
from . import gpu_exchanges

LEAST = 1e-12
"""Odds of an exchange that do not count, and those of one chain that no gain of the other makes up for."""


def exchange_odds(belief: Belief, source: np.ndarray, target: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Return the odds that a link is wrong because an end of it was exchanged for a detection of the same frame.

    Parameters
    ----------
    belief : Belief
    source, target : int64 (links,)
        The links made, no detection twice among the sources or the targets; those that are no candidates of the belief
        (divisions) are exchanged for no others.
    allowed : bool (edges,)
        Candidates that may be links.

    Returns
    -------
    float64 (links,)
        Sum of the odds of all such exchanges against the links as they are.
    """
    graph = belief.graph
    law = tables(belief.law, belief.lags).packed
    step, base, alone, tie = chains_of(belief)
    chains = step, base, alone, belief.past, tie
    if graph.on_gpu:
        return gpu_exchanges.exchange_odds(graph, (source, target), allowed, chains, law, linked=belief.linked)
    link = _edges_between(graph.indptr, graph.head, source, target)
    out, into = np.full((2, graph.n), -1)
    made = link >= 0
    out[source[made]] = into[target[made]] = link[made]
    ways = graph.indptr, graph.tail, graph.head, allowed, out, into
    linked = belief.linked, graph.lag, *chains, law
    now = np.zeros(graph.n)
    found = side_by_side(lambda piece: _exchanges(*piece[:2], *ways, *linked, now), graph.pieces)
    undone, ratio = (np.concatenate(part) for part in zip(*found, strict=True))
    odds = np.bincount(undone, ratio, minlength=len(graph))
    return np.where(made, odds[link], 0.0)


def chains_of(belief: Belief) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return what the likelihood of a chain of links is made of.

    Returns
    -------
    step, base, alone : float64 (edges, d), (edges,), (edges, classes)
        Displacements less the flow; odds of each link before its displacement is looked at; share times density of its
        displacement without a context.
    tie : float64 (n,)
        See `shares.Ends`.
    """
    graph, movie = belief.graph, belief.movie
    step, ends = belief.own_steps(), belief.ends
    alone = densities_of(graph, step, tables(belief.law, belief.lags).packed)
    base = np.exp(np.asarray(belief.shares.log_odds(movie.log_density), like=step))[graph.lag - 1]
    for factor in (np.exp(ends.leaving)[graph.tail], np.exp(ends.arriving)[graph.head], belief.likeness()):
        base *= factor
    return step, base, alone, ends.tie


@compiled
def _edges_between(indptr, head, source, target):
    """Return the edge of each link, −1 where there is none."""
    edge = np.empty(len(source), np.int64)
    for k in range(len(source)):
        edge[k] = _edge(indptr, head, source[k], target[k])
    return edge


@compiled
def _edge(indptr, head, i, j):
    for e in range(indptr[i], indptr[i + 1]):
        if head[e] == j:
            return e
    return -1


@compiled(error_model="numpy")
def _exchanges(
    first, last, indptr, tail, head, allowed, out, into, linked, lag, step, base, alone, past_class, tie, law, now
):
    """Return the links that exchanges of detections inside chains undo, one after the other, and the odds of each.

    An exchange of two that are both inside chains is looked at from the first. `now` takes the likelihood of the links
    at a detection once that is asked for; threads that ask for the same find the same.
    """
    undone, ratios = [np.int64(0) for _ in range(0)], [0.0 for _ in range(0)]
    scratch = np.empty((2, alone.shape[1]))
    peak = np.exp(max(law[4].max(), law[6].max()))  # no displacement's density is higher
    tables = head, linked, lag, step, base, alone, past_class, tie, law, peak, scratch
    for j in range(first, last):
        a, b = into[j], out[j]
        if a < 0 or b < 0:
            continue
        i, k = tail[a], head[b]
        g, h = into[i], out[k]
        for a_new in range(indptr[i], indptr[i + 1]):
            other = head[a_new]
            if a_new == a or lag[a_new] != lag[a]:
                continue
            a2, b2 = into[other], out[other]
            if a2 >= 0 and b2 >= 0 and other < j:
                continue
            b_new = _edge(indptr, head, other, k)
            if b_new < 0 or not (allowed[a_new] and allowed[b_new]):
                continue
            a2_new = _edge(indptr, head, tail[a2], j) if a2 >= 0 else -1
            b2_new = _edge(indptr, head, j, head[b2]) if b2 >= 0 else -1
            if (a2 >= 0 and (a2_new < 0 or not allowed[a2_new])) or (b2 >= 0 and (b2_new < 0 or not allowed[b2_new])):
                continue
            if now[j] == 0.0:
                now[j] = _chain(g, a, b, h, 0.0, *tables)
            ratio = _chain(g, a_new, b_new, h, LEAST * now[j], *tables) / now[j]
            if ratio < LEAST:
                continue
            if a2 >= 0 or b2 >= 0:
                g2 = into[tail[a2]] if a2 >= 0 else -1
                h2 = out[head[b2]] if b2 >= 0 else -1
                if now[other] == 0.0:
                    now[other] = _chain(g2, a2, b2, h2, 0.0, *tables)
                ratio *= _chain(g2, a2_new, b2_new, h2, LEAST * now[other] / ratio, *tables) / now[other]
            if ratio < LEAST:
                continue
            for e in (a, b, a2, b2):
                if e >= 0:
                    undone.append(e)
                    ratios.append(ratio)
    return np.array(undone, np.int64), np.array(ratios, np.float64)


@compiled(error_model="numpy", forceinline=True)
def _chain(g, a, b, h, least, head, linked, lag, step, base, alone, past_class, tie, law, peak, scratch):
    """Return the likelihood of the links a and b between g and h, against all detections alone; −1 is no link.

    Where it is below `least`, only that is sure of what is returned.
    """
    shares, turns, slope, _, _, precision, norm = law
    keeps, switches, afresh = turns
    classes = len(shares)
    belief, then = scratch[0], scratch[1]
    before, likelihood = g, 1.0
    for e in (a, b, h):
        if e >= 0:
            likelihood *= peak * (base[e] if e != h else 1.0) * (tie[head[before]] if before >= 0 else 1.0)
            before = e
    before = g
    for c in range(classes):
        belief[c] = past_class[g, c] if g >= 0 else 0.0
    for e in (a, b, h):
        if e < 0:
            continue
        d, total = np.uint64(lag[e] - 1), 0.0  # unsigned: no look whether it counts from the end
        for c in range(classes):
            then[c] = alone[e, c]
            if before >= 0 and linked:
                p = np.uint64(lag[before] - 1)
                q, pull = 0.0, slope[c, d] / lag[before]
                for axis in range(step.shape[1]):
                    r = step[e, axis] - pull * step[before, axis]
                    q += r * r * precision[c, p, d, axis]
                density = np.exp(norm[c, p, d] - 0.5 * q)
                then[c] = (switches * shares[c] + keeps * belief[c]) * density + afresh * alone[e, c]
            total += then[c]
        likelihood *= total / peak
        if likelihood < least:
            break
        for c in range(classes):
            belief[c] = then[c] / total
        before = e
    return likelihood
