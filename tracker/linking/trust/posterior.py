"""Trackings sampled from what is believed: a walk over all sets of links, each as often as it is likely (Metropolis).

The likelihood is that of chains: what each link is worth by itself, and given the link before it. From the best links
the walk goes by moves around one candidate link at a time: it is made or unmade; it takes an end from another link, or
both ends from two, whose others are linked where they can be; its head is exchanged for the head of the link that has
its tail, with all that leads to either and on from them; or it passes over a detection in between, or takes one that is
passed over. Each move can be undone by one that is as likely to be tried, so that a link is made in as many of the
trackings as it is probable. Only candidates that a move from the best links could bring at odds of `LEAST` or more are
ever moved.
"""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

import numpy as np

from ....matching.jit.compiled import BORROWING, compiled
from ...stepwise import Step, Steps
from ..motion.learning.belief import Belief
from ..motion.models.step_model import tables
from .chains import chains_of, edge_between, links_made

LEAST = 1e-3
"""Odds against the best links below which no move is ever tried."""
KINDS = 3
"""Of moves around an edge: it is made or unmade, exchanged, or skips or takes a detection."""
BURN_IN = 50
"""Sweeps before the first tracking is taken: every move tried so often, on the average."""
BETWEEN = 10
"""Sweeps from one tracking to the next."""


def sampled_links(
    belief: Belief,
    source: np.ndarray,
    target: np.ndarray,
    allowed: np.ndarray,
    count: int,
    seed: int = 0,
    explained: tuple[np.ndarray, np.ndarray] | None = None,
) -> Steps[np.ndarray]:
    """Sample sets of links by their likelihood, set by set.

    Parameters
    ----------
    belief : Belief
    source, target : int64 (links,)
        The best links, no detection twice among the sources or the targets.
    allowed : bool (edges,)
        Candidates that may be links; others stay made, or unmade.
    count, seed : int
    explained : float64 (n,), float64 (n,), optional
        How many times likelier something else makes it that each detection has no link out of it, and none into it.

    Returns
    -------
    int32 (count, n)
        The detection that follows each one, −1 where none does.
    """
    graph = belief.graph
    step, base, alone, tie = chains_of(belief)
    if explained is not None:
        base = base / (explained[0][graph.tail] * explained[1][graph.head])
    edges = graph.indptr, graph.tail, graph.head, graph.lag, allowed
    weights = step, base, alone, belief.written_past, tie, belief.linked, tables(belief.model, belief.lags).packed
    _, out, into = links_made(graph, source, target)
    movable = _movable(edges, weights, out, into)
    sampled, rng = np.empty((count, graph.n), np.int32), np.random.default_rng(seed)
    for taken, following in enumerate(sampled):
        sweeps = BETWEEN if taken else BURN_IN
        _walk(edges, weights, out, into, np.flatnonzero(movable), movable, sweeps, following, rng)
        yield Step(taken + 1, count, stage="sample")
    return sampled


@compiled(error_model="numpy", **BORROWING)
def _after(g, e, edges, weights):
    """Return the likelihood of the displacement of link e after link g, with what ties the two; 1 of no link e."""
    _, tail, _, lag, _ = edges
    step, _, alone, past_class, tie, linked, model = weights
    shares, turns, slope, _, _, precision, norm = model
    if e < 0:
        return 1.0
    if g < 0:
        return alone[e].sum()
    if not linked:
        return tie[tail[e]] * alone[e].sum()
    keeps, switches, afresh = turns
    d, p = lag[e] - 1, lag[g] - 1
    total = 0.0
    for c in range(len(shares)):
        q = 0.0
        for axis in range(step.shape[1]):
            r = step[e, axis] - slope[c, d, axis] * step[g, axis] / (p + 1)
            q += r * r * precision[c, p, d, axis]
        density = np.exp(norm[c, p, d] - 0.5 * q)
        total += (switches * shares[c] + keeps * past_class[g, c]) * density + afresh * alone[e, c]
    return tie[tail[e]] * total


