"""First order on a GPU: gate, costs, solves, links and track numbers in its memory; tables come back once."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ....matching.certificate.assignment import Assignment
from ....matching.device import cuda
from ....matching.device.transfer import downloaded
from ....matching.problem import Problem
from ....matching.solving import solve
from ...points import Points
from ...stepwise import Step, Steps
from ..gate.gpu_movie import DeviceMovie, DeviceTable, movie_on_device
from ..gpu_chains import track_ids
from ..settings import LinkSettings
from ..unmatched_cost.measured import UnmatchedCost
from .pair_links import Columns, PairLinks

GPU_PAYS = 200_000
"""Particles from which "auto" links on a GPU where there is one."""
AT_A_TIME = 2**26
"""Particles and candidate links of one solve at most; one frame pair may have as many by itself."""
BYTES_EACH = 48
"""Device memory for each of them: a card with less at hand solves fewer at a time."""


def takes_gpu(points: Sized, settings: LinkSettings) -> bool:
    """Whether frame pairs are linked in the memory of a GPU, as far as settings and size tell."""
    if settings.solver not in ("auto", "auction") or len(points) == 0 or settings.device == "cpu":
        return False
    return settings.device != "auto" or (len(points) >= GPU_PAYS and cuda.is_available())


def link_on_gpu(
    points: Points,
    settings: LinkSettings,
    unmatched_cost: UnmatchedCost,
    longest: float,
    made: PairLinks,
) -> Steps[np.ndarray | None]:
    """Link all frame pairs, each to proven optimality; the same links as frame pair by frame pair on a CPU.

    Parameters
    ----------
    points, settings, unmatched_cost
    longest : float
        Longest candidate link, physical.
    made : PairLinks
        Gets the links, by ascending source.

    Returns
    -------
    int64 (n,) or None
        Track of each particle, as `links.track_ids` numbers them. None, and nothing made, where candidate links are
        too many to lie in memory together, or one grid cannot serve all frames: the host takes these at any range.

    Raises
    ------
    DeviceUnavailable, DeviceMemoryExceeded
    """
    device = "cuda" if settings.device == "auto" else settings.device
    with cuda.using(device) as cp:
        linked = yield from linked_on_device(cp, DeviceTable.of(cp, points), settings, unmatched_cost, longest, made)
        if linked is None:
            return None
        after, ids = downloaded(cp, [linked.after, linked.track_ids(cp)])
        made.add_later(partial(_columns, points, after), linked.length[linked.after >= 0])
        return ids


@dataclass(frozen=True)
class LinkedRows:
    """The links of a table on a GPU, by its rows.

    Attributes
    ----------
    after, before : int32 (n,)
        Row of the table that follows each, and that each follows; -1 where none does.
    length : float64 (n,)
        Of the link to the row after, where there is one.
    table : DeviceTable
    n_frames : int
        From the first to the last.
    """

    after: Any
    before: Any
    length: Any
    table: DeviceTable
    n_frames: int

    def track_ids(self, cp: Any) -> Any:
        """Return the track of each row, int64 (n,), numbered from 0 in the order of frame, then row."""
        return track_ids(cp, self.table.frame, self.before, self.n_frames)


def linked_on_device(
    cp: Any,
    table: DeviceTable,
    settings: LinkSettings,
    unmatched_cost: UnmatchedCost,
    longest: float,
    made: PairLinks,
) -> Steps[LinkedRows | None]:
    """As `link_on_gpu`, of a table that is on the current device; `made` notes the proof, and gets no links."""
    movie = movie_on_device(cp, table, longest)
    if movie is None:
        return None
    counts = movie.counted_pairs(longest)
    indptr = cp.concatenate([cp.zeros(1, np.int64), cp.cumsum(counts, dtype=np.int64)])
    most = at_a_time()
    runs = list(_runs(movie.first_of_frame, cuda.to_host(indptr[cp.asarray(movie.first_of_frame)]), most))
    if max((size for *_, size in runs), default=0) > most:
        return None
    followed = np.diff(movie.first_of_frame) > 0
    n_pairs = int(np.count_nonzero(followed[1:] & followed[:-1]))
    after, before = cp.full((2, len(movie)), -1, np.int32)
    length = cp.empty(len(movie), np.float64)
    for a, b, _ in runs:
        answer, candidates = _solved(movie, indptr, a, b, settings, unmatched_cost, longest, (after, before, length))
        pairs = int(np.count_nonzero(followed[a + 1 : b + 1] & followed[a:b]))
        made.add_solve(answer, pairs, candidates)
        yield Step(made.frame_pairs + 1, n_pairs + 1)
    return LinkedRows(after, before, length, table, movie.n_frames)


def at_a_time() -> int:
    """Return how many particles and candidate links one solve may have, by the memory at hand."""
    return min(AT_A_TIME, cuda.free_bytes() // BYTES_EACH)


def _runs(first_of_frame: np.ndarray, first_pair: np.ndarray, most: int) -> Iterator[tuple[int, int, int]]:
    """Cut a movie into runs of frame pairs, each of at most so many particles and pairs, at least one frame pair.

    Yields (a, b, particles and pairs): pairs of the frames a to b - 1 with the frame after each.
    """
    size = first_pair + first_of_frame
    last, a = len(size) - 2, 0
    while a < last:
        b = max(a + 1, min(int(np.searchsorted(size, size[a] + most, side="right")) - 1, last))
        yield a, b, int(size[b] - size[a])
        a = b


def _solved(
    movie: DeviceMovie,
    indptr: Any,
    a: int,
    b: int,
    settings: LinkSettings,
    unmatched_cost: UnmatchedCost,
    longest: float,
    links: tuple[Any, Any, Any],
) -> tuple[Assignment, int]:
    """Link the frames a to b - 1 with those after each; return the answer and how many candidates there were.

    Rows are the points of these frames and columns those of the frames after, so one problem holds all frame pairs.
    """
    first, at = movie.first_of_frame, slice(int(movie.first_of_frame[a]), int(movie.first_of_frame[b]))
    first_column, n_columns = int(first[a + 1]), int(first[b + 1] - first[a + 1])
    own = indptr[at.start : at.stop + 1]
    indices, costs = movie.pairs(at, first_column, own, longest, settings.cost)
    shape = at.stop - at.start, n_columns
    graph = own - own[0], indices, costs
    problem = Problem.sparse(graph, unmatched_cost=unmatched_cost.in_costs(settings.cost), shape=shape)
    answer = solve(problem, "auction", "cuda")
    movie.lay_links(at, first_column, answer.col_of_row, links)
    return answer, len(indices)


def _columns(points: Points, after: np.ndarray) -> Columns:
    """Return links as columns by ascending source, of what follows each row of the table.

    Lengths are worked out once more: to copy those of the device takes a third of the time of linking.
    """
    source = np.flatnonzero(after >= 0)
    target = after[source].astype(np.int64)
    square = np.zeros(len(source))
    for axis, step in zip(points.axes, points.calibration.scale_for(points.ndim), strict=True):
        at = points.table[axis].to_numpy() * step
        square += (at[source] - at[target]) ** 2
    return source, target, np.sqrt(square), np.full(len(source), np.nan)
