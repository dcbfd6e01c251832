"""The particle trackers that others use, given what they need: the search range, and which frames may be missed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....tracker.points import AXES
from .movies import STEPS_IN_RANGE, LinkingInput

# The peers carry no types, and may not be installed.
# pyright: reportMissingImports=false, reportMissingTypeStubs=false

RANGE_GIVEN = f"{STEPS_IN_RANGE:g} mean true steps"
"""In words."""


def trackpy_links(given: LinkingInput) -> np.ndarray:
    """Link by `trackpy.link`; its memory is the number of frames that may be missed."""
    import trackpy

    trackpy.quiet()
    table = given.points.table.reset_index(drop=True)
    linked = trackpy.link(table, search_range=given.search_range, pos_columns=list(AXES), memory=given.missed)
    return _following(linked.sort_index()["particle"].to_numpy(), given)


def laptrack_links(given: LinkingInput) -> np.ndarray:
    """Link by `laptrack.LapTrack`; all its cutoffs are the squared range, of gaps and divisions where there may be any.

    Links are read from the graph that it returns: `predict_dataframe` makes a table of it, in 30 times the time.
    """
    from laptrack import LapTrack

    cutoff = given.search_range**2
    tracker = LapTrack(
        cutoff=cutoff,
        gap_closing_cutoff=cutoff if given.missed else False,
        gap_closing_max_frame_count=1 + given.missed,  # a difference of frames
        splitting_cutoff=cutoff if given.divides else False,
    )
    graph = tracker.predict([given.positions[rows] for rows in given.frames])
    ends = np.array(list(graph.edges()), dtype=np.int64).reshape(-1, 2, 2)  # of each end the frame, and its place there
    first_row = np.cumsum([0, *map(len, given.frames)])
    return np.concatenate(given.frames)[first_row[ends[..., 0]] + ends[..., 1]]


def btrack_links(given: LinkingInput) -> np.ndarray:
    """Link by `btrack.BayesianTracker`, approximate updates, a constant-velocity model, no divisions.

    Its model wants lengths near 1: positions go in as multiples of the mean step.
    """
    import logging

    import btrack

    logging.getLogger("btrack").setLevel(logging.ERROR)
    step, frames, places = given.mean_step, given.points.frames, given.positions / given.mean_step
    objects = [
        btrack.btypes.PyTrackObject.from_dict({"t": int(t), "x": x, "y": y, "z": z})
        for t, z, y, x in zip(frames, *places.T, strict=True)
    ]
    model = _constant_velocity(btrack, given.missed)
    with btrack.BayesianTracker(verbose=False) as tracker:
        tracker.configure({"motion_model": model, "max_search_radius": given.search_range / step})
        tracker.update_method = btrack.constants.BayesianUpdates.APPROXIMATE
        tracker.append(objects)
        tracker.volume = tuple((float(axis.min()), float(axis.max())) for axis in places.T[::-1])
        tracker.track(step_size=10_000)
        chains = [np.asarray([row for row in chain if row >= 0]) for chain in tracker.refs]
    track = np.full(len(frames), -1)
    for number, chain in enumerate(chains):
        track[chain] = number
    is_unlinked = track < 0
    track[is_unlinked] = len(chains) + np.arange(is_unlinked.sum())
    return _following(track, given)


def _constant_velocity(btrack: Any, missed: int) -> Any:
    """Return btrack's motion model of a particle that keeps its velocity but for a part, lengths in mean steps."""
    transition = np.eye(6) + np.eye(6, k=3)
    noise = np.array([[0.25, 0.25, 0.25, 0.5, 0.5, 0.5]])
    return btrack.models.MotionModel(
        name="constant velocity",
        measurements=3,
        states=6,
        A=transition,
        H=np.eye(3, 6),
        P=np.eye(6),
        G=noise,
        R=0.25 * np.eye(3),
        max_lost=max(missed, 1),  # the least with which it links at all
        prob_not_assign=0.001,
    )


LINKERS: dict[str, Callable[[LinkingInput], np.ndarray]] = {
    "trackpy": trackpy_links,
    "laptrack": laptrack_links,
    "btrack": btrack_links,
}


def _following(track: Any, given: LinkingInput) -> np.ndarray:
    """Return the pairs of rows that follow each other in a track, over no more frames than may be missed."""
    frames = given.points.frames
    order = np.lexsort((frames, track))
    pairs = np.column_stack([order[:-1], order[1:]])
    same = track[pairs[:, 0]] == track[pairs[:, 1]]
    return pairs[same & (frames[pairs[:, 1]] - frames[pairs[:, 0]] <= 1 + given.missed)]
