"""The neighbours' flow: how the particles around one move over the same frames, as a prediction of its own step."""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.spatial import cKDTree

from .....matching.jit.compiled import SMALL, compiled
from .....matching.jit.threads import side_by_side
from ..detections.ordered import Ordered
from . import gpu_flow, gpu_graph
from .graph import Graph
from .graph import pointers as pointers_of

NEIGHBOURS = 8
"""Nearest other particles that are asked."""
HALF = 1.0
"""Probable neighbours' links at which their mean is believed by half."""

Means: TypeAlias = tuple[np.ndarray, np.ndarray]
"""Mean displacements and the probable links behind each, float64 (n, d) and (n,)."""


class Fields(NamedTuple):
    """How the particles around each detection move: on to the next frame, and from the one before."""

    ahead: Means
    behind: Means


def neighbours(movie: Ordered, asked: np.ndarray | None = None) -> np.ndarray:
    """Return the nearest other particles of the same frame, int32 (n, `NEIGHBOURS`), −1 where there are fewer.

    Of the `asked` ones alone, int (k,), ascending, where they are given: int32 (k, `NEIGHBOURS`), on the host.
    """
    if movie.grid is not None and asked is None:
        return gpu_graph.nearest_others(movie.grid, NEIGHBOURS)
    firsts = movie.starts if asked is None else np.searchsorted(asked, movie.starts)
    out = np.full((firsts[-1], NEIGHBOURS), -1, np.int32)

    def find(f: int) -> None:
        own, rows = movie.of_frame(f), slice(*firsts[[f, f + 1]].tolist())
        position = movie.position[own]
        who = np.arange(len(position)) if asked is None else asked[rows] - own.start
        k = min(NEIGHBOURS + 1, len(position))
        if k > 1 and len(who):
            tree = cKDTree(position, balanced_tree=False, compact_nodes=False)
            _, near = tree.query(position[who], k=range(1, k + 1))
            out[rows, : k - 1] = _others(who, np.asarray(near, np.int32)) + own.start

    side_by_side(find, range(len(movie.number)))
    return out


def fields_of(graph: Graph, near: np.ndarray, probability: np.ndarray) -> Fields:
    """Return what the neighbours say of where each detection goes in one frame, and of where it comes from.

    Parameters
    ----------
    graph : Graph
    near : int32 (n, k)
        See `neighbours`.
    probability : float64 (edges,)
    """
    if graph.on_gpu:
        return Fields(*gpu_flow.fields_of((*graph.ways, graph.lag, graph.step, probability), near))
    spans = [(piece.first, piece.last) for piece in graph.pieces]
    means = (_mean_of(graph, *ways, probability, spans) for ways in ((graph.indptr, None), graph.incoming))
    return Fields(*(_field_of(near, mean, spans) for mean in means))


def flow_at(graph: Graph, fields: Fields, edges: slice | np.ndarray) -> np.ndarray:
    """Return what the neighbours say of the displacements of some edges, float64 (k, d)."""
    return _flow_along((graph.tail[edges], graph.head[edges], graph.lag[edges]), fields, on_gpu=graph.on_gpu)


def flow_of_some(
    movie: Ordered, graph: Graph, probability: np.ndarray, near: np.ndarray | None, edges: np.ndarray
) -> np.ndarray:
    """Return what the neighbours say of the displacements of a few edges, float64 (k, d), as `flow_at`.

    Only the neighbours of the edges' ends are looked at: fields of the whole movie would take more memory than a sweep.
    `near` are the neighbours of all, where they are known.
    """
    tail, head = graph.tail[edges], graph.head[edges]
    if movie.grid is not None:
        around = np.zeros(graph.n, bool, like=edges)
        around[tail] = around[head] = True
        known = gpu_graph.nearest_others(movie.grid, NEIGHBOURS, around) if near is None else near
        return flow_at(graph, fields_of(graph, known, probability), edges)
    ends, at = np.unique(np.concatenate([tail, head]), return_inverse=True)
    near = neighbours(movie, ends) if near is None else near[ends]
    others, place = np.unique(near, return_inverse=True)
    place = np.where(near < 0, -1, place.reshape(near.shape)).astype(np.int32)

    def field(pointers: np.ndarray, edges: np.ndarray | None) -> Means:
        own = _of_some(np.maximum(others, 0), pointers, edges)
        return _field_of(place, _mean_of(graph, *own, probability, [(0, len(others))]), [(0, len(ends))])

    fields = Fields(*(field(*ways) for ways in ((graph.indptr, None), graph.incoming)))
    tail, head = at.astype(np.int32).reshape(2, -1)
    return _flow_along((tail, head, graph.lag[edges]), fields)


