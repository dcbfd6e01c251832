"""Linking by likelihood, with motion learned from the movie itself: one assignment for the whole movie."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ....matching.device import cuda
from ....matching.errors import DeviceMemoryExceeded
from ...calibrating.digits import expected
from ...links import MARGIN, PROBABILITY, ends_of, links_between, median_step, tracks_of, with_sureness
from ...points import Points
from ...stepwise import Step, Steps
from ..constraints import Constraints
from ..hooks import hooks_of
from ..motion.detections.ordered import Ordered
from ..motion.learning.belief import Belief
from ..motion.models.features import features_of
from ..motion.motion import Motion
from ..motion.shared_shift.shift_of_all import without_drift
from ..result import Linking
from ..settings import LinkSettings
from ..solution import KeepSolution, LinkSolution, edges_of
from .best_links import Answer
from .gpu_learned import links_on_gpu
from .link_gain import learned_gain
from .movie_links import AS_A_WHOLE, STEPS, Task, links_as_a_whole, links_in_windows, links_within_budget
from .open_graph import in_order
from .sampled_trackings import sampled_trackings
from .seams import MadeLinks, Proven

MANY_WRONG = 0.1
"""Share of the links that must be expected to be wrong before more are said to be, or most of them guesses."""


def learned(
    points: Points,
    movie: Ordered,
    settings: LinkSettings,
    *,
    constraints: Constraints,
    keeping: KeepSolution = KeepSolution.NOTHING,
    samples: int = 0,
) -> Steps[Linking]:
    """Link a whole movie by likelihood; see `link.link_steps`.

    Parameters
    ----------
    points : Points
    movie : Ordered
        The same points.
    settings : LinkSettings
        With learned motion. Above their memory budget the movie is worked through in windows, unless it is editable or
        trackings are sampled; on a GPU where that has no room for it.
    constraints : Constraints
    keeping : KeepSolution
        Whether candidates and duals are kept for corrections.
    samples : int
        Trackings to sample by their likelihood.
    """
    steady, tried = movie, None
    if movie.grid is None and settings.predict is None:
        steady, tried = without_drift(movie, settings.motion)
    task = Task(
        points,
        settings,
        hooks_of(points, settings),
        steady,
        features_of(points, movie, settings.features),
        in_order(constraints, movie),
        keeps=keeping is not KeepSolution.NOTHING or samples > 0,
        tried=tried,
    )
    is_plain = not (constraints or keeping is KeepSolution.ALWAYS or samples or settings.divisions or settings.merges)
    if movie.grid is not None and is_plain:
        yield Step(0, STEPS)
        if (linking := _linked_on_gpu(task)) is not None:
            yield Step(STEPS, STEPS)
            return linking
        found = yield from links_in_windows(task)
    elif keeping is KeepSolution.ALWAYS or samples:
        found = yield from links_as_a_whole(task)
    else:
        found = yield from links_within_budget(task)
    solution = _solution(task, *found.whole[:2]) if found.whole and keeping.takes(found.candidates) else None
    sampled = (yield from sampled_trackings(task, found, samples)) if samples else None
    found = replace(found, whole=None)  # what the links rest on is not held while they are laid out
    links = _table(points, movie, found.links)
    wrong = float((1 - links["probability"]).sum())
    motion = _judged(found.motion, len(links), wrong)
    report = _report(task, motion, found.proofs, len(links), wrong) | {
        "candidate_links": found.candidates,
        "median_step": median_step(links, points.frame_step),
        **found.windows,
    }
    trackings = (None, None) if sampled is None else (sampled.following, sampled.seconds)
    tracks = with_sureness(tracks_of(points, *ends_of(links)), links)
    return Linking(tracks, lambda: links, settings, None, motion, report, solution, *trackings)


def _solution(task: Task, belief: Belief, answer: Answer) -> LinkSolution:
    """Return what corrections start from."""
    movie, settings, n = task.movie, task.settings, len(task.movie)
    edges = edges_of(answer.problem, answer.proof)
    out_dual, into_dual = np.zeros((2, n, 2))
    for duals, stacked in ((out_dual, edges.row_dual), (into_dual, edges.col_dual)):
        for second, part in enumerate(stacked.reshape(-1, n) if n else ()):
            duals[movie.row, second] = part
    return LinkSolution(
        movie.row[edges.row % max(n, 1)],
        movie.row[edges.col % max(n, 1)],
        edges.row >= n,
        edges.col >= n,
        edges.weight,
        edges.made,
        out_dual,
        into_dual,
        settings.divisions,
        settings.merges,
        learned_gain(task.points, movie, belief, settings),
    )


def _linked_on_gpu(task: Task) -> Linking | None:
    """Link a movie in the memory of a GPU; the table of the links is made when it is asked for.

    None where that memory has no room for the candidates of all frames.
    """
    found = None
    with suppress(DeviceMemoryExceeded), cuda.using():
        found = links_on_gpu(task)
    if found is None:
        return None
    points, rows = task.points, found.rows
    motion = _judged(found.motion, found.links, found.expected_wrong)
    report = _report(task, motion, [found.proof], found.links, found.expected_wrong) | {
        "candidate_links": found.candidates,
        "median_step": found.median_step,
        **AS_A_WHOLE,
    }
    tracks = points.with_track_ids(rows.track_id, **{PROBABILITY: rows.probability, MARGIN: rows.margin})
    # Columns of the table, not the arrays: writing into the table makes a copy of its own.
    sure = tracks.table[PROBABILITY], tracks.table[MARGIN]
    links = partial(_table_of_rows, points, rows.after, *sure)
    return Linking(tracks, links, task.settings, None, motion, report)


def _judged(motion: Motion, links: int, wrong: float) -> Motion:
    """Return what was learned, with no doubt of links that are probable: features may tell what steps do not."""
    if wrong >= MANY_WRONG * links:
        return motion
    return replace(motion, is_chance=False, is_unclear=False)


def _report(task: Task, motion: Motion, proofs: list[Proven], links: int, wrong: float) -> dict[str, Any]:
    calibration, step = task.points.calibration, task.points.frame_step
    also = ["one daughter of each division"] * task.settings.divisions + ["one of each merge"] * task.settings.merges
    learned = motion.lines(calibration.frame_interval, calibration.time_unit, step, also)
    number = f"more than {expected(wrong)}" if motion.is_unclear else expected(wrong)
    judged = "most of them guesses" if motion.is_chance else f"of which {number} are expected to be wrong"
    trust = f"{links} link{'s' if links != 1 else ''}, {judged}"
    said = [*learned, trust] if links else ["nothing was learned, as no link was made"]  # but what was assumed before
    return {
        "frame_pairs": len(task.movie.frames_apart(1)),
        "links": links,
        "solves": len(proofs),
        "gap": sum(proof.gap for proof in proofs),
        "is_optimal": all(proof.is_optimal for proof in proofs),
        "solver": proofs[0].solver,
        "device": proofs[0].device,
        "motion": motion.contexts,
        "expected_wrong": wrong,
        "more_are_wrong": motion.is_chance or motion.is_unclear,
        "learned": said,
        "notes": [],
    }


def _table(points: Points, movie: Ordered, made: MadeLinks) -> pd.DataFrame:
    """Return the links as a table in the order of their ends, which are rows of the points table."""
    made = made.only(np.lexsort((movie.row[made.target], movie.row[made.source])))
    is_division = made.is_second & _has_twin(made.source)
    probability = 1 / (1 + np.exp(-made.margin) + made.exchanged)
    ends, seconds = (movie.row[made.source], movie.row[made.target]), (is_division, made.is_second)
    return links_between(points, *ends, probability, made.margin, is_division=seconds[0], is_merge=seconds[1])


def _table_of_rows(points: Points, after: np.ndarray, probability: pd.Series, margin: pd.Series) -> pd.DataFrame:
    """Return the links of a GPU as a table; see `gpu_learned.Rows`."""
    source = np.flatnonzero(after >= 0)
    target = after[source].astype(np.int64)
    sure = probability.to_numpy()[target], margin.to_numpy()[target]
    return links_between(points, source, target, *sure)


def _has_twin(ends: np.ndarray) -> np.ndarray:
    """Mark the links that share their end with another, bool (links,)."""
    return np.bincount(ends, minlength=1)[ends] > 1
