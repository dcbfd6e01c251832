"""The steps of tracking as work that reports what it has so far: detect, link, or both."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np
import pandas as pd

from ....matching.certificate.assignment import Assignment
from ....matching.problem import Problem
from ....tracker.detecting.detect import detect, resolve_settings
from ....tracker.detecting.labels import read_points_from_labels
from ....tracker.detecting.settings import DetectSettings
from ....tracker.detecting.side_by_side import crew_for
from ....tracker.editing.reopened import reopened
from ....tracker.linking.chains import track_ids
from ....tracker.linking.gate.candidates import CandidateLinks, WideGate
from ....tracker.linking.link import link_points
from ....tracker.linking.result import Linking
from ....tracker.linking.settings import LinkSettings
from ....tracker.points import Points, Tracks
from ...cli.notes import on_mask
from ..layers.layer_input import LayerInput
from ..layers.layer_movie import LayerMovie
from ..threads.stopped import Stopped
from .filters import MeasuredTracks, measured, measured_links
from .suspicious import suspicious_links

Report = Callable[[Any], None]
Stage = Literal["detect", "link"]
Made = TypeVar("Made")

_CHUNK_SECONDS = 0.2  # between two looks at whether to stop
_SHOW_SECONDS = 1.0  # between two partial results, at least
_SHOW_SHARE = 0.1  # of the time that goes into partial results, at most
_EDGES = 200_000  # candidate links of one solve: small, so that linking can be stopped and watched


@dataclass(frozen=True)
class Advance:
    """How far a stage is, and what it has found so far (None between two showings)."""

    stage: Stage
    done: int
    total: int
    partial: Points | MeasuredTracks | None = None


@dataclass(frozen=True)
class Detected:
    """Particles, and the detection settings that took effect (None where nothing was detected).

    Those that were edited by hand are what no command finds.
    """

    points: Points
    settings: DetectSettings | None
    is_edited: bool = False
    notes: tuple[str, ...] = ()
    """What is doubtful about them."""


@dataclass(frozen=True)
class Linked:
    """Tracks of all particles, what they measure, and the links worth a look."""

    linking: Linking
    data: MeasuredTracks
    suspicious: pd.DataFrame
    is_given: bool = False
    """Whether the links are those of tracks that were taken up: no command makes them."""


@dataclass(frozen=True)
class TakenUp:
    """A session of corrections as it was left; `corrections` are those of `session.corrections`."""

    linked: Linked
    corrections: Any


@dataclass(frozen=True)
class Tracked:
    """Both steps."""

    detected: Detected
    linked: Linked


def find(source: LayerInput, wanted: DetectSettings, report: Report) -> Detected:
    """Return the particles of a layer.

    Parameters
    ----------
    source : LayerInput
    wanted : DetectSettings
    report : callable
        Takes an `Advance` every few frames; a `Stopped` that it raises leaves with the points found so far.
    """
    if isinstance(source.source, Points):
        return Detected(source.source, None)
    movie = source.source
    if source.kind == "labels":
        points = _frame_by_frame(movie, _Measure(source.intensity), report)
        middle = movie.frame(movie.frame_numbers[len(movie) // 2])
        return Detected(points, None, notes=tuple(on_mask(middle, "the layer")))
    report(Advance("detect", 0, len(movie)))
    whole = movie.only(movie.frame_numbers)
    device = crew_for(whole.shape, len(whole), None, "auto").device
    settings = resolve_settings(whole, wanted, device)
    return Detected(_frame_by_frame(movie, _Detect(settings, device), report), settings)


def chain(points: Points, settings: LinkSettings, report: Report) -> Linked:
    """Return the tracks of particles, proven to be optimal.

    Partial tracks are those of the frames that have been solved; with learned motion, which solves the whole movie at
    once, there are none. `report` takes an `Advance`, and a `Stopped` that it
    raises leaves with the tracks so far.
    """
    watch = _Watch(points, report)
    report(Advance("link", 0, watch.total))
    progress = watch.learning if settings.is_learned else None
    linking = link_points(points, settings, margins=True, progress=progress, watch=watch, edge_budget=_EDGES)
    margins = linking.links["margin"].to_numpy()
    return Linked(linking, measured_links(linking), suspicious_links(linking, margins))


def take_up(tracks: Tracks, settings: LinkSettings, report: Report) -> Linked:
    """Return tracks with the links that they have, proven again around those that linking would not make."""
    total = max(len(tracks.frame_numbers) - 1, 1)
    report(Advance("link", 0, total))
    linking = reopened(tracks, settings, progress=_Watch(tracks, report).learning if settings.is_learned else None)
    margins = linking.links["margin"].to_numpy()
    doubtful = suspicious_links(linking, margins, held=linking.settings.pinned or ())
    return Linked(linking, measured_links(linking), doubtful, is_given=True)


def find_and_chain(source: LayerInput, wanted: DetectSettings, settings: LinkSettings, report: Report) -> Tracked:
    """Return particles and tracks of a layer."""
    detected = find(source, wanted, report)
    report(Advance("detect", 1, 1, None if source.kind == "points" else detected.points))
    return Tracked(detected, chain(detected.points, settings, report))


@dataclass(frozen=True)
class _Detect:
    settings: DetectSettings
    device: str

    def __call__(self, movie: LayerMovie, frames: tuple[int, ...]) -> Points:
        return detect(movie.only(frames), self.settings, device=self.device)


@dataclass(frozen=True)
class _Measure:
    intensity: LayerInput | None

    def __call__(self, labels: LayerMovie, frames: tuple[int, ...]) -> Points:
        under = None if self.intensity is None else self.intensity.source
        seen = under.only(frames) if isinstance(under, LayerMovie) else None
        return read_points_from_labels(labels.only(frames), seen)


def _frame_by_frame(
    movie: LayerMovie, measure: Callable[[LayerMovie, tuple[int, ...]], Points], report: Report
) -> Points:
    """Return the points of all frames; a few frames at a time, so that what was found shows and Cancel is heard."""
    tables: list[pd.DataFrame] = []
    pace = _Pace()
    done = 0
    for chunk in _chunks(movie.frame_numbers):
        tables.append(measure(movie, chunk).table)
        done += len(chunk)
        so_far = pace.paced(partial(_together, tables, movie))
        try:
            report(Advance("detect", done, len(movie), so_far))
        except Stopped as stop:
            stop.partial = _together(tables, movie)
            raise
    return _together(tables, movie)


def _chunks(frames: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield runs of frames, as many as take about `_CHUNK_SECONDS` of the consumer's time."""
    size, start = 2, 0
    while start < len(frames):
        began = time.monotonic()
        yield frames[start : start + size]
        start += size
        seconds = max(time.monotonic() - began, 1e-3)
        size = int(np.clip(size * _CHUNK_SECONDS / seconds, 1, 2 * size))


