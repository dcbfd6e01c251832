"""Where particles were about to go by the links before them, and how likely a step their links are beside that.

Merges are looked at from the frame after, by the links that follow: steps go on alike in either direction of time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..motion.inference.sweep import IGNORED, densities_of
from ..motion.learning.belief import Belief
from ..motion.models.step_model import Tables, tables
from .pairs_with import with_the_same


class Onward(NamedTuple):
    """What links before say of those after, where particles divide; the reverse where they merge.

    Attributes
    ----------
    expected : float64 (lags, n, d)
        Displacement of each detection over the next 1, 2, … frames; 0 where nothing is known.
    variance : float64 (n,)
        Around that over one frame, per axis.
    links : int64 (links,)
        Ordinary links.
    step : float64 (links, d)
        Their displacements, less what the neighbours' flow explains.
    density : float64 (links,)
        How likely these are.
    """

    expected: np.ndarray
    variance: np.ndarray
    links: np.ndarray
    step: np.ndarray
    density: np.ndarray


class _Known(NamedTuple):
    """The links that say something of those after them: at which detection, over how many frames, how far a frame.

    `by_class` are their probabilities and that the next link is of each class, float64 (links, classes).
    """

    at: np.ndarray
    lag: np.ndarray
    velocity: np.ndarray
    by_class: np.ndarray


def onward(belief: Belief, links: np.ndarray, lags: int, *, divide: bool) -> Onward:
    """Return where particles were about to go, over up to so many frames, and some ordinary links beside that."""
    graph, model, steps = belief.graph, tables(belief.model, belief.lags), belief.own_steps()
    alone, step = densities_of(graph, steps, model.packed)[links].sum(axis=1), steps.at(links)
    if not belief.linked:
        nothing = np.zeros((lags, graph.n, graph.ndim))
        return Onward(nothing, np.full(graph.n, belief.model.variance.mean()), links, step, alone)
    weight, ends, mothers = (belief.into, graph.head, graph.tail) if divide else (belief.out_of, graph.tail, graph.head)
    telling = np.flatnonzero(weight > IGNORED)
    at, lag, weight = ends[telling], graph.lag[telling], weight[telling]
    came = np.bincount(at, weight, graph.n)
    keeps, switches, afresh = model.turns
    by_class = switches * model.shares + keeps * belief.past[telling]
    by_class *= (weight / np.maximum(came, 1)[at])[:, None]
    known = _Known(at, lag, steps.at(telling) / lag[:, None], by_class)
    mother, is_known = mothers[links], np.minimum(came, 1)
    density = (1 - (1 - afresh) * is_known[mother]) * alone
    pairs = with_the_same(mother, at, graph.n)
    density += _given_those_before(step, graph.lag[links], known, pairs, model)
    variance = np.bincount(at, by_class @ belief.model.second.mean(axis=1), graph.n)
    variance += (1 - np.bincount(at, by_class.sum(axis=1), graph.n)) * belief.model.variance.mean()
    return Onward(_expected(known, model, lags, graph.n), variance, links, step, density)


def _expected(known: _Known, model: Tables, lags: int, n: int) -> np.ndarray:
    """Return the mean displacement of each detection over the next frames, float64 (lags, n, d)."""
    expected = np.empty((lags, n, known.velocity.shape[1]))
    for lag in range(lags):
        ahead = known.by_class @ model.slope[:, lag] * known.velocity
        for axis, along in enumerate(ahead.T):
            expected[lag, :, axis] = np.bincount(known.at, along, n)
    return expected


def _given_those_before(
    step: np.ndarray, lag: np.ndarray, known: _Known, pairs: tuple[np.ndarray, np.ndarray], model: Tables
) -> np.ndarray:
    """Return how likely some steps are after those before them, times how probably these are, float64 (links,).

    `pairs` are places among the steps, and among what is known before them.
    """
    one, before = pairs
    d, p = lag[one] - 1, known.lag[before] - 1
    density = np.zeros(len(one))
    for k in range(len(model.shares)):
        rest = step[one] - model.slope[k, d] * known.velocity[before]
        square = (rest**2 * model.second_precision[k, p, d]).sum(axis=1)
        density += known.by_class[before, k] * np.exp(model.second_norm[k, p, d] - 0.5 * square)
    return np.bincount(one, density, len(step))
