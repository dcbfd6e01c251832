"""How likely a track has a detection that is another's, or no track's: changes of several links at once.

A margin weighs what the best links lose without one of them, each at its own weight. Where two particles pass each
other, the likeliest error takes one detection of each for the other's: four links at once, or two where the other
detection belongs to no track. Where one was missed, a false detection nearby passes for it. The weights count what ties
a link to the next one twice, once from either side, so that the links look sure in each other's light. Here exchanges,
and tracks that skip a detection, are weighed by the model of whole chains, each tie once.
"""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from typing import Any

import numpy as np

from ....matching.jit.compiled import SMALL, compiled
from ....matching.jit.threads import side_by_side
from ..motion.learning.belief import Belief
from ..motion.models.step_model import tables
from . import gpu_exchanges
from .chains import LEAST, chains_of, edge_between, likelihood_of, links_made
from .passed_over import pass_over


def exchange_odds(belief: Belief, source: np.ndarray, target: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Return the odds that a link is wrong because an end of it is in another track, or in none.

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
        Sum of the odds of all such exchanges and skips, against the links as they are.
    """
    graph, linked = belief.graph, belief.linked
    if graph.on_gpu:
        *chains, model = _known(belief)
        return gpu_exchanges.exchange_odds(graph, (source, target), allowed, tuple(chains), model, linked=linked)
    link, out, into = links_made(graph, source, target)
    undone, ratio = map(np.concatenate, zip(*_all_undone(belief, allowed, out, into), strict=True))
    odds = np.bincount(undone, ratio, minlength=len(graph))
    return np.where(link >= 0, odds[link], 0.0)


def _known(belief: Belief) -> tuple[Any, ...]:
    """Return what chains are weighed by, as compiled code takes it."""
    step, base, alone, tie = chains_of(belief)
    return step, base, alone, belief.written_past, tie, tables(belief.model, belief.lags).packed


def _all_undone(
    belief: Belief, allowed: np.ndarray, out: np.ndarray, into: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return what exchanges, then what skips undo, piece by piece; `out` and `into` as `links_made` has them."""
    graph = belief.graph
    ways = graph.indptr, graph.tail, graph.head, allowed, out, into
    step, base, alone, past, tie, model = _known(belief)
    peak = np.exp(max(model[4].max(), model[6].max()))  # no displacement's density is higher
    chains = graph.head, belief.linked, graph.lag, step, base, alone, past, tie, model, peak
    now = np.zeros(graph.n)

    def undone(part: tuple[Any, Any]) -> tuple[np.ndarray, np.ndarray]:
        skips, (first, last, *_) = part
        return _undone(skips, first, last, ways, (*chains, np.empty((2, alone.shape[1]))), now)

    return side_by_side(undone, [(skips, piece) for skips in (False, True) for piece in graph.pieces])


@compiled(plain=SMALL)
def _undone(skips, first, last, ways, chains, now):
    """Return the links that are undone between two detections, one by one, and the odds of each.

    `chains` is what `likelihood_of` takes of the movie. `now` takes the likelihood of the links at a detection once
    that is asked for; threads that ask for the same find the same. Both ways in one kernel: lists are compiled once.
    """
    undone, ratios = [np.int64(0) for _ in range(0)], [0.0 for _ in range(0)]
    if skips:
        pass_over(first, last, ways, chains, now, undone, ratios)
    else:
        _exchange(first, last, ways, chains, now, undone, ratios)
    return np.array(undone, np.int64), np.array(ratios, np.float64)


@compiled(error_model="numpy")
def _exchange(first, last, ways, chains, now, undone, ratios):
    """Append the links that exchanging or skipping detections inside chains undoes, one by one, and the odds of each.

    An exchange of two that are both inside chains is looked at from the first.
    """
    indptr, tail, head, allowed, out, into = ways
    lag = chains[2]
    for j in range(first, last):
        a, b = into[j], out[j]
        if a < 0 or b < 0:
            continue
        i, k = np.int64(tail[a]), np.int64(head[b])  # of one type, for which `edge_between` is compiled once
        g, h = into[i], out[k]
        for a_new in range(indptr[i], indptr[i + 1]):
            other = np.int64(head[a_new])
            a2 = b2 = b_new = np.int64(-1)
            if other != k:  # else j is skipped
                if a_new == a or lag[a_new] != lag[a]:
                    continue
                a2, b2 = into[other], out[other]
                if a2 >= 0 and b2 >= 0 and other < j:
                    continue
                b_new = edge_between(indptr, head, other, k)
                if b_new < 0 or not allowed[b_new]:
                    continue
            if not allowed[a_new]:
                continue
            a2_new = edge_between(indptr, head, np.int64(tail[a2]), j) if a2 >= 0 else -1
            b2_new = edge_between(indptr, head, j, np.int64(head[b2])) if b2 >= 0 else -1
            if (a2 >= 0 and (a2_new < 0 or not allowed[a2_new])) or (b2 >= 0 and (b2_new < 0 or not allowed[b2_new])):
                continue
            if now[j] == 0.0:
                now[j] = likelihood_of(g, a, b, h, 0.0, chains)
            ratio = likelihood_of(g, a_new, b_new, h, LEAST * now[j], chains) / now[j]
            if ratio < LEAST:
                continue
            if a2 >= 0 or b2 >= 0:
                g2 = into[tail[a2]] if a2 >= 0 else -1
                h2 = out[head[b2]] if b2 >= 0 else -1
                if now[other] == 0.0:
                    now[other] = likelihood_of(g2, a2, b2, h2, 0.0, chains)
                ratio *= likelihood_of(g2, a2_new, b2_new, h2, LEAST * now[other] / ratio, chains) / now[other]
            if ratio < LEAST:
                continue
            for e in (a, b, a2, b2):
                if e >= 0:
                    undone.append(e)
                    ratios.append(ratio)
