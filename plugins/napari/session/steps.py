"""The steps of tracking as work that reports what it has so far: detect, link, or both."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeVar

import pandas as pd

from ....tracker import pipeline
from ....tracker.detecting.labels import on_mask
from ....tracker.detecting.settings import DetectSettings
from ....tracker.editing.reopened import reopened
from ....tracker.errors import InvalidSetting
from ....tracker.linking.result import Linking
from ....tracker.linking.settings import LinkSettings
from ....tracker.linking.solution import KeepSolution
from ....tracker.pipeline import Stage, finding_stage, linking_stage
from ....tracker.points import Points, Tracks
from ....tracker.settings import InputSettings, Settings
from ....tracker.stepwise import finished
from ...words.image_notes import on_image, on_tone
from ...words.setting_options import in_words
from ..layers.layer_input import LayerInput
from ..layers.layer_movie import LayerMovie
from ..threads.stopped import Stopped
from .act_words import Seen, unmakeable_words
from .filters import MeasuredTracks, measured, measured_links
from .suspicious import suspicious_links

Report = Callable[[Any], None]
Made = TypeVar("Made")
_Showing = Callable[[pipeline.Advance, Any], "Particles | MeasuredTracks"]
"""Makes what is shown of an advance, and of the points or tracks that it has."""

_REPORT_SECONDS = 0.05  # between two reports, which show how far it is and ask whether to stop
_SHOW_SECONDS = 1.0  # between two partial results, at least
_SHOW_SHARE = 0.1  # of the time that goes into partial results, at most
_AS_LABELS = "make it a Labels layer: right-click it in the list of layers, then Convert to Labels"
_EDGES = 200_000  # candidate links of one solve: small, so that linking can be stopped and watched


@dataclass(frozen=True)
class Particles:
    """Particles, and the detection settings that took effect (None where nothing was detected).

    Those that were edited by hand are what no command finds.
    """

    points: Points
    settings: DetectSettings | None
    is_edited: bool = False
    notes: tuple[str, ...] = ()
    """What is doubtful about them."""


@dataclass(frozen=True)
class ProgressUpdate:
    """How far a stage is, and what it has found so far (None between two showings)."""

    stage: Stage
    done: int
    total: int
    partial: Particles | MeasuredTracks | None = None


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
    """A session of corrections as it was left; `corrections` are those of `session.corrections`.

    With the settings that its particles were found with, the series of their file, and the frame and position that
    were shown, where it says so.
    """

    linked: Linked
    corrections: Any
    found_with: DetectSettings
    series: int | str | None
    place: tuple[float, ...] | None


@dataclass(frozen=True)
class Tracked:
    """Both steps."""

    detected: Particles
    linked: Linked


def find(source: LayerInput, detect: DetectSettings, link: LinkSettings, report: Report) -> Particles:
    """Return the particles of a layer.

    Parameters
    ----------
    source : LayerInput
    detect : DetectSettings
    link : LinkSettings
        Its device detects too.
    report : callable
        Takes a `ProgressUpdate` every few frames; a `Stopped` that it raises leaves with the points found so far.
    """
    kind = "labels" if source.kind == "labels" else "auto"
    settings = Settings(InputSettings(kind), detect, link)
    finding = finding_stage(source.source, settings, _frames_of(source.intensity))
    found = _watched(finding, report, lambda at, points: Particles(points, at.settings))
    return Particles(found.points, found.settings, notes=tuple(_notes(source, found.settings)))


def _notes(source: LayerInput, found_with: DetectSettings | None) -> list[str]:
    """Return what the command line says of a movie's middle frame, in the words of the panels."""
    movie = _frames_of(source)
    if movie is None:
        return []
    image = movie.frame(movie.frame_numbers[len(movie) // 2])
    if source.kind == "labels":
        return on_mask(image, "the layer")
    of_tone = [] if found_with is None else on_tone(movie, found_with, _quoted)
    return [*on_image(image, "the layer", as_labels=_AS_LABELS, named=in_words), *of_tone]


def _quoted(setting: str) -> str:
    return f"“{in_words(setting)}”"


def chain(points: Points, settings: LinkSettings, report: Report) -> Linked:
    """Return the tracks of particles, proven to be optimal.

    Partial tracks are those of the frames that have been solved; with learned motion, which solves the whole movie at
    once, there are none. `report` takes a `ProgressUpdate`, and a `Stopped` that it raises leaves with the tracks so
    far.
    """
    stage = linking_stage(points, settings, margins=True, edge_budget=_EDGES, keeping=KeepSolution.AT_HAND)
    linking = _watched(stage, report, lambda _, tracks: measured(tracks))
    margins = linking.links["margin"].to_numpy()
    return Linked(linking, measured_links(linking), suspicious_links(linking, margins))


def take_up(tracks: Tracks, settings: LinkSettings, report: Report) -> Linked:
    """Return tracks with the links that they have, proven again around those that linking would not make.

    Raises
    ------
    InvalidInput, InvalidSetting
        As of `reopened`, by tracks and frames in place of rows.
    """
    try:
        linking = reopened(tracks, settings, progress=lambda done, total: report(ProgressUpdate("link", done, total)))
    except InvalidSetting as error:
        of = tracks.table[["track_id", "frame"]].itertuples(index=False, name=None)
        raise InvalidSetting(unmakeable_words(error, [Seen(*seen) for seen in of]), setting=error.setting) from error
    margins = linking.links["margin"].to_numpy()
    doubtful = suspicious_links(linking, margins, held=linking.settings.pinned or ())
    return Linked(linking, measured_links(linking), doubtful, is_given=True)


def find_and_chain(source: LayerInput, detect: DetectSettings, link: LinkSettings, report: Report) -> Tracked:
    """Return particles and tracks of a layer."""
    detected = find(source, detect, link, report)
    report(ProgressUpdate("detect", 1, 1, None if source.kind == "points" else detected))
    return Tracked(detected, chain(detected.points, link, report))


def _frames_of(source: LayerInput | None) -> LayerMovie | None:
    return source.source if source is not None and isinstance(source.source, LayerMovie) else None


def _watched(stage: Generator[pipeline.Advance, None, Made], report: Report, shown: _Showing) -> Made:
    """Do a stage of tracking: report it often enough to be stopped, and now and then what it has found so far."""
    pace, last = _Pace(), -math.inf

    def pass_on(at: pipeline.Advance) -> None:
        nonlocal last
        so_far = pace.paced(lambda: _shown(at, shown))
        if so_far is None and at.done < at.total and time.monotonic() < last + _REPORT_SECONDS:
            return
        last = time.monotonic()
        try:
            report(ProgressUpdate(at.stage, at.done, at.total, so_far))
        except Stopped as stop:
            stop.partial = _shown(at, shown)
            raise

    return finished(stage, pass_on)


def _shown(at: pipeline.Advance, shown: _Showing) -> Particles | MeasuredTracks | None:
    """Return what is shown of an advance."""
    found = at.so_far()
    return None if found is None else shown(at, found)


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
