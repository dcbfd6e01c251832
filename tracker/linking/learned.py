"""Linking by likelihood, with motion learned from the movie itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.special import expit

from ..errors import InvalidSetting
from ..points import Points, Tracks, require
from .branching import branches
from .chains import track_ids
from .motion import Motion, motion_of
from .ordered import Ordered, ordered
from .recipe import believed
from .whole_movie import Answer, best_links


@dataclass(frozen=True)
class LearnedLinking:
    """Links of a whole movie, how sure each is, and what was learned on the way.

    Attributes
    ----------
    tracks : Tracks
        The points' table, row order kept, with `track_id`: numbered from 0 in the order of first appearance. Where
        a particle divides or two merge, tracks end and others begin; `parents` has who descends from whom.
    links : DataFrame
        One row a link, in the order of source and target: `source`, `target` (int64, rows of the points table),
        `frames` (int64, from source to target), `length` (physical), `probability` that it is right, `margin` (nats
        that the best linking without it is less likely), `kind`: "link", "gap" (frames missed in between), "division"
        (second link out of its source) or "merge" (second link into its target).
    motion : Motion
        What was learned.
    candidate_links : int
        Links among which the best were found.
    gap : float
        Bound, in nats, by which any other choice of links could be better.
    is_optimal : bool
        Proven that none is.
    solver, device : str
    """

    tracks: Tracks
    links: pd.DataFrame
    motion: Motion
    candidate_links: int
    gap: float
    is_optimal: bool
    solver: str
    device: str

    @property
    def expected_wrong(self) -> float:
        """How many of the links are expected to be wrong, by their probabilities."""
        return float((1 - self.links["probability"]).sum())

    def lines(self, frame_interval: float | None = None, time_unit: str = "s") -> list[str]:
        """Say in a few lines what was learned, and how far the links can be trusted."""
        trust = f"{len(self.links)} links, of which {self.expected_wrong:.1f} are expected to be wrong"
        return [*self.motion.lines(frame_interval, time_unit), trust]


def link_learned(
    points: Points,
    *,
    max_missed_frames: int | Literal["auto"] = "auto",
    divisions: bool = False,
    merges: bool = False,
    solver: str = "auto",
    device: str = "auto",
) -> LearnedLinking:
    """Link the particles of a movie by likelihood, with the motion learned from the movie.

    Parameters
    ----------
    points : Points
    max_missed_frames : int or "auto"
        Frames a particle may be missing inside a track (trackpy: `memory`). "auto": one more as long as the last was
        worth while.
    divisions, merges : bool
        Whether a particle may be followed by two, and two by one.
    solver, device : str
        Of the final assignment; see `auctrack.matching.solve`.

    Returns
    -------
    LearnedLinking

    Raises
    ------
    InvalidInput
        If `points` are none.
    InvalidSetting
        If `max_missed_frames` is neither "auto" nor a whole number of at least 0.
    InvalidProblem, DeviceUnavailable
        If there is no such device, or the solver does not run on it.
    """
    require(Points, points)
    if max_missed_frames != "auto" and not (_is_whole(max_missed_frames) and max_missed_frames >= 0):
        raise InvalidSetting(
            f"max_missed_frames (--max-missed-frames) needs 'auto' or a whole number of at least 0; "
            f"got {max_missed_frames!r}."
        )
    belief = believed(ordered(points), max_missed_frames)
    edges = branches(belief, divisions=divisions, merges=merges)
    answer = best_links(edges.graph, edges.weight, edges.division, edges.merge, solver=solver, device=device)
    links = _table(points, belief.movie, answer)
    return LearnedLinking(
        _tracks(points, links),
        links,
        motion_of(belief, points.calibration.unit),
        len(edges.graph),
        float(np.sum(answer.proof.gap)),
        answer.proof.is_optimal,
        answer.proof.solver,
        answer.proof.device,
    )


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _tracks(points: Points, links: pd.DataFrame) -> Tracks:
    """Return the chains of the links that are the only one of both their ends; all other links make a lineage."""
    source, target = links["source"].to_numpy(), links["target"].to_numpy()
    ways_out, ways_in = (np.bincount(ends, minlength=len(points)) for ends in (source, target))
    follows = (ways_out[source] == 1) & (ways_in[target] == 1)
    ids = track_ids(points.frames, source[follows], target[follows])
    parents: dict[int, list[int]] = {}
    for parent, child in zip(ids[source[~follows]].tolist(), ids[target[~follows]].tolist(), strict=True):
        parents.setdefault(child, []).append(parent)
    return replace(points.with_track_ids(ids), parents=parents)


def _table(points: Points, movie: Ordered, answer: Answer) -> pd.DataFrame:
    """Return the links as a table, ends as rows of the points table."""
    source, target = movie.row[answer.source], movie.row[answer.target]
    frames = points.frames[target] - points.frames[source]
    positions = points.positions
    is_division = answer.is_second & _has_twin(answer.source)
    links = pd.DataFrame(
        {
            "source": source,
            "target": target,
            "frames": frames,
            "length": np.linalg.norm(positions[target] - positions[source], axis=1),
            "probability": expit(answer.margin),
            "margin": answer.margin,
            "kind": np.select(
                [is_division, answer.is_second, frames > points.frame_step], ["division", "merge", "gap"], "link"
            ),
        }
    )
    return links.sort_values(["source", "target"], ignore_index=True)


def _has_twin(ends: np.ndarray) -> np.ndarray:
    """Mark the links that share their end with another, bool (links,)."""
    return np.bincount(ends, minlength=1)[ends] > 1
