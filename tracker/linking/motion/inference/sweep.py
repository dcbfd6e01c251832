"""One sweep over the movie: what each candidate link is worth given the links that may come before and after it.

What is known of the past of edge e, tail i, comes through the edges g into i, each with its probability and the class
of its particle; its future through the edges h out of its head. Every node is the meeting of one future and one past,
so a single loop over nodes serves both, and gathers what the model is learned from.

What is as long as the edges is written to arrays of the caller's: NumPy has the system give large ones in large pages,
numba does not, and then fetching them page by page takes longer than the sweep.
"""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from .....matching.jit.compiled import compiled
from .....matching.jit.threads import side_by_side
from ..candidates.graph import Graph, Piece
from ..candidates.steps import EdgeSteps
from ..models.shares import EndsByPlace
from ..models.step_model import TINY, Packed, Sums
from . import gpu_sweep

IGNORED = 1e-3
"""Probability below which an edge says nothing about its neighbours."""
TELLING = 0.05
"""Probability of two edges in a row from which the model is learned from them."""
VANISHING = -746.0
"""Exponent below which the exponential is zero in float64."""
SUREST = 1e130
"""Odds beyond which all are as good as these."""


class Factors(NamedTuple):
    """The evidence for every edge, per class of its particle, float64 (edges, classes) each.

    Attributes
    ----------
    alone
        Share times density of its displacement without a context.
    past
        The same given what may come before; to be divided by its sum.
    future
        Likelihood of what may come after.
    sums : Sums
    """

    alone: np.ndarray
    past: np.ndarray
    future: np.ndarray
    sums: Sums


class Others(NamedTuple):
    """What is known of the links that may come before and after others.

    Attributes
    ----------
    probability, into, out_of : float64 (edges,)
        Of each edge; among the edges into its head, without its future; among those out of its tail, without its past.
    past, future : float64 (edges, classes)
        Class of an edge's particle by its displacement and past, summing to 1; likelihood of its future by class.
    """

    probability: np.ndarray
    into: np.ndarray
    out_of: np.ndarray
    past: np.ndarray
    future: np.ndarray


@dataclass(frozen=True)
class Unwritten:
    """Classes of edges' particles where steps know of no others, made of the edges they are asked for.

    As `Factors.past`, brought to sums of 1: indexed like that, and never held for all edges.

    Attributes
    ----------
    graph : Graph
    steps : EdgeSteps
    model : tuple
        See `step_model.Tables`.
    ends : EndsByPlace
    came : float64 (n,)
        Sum of `Others.into` at each detection.
    """

    graph: Graph
    steps: EdgeSteps
    model: Packed
    ends: EndsByPlace
    came: np.ndarray

    def __getitem__(self, edges: slice | np.ndarray) -> np.ndarray:
        """Return those of some edges, float64 (k, classes)."""
        tail = self.graph.tail[edges]
        past = np.empty((len(tail), len(self.model[0])))
        first_densities(self.steps.at(edges), self.graph.lag[edges], self.model, past)
        _classes(tail, self.came, self.ends.place, self.ends.shared.tie, past)
        return past

    def written(self) -> np.ndarray:
        """Return those of all edges, float64 (edges, classes)."""
        past = np.empty((len(self.graph), len(self.model[0])))

        def write(piece: Piece) -> None:
            past[piece.edges] = self[piece.edges]

        side_by_side(write, self.graph.pieces)
        return past


class Weighed(NamedTuple):
    """What every edge is worth, float64 (edges,), and the evidence for it.

    Attributes
    ----------
    odds, without_past
        By all evidence, and without what comes before.
    part_without_future
        Part of the odds that is left without what comes after.
    past : float64 (edges, classes) or Unwritten
        As `Factors`, brought to sums of 1.
    future : float64 (edges, classes)
        As `Factors`, brought to maxima of 1.
    sums : Sums or None
        None where steps know of no others.
    """

    odds: np.ndarray
    without_past: np.ndarray
    part_without_future: np.ndarray
    past: np.ndarray | Unwritten
    future: np.ndarray
    sums: Sums | None


