"""Candidate links of a whole movie as one sparse graph: rows are detections as tails, columns detections as heads."""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from operator import add
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from .....matching.device import cuda
from .....matching.device.arrays import begins_of
from .....matching.jit.compiled import SMALL, compiled
from .....matching.jit.threads import side_by_side
from .....matching.points.grid import build_grid, build_grids, more_pairs_than, pairs_in_grid, pairs_in_grids
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
AT_ONCE = 1 << 20
"""Pairs of detections of frame pairs that are looked through in one call."""
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
            return begins_of(self.head[by_head], self.n), by_head
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
    is_head = np.ones(len(movie), bool) if heads is None else heads
    sides = [_KeptDetections.of(kept, movie.starts) for kept in (np.isfinite(predicted[:, 0]), is_head)]
    counts = np.zeros(len(movie), np.int64)
    found: list[np.ndarray] = []
    for run in _runs(*movie.pairs_apart(lag), *sides):
        (rows, first), (cols, col_first) = (side.frames(*own) for side, own in zip(sides, run, strict=True))
        if len(rows) and len(cols):
            places = movie.position[cols], predicted[rows]
            is_one = len(first) == 2
            counts[rows], head = _within(*places, radius) if is_one else _within_each(*places, first, col_first, radius)
            found.append(cols[head].astype(np.int32))
    head = np.concatenate([np.empty(0, np.int32), *found])
    return Graph(pointers(counts), head, np.full(len(head), lag, LAG), None, movie.position)


class _KeptDetections(NamedTuple):
    """Detections that are looked for, or may be found: which, and where those of each frame begin among them."""

    which: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, kept: np.ndarray, starts: np.ndarray) -> _KeptDetections:
        return cls(np.flatnonzero(kept), pointers(kept)[starts])

    def frames(self, a: int, b: int) -> tuple[np.ndarray, np.ndarray]:
        """Return those of the frames from `a` on, before `b`, and where each one's begin."""
        return self.which[self.starts[a] : self.starts[b]], self.starts[a : b + 1] - self.starts[a]


def _runs(
    earlier: np.ndarray, later: np.ndarray, tails: _KeptDetections, heads: _KeptDetections
) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield frame pairs that follow each other, up to `AT_ONCE` pairs of detections: (first, before) of both."""
    sizes = np.diff(tails.starts)[earlier] * np.diff(heads.starts)[later]
    follows = (np.diff(earlier) == 1) & (np.diff(later) == 1)
    upto, ends, a = np.cumsum(sizes), [*(np.flatnonzero(~follows) + 1).tolist(), len(earlier)], 0
    for end in ends:
        while a < end:
            b = int(np.searchsorted(upto, upto[a] - sizes[a] + AT_ONCE, side="right"))
            b = min(max(b, a + 1), end)
            yield (int(earlier[a]), int(earlier[b - 1]) + 1), (int(later[a]), int(later[b - 1]) + 1)
            a = b


def _within_each(
    later: np.ndarray, expected: np.ndarray, first: np.ndarray, col_first: np.ndarray, radius: float
) -> tuple[np.ndarray, np.ndarray]:
    """As `_within`, of some pairs of frames, the rows and the columns of which follow each other."""
    grids = build_grids(later, col_first, radius)
    indptr, place, _ = pairs_in_grids(expected, first, grids, radius, AT_ONCE)
    widths, per_pair = np.diff(indptr), np.diff(indptr[first])
    before = np.repeat(col_first[:-1], per_pair)
    head = before + grids.order[before + place]
    _sort_within_rows(indptr, head)
    crowded = np.unique(np.searchsorted(first, np.flatnonzero(widths > MOST), side="right") - 1)
    if len(crowded) == 0:
        return widths, head
    parts = np.split(head, np.cumsum(per_pair)[:-1])
    for s in crowded.tolist():
        rows, cols = (slice(*of[s : s + 2].tolist()) for of in (first, col_first))
        widths[rows], nearest = _nearest_within(later[cols], expected[rows], radius)
        parts[s] = nearest + cols.start
    return widths, np.concatenate(parts)


def _within(later: np.ndarray, expected: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Return how many heads each of some rows of a frame has, and which."""
    grid = build_grid(later, radius)
    if not more_pairs_than(MOST * len(expected), expected, grid, radius):
        indptr, place, _ = pairs_in_grid(expected, grid, radius)
        widths, head = np.diff(indptr), grid.order[place]
        if widths.max() <= MOST:
            _sort_within_rows(indptr, head)
            return widths, head
    return _nearest_within(later, expected, radius)


def _nearest_within(later: np.ndarray, expected: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """As `_within`, of which some rows have more than `MOST`."""
    place = _nearest(_in_turn(expected), _in_turn(later), radius)
    is_near = place < len(later)
    widths, head = is_near.sum(axis=1), place[is_near]
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


def extended(graph: Graph, more: Graph) -> tuple[Graph, np.ndarray]:
    """Return a graph with those edges of another that it lacks, and mark its own among them, bool (edges,)."""
    key, further = (g.tail.astype(np.int64) * g.n + g.head for g in (graph, more))
    at, after = (np.searchsorted(key, further, side) for side in ("left", "right"))
    is_new = at == after
    more, at = more.only(is_new), at[is_new]
    is_own = ~np.zeros(len(graph) + len(more), bool, like=key)
    is_own[at + np.arange(len(more), like=at)] = False

    def both(own: np.ndarray, others: np.ndarray) -> np.ndarray:
        array = np.empty_like(own, shape=(len(is_own), *own.shape[1:]))
        array[is_own], array[~is_own] = own, others
        return array

    head, lag = both(graph.head, more.head), both(graph.lag, more.lag)
    written = None if graph.written is None else both(graph.written, more.step)
    return Graph(graph.indptr + more.indptr, head, lag, written, graph.place), is_own


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


@compiled(plain=SMALL)
def _sort_within_rows(indptr, head):
    # By insertion: rows are short, and numba's own sort takes it a second to compile.
    for i in range(len(indptr) - 1):
        for e in range(indptr[i] + 1, indptr[i + 1]):
            j, at = head[e], e
            while at > indptr[i] and head[at - 1] > j:
                head[at] = head[at - 1]
                at -= 1
            head[at] = j
