"""Candidate links of a whole movie as one sparse graph: rows are detections as tails, columns detections as heads."""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from operator import add
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from .....matching.device import cuda
from .....matching.jit.compiled import compiled
from .....matching.jit.threads import side_by_side
from .....matching.points.grid import build_grid, more_pairs_than, pairs_in_grid
from .....matching.problem.csr import transposed_csr
from ..detections.ordered import Ordered
from . import gpu_graph

PIECE = 1 << 15
"""Detections that a thread takes at a time. Sums are made piece by piece, so that no number of threads changes them."""
MOST = 32
"""Candidates that a detection has over each lag: the nearest to where it is expected.

Of 20 among uniform detections, the most that any start looks for, one in 200 has more. Where a movie is denser than its
spacing says, sweeps would else take as long as these are many, squared.
"""
TIE = 1e-6
"""Spacings by which candidates at one distance differ, the first from the last of their frame."""


LAG = np.int16
"""Type of the lags on the host: tables of models would fill the memory long before they are longer."""


class Piece(NamedTuple):
    """Some detections that follow each other, and the edges out of them.

    Attributes
    ----------
    first, last : int
        Detections from `first` on, before `last`.
    edges : slice
    """

    first: int
    last: int
    edges: slice


@dataclass(frozen=True)
class Graph:
    """Candidate links, sorted by tail and then head.

    Attributes
    ----------
    indptr, head : int64 (n + 1,), int32 (edges,)
        CSR over all detections.
    lag : int16 (edges,), on a GPU int32
        Frames from tail to head: 1 for frames that follow each other.
    written : float64 (edges, d) or None
        Displacements, in spacings; None where they are those between the ends' places.
    place : float64 (n, d) or None
        Where each detection is, where no displacements are written.
    """

    indptr: np.ndarray
    head: np.ndarray
    lag: np.ndarray
    written: np.ndarray | None
    place: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.head)

    @property
    def n(self) -> int:
        """Detections of the movie."""
        return len(self.indptr) - 1

    @property
    def on_gpu(self) -> bool:
        """Whether the edges are in the memory of a GPU."""
        return cuda.is_device_array(self.head)

    @property
    def ndim(self) -> int:
        """Spatial axes."""
        known = self.place if self.written is None else self.written
        assert known is not None
        return known.shape[1]

    @cached_property
    def step(self) -> np.ndarray:
        """Displacement of each edge, in spacings, float64 (edges, d); kept until it is let go."""
        return self.of_pieces(lambda piece: self.steps_at(piece.edges)) if self.written is None else self.written

    def steps_at(self, edges: slice | np.ndarray) -> np.ndarray:
        """Return the displacements of some edges, float64 (k, d)."""
        written = vars(self).get("step", self.written)
        if written is not None:
            return written[edges]
        tail, head = self.tail[edges], self.head[edges]
        out = np.empty((len(head), self.ndim))
        _between(tail, head, self.place, out)
        return out

    @property
    def squares(self) -> np.ndarray:
        """Squared length of each edge's displacement, float64 (edges,)."""
        if self.written is not None:
            return (self.written**2).sum(axis=1)
        parts = side_by_side(lambda piece: (self.steps_at(piece.edges) ** 2).sum(axis=1), self.pieces)
        return np.concatenate(parts)

    def lengths(self, edges: np.ndarray) -> np.ndarray:
        """Return the lengths of some edges' displacements, in spacings, float64 (k,)."""
        return np.sqrt((self.steps_at(edges) ** 2).sum(axis=1))

    def ends(self, edges: slice | np.ndarray = slice(None)) -> tuple[np.ndarray, np.ndarray]:
        """Return tails and heads of edges, int32 (k,) each."""
        return self.tail[edges], self.head[edges]

    def of_pieces(self, made: Callable[[Piece], np.ndarray]) -> np.ndarray:
        """Return what is made of the edges of each piece, float64 (edges, d), as one."""
        out = np.empty((len(self), self.ndim))

        def write(piece: Piece) -> None:
            out[piece.edges] = made(piece)

        side_by_side(write, self.pieces)
        return out

    @cached_property
    def tail(self) -> np.ndarray:
        """Tail of each edge, int32 (edges,)."""
        return np.repeat(np.arange(self.n, dtype=np.int32, like=self.head), np.diff(self.indptr))

    @cached_property
    def incoming(self) -> tuple[np.ndarray, np.ndarray]:
        """The edges by head: (pointers int64 (n + 1,), edges int32 (edges,)), ascending within a head."""
        if self.on_gpu:
            by_head = np.argsort(self.head, kind="stable").astype(np.int32)
            return pointers(np.bincount(self.head, minlength=self.n)), by_head
        in_ptr, _, in_edge = transposed_csr(self.indptr, self.head, np.arange(len(self), dtype=np.int32), self.n)
        return in_ptr, in_edge

    def let_go(self) -> None:
        """Let go of the edges by head and of the steps; they are made again where they are asked for."""
        for made in ("incoming", "step"):
            vars(self).pop(made, None)

    @property
    def ways(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pointers, pointers by head, and edges by head."""
        return self.indptr, *self.incoming

    @cached_property
    def pieces(self) -> list[Piece]:
        """The detections in pieces of `PIECE`, one at least, for work that is done side by side."""
        cuts = [*range(0, self.n, PIECE), self.n] if self.n else [0, 0]
        return [Piece(a, b, slice(*self.indptr[[a, b]].tolist())) for a, b in pairwise(cuts)]

    @property
    def slices(self) -> list[slice]:
        """The edges in slices, for what would take as much as all of them on the way; on a GPU one slice."""
        return [slice(None)] if self.on_gpu else [piece.edges for piece in self.pieces]

    def only(self, keep: np.ndarray) -> Graph:
        """Return the graph of some of its edges, `keep` a mask."""
        indptr = pointers(keep)[self.indptr]
        written = None if self.written is None else self.written[keep]
        return Graph(indptr, self.head[keep], self.lag[keep], written, self.place)


def candidates(
    movie: Ordered, lag: int, radius: float, predicted: np.ndarray, heads: np.ndarray | None = None
) -> Graph:
    """Return the pairs of detections `lag` frames apart of which the later lies within a radius of a prediction.

    Of more than `MOST` within it the nearest are taken.

    Parameters
    ----------
    movie : Ordered
    lag : int
    radius : float
        In spacings.
    predicted : float64 (n, d)
        Where each detection is expected `lag` frames later; NaN where it is not to be looked for.
    heads : bool (n,), optional
        Detections that may be found; all, if not given.
    """
    if movie.grid is not None:
        limits = {"MOST": MOST, "TIE": TIE}
        indptr, head, step = gpu_graph.candidates(movie.grid, lag, radius, predicted, heads, limits)
        return Graph(indptr, head, np.full_like(head, lag), step)
    counts = np.zeros(len(movie), np.int64)
    found: list[np.ndarray] = []
    for f, g in movie.frames_apart(lag):
        rows, cols = (np.arange(*movie.starts[[frame, frame + 1]]) for frame in (f, g))
        rows = rows[np.isfinite(predicted[rows, 0])]
        if heads is not None:
            cols = cols[heads[cols]]
        if len(rows) and len(cols):
            widths, head = _within(movie.position, predicted, rows, cols, radius)
            counts[rows] = widths
            found.append(head)
    head = np.concatenate([np.empty(0, np.int32), *found])
    return Graph(pointers(counts), head, np.full(len(head), lag, LAG), None, movie.position)


def _within(
    position: np.ndarray, predicted: np.ndarray, rows: np.ndarray, cols: np.ndarray, radius: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return how many heads each of some rows of a frame has, and which."""
    expected, later = np.ascontiguousarray(predicted[rows]), position[cols]
    grid = build_grid(later, radius)
    if not more_pairs_than(MOST * len(rows), expected, grid, radius):
        indptr, place, _ = pairs_in_grid(expected, grid, radius)
        widths, head = np.diff(indptr), cols[grid.order[place]].astype(np.int32)
        if widths.max() <= MOST:
            _sort_within_rows(indptr, head)
            return widths, head
    place = _nearest(_in_turn(expected), _in_turn(later), radius)
    is_near = place < len(cols)
    widths, head = is_near.sum(axis=1), cols[place[is_near]].astype(np.int32)
    _sort_within_rows(pointers(widths), head)
    return widths, head


def _in_turn(places: np.ndarray) -> np.ndarray:
    """Return the places with an axis more, along which they are in order: each of many at one place has others near."""
    return np.column_stack([places, np.linspace(0, TIE, len(places))])


def _nearest(expected: np.ndarray, later: np.ndarray, radius: float) -> np.ndarray:
    """Return the places nearest to each expected one within a radius, int64 (n, MOST), `len(later)` for none."""
    tree = cKDTree(later, balanced_tree=False, compact_nodes=False)
    found: Any = tree.query(expected, k=MOST, distance_upper_bound=np.nextafter(radius, np.inf))
    return found[1]


def pointers(counts: np.ndarray) -> np.ndarray:
    """Return where each of some rows begins, and where the last ends, int64 (rows + 1,)."""
    indptr = np.zeros(len(counts) + 1, np.int64, like=counts)
    np.cumsum(counts, out=indptr[1:])
    return indptr


def merged(graphs: Sequence[Graph]) -> Graph:
    """Return the graph with the edges of several, none of them in two, the shortest lag first."""
    if len(graphs) == 1:
        return graphs[0]
    indptr = reduce(add, (g.indptr for g in graphs))
    first, size = graphs[0], int(indptr[-1])
    head, lag = (np.empty_like(each, shape=size) for each in (first.head, first.lag))
    written = None if first.written is None else np.empty((size, first.ndim), like=first.written)
    at = indptr[:-1].copy()
    for g in graphs:
        place = (at - g.indptr[:-1])[g.tail]
        place += np.arange(len(g), like=place)
        head[place], lag[place] = g.head, g.lag
        if written is not None:
            written[place] = g.written
        at += np.diff(g.indptr)
    return Graph(indptr, head, lag, written, first.place)


def sums_at_ends(graph: Graph, into: np.ndarray, out_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return per detection the sum of `into` over the edges into it, and that of `out_of` over those out of it.

    Parameters
    ----------
    graph : Graph
    into, out_of : float64 (edges,)

    Returns
    -------
    float64 (n,), float64 (n,)
    """
    if graph.on_gpu:
        return gpu_graph.sums_at_ends(graph.ways, into, out_of)
    came, went = np.empty((2, graph.n))
    edges = *graph.ways, into, out_of
    side_by_side(lambda piece: _add_up(*piece[:2], *edges, came, went), graph.pieces)
    return came, went


@compiled
def _between(tail, head, place, out):
    """Write the displacements from tails to heads."""
    for e in range(len(head)):
        i, j = np.uint64(tail[e]), np.uint64(head[e])  # unsigned: no look whether they count from the end
        for axis in range(place.shape[1]):
            out[e, axis] = place[j, axis] - place[i, axis]


@compiled
def _add_up(first, last, indptr, in_ptr, in_edge, into, out_of, came, went):
    for i in range(first, last):
        coming, going = 0.0, 0.0
        for at in range(np.uint64(in_ptr[i]), np.uint64(in_ptr[i + 1])):
            coming += into[np.uint64(in_edge[at])]
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            going += out_of[e]
        came[i], went[i] = coming, going


@compiled
def _sort_within_rows(indptr, head):
    # By insertion: rows are short, and numba's own sort takes it a second to compile.
    for i in range(len(indptr) - 1):
        for e in range(indptr[i] + 1, indptr[i + 1]):
            j, at = head[e], e
            while at > indptr[i] and head[at - 1] > j:
                head[at] = head[at - 1]
                at -= 1
            head[at] = j