def _together(tables: list[pd.DataFrame], movie: LayerMovie) -> Points:
    filled = [table for table in tables if len(table)] or tables[:1]
    return Points(pd.concat(filled, ignore_index=True), movie.calibration, timeline=movie.timeline)


class _Watch:
    """Listens to linking: collects links, and reports partial tracks."""

    def __init__(self, points: Points, report: Report) -> None:
        self.points = points
        self.total = max(len(points.frame_numbers) - 1, 1)
        self._report = report
        self._links: list[tuple[np.ndarray, np.ndarray]] = []
        self._done = 0
        self._pace = _Pace()

    def learning(self, done: int, total: int) -> None:
        """Report how much of the motion is learned, in frames: linking knows no others."""
        self._report(Advance("link", done * self.total // total, self.total))

    def __call__(self, candidates: CandidateLinks | WideGate, problem: Problem, answer: Assignment) -> None:
        del problem
        rows, cols = answer.links()
        self._links.append((candidates.row_points[rows], candidates.col_points[cols]))
        self._done += answer.n_blocks
        so_far = self._pace.paced(self._measured)
        try:
            self._report(Advance("link", self._done, self.total, so_far))
        except Stopped as stop:
            stop.partial = self._measured()
            raise

    def _measured(self) -> MeasuredTracks:
        """Return the tracks so far, without the particles that have no link yet."""
        source, target = (np.concatenate(side) for side in zip(*self._links, strict=True))
        ids = track_ids(self.points.frames, source, target)
        linked = np.zeros(len(self.points), dtype=bool)
        linked[source] = linked[target] = True
        tracks = self.points.with_track_ids(ids)
        return measured(replace(tracks, table=tracks.table[linked]))


class _Pace:
    """Makes a partial result now and then: they cost more the more there is, and must not hold up the work."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _SHOW_SECONDS

    def paced(self, make: Callable[[], Made]) -> Made | None:
        """Return a partial result if it is time for one."""
        began = time.monotonic()
        if began < self._next:
            return None
        made = make()
        ended = time.monotonic()
        self._next = ended + max(_SHOW_SECONDS, (ended - began) / _SHOW_SHARE)
        return made