def weighed(
    graph: Graph,
    steps: EdgeSteps,
    model: Packed,
    prior: np.ndarray,
    ends: EndsByPlace,
    sums: tuple[np.ndarray, np.ndarray],
    others: Others | None,
) -> Weighed:
    """Weigh every edge by its displacement, its ends, and the links before and after it.

    Where `others` is None steps know of no others. `prior` is in log-odds, per lag; the rest is as in `factors_of`.
    """
    if others is None:
        return (_unlinked_on_gpu if graph.on_gpu else _unlinked)(graph, steps, model, prior, ends, sums)
    factors = factors_of(graph, steps, model, ends.tie, sums, others)
    del others  # what is over is not held while the odds are made
    return Weighed(*odds_of(graph, prior, ends, factors), factors.past, factors.future, factors.sums)


def factors_of(
    graph: Graph,
    steps: EdgeSteps,
    model: Packed,
    tie: np.ndarray,
    sums: tuple[np.ndarray, np.ndarray],
    others: Others,
) -> Factors:
    """Weigh every edge by its displacement and by the links before and after it.

    Parameters
    ----------
    graph : Graph
    steps : EdgeSteps
    model : tuple
        See `step_model.Tables`.
    tie : float64 (n,)
        How many times likelier a link into a detection makes one out of it, and the reverse, before their steps.
    sums : float64 (n,), float64 (n,)
        At each detection, of `Others.into` and of `Others.out_of`.
    others : Others
    """
    step, classes = steps.all(), len(model[0])
    alone, past, future = (np.empty((len(graph), classes), like=step) for _ in range(3))
    if graph.on_gpu:
        return _factors_on_gpu(graph, step, model, tie, others, sums, (alone, past, future))

    *links, past_class, future_class = others
    future_class = np.ascontiguousarray(future_class)
    pulled = _with_pulls(model, counted=len(graph.pieces) > 1)

    def write(piece: Piece) -> Any:
        e = piece.edges
        first_densities(step[e], graph.lag[e], model, alone[e])
        most = np.diff(graph.ways[1][piece.first : piece.last + 1]).max(initial=0)
        edges = graph.lag, step, *links, *sums, alone, past_class, future_class
        room = np.empty(most, np.int32), *np.empty((3, classes))
        by_class, *moments = np.zeros(classes), *np.zeros((3, classes, graph.ndim))
        counts = _contexts(*piece[:2], *graph.ways, *edges, tie, pulled, *room, by_class, *moments, past, future)
        return *counts, by_class, *moments

    return Factors(alone, past, future, _together(side_by_side(write, graph.pieces)))


def _with_pulls(model: Packed, *, counted: bool) -> tuple[Any, ...]:
    """Return a model for `_contexts`: in place of the slopes what a step over 1, 2, … frames pulls the next one by.

    `counted` has shares as a tuple, for whose length it is compiled: one second, once, for a third off large sweeps.
    """
    shares, slope, norm = model[0], model[2], model[-1]
    frames = np.arange(1, norm.shape[1] + 1)[:, None, None]
    return tuple(shares.tolist()) if counted else shares, model[1], slope[:, None] / frames, *model[3:]


