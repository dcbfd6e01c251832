"""Linking: every pair of consecutive frames becomes a matching problem, and its links become tracks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from ...matching.certificate.assignment import Assignment
from ...matching.problem import Problem
from ...matching.solvers import SOLVERS
from ...matching.solving import solve
from ..calibrating.calibration import Calibration
from ..calibrating.lengths import require_length
from ..calibrating.stated import three_sizes
from ..errors import InvalidInput, InvalidSetting
from ..formats.tables import read_points, recognised
from ..points import AXES, Points, Tracks
from ..timeline import Timeline
from .candidates import EDGE_BUDGET, CandidateLinks, Cost, WideGate, frame_pairs, gated_pairs, in_runs
from .chains import track_ids
from .price import UnmatchedCost, measured_unmatched_cost
from .spacing import automatic_range

Progress = Callable[[int, int], None]
Watch = Callable[[CandidateLinks | WideGate, Problem, Assignment], None]


@dataclass(frozen=True)
class LinkSettings:
    """How particles are linked from frame to frame; every length is in the calibration's unit, never squared.

    Parameters
    ----------
    search_range : float or "auto"
        Longest possible link (TrackMate: "linking max distance"; trackpy: `search_range`). "auto": 1.3 times the mean
        distance of nearest neighbours within a frame, beyond which nearly all particles hang together in one cluster.
    unmatched_cost : float or "auto"
        What leaving a particle unlinked costs, as a length: two of them cost as much as one link of twice this
        length, so longer links are never made. "auto" measures it from the displacements (`tracker.linking.price`).
        The range itself is no good price: on simulated movies (persistence 0.9, 5 % missed, 5 % false) a range of 1.8
        spacings links at F1 .961 if it is also the price, and at .983 with the measured one.
    cost : {"squared", "distance"}
        Cost of a link: squared length (Gaussian steps; what trackpy, TrackMate and laptrack minimise) or length (the
        auction-tracking paper). Squared measures better by .0005 to .001 in F1 on simulated movies, clean or noisy.
    max_missed_frames : int
        Frames a particle may be missing inside a track; only 0 for now (gap closing is not there yet).
    solver, device : str
        See `auctrack.matching.solve`.

    Raises
    ------
    InvalidSetting
        If a length is none, the cost or the solver unknown, or gap closing is asked for. The device is looked for when
        links are made.
    """

    search_range: float | Literal["auto"] = "auto"
    unmatched_cost: float | Literal["auto"] = "auto"
    cost: Cost = "squared"
    max_missed_frames: int = 0
    solver: str = "auto"
    device: str = "auto"

    def __post_init__(self) -> None:
        if self.search_range != "auto":
            require_length("search_range (--search-range)", self.search_range)
        if self.unmatched_cost != "auto":
            require_length("unmatched_cost (--unmatched-cost)", self.unmatched_cost)
        if self.cost not in ("squared", "distance"):
            raise InvalidSetting(f"cost needs 'squared' or 'distance'; got {self.cost!r}.")
        if self.solver != "auto" and self.solver not in SOLVERS:
            raise InvalidSetting(f"solver needs 'auto' or one of {', '.join(SOLVERS)}; got {self.solver!r}.")
        if self.max_missed_frames != 0:
            raise InvalidSetting(
                f"max_missed_frames (trackpy: memory) above 0 needs gap closing, which is not there yet; "
                f"got {self.max_missed_frames!r}. Link with 0."
            )


@dataclass(frozen=True)
class Linking:
    """Tracks, the links they are made of, and how sure they are.

    Attributes
    ----------
    tracks : Tracks
        The points' table, row order kept, with `track_id`: numbered from 0 in the order of first appearance. A particle
        without any link is a track of one point.
    links : DataFrame
        One row a link: `source`, `target` (positions of the rows in the table), `distance` (physical).
    settings : LinkSettings
        As they took effect: numbers in place of "auto". Linking with them gives the same tracks.
    unmatched_cost : UnmatchedCost
        The price that was used, and why.
    report : mapping
        `frame_pairs`, `candidate_links`, `links`, `solves`, `gap` (sum over all problems), `is_optimal`, `solver`,
        `device`, `median_step` (physical; None without a link), `frame_step`, `unstated_stride` (the step that all
        frames with points keep to, where no two of them are `frame_step` apart and so none is linked; else None).
    """

    tracks: Tracks
    links: pd.DataFrame
    settings: LinkSettings
    unmatched_cost: UnmatchedCost
    report: Mapping[str, Any] = field(default_factory=dict)


def link_points(
    points: Points,
    settings: LinkSettings,
    *,
    progress: Progress | None = None,
    watch: Watch | None = None,
    edge_budget: int = EDGE_BUDGET,
) -> Linking:
    """Link particles from frame to frame, each frame pair to proven optimality.

    Parameters
    ----------
    points : Points
    settings : LinkSettings
    progress : callable, optional
        Called as progress(frames done, frames in all), frames that follow no other left out.
    watch : callable, optional
        Called after every solve as watch(candidates, problem, answer), in the order of time.
    edge_budget : int
        Points and candidate links held at a time (memory); results do not depend on it.

    Returns
    -------
    Linking

    Raises
    ------
    InvalidProblem, DeviceUnavailable
        If there is no such device, or the solver does not run on it.
    """
    search_range = automatic_range(points) if settings.search_range == "auto" else float(settings.search_range)
    price = _price(points, settings, search_range)
    # A link that costs more than leaving both its ends alone is never made, so it need not be a candidate.
    gated = gated_pairs(points, min(search_range, price.longest))
    n_pairs = int(np.count_nonzero(np.diff(points.frame_numbers) == points.frame_step))
    made = _Links(settings)
    for candidates in in_runs(gated, edge_budget):
        problem = candidates.problem(settings.cost, price.price(settings.cost))
        solver = candidates.solver if settings.solver == "auto" else settings.solver
        answer = solve(problem, solver, settings.device)
        made.add(candidates, problem, answer)
        if watch is not None:
            watch(candidates, problem, answer)
        if progress is not None:
            progress(made.frame_pairs + 1, n_pairs + 1)
    links = made.table()
    ids = track_ids(points.frames, links["source"].to_numpy(), links["target"].to_numpy())
    tracks = points.with_track_ids(ids)
    effective = replace(settings, search_range=search_range, unmatched_cost=price.distance)
    report = made.report(links) | {"frame_step": points.frame_step, "unstated_stride": points.unstated_stride}
    return Linking(tracks, links, effective, price, report)


@dataclass
class _Links:
    """The links of all solves so far, and what is said of them in the end."""

    settings: LinkSettings
    frame_pairs: int = 0
    candidate_links: int = 0
    solves: int = 0
    gap: float = 0.0
    is_optimal: bool = True
    solver: str = ""
    device: str = ""
    columns: dict[str, list[np.ndarray]] = field(default_factory=lambda: {"source": [], "target": [], "distance": []})

    def add(self, candidates: CandidateLinks | WideGate, problem: Problem, answer: Assignment) -> None:
        rows, cols = answer.links()
        lengths = candidates.lengths(problem, answer)
        self.columns["source"].append(candidates.row_points[rows])
        self.columns["target"].append(candidates.col_points[cols])
        self.columns["distance"].append(lengths)
        self.frame_pairs += answer.n_blocks
        self.candidate_links += candidates.n_candidates
        self.solves += 1
        self.gap += float(np.sum(answer.gap))
        self.is_optimal &= answer.is_optimal
        self.solver, self.device = answer.solver, answer.device

    def table(self) -> pd.DataFrame:
        types = {"source": np.int64, "target": np.int64, "distance": np.float64}
        return pd.DataFrame(
            {
                name: np.concatenate(parts, dtype=types[name]) if parts else np.empty(0, types[name])
                for name, parts in self.columns.items()
            }
        )

    def report(self, links: pd.DataFrame) -> dict[str, Any]:
        return {
            "frame_pairs": self.frame_pairs,
            "candidate_links": self.candidate_links,
            "links": len(links),
            "solves": self.solves,
            "gap": self.gap,
            "is_optimal": self.is_optimal,
            "solver": self.solver or self.settings.solver,
            "device": self.device or self.settings.device,
            "median_step": float(links["distance"].median()) if len(links) else None,
        }


def _price(points: Points, settings: LinkSettings, search_range: float) -> UnmatchedCost:
    """Return the price of the lone: as given, measured, or half the range where there is nothing to measure."""
    if settings.unmatched_cost != "auto":
        return UnmatchedCost(float(settings.unmatched_cost), "as given")
    follows = bool((np.diff(points.frame_numbers) == points.frame_step).any())
    price = measured_unmatched_cost(frame_pairs(points, 0.0), search_range, points)
    if price is not None:
        return price
    nothing = "no two particles are within the search range of each other" if follows else "no frame follows another"
    return UnmatchedCost(search_range / 2, f"not measured: {nothing}")


def link(
    points: pd.DataFrame | Points,
    search_range: float | Literal["auto"] = "auto",
    *,
    unmatched_cost: float | Literal["auto"] = "auto",
    cost: Cost = "squared",
    memory: int = 0,
    solver: str = "auto",
    device: str = "auto",
    scale: Sequence[float] | None = None,
    track_column: str = "track_id",
    frame_step: int | None = None,
) -> pd.DataFrame:
    """Link the particles of a table into tracks.

    Parameters
    ----------
    points : DataFrame or Points
        Columns `frame, y, x` (and `z` when 3D), or those of trackpy, laptrack, TrackMate or napari; any further
        column is kept.
    search_range : float or "auto"
        Longest possible link, in the unit of the positions after `scale`.
    unmatched_cost, cost, solver, device
        See `LinkSettings`.
    memory : int
        Frames a particle may be missing (trackpy's word for our `max_missed_frames`); only 0 for now.
    scale : sequence of float, optional
        Size of one coordinate step along z, y, x (or y, x in 2D): give it for positions in voxels that are not cubes.
        Without it distances are in the unit of the table's physical columns (`z_um, y_um, x_um` or another unit of
        length), where it has them, else in its own steps. `Points` carry their scale.
    track_column : str
        Name of the column that is added, or replaced; trackpy users may want "particle".
    frame_step : int, optional
        Difference between the numbers of two consecutive frames of a DataFrame, 1 unless given: 5 for a table of every
        fifth frame. `Points` know theirs.

    Returns
    -------
    DataFrame
        The table with the track's number; row order, index and all other columns kept.

    Raises
    ------
    InvalidInput, InvalidSetting
        If a column or a setting cannot be used.
    InvalidProblem, DeviceUnavailable
        If there is no such device, or the solver does not run on it.

    Examples
    --------
    >>> import pandas as pd, auctrack
    >>> spots = pd.DataFrame({"frame": [0, 0, 1, 1], "y": [0., 9., 9.5, 0.5], "x": [0., 0., 0., 0.]})
    >>> auctrack.link(spots, search_range=3).track_id.tolist()
    [0, 1, 1, 0]
    """
    if not isinstance(track_column, str) or track_column in ("frame", *AXES):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidSetting(
            f"track_column needs a name (text) that is not one of frame, {', '.join(AXES)}; got {track_column!r}."
        )
    settings = LinkSettings(search_range, unmatched_cost, cost, memory, solver, device)
    table = points.table if isinstance(points, Points) else points
    linking = link_points(_stated(points, scale, frame_step), settings)
    if (stride := linking.report["unstated_stride"]) is not None:
        warnings.warn(
            f"no two frames that hold points are {linking.tracks.frame_step} apart, so nothing was linked; all are "
            f"multiples of {stride} apart: frame_step={stride} links them.",
            stacklevel=2,
        )
    ids = linking.tracks.table["track_id"]
    return table.assign(**{track_column: ids.to_numpy()})


def _stated(points: pd.DataFrame | Points, scale: Sequence[float] | None, frame_step: int | None) -> Points:
    """Return the points of a table in units of `scale`, with frames `frame_step` apart."""
    if isinstance(points, Points):
        if scale is not None:
            raise InvalidSetting("scale goes with a DataFrame; Points carry theirs in `calibration`.")
        if frame_step is not None:
            raise InvalidSetting("frame_step goes with a DataFrame; Points carry theirs in `timeline`.")
        return points
    if not isinstance(points, pd.DataFrame):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(
            f"points needs a DataFrame with the columns frame, y, x (and z); got {type(points).__name__}. "
            "Files are read by auctrack.read_points."
        )
    if scale is None:
        return read_points(points, frame_step=frame_step)
    unscaled = Points(recognised(points), timeline=Timeline() if frame_step is None else Timeline(frame_step))
    if np.ndim(scale) != 1:
        raise InvalidSetting(f"scale needs one size for each of {', '.join(unscaled.axes)}; got {scale!r}.")
    return replace(unscaled, calibration=Calibration(three_sizes(scale, unscaled.ndim)))
