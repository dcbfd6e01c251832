"""The particle trackers that others use, at settings that come closest to ours: one search range, no gaps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .movies import LinkingInput

# The peers carry no types, and may not be installed.
# pyright: reportMissingImports=false, reportMissingTypeStubs=false

AXES = ["z", "y", "x"]


def trackpy_links(given: LinkingInput) -> np.ndarray:
    """Link by `trackpy.link`, memory 0."""
    import trackpy

    trackpy.quiet()
    table = given.points.table.reset_index(drop=True)
    linked = trackpy.link(table, search_range=given.search_range, pos_columns=AXES, memory=0)
    return _successive(linked.sort_index()["particle"].to_numpy(), given.points.frames)


def laptrack_links(given: LinkingInput) -> np.ndarray:
    """Link by `laptrack.LapTrack` without gap closing; its cutoff is the squared range.

    Links are read from the graph that it returns: `predict_dataframe` makes a table of it, in 30 times the time.
    """
    from laptrack import LapTrack

    tracker = LapTrack(cutoff=given.search_range**2, gap_closing_cutoff=False, splitting_cutoff=False)
    graph = tracker.predict([given.positions[rows] for rows in given.frames])
    ends = np.array(list(graph.edges()), dtype=np.int64).reshape(-1, 2, 2)  # of each end the frame, and its place there
    first_row = np.cumsum([0, *map(len, given.frames)])
    return np.concatenate(given.frames)[first_row[ends[..., 0]] + ends[..., 1]]


def btrack_links(given: LinkingInput) -> np.ndarray:
    """Link by `btrack.BayesianTracker`, approximate updates, a constant-velocity model, at most one frame missing.

    Its model wants lengths near 1: positions go in as multiples of the mean step.
    """
    import logging

    import btrack

    logging.getLogger("btrack").setLevel(logging.ERROR)
    step = given.simulation.settings.mean_step_um
    table = given.points.table
    objects = [
        btrack.btypes.PyTrackObject.from_dict({"t": int(t), "x": x, "y": y, "z": z})
        for t, z, y, x in zip(table["frame"], *(table[AXES].to_numpy().T / step), strict=True)
    ]
    with btrack.BayesianTracker(verbose=False) as tracker:
        tracker.configure({"motion_model": _constant_velocity(btrack), "max_search_radius": given.search_range / step})
        tracker.update_method = btrack.constants.BayesianUpdates.APPROXIMATE
        tracker.append(objects)
        tracker.volume = tuple((0.0, float(edge) / step) for edge in given.simulation.settings.box[::-1])
        tracker.track(step_size=10_000)
        chains = [np.asarray([row for row in chain if row >= 0]) for chain in tracker.refs]
    track = np.full(len(table), -1)
    for number, chain in enumerate(chains):
        track[chain] = number
    alone = track < 0
    track[alone] = len(chains) + np.arange(alone.sum())
    return _successive(track, given.points.frames)


def _constant_velocity(btrack: Any) -> Any:
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
        max_lost=1,  # the least with which it links at all
        prob_not_assign=0.001,
    )


LINKERS: dict[str, Callable[[LinkingInput], np.ndarray]] = {
    "trackpy": trackpy_links,
    "laptrack": laptrack_links,
    "btrack": btrack_links,
}


def _successive(track: Any, frames: np.ndarray) -> np.ndarray:
    """Return the pairs of rows that follow each other in a track, one frame apart."""
    order = np.lexsort((frames, track))
    pairs = np.column_stack([order[:-1], order[1:]])
    same = (track[pairs[:, 0]] == track[pairs[:, 1]]) & (frames[pairs[:, 1]] - frames[pairs[:, 0]] == 1)
    return pairs[same]