@compiled(error_model="numpy", **BORROWING)
def _made(g, e, edges, weights):
    """Return the likelihood of link e after link g against neither of its ends linked; 1 of no link."""
    return weights[1][e] * _after(g, e, edges, weights) if e >= 0 else 1.0


@compiled(**BORROWING)
def _next(e, head, out):
    return out[head[e]] if e >= 0 else -1


@compiled(**BORROWING)
def _before(e, tail, into):
    return into[tail[e]] if e >= 0 else -1


@compiled(error_model="numpy", **BORROWING)
def _relinked(e, edges, weights, out, into, move):
    """Return the odds of making e at the cost of the links at its ends; write these and those made to `move`."""
    indptr, tail, head, _, allowed = edges
    ousted, other_ousted, other = out[tail[e]], into[head[e]], -1
    if ousted >= 0 and other_ousted >= 0:
        other = edge_between(indptr, head, tail[other_ousted], head[ousted])
        if other < 0 or not allowed[other]:
            return 0.0
    move[:] = -1
    move[0], move[1], move[4], move[5] = ousted, other_ousted, e, other
    g, h = into[tail[e]], out[head[e]]
    g2, h2 = _before(other_ousted, tail, into), _next(ousted, head, out)
    new = _made(g, e, edges, weights) * _after(e, h, edges, weights)
    new *= _made(g2, other, edges, weights) * _after(other, h2, edges, weights)
    old = _made(g, ousted, edges, weights) * _after(ousted, h2, edges, weights)
    old *= _made(g2, other_ousted, edges, weights) * _after(other_ousted, h, edges, weights)
    return new / old


@compiled(error_model="numpy", **BORROWING)
def _unmade(e, edges, weights, out, into, move):
    """Return the odds of doing without link e; see `_relinked`."""
    _, tail, head, _, _ = edges
    g, h = into[tail[e]], out[head[e]]
    move[:] = -1
    move[0] = e
    return _after(-1, h, edges, weights) / (_made(g, e, edges, weights) * _after(e, h, edges, weights))


@compiled(error_model="numpy", **BORROWING)
def _single(g, e, h, edges, weights):
    """Return the likelihood of a link between g and h; these may be −1."""
    return _made(g, e, edges, weights) * _after(e, h, edges, weights)


@compiled(error_model="numpy", **BORROWING)
def _chain(g, a, b, h, edges, weights):
    """Return the likelihood of two links in a row between g and h; any may be −1."""
    likelihood = _made(g, a, edges, weights) * _made(a, b, edges, weights)
    return likelihood * _after(b, h, edges, weights) if b >= 0 else likelihood


@compiled(error_model="numpy", **BORROWING)
def _exchanged(e, edges, weights, out, into, move):
    """Return the odds of exchanging the head of e for the head of the link with its tail; see `_relinked`."""
    indptr, tail, head, lag, allowed = edges
    a = out[tail[e]]
    if a < 0 or a == e or lag[a] != lag[e]:
        return 0.0
    j, other = head[a], head[e]
    b, a2, b2 = out[j], into[other], out[other]
    if b < 0 and b2 < 0:
        return 0.0  # nothing leads on from either: `_relinked` does it
    move[0], move[1], move[2], move[3], move[4] = a, b, a2, b2, e
    move[5] = edge_between(indptr, head, other, head[b]) if b >= 0 else -1
    move[6] = edge_between(indptr, head, tail[a2], j) if a2 >= 0 else -1
    move[7] = edge_between(indptr, head, j, head[b2]) if b2 >= 0 else -1
    for k in range(4):
        if move[k] >= 0 and (move[4 + k] < 0 or not allowed[move[4 + k]]):
            return 0.0
    g, h = into[tail[a]], _next(b, head, out)
    g2, h2 = _before(a2, tail, into), _next(b2, head, out)
    new = _chain(g, e, move[5], h, edges, weights) * _chain(g2, move[6], move[7], h2, edges, weights)
    return new / (_chain(g, a, b, h, edges, weights) * _chain(g2, a2, b2, h2, edges, weights))