def _flow_along(ends: tuple[np.ndarray, np.ndarray, np.ndarray], fields: Fields, *, on_gpu: bool = False) -> np.ndarray:
    """Return what the neighbours say of the displacements of edges with these tails, heads and lags."""
    if on_gpu:
        return gpu_flow.flow_along(ends, *fields, HALF)
    out = np.empty((len(ends[0]), fields.ahead[0].shape[1]))
    _along(*ends, *fields.ahead, *fields.behind, out)
    return out


def _of_some(some: np.ndarray, pointers: np.ndarray, edges: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return pointers to the edges of some detections, int (k,), and these edges."""
    own = pointers_of(pointers[some + 1] - pointers[some])
    at = np.arange(own[-1]) + np.repeat(pointers[some] - own[:-1], np.diff(own))
    return own, (at if edges is None else edges[at]).astype(np.int32)


def _mean_of(
    graph: Graph,
    pointers: np.ndarray,
    edges: np.ndarray | None,
    probability: np.ndarray,
    spans: Sequence[tuple[int, int]],
) -> Means:
    """Return the probable displacement of detections along their edges: all, in order, where none are given.

    `spans` of these detections, (first, before the last), are looked at side by side.
    """
    mean = np.zeros((len(pointers) - 1, graph.ndim)), np.zeros(len(pointers) - 1)

    def add_up(span: tuple[int, int]) -> None:
        first, last = span
        own = slice(pointers[first], pointers[last])
        own = np.arange(own.start, own.stop, dtype=np.int32) if edges is None else edges[own]
        _means(first, last, pointers, own, graph.lag, graph.steps_at(own), probability, *mean)

    side_by_side(add_up, spans)
    return mean


def _field_of(near: np.ndarray, mean: Means, spans: Sequence[tuple[int, int]]) -> Means:
    """Return the mean displacement around detections, whose neighbours are places in `mean`, and its weight."""
    field = np.zeros((len(near), mean[0].shape[1])), np.zeros(len(near))
    side_by_side(lambda span: _field(*span, near, *mean, *field), spans)
    return field


def _others(who: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Drop each particle from its own neighbours; of coincident ones the last, whichever it is."""
    other = near != who[:, None]
    other[other.all(axis=1), -1] = False
    return near[other].reshape(len(near), -1)


@compiled
def _means(first, last, pointers, edges, lag, step, probability, mean, weight):
    """Write the probable displacement of some detections' one-frame links, and its weight; steps are of their edges."""
    for i in range(first, last):
        for at in range(pointers[i] - pointers[first], pointers[i + 1] - pointers[first]):
            e = edges[at]
            if lag[e] == 1 and probability[e] >= 1e-3:
                for axis in range(mean.shape[1]):
                    mean[i, axis] += probability[e] * step[at, axis]
                weight[i] += probability[e]
        for axis in range(mean.shape[1]):
            mean[i, axis] /= max(weight[i], 1e-9)


@compiled
def _field(first, last, near, mean, weight, field, support):
    """Write the neighbours' mean displacement around detections, outliers weighing less, and its weight."""
    ndim = mean.shape[1]
    centre, new = np.zeros(ndim), np.zeros(ndim)
    for i in range(first, last):
        if near[i, 0] < 0:
            continue  # no neighbours: zeros that are never written take no memory
        spread = np.inf
        for _ in range(3):
            total, squares, plain = 0.0, 0.0, 0.0
            for axis in range(ndim):
                new[axis] = 0.0
            for k in range(near.shape[1]):
                j = near[i, k]
                if j < 0 or weight[j] < 0.05:
                    continue
                r2 = 0.0
                for axis in range(ndim):
                    away = mean[j, axis] - centre[axis]
                    r2 += away * away
                w = weight[j] * weight[j] / (1.0 + (r2 / spread if spread < np.inf else 0.0))
                total += w
                plain += weight[j]
                squares += w * r2
                for axis in range(ndim):
                    new[axis] += w * mean[j, axis]
            if total <= 0.0:
                break
            for axis in range(ndim):
                centre[axis] = new[axis] / total
            if spread == np.inf:
                squares = 0.0
                for k in range(near.shape[1]):
                    j = near[i, k]
                    if j >= 0 and weight[j] >= 0.05:
                        for axis in range(ndim):
                            away = mean[j, axis] - centre[axis]
                            squares += weight[j] * weight[j] * (away * away)
            spread = max(squares / total, 1e-12)
            support[i] = plain
        for axis in range(ndim):
            field[i, axis] = centre[axis] if support[i] > 0 else 0.0
            centre[axis] = 0.0


@compiled(plain=SMALL)
def _along(tail, head, lag, ahead, ahead_weight, behind, behind_weight, out):
    """Write the flow along edges: that around the tail and that around the head, by what supports them."""
    for e in range(len(head)):
        i, j = tail[e], head[e]
        a, b = ahead_weight[i], behind_weight[j]
        for axis in range(ahead.shape[1]):
            mean = (a * ahead[i, axis] + b * behind[j, axis]) / (a + b + HALF)
            out[e, axis] = lag[e] * mean
