"""How likely a track that passes over a frame should have a detection of that frame, be it another's or no track's.

As in `exchanges`, by the model of whole chains: the track with the detection, and the one that had it without.
"""

# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

import numpy as np

from ....matching.jit.compiled import compiled
from .chains import LEAST, NO_LINK, edge_between, likelihood_of


@compiled(error_model="numpy")
def pass_over(first, last, ways, chains, now, undone, ratios):
    """Append the links that this undoes, one by one, and the odds of each; as `exchanges._exchange`."""
    indptr, _, head, allowed, out, into = ways
    lag = chains[2]
    for i in range(first, last):
        b = out[i]
        if b < 0 or lag[b] == 1:
            continue
        g, k, h, over = into[i], np.int64(head[b]), out[head[b]], 0.0
        for a_new in range(indptr[i], indptr[i + 1]):
            j = np.int64(head[a_new])
            if lag[a_new] >= lag[b] or not allowed[a_new]:
                continue
            b_new = edge_between(indptr, head, j, k)
            if b_new < 0 or not allowed[b_new]:
                continue
            ratio = _without(j, ways, chains, now)
            if ratio < LEAST:
                continue
            if over == 0.0:
                over = likelihood_of(g, b, NO_LINK, h, 0.0, chains)
            ratio *= likelihood_of(g, a_new, b_new, h, LEAST * over / ratio, chains) / over
            if ratio < LEAST:
                continue
            for e in (b, into[j], out[j]):
                if e >= 0:
                    undone.append(e)
                    ratios.append(ratio)


@compiled(error_model="numpy")
def _without(j, ways, chains, now):
    """Return the odds of the track of a detection going on without it: 1 where it is in none, 0 where none can."""
    indptr, tail, head, allowed, out, into = ways
    a, b = into[j], out[j]
    if a < 0 and b < 0:
        return 1.0
    g, h, over = into[tail[a]] if a >= 0 else -1, out[head[b]] if b >= 0 else -1, -1
    if a >= 0 and b >= 0:
        over = edge_between(indptr, head, np.int64(tail[a]), np.int64(head[b]))
        if over < 0 or not allowed[over]:
            return 0.0
    if now[j] == 0.0:
        now[j] = likelihood_of(g, a, b, h, 0.0, chains)
    return likelihood_of(g if over >= 0 else NO_LINK, over, NO_LINK, h, LEAST * now[j], chains) / now[j]
