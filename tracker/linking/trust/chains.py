"""How likely a chain of links is, by the step model: each link by its own displacement and by the link before it.

A margin's weights count what ties a link to the next one twice, once from either side; here each tie counts once.
"""

# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

import math

import numpy as np

from ....matching.jit.compiled import BORROWING, SMALL, compiled
from ..motion.candidates.graph import Graph
from ..motion.inference.sweep import densities_of
from ..motion.learning.belief import Belief
from ..motion.models.step_model import tables

LEAST = 1e-12
"""Odds that do not count, and those of one chain that no gain of another makes up for."""

NO_LINK = np.int64(-1)
"""In place of a link that is not there; a bare -1 has a type of its own, for which numba compiles again."""


def chains_of(belief: Belief) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return what the likelihood of a chain of links is made of.

    Returns
    -------
    step, base, alone : float64 (edges, d), (edges,), (edges, classes)
        Displacements less the flow, none where links do not know of those before them; odds of each link before its
        displacement is looked at; share times density of its displacement without a context.
    tie : float64 (n,)
        See `shares.Ends`.
    """
    graph, movie = belief.graph, belief.movie
    steps, ends = belief.own_steps(), belief.ends_by_place
    alone = densities_of(graph, steps, tables(belief.model, belief.lags).packed)
    base = np.exp(np.asarray(belief.shares.log_odds(movie.log_density), like=alone))[graph.lag - 1]
    for log_odds, end in ((ends.shared.leaving, graph.tail), (ends.shared.arriving, graph.head)):
        odds = np.exp(np.asarray(log_odds, like=alone))
        for edges in graph.slices:
            base[edges] *= odds[ends.place[end[edges]]]
    base *= belief.likeness()
    step = steps.all() if belief.linked else np.empty((0, graph.ndim), like=alone)
    return step, base, alone, ends.tie


def links_made(graph: Graph, source: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the edge of each link, and that out of each detection and into it, int64, −1 where there is none."""
    link = _edges_between(graph.indptr, graph.head, source, target)
    out, into = np.full((2, graph.n), -1)
    made = link >= 0
    out[source[made]] = into[target[made]] = link[made]
    return link, out, into


@compiled(plain=SMALL)
def _edges_between(indptr, head, source, target):
    edge = np.empty(len(source), np.int64)
    for k in range(len(source)):
        edge[k] = edge_between(indptr, head, source[k], target[k])
    return edge


@compiled(**BORROWING)
def edge_between(indptr, head, i, j):
    """Return the edge from i to j, −1 where there is none."""
    for e in range(indptr[i], indptr[i + 1]):
        if head[e] == j:
            return e
    return -1


@compiled(error_model="numpy", **BORROWING)
def likelihood_of(g, a, b, h, least, chains):
    """Return the likelihood of the links a and b between g and h, against leaving all detections unlinked.

    −1 is no link. Where it is below `least`, only that is sure of what is returned.
    """
    head, linked, lag, step, base, alone, past_class, tie, model, peak, scratch = chains
    shares, turns, slope, _, _, precision, norm = model
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
        belief[c] = past_class[g, c] if linked and g >= 0 else 0.0
    for e in (a, b, h):
        if e < 0:
            continue
        d, total = np.uint64(lag[e] - 1), 0.0  # unsigned: no look whether it counts from the end
        for c in range(classes):
            then[c] = alone[e, c]
            if before >= 0 and linked:
                p = np.uint64(lag[before] - 1)
                q, frames = 0.0, lag[before]
                for axis in range(step.shape[1]):
                    r = step[e, axis] - slope[c, d, axis] * step[before, axis] / frames
                    q += r * r * precision[c, p, d, axis]
                density = math.exp(norm[c, p, d] - 0.5 * q)
                then[c] = (switches * shares[c] + keeps * belief[c]) * density + afresh * alone[e, c]
            total += then[c]
        likelihood *= total / peak
        if likelihood < least:
            break
        for c in range(classes):
            belief[c] = then[c] / total
        before = e
    return likelihood