@compiled(error_model="numpy", **BORROWING)
def _skipped(e, edges, weights, out, into, move):
    """Return the odds of passing over a detection by e, or of taking its head where that is passed over; see above."""
    indptr, tail, head, lag, allowed = edges
    a = out[tail[e]]
    if a < 0 or lag[a] == lag[e]:
        return 0.0
    g, move[:] = into[tail[e]], -1
    move[0], move[4] = a, e
    if lag[a] < lag[e]:
        b, h = out[head[a]], out[head[e]]
        if b < 0 or head[b] != head[e]:
            return 0.0
        move[1] = b
        return _single(g, e, h, edges, weights) / _chain(g, a, b, h, edges, weights)
    j, h = head[e], out[head[a]]
    b, a2, b2 = edge_between(indptr, head, j, head[a]), into[j], out[j]
    if b < 0 or not allowed[b] or (a2 < 0) != (b2 < 0):
        return 0.0
    move[5] = b
    odds = _chain(g, e, b, h, edges, weights) / _single(g, a, h, edges, weights)
    if a2 < 0:
        return odds
    over = edge_between(indptr, head, tail[a2], head[b2])
    if over < 0 or not allowed[over]:
        return 0.0
    move[1], move[2], move[6] = a2, b2, over
    g2, h2 = into[tail[a2]], out[head[b2]]
    return odds * _single(g2, over, h2, edges, weights) / _chain(g2, a2, b2, h2, edges, weights)


@compiled(error_model="numpy", **BORROWING)
def _odds(kind, e, edges, weights, out, into, move):
    """Return the odds of one of the `KINDS` of moves around an edge, 0 where there is none; see `_relinked`."""
    if out[edges[1][e]] == e:
        return _unmade(e, edges, weights, out, into, move) if kind == 0 else 0.0
    if kind == 0:
        return _relinked(e, edges, weights, out, into, move)
    if kind == 1:
        return _exchanged(e, edges, weights, out, into, move)
    return _skipped(e, edges, weights, out, into, move)


@compiled
def _movable(edges, weights, out, into):
    """Mark the edges of moves from the present links that are worth trying, bool (edges,)."""
    _, tail, _, _, allowed = edges
    movable, move = np.zeros(len(tail), np.bool_), np.empty(8, np.int64)
    for e in range(len(tail)):
        if not allowed[e]:
            continue
        for kind in range(KINDS):
            if _odds(kind, e, edges, weights, out, into, move) >= LEAST:
                for k in move:
                    if k >= 0:
                        movable[k] = True
    return movable


@compiled
def _walk(edges, weights, out, into, tried, movable, sweeps, following, rng):
    """Try moves around edges sampled from `tried` for so many sweeps; write the links then to `following`."""
    _, tail, head, _, _ = edges
    move = np.empty(8, np.int64)
    for _ in range(sweeps * len(tried)):
        e = tried[int(rng.random() * len(tried))]
        odds = _odds(int(rng.random() * KINDS), e, edges, weights, out, into, move)
        if rng.random() < odds and _can_be_undone(move, movable):
            _apply(move, tail, head, out, into)
    for i in range(len(out)):
        following[i] = head[out[i]] if out[i] >= 0 else -1


@compiled(**BORROWING)
def _can_be_undone(move, movable):
    undone = True
    for e in move:
        undone &= e < 0 or movable[e]
    return undone


@compiled(**BORROWING)
def _apply(move, tail, head, out, into):
    for k in range(4):
        if move[k] >= 0:
            out[tail[move[k]]] = into[head[move[k]]] = -1
    for k in range(4, 8):
        if move[k] >= 0:
            out[tail[move[k]]] = into[head[move[k]]] = move[k]
