"""Simulated movies as inputs of linkers, and what their links are worth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ....tracker.links import track_ids
from ....tracker.points import Points, Tracks
from ....tracker.scoring.score import score_links
from ....tracker.simulating.simulate import SimulationSettings, simulate
from ..measure.harness import Facts, WrongAnswer

STEPS_IN_RANGE = 2.6
"""The peers' search range in mean steps: hardly any true step of the simulation is longer."""


@dataclass(frozen=True)
class LinkingInput:
    """Detections to be linked, and what those are told who need to know.

    Attributes
    ----------
    points : Points
        The detections, with `true_id`: which particles they are, -1 of none.
    search_range : float
        The range that suits them, in the unit of the positions.
    mean_step : float
        Mean length of a true step, in the same unit.
    missed : int
        Frames that a particle may be missing inside a track.
    divides : bool
        Whether particles divide.
    """

    points: Points
    search_range: float
    mean_step: float
    missed: int = 0
    divides: bool = False

    @cached_property
    def frames(self) -> list[np.ndarray]:
        """Rows of the table by frame, int64."""
        order = np.argsort(self.points.frames, kind="stable")
        cuts = np.flatnonzero(np.diff(self.points.frames[order])) + 1
        return np.split(order, cuts)

    @cached_property
    def positions(self) -> np.ndarray:
        """Positions in the unit of the points, float64 (points, 3)."""
        return self.points.positions


def simulated(
    seed: int, *, range_in_spacings: float | None = None, allowed_missed: int = 0, **settings: Any
) -> LinkingInput:
    """Return a simulated movie; without `range_in_spacings` its range is `STEPS_IN_RANGE` mean steps."""
    made = SimulationSettings(seed=seed, **settings)
    spacings = STEPS_IN_RANGE * made.step if range_in_spacings is None else range_in_spacings
    points = simulate(made).detections
    return LinkingInput(points, spacings * made.mean_spacing_um, made.mean_step_um, allowed_missed)


def checked_links(given: LinkingInput, links: Any) -> Facts:
    """Return how right links are, from the truth.

    Parameters
    ----------
    given : LinkingInput
    links : int array (k, 2)
        Rows of the table, earlier and later end.

    Raises
    ------
    WrongAnswer
        If a detection has two links on one side, or a link does not go to the next frame.
    """
    links = np.asarray(links, dtype=np.int64).reshape(-1, 2)
    for end in links.T:
        if len(np.unique(end)) != len(end):
            raise WrongAnswer("a detection has two links on one side")
    frames = given.points.frames
    if (frames[links[:, 1]] - frames[links[:, 0]] != 1).any():
        raise WrongAnswer("a link does not go from one frame to the next")
    tracks = Tracks(given.points.table.assign(track_id=track_ids(frames, links[:, 0], links[:, 1])))
    agreement = score_links(tracks, given.points).links
    return {"f1": agreement.f1, "precision": agreement.precision, "recall": agreement.recall, "links": len(links)}