def _factors_on_gpu(
    graph: Graph,
    step: np.ndarray,
    model: Packed,
    tie: np.ndarray,
    others: Others,
    sums: tuple[np.ndarray, np.ndarray],
    factors: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> Factors:
    kernels, there, (alone, *contexts) = _on_gpu(graph.ndim, alone_of=factors[0]), gpu_sweep.model_there(model), factors
    kernels.densities(step, graph.lag, there, alone)
    edges = graph.tail, graph.head, graph.lag, step, *others[:3], *sums, alone, *others[3:], tie
    return Factors(*factors, Sums(*kernels.contexts(graph.ways, edges, there, *contexts)))


def _unlinked(
    graph: Graph,
    steps: EdgeSteps,
    model: Packed,
    prior: np.ndarray,
    ends: EndsByPlace,
    sums: tuple[np.ndarray, np.ndarray],
) -> Weighed:
    """Weigh edges whose steps know of no others, a piece at a time, so that temporary arrays are the size of one."""
    classes, (place, shared) = len(model[0]), ends
    base = place, *map(np.exp, (prior, shared.leaving, shared.arriving))
    odds, without_past, part_without_future = (np.empty(len(graph)) for _ in range(3))

    def write(piece: Piece) -> None:
        e = piece.edges
        tail, head, lag = graph.tail[e], graph.head[e], graph.lag[e]
        alone, past, future = np.empty((3, len(head), classes))
        first_densities(steps.at(e), lag, model, alone)
        _uncoupled(tail, head, *sums, alone, place, shared.tie, past, future)
        known = tail, head, lag, *base, alone, past, future
        _combined(*known, odds[e], without_past[e], part_without_future[e])

    side_by_side(write, graph.pieces)
    # Later links are no evidence for a class, so that each has the maximum of 1.
    future = np.broadcast_to(np.ones(()), (len(graph), classes))
    past = Unwritten(graph, steps, model, ends, sums[0])
    return Weighed(odds, without_past, part_without_future, past, future, None)


def _unlinked_on_gpu(
    graph: Graph,
    steps: EdgeSteps,
    model: Packed,
    prior: np.ndarray,
    ends: EndsByPlace,
    sums: tuple[np.ndarray, np.ndarray],
) -> Weighed:
    step, each = steps.all(), ends.of_each()
    past, future = (np.empty((len(graph), len(model[0])), like=step) for _ in range(2))
    odds, without_past, part_without_future = (np.empty(len(graph), like=step) for _ in range(3))
    known = graph.tail, graph.head, graph.lag, np.asarray(prior, like=step), each.leaving, each.arriving
    kernels, there = _on_gpu(graph.ndim, alone_of=past), gpu_sweep.model_there(model)
    written = past, future, odds, without_past, part_without_future
    kernels.unlinked(*known, step, *there, *sums, each.tie, *written)
    return Weighed(odds, without_past, part_without_future, past, future, None)


def _on_gpu(ndim: int, alone_of: np.ndarray) -> gpu_sweep.DeviceSweep:
    limits = {"IGNORED": IGNORED, "TELLING": TELLING, "TINY": TINY, "SUREST": SUREST}
    return gpu_sweep.DeviceSweep(ndim, alone_of.shape[1], limits)


def _together(parts: Sequence[tuple[Any, ...]]) -> Sums:
    return Sums(*(reduce(add, same) for same in zip(*parts, strict=True)))


def odds_of(
    graph: Graph, prior: np.ndarray, ends: EndsByPlace, factors: Factors
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each edge's odds, those without its past, and which part of them is left without its future.

    Brings the pasts to sums of 1 and the futures to maxima of 1, in place. `prior` is in log-odds, per lag.
    """
    odds, without_past, part_without_future = (np.empty(len(graph), like=graph.head) for _ in range(3))
    if graph.on_gpu:
        each = ends.of_each()
        known = graph.tail, graph.head, graph.lag, np.asarray(prior, like=odds), each.leaving, each.arriving
        evidence = factors.alone, factors.past, factors.future
        _on_gpu(graph.ndim, factors.past).combined(*known, *evidence, odds, without_past, part_without_future)
        return odds, without_past, part_without_future

    place, shared = ends
    base = place, *map(np.exp, (prior, shared.leaving, shared.arriving))

    def write(piece: Piece) -> None:
        e = piece.edges
        known = graph.tail[e], graph.head[e], graph.lag[e], *base
        evidence = factors.alone[e], factors.past[e], factors.future[e]
        _combined(*known, *evidence, odds[e], without_past[e], part_without_future[e])

    side_by_side(write, graph.pieces)
    return odds, without_past, part_without_future


def step_sums(
    graph: Graph, steps: EdgeSteps, probability: np.ndarray, past: np.ndarray | Unwritten, future: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return per class the sum of probabilities of one-frame edges, and of their squared displacements per axis."""
    arrays = graph.lag, probability, past, future
    if not isinstance(past, Unwritten) and graph.on_gpu:
        return _on_gpu(graph.ndim, past).step_sums(steps.all(), *arrays)

    def add_up(piece: Piece) -> Any:
        edges = piece.edges
        if isinstance(past, Unwritten):  # made of those alone that count
            counts = (graph.lag[edges] == 1) & (probability[edges] >= IGNORED)
            edges = edges.start + np.flatnonzero(counts)
        sums = np.zeros(future.shape[1]), np.zeros((future.shape[1], graph.ndim))
        _step_sums(steps.at(edges), *(np.ascontiguousarray(array[edges]) for array in arrays), *sums)
        return sums

    sums = side_by_side(add_up, graph.pieces)
    total, squares = (np.sum(part, axis=0) for part in zip(*sums, strict=True))
    return total, squares


def densities_of(graph: Graph, steps: EdgeSteps, model: Packed) -> np.ndarray:
    """Return share times density of each edge's displacement without a context, float64 (edges, classes)."""
    alone = np.empty((len(graph), len(model[0])), like=graph.head)
    if graph.on_gpu:
        _on_gpu(graph.ndim, alone).densities(steps.all(), graph.lag, gpu_sweep.model_there(model), alone)
        return alone

    def write(piece: Piece) -> None:
        first_densities(steps.at(piece.edges), graph.lag[piece.edges], model, alone[piece.edges])

    side_by_side(write, graph.pieces)
    return alone


def first_densities(step: np.ndarray, lag: np.ndarray, model: Packed, out: np.ndarray) -> None:
    """Write share times density of each edge's displacement without a context to `out`, float64 (edges, classes)."""
    shares, _, _, precision, norm, _, _ = model
    _first_exponents(step, lag, precision, norm + np.log(shares)[:, None], out)
    np.exp(out, out=out)  # NumPy's, of several numbers at once
    out += TINY


@compiled(error_model="numpy")
def _first_exponents(step, lag, precision, norm, out):
    for e in range(len(step)):
        d = np.uint64(lag[e] - 1)  # unsigned: no look whether it counts from the end
        for k in range(len(norm)):
            q = 0.0
            for axis in range(step.shape[1]):
                q += step[e, axis] * step[e, axis] * precision[k, d, axis]
            out[e, k] = norm[k, d] - 0.5 * q


@compiled(error_model="numpy")
def _contexts(
    first,
    last,
    indptr,
    in_ptr,
    in_edge,
    lag,
    step,
    probability,
    into,
    out_of,
    came,
    went,
    alone,
    past_class,
    future_class,
    tie,
    pulled,
    telling,
    density,
    joint,
    own,
    by_class,
    later2,
    product,
    earlier2,
    past,
    future,
):
    """Write the factors of edges from their past and their future; add up the sums the model is learned from.

    The past of the edges out of the detections from `first` on, before `last`, and the future of those into them.
    `pulled` is of `_with_pulls`; `telling` has room for all edges into a detection, `density`, `joint` and `own` for
    the classes. Returns the first three of `Sums`, the others are added to; numba compiles an array that is made here
    for a tenth of a second.
    """
    shares, turns, pulls, _, _, precision, norm = pulled
    keeps, switches, afresh = turns
    ndim, classes = step.shape[1], len(shares)
    pairs, kept, new = 0.0, 0.0, 0.0
    for i in range(first, last):
        begin, coming = np.uint64(in_ptr[i]), in_ptr[i + 1] - in_ptr[i]
        count = _begin_futures(begin, coming, in_edge, into, max(1.0 - went[i], 1e-6), telling, future, shares)
        for e in range(indptr[i], indptr[i + 1]):
            d = np.uint64(lag[e] - 1)  # unsigned: no look whether it counts from the end
            base = 0.0
            for k in range(classes):
                base += alone[e, k] * future_class[e, k]
                own[k] = max(1.0 - came[i], 1e-6) * alone[e, k]
            per_base = 1.0 / (base + TINY)
            is_ignored = out_of[e] < IGNORED
            for at in range(count if is_ignored else coming):
                g = np.uint64(telling[at] if is_ignored else in_edge[begin + np.uint64(at)])
                before = np.uint64(lag[g] - 1)
                any_class = 0.0
                for k in range(classes):
                    q = 0.0
                    for axis in range(ndim):
                        r = step[e, axis] - pulls[k, before, d, axis] * step[g, axis]
                        q += r * r * precision[k, before, d, axis]
                    power = norm[k, before, d] - 0.5 * q
                    density[k] = 0.0 if power < VANISHING else np.exp(power)  # which takes long to say zero
                    any_class += shares[k] * density[k] * future_class[e, k]
                for k in range(classes):
                    class_now = switches * shares[k] + keeps * past_class[g, k]
                    joint[k] = class_now * density[k] + afresh * alone[e, k]
                    own[k] += tie[i] * into[g] * joint[k]
                    then = switches * any_class + keeps * density[k] * future_class[e, k]
                    future[g, k] += tie[i] * out_of[e] * (afresh + then * per_base)
                both = probability[g] * probability[e]
                if both > TELLING and before == 0 and d == 0:
                    known = keeps, afresh, shares, step, alone, past_class, future_class
                    taught = _teach(g, e, both, base, density, joint, known, by_class, later2, product, earlier2)
                    pairs += taught[0]
                    kept += taught[1]
                    new += taught[2]
            for k in range(classes):
                past[e, k] = own[k]
    return pairs, kept, new


@compiled(inline="always")
def _begin_futures(begin, coming, in_edge, into, unlinked, telling, future, shares):
    """Begin the future of the edges into a detection with that of none; list in `telling` which are not ignored."""
    count = 0
    for at in range(coming):
        g = np.uint64(in_edge[begin + np.uint64(at)])
        telling[count] = g
        count += not into[g] < IGNORED  # without a branch, which nothing could predict
        for k in range(len(shares)):
            future[g, k] = unlinked
    return count


@compiled(inline="always")
def _teach(g, e, both, base, density, joint, known, by_class, later2, product, earlier2):
    """Add to the sums what edges g and e in a row teach; return their probability, and what of it is kept and new."""
    keeps, afresh, shares, step, alone, past_class, future_class = known
    stay, whole = 0.0, 0.0
    for k in range(len(shares)):
        whole += joint[k] * future_class[e, k]
        stay += keeps * past_class[g, k] * density[k] * future_class[e, k]
    if whole <= TINY:
        return 0.0, 0.0, 0.0
    each = both / whole
    for k in range(len(shares)):
        share = each * (joint[k] - afresh * alone[e, k]) * future_class[e, k]
        by_class[k] += share
        for axis in range(step.shape[1]):
            later, earlier = step[e, axis], step[g, axis]
            later2[k, axis] += share * (later * later)
            product[k, axis] += share * later * earlier
            earlier2[k, axis] += share * (earlier * earlier)
    return both, each * stay, each * afresh * base


@compiled
def _uncoupled(tail, head, came, went, alone, place, tie, past, future):
    """As `_contexts`, of some edges, where steps know of no others; `tie` is by the places of detections."""
    for e in range(len(head)):
        i, j = tail[e], head[e]
        for k in range(alone.shape[1]):
            past[e, k] = alone[e, k] * (1.0 + (tie[place[i]] - 1.0) * came[i])
            future[e, k] = 1.0 + (tie[place[j]] - 1.0) * went[j]


@compiled(error_model="numpy")
def _classes(tail, came, place, tie, past):
    """Turn the densities of some edges into their pasts as `_uncoupled` and `_combined` do, in place."""
    for e in range(len(past)):
        own, i = 0.0, tail[e]
        for k in range(past.shape[1]):
            past[e, k] *= 1.0 + (tie[place[i]] - 1.0) * came[i]
            own += past[e, k]
        for k in range(past.shape[1]):
            past[e, k] /= own


@compiled(error_model="numpy")
def _combined(
    tail,
    head,
    lag,
    place,
    prior,
    leaving,
    arriving,
    alone,
    past,
    future,
    odds,
    without_past,
    part_without_future,
):
    # `prior` (per lag), `leaving` and `arriving` (per `place` of a detection) are odds.
    for e in range(len(past)):
        total, own, later, largest = TINY, 0.0, TINY, 0.0
        for k in range(past.shape[1]):
            total += past[e, k] * future[e, k]
            own += past[e, k]
            later += alone[e, k] * future[e, k]
            largest = max(largest, future[e, k])
        base = prior[lag[e] - 1] * leaving[place[tail[e]]] * arriving[place[head[e]]]
        odds[e], without_past[e] = _bounded(base * total), _bounded(base * later)
        part_without_future[e] = _bounded(own / total)
        for k in range(past.shape[1]):
            past[e, k] /= own
            future[e, k] /= largest


@compiled
def _bounded(odds):
    return min(max(odds, 1.0 / SUREST), SUREST)


@compiled
def _step_sums(step, lag, probability, past, future, total, squares):
    classes = past.shape[1]
    for e in range(len(step)):
        if lag[e] != 1 or probability[e] < IGNORED:
            continue
        whole = 0.0
        for k in range(classes):
            whole += past[e, k] * future[e, k]
        for k in range(classes):
            share = probability[e] * past[e, k] * future[e, k] / (whole + TINY)
            total[k] += share
            for axis in range(step.shape[1]):
                squares[k, axis] += share * (step[e, axis] * step[e, axis])
