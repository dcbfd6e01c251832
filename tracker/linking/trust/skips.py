"""How likely a track took a detection that is not its own while it was missed, or passed over one of its own.

A false detection near a particle that was missed passes for the particle, and both its links look sure: a margin weighs
them against one link over the gap with what ties them to each other counted twice. Here the track without the detection
is weighed against the track with it by the law of whole chains, and so is another track that takes the detection where
it passes over that frame.
"""

# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

import numpy as np

from ....matching.jit.compiled import compiled
from .chains import LEAST, edge_between, likelihood_of


@compiled(error_model="numpy")
def skips(
    first, last, indptr, tail, head, allowed, out, into, linked, lag, step, base, alone, past_class, tie, law, now
):
    """Return the links that skipping or taking a detection undoes, one after the other, and the odds of each.

    Arguments as those of `exchanges.exchanges`.
    """
    undone, ratios = [np.int64(0) for _ in range(0)], [0.0 for _ in range(0)]
    scratch = np.empty((2, alone.shape[1]))
    peak = np.exp(max(law[4].max(), law[6].max()))
    ways = indptr, tail, head, allowed, out, into
    chains = head, linked, lag, step, base, alone, past_class, tie, law, peak, scratch
    for i in range(first, last):
        a, b = into[i], out[i]
        if b < 0:
            continue
        if a >= 0:
            ratio = _without(i, ways, chains, now)
            if ratio >= LEAST:
                for e in (a, b):
                    undone.append(e)
                    ratios.append(ratio)
        if lag[b] == 1:
            continue
        k, h, over = head[b], out[head[b]], 0.0
        for a_new in range(indptr[i], indptr[i + 1]):
            j = head[a_new]
            if lag[a_new] >= lag[b] or not allowed[a_new]:
                continue
            b_new = edge_between(indptr, head, j, k)
            if b_new < 0 or not allowed[b_new]:
                continue
            ratio = _without(j, ways, chains, now)
            if ratio < LEAST:
                continue
            if over == 0.0:
                over = likelihood_of(a, b, -1, h, 0.0, *chains)
            ratio *= likelihood_of(a, a_new, b_new, h, LEAST * over / ratio, *chains) / over
            if ratio < LEAST:
                continue
            for e in (b, into[j], out[j]):
                if e >= 0:
                    undone.append(e)
                    ratios.append(ratio)
    return np.array(undone, np.int64), np.array(ratios, np.float64)


@compiled(error_model="numpy")
def _without(j, ways, chains, now):
    """Return the odds of the track of a detection going on without it: 1 where it is in none, 0 where none can."""
    indptr, tail, head, allowed, out, into = ways
    a, b = into[j], out[j]
    if a < 0 and b < 0:
        return 1.0
    g, h, over = into[tail[a]] if a >= 0 else -1, out[head[b]] if b >= 0 else -1, -1
    if a >= 0 and b >= 0:
        over = edge_between(indptr, head, tail[a], head[b])
        if over < 0 or not allowed[over]:
            return 0.0
    if now[j] == 0.0:
        now[j] = likelihood_of(g, a, b, h, 0.0, *chains)
    return likelihood_of(g if over >= 0 else -1, over, -1, h, LEAST * now[j], *chains) / now[j]
