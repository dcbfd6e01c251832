"""Links of a movie whose motion was learned on a GPU: weights, assignment, margins and tracks in its memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ....matching.device import cuda
from ....matching.device.arrays import count_true, median
from ....matching.device.transfer import downloaded
from ....matching.solving import solve
from ..gpu_chains import track_ids
from ..motion.candidates.matching_problem import matching_problem
from ..motion.detections.ordered import Ordered
from ..motion.motion import Motion, motion_of
from ..motion.recipe import believed
from ..trust.exchanges import exchange_odds
from ..trust.margins import link_margins
from .given_limits import against_unlinked, allowed
from .movie_links import Task
from .seams import Proven


@dataclass(frozen=True)
class LinksByRow:
    """The links of a movie by rows of its table, on the host.

    Attributes
    ----------
    after : int32 (n,)
        Row that follows each, −1 where none does.
    track_id : int64 (n,)
        As `links.track_ids` numbers them.
    probability, margin : float64 (n,)
        Of the link that leads to each row, NaN where none does.
    """

    after: np.ndarray
    track_id: np.ndarray
    probability: np.ndarray
    margin: np.ndarray


@dataclass(frozen=True)
class FoundOnGpu:
    """Links, and what they rest on.

    Attributes
    ----------
    rows : LinksByRow
    motion : Motion
    proof : Proven
    candidates, links : int
    expected_wrong : float
    median_step : float or None
        Of the links over one frame, in the unit of the points.
    """

    rows: LinksByRow
    motion: Motion
    proof: Proven
    candidates: int
    links: int
    expected_wrong: float
    median_step: float | None


def links_on_gpu(task: Task) -> FoundOnGpu:
    """Return the links of a movie that is on the current device, no end twice among them, nothing given."""
    cp, settings, movie, n = cuda.cupy(), task.settings, task.movie, len(task.movie)
    belief = believed(movie, task.max_missed_frames, settings.motion, task.features)
    motion, graph = motion_of(belief, movie, task.points.calibration.unit), belief.graph
    can_be, weight = allowed(graph, task.points, movie, settings), against_unlinked(belief, settings)
    worth = cp.flatnonzero((weight > 0) & can_be)
    problem = matching_problem(graph.tail[worth], graph.head[worth], weight[worth], (n, n))
    answer = solve(problem, settings.solver, settings.device)
    source = cp.flatnonzero(answer.col_of_row >= 0)
    target = answer.col_of_row[source]
    margin = link_margins(problem, answer)
    probability = 1 / (1 + cp.exp(-margin) + exchange_odds(belief, source, target, can_be))
    return FoundOnGpu(
        _rows(cp, movie, source, target, probability, margin),
        motion,
        Proven(float(np.sum(answer.gap)), answer.is_optimal, answer.solver, answer.device),
        count_true(can_be),
        len(source),
        float((1 - probability).sum()),
        _median_step(cp, movie, source, target),
    )


def _rows(cp: Any, movie: Ordered, source: Any, target: Any, probability: Any, margin: Any) -> LinksByRow:
    """Return links of detections by rows of the table."""
    assert movie.grid is not None
    row, n = movie.grid.row, len(movie)
    after, before = cp.full((2, n), -1, np.int32)
    sure = cp.full((2, n), np.nan)
    after[row[source]], before[row[target]] = row[target], row[source]
    sure[0][row[target]], sure[1][row[target]] = probability, margin
    frame = cp.empty(n, np.int64)
    frame[row] = movie.of_each(movie.number)
    ids = track_ids(cp, frame, before, int(movie.number[-1]) + 1)
    return LinksByRow(*downloaded(cp, [after, ids, *sure]))


def _median_step(cp: Any, movie: Ordered, source: Any, target: Any) -> float | None:
    """Return the median length of the links over one frame, drift put back, in the unit of the points."""
    place, number = movie.position + movie.of_each(movie.drift), movie.of_each(movie.number)
    steps = number[target] - number[source] == 1
    length = cp.sqrt(((place[target[steps]] - place[source[steps]]) ** 2).sum(axis=1))
    return movie.spacing * median(length) if len(length) else None
