"""The whole way on one page: read or detect points, link them (`link.py` gates, matches, chains), drop short tracks.

It is a generator of how far each stage is: `track` drains it, the command line shows it, napari takes its stages one by
one. Closing it stops the work.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from .detecting.detect import detect_steps
from .detecting.labels import label_steps, on_mask, on_other_frames
from .detecting.settings import DetectSettings
from .detecting.side_by_side import work_plan
from .errors import InvalidInput, InvalidSetting, UnknownAxes, UnknownChannel
from .formats.tables import read_points, refuse_far_away
from .linking.link import link_steps
from .linking.result import Linking
from .linking.settings import LinkSettings
from .linking.solution import KeepSolution
from .measuring.measures import filter_by_length
from .points import Points, Tracks
from .reading.arrays import Array
from .reading.frames import FrameSource
from .reading.movie import Movie, read_movie
from .settings import InputSettings, Settings
from .stage_seconds import StageSeconds
from .stepwise import Step, Steps, changed, finished, on_device

_LOG = logging.getLogger(__name__)

Stage = Literal["detect", "link"]
StageProgress = Callable[[Stage, int, int], Any]
"""Called as progress(stage, done, total)."""
Result = TypeVar("Result")


@dataclass(frozen=True)
class Advance:
    """How far a stage is, in frames; `so_far` makes the points, or the tracks, that it has found until now.

    `settings` are those with which these points were detected; `device` is where, "" where that is not known.
    """

    stage: Stage
    done: int
    total: int
    so_far: Callable[[], Points | None] = lambda: None
    settings: DetectSettings | None = None
    device: str = ""


@dataclass(frozen=True)
class DetectedPoints:
    """Particles; with which settings and where they were detected, None where nothing was; what is to be said of it."""

    points: Points
    settings: DetectSettings | None = None
    device: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class TrackingResult:
    """What a run gives.

    Attributes
    ----------
    tracks : Tracks
        Tracks of at least `settings.min_length` detections.
    linking : Linking
        All links, the unmatched cost of unlinked particles and the proof.
    settings : Settings
        As they took effect: numbers in place of everything automatic. Running with them gives the same tracks.
    seconds : StageSeconds
        Where the time went: "read" (pixels, or the table), "detect", "link"; and in its `devices`, on what.
    notes : tuple of str
        What is to be said of the movie: another diameter that blobs stand out at, defects of the camera.
    """

    tracks: Tracks
    linking: Linking
    settings: Settings
    seconds: StageSeconds = field(default_factory=StageSeconds)
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return the counts, and where the rest is: the tables themselves would fill the screen."""
        tracks, points = self.tracks.table["track_id"].nunique(), len(self.linking.tracks)
        return (
            f"<TrackingResult with tracks: {tracks}, points: {points}, links: {self.linking.report['links']}; "
            "see .tracks.table, .linking.report, .settings>"
        )


def track(
    source: str | Path | Array,
    settings: Settings | None = None,
    *,
    progress: StageProgress | None = None,
    **fields: Any,
) -> TrackingResult:
    """Follow every particle of a movie, a label movie or a point table.

    Parameters
    ----------
    source : str, Path or array
        File, folder or glob pattern of one movie; a movie that is an array of NumPy, dask, zarr or xarray, with its
        axes and voxel size in `settings`; or the path of a point table.
    settings : Settings, optional
        Without any, everything is measured from the input.
    progress : callable, optional
        Called as progress(stage, frames done, frames in all), stage "detect" or "link".
    **fields
        Single settings in place of those in `settings`, by the names that `InputSettings`, `DetectSettings`,
        `LinkSettings` and `Settings` give them: axes, scale, diameter, threshold, search_range, min_length, ….

    Returns
    -------
    TrackingResult
        `tracks.table`, one row a particle and frame with its `track_id`; the settings that took effect; the proof.

    Raises
    ------
    InvalidInput, UnknownAxes, UnknownScale
        If the input cannot be read, or does not say what it must.
    InvalidSetting
        If a setting does not fit the input, or there is none of that name.
    DeviceUnavailable
        If the device asked for is not there.

    Examples
    --------
    >>> from auctrack import InputSettings, Settings, track, write_tracks
    >>> result = track("movie.ome.tif", diameter=3, search_range=8)  # doctest: +SKIP

    A file that says neither its axes nor its voxel size, or an array:

    >>> result = track("movie.tif", axes="TZYX", scale=(2, 0.5, 0.5), frame_interval=10)  # doctest: +SKIP
    >>> silent = InputSettings(axes="TZYX", scale=(2, 0.5, 0.5), frame_interval=10)
    >>> result = track(array, Settings(silent))  # doctest: +SKIP
    >>> write_tracks(result.tracks, "movie.tracks.csv", settings=result.settings.to_mapping())  # doctest: +SKIP
    """
    settings = settings or Settings()
    _check_types(source, settings)
    settings = settings.replaced(**fields)
    result = finished(stages(source, settings), _passed_on(progress))
    if settings.input.kind == "labels" and result.linking.tracks.table["label"].nunique() == 1:
        _warn_of_a_mask(source, settings.input)
    return result


def stages(source: str | Path | Array, settings: Settings) -> Generator[Advance, None, TrackingResult]:
    """Track as `track` does, stage by stage; closed between two steps, it leaves nothing open."""
    seconds = StageSeconds()
    found = yield from finding(source, settings, seconds)
    _LOG.info(
        "%d points in %d frames, %s", len(found.points), len(found.points.frame_numbers), found.points.calibration
    )
    with seconds.of("link"):
        linking = yield from linking_stage(found.points, settings.link)
    seconds.devices["link"] = linking.report["device"]
    _LOG.info("linked with %s: %s", linking.settings, dict(linking.report))
    tracks = filter_by_length(linking.tracks, settings.min_length)
    effective = replace(settings, detect=found.settings or settings.detect, link=linking.settings)
    return TrackingResult(tracks, linking, effective, seconds, found.notes)


def finding_stage(
    source: Points | FrameSource, settings: Settings, intensity: FrameSource | None = None
) -> Generator[Advance, None, DetectedPoints]:
    """Find the particles of an input that is open.

    Parameters
    ----------
    source : Points or FrameSource
        Points are found already.
    settings : Settings
        `input.kind` says whether frames are labels.
    intensity : FrameSource, optional
        What is measured under labels.
    """
    if isinstance(source, Points):
        return DetectedPoints(source)
    if settings.input.kind == "labels":
        is_mask = isinstance(source, Movie) and source.is_mask
        steps = label_steps(source, intensity, is_mask=is_mask, budget=settings.link.memory_budget)
        return DetectedPoints((yield from _named("detect", steps)), notes=on_other_frames(source, intensity))
    device = work_plan(source.shape, len(source), None, settings.link.device, overlap=0).device
    yield Advance("detect", 0, len(source), device=device)
    steps = detect_steps(source, settings.detect, device=device, budget=settings.link.memory_budget)
    found = yield from _named("detect", on_device(steps, device))
    _LOG.info("detected on %s with %s", device, found.settings)
    for note in found.notes:
        _LOG.info(note)
    return DetectedPoints(found.points, found.settings, device, found.notes)


def linking_stage(
    points: Points,
    settings: LinkSettings,
    *,
    margins: bool = False,
    edge_budget: int | None = None,
    keeping: KeepSolution = KeepSolution.NOTHING,
) -> Generator[Advance, None, Linking]:
    """Link the particles found; progress is counted in frames."""
    frames = max(len(points.frame_numbers), 1)
    yield Advance("link", 0, frames)
    steps = link_steps(points, settings, margins=margins, edge_budget=edge_budget, keeping=keeping)
    return (yield from _named("link", steps, frames))


def _named(stage: Stage, steps: Steps[Result], total: int | None = None) -> Generator[Advance, None, Result]:
    """Do steps under the name of their stage, as if there were `total` of them."""

    def named(step: Step) -> Advance:
        _LOG.debug("%s: %d of %d", stage, step.done, step.total)
        scale = 1 if total is None else total / step.total
        done, of_all = int(step.done * scale), step.total if total is None else total
        return Advance(stage, done, of_all, step.so_far, step.settings, step.device)

    return changed(steps, named)


def _warn_of_a_mask(source: str | Path | Array, given: InputSettings) -> None:
    """Warn where labels of one number are a mask, by their middle frame, as the faces of the program do themselves."""
    with open_movie(source, given) as labels:
        if labels.is_mask:
            return
        name = str(source) if isinstance(source, (str, Path)) else "the array"
        for said in on_mask(labels.frame(labels.frame_numbers[len(labels) // 2]), name):
            warnings.warn(said, stacklevel=3)


def _check_types(source: object, settings: object) -> None:
    """Refuse what users who link tables in memory try first."""
    if not isinstance(settings, Settings):
        sections: dict[type[Any], str] = {InputSettings: "input", DetectSettings: "detect", LinkSettings: "link"}
        section = sections.get(type(settings))
        made = f"Say Settings({section}=…)." if section else "Settings.from_mapping makes them of a mapping."
        raise InvalidSetting(f"settings needs Settings; got {type(settings).__name__}. {made}")
    is_path = isinstance(source, (str, Path))
    if not is_path and (settings.input.kind == "table" or not isinstance(source, Array)):
        frames = isinstance(source, (list, tuple)) and all(isinstance(each, Array) for each in source)
        remedy = "numpy.stack makes one array of frames." if frames else "Tables in memory are linked by auctrack.link."
        raise InvalidInput(
            f"source needs an array, or the path of a movie or a point table; got {type(source).__name__}. {remedy}"
        )


def finding(
    source: str | Path | Array, settings: Settings, seconds: StageSeconds
) -> Generator[Advance, None, DetectedPoints]:
    """Open an input and find its particles; what reading and detecting took is added to `seconds`."""
    with opened_input(source, settings.input, seconds) as (given, under):
        if isinstance(given, Points):
            return DetectedPoints(given)
        _LOG.info("opened\n%s", given.describe())
        with seconds.of("detect"):
            found = yield from finding_stage(given, settings, under)
        seconds.split_off("read", "detect", given.seconds_reading)
        if found.device is not None:
            seconds.devices["detect"] = found.device
        return found


@contextmanager
def opened_input(
    source: str | Path | Array, given: InputSettings, seconds: StageSeconds
) -> Generator[tuple[Points | Movie, Movie | None]]:
    """Open an input: yield the points of a table or a movie, and the movie that is measured under its labels."""
    with ExitStack() as opened:
        with seconds.of("read"):
            if isinstance(source, (str, Path)) and given.is_table(source):
                found = _read_table(source, given)
            else:
                found = opened.enter_context(open_movie(source, given))
        under = None
        if given.intensity is not None:
            under = opened.enter_context(_open_under_labels(given.intensity, given))
        yield found, under


def open_movie(source: str | Path | Array, given: InputSettings) -> Movie:
    """Open a movie as the input settings say.

    Raises
    ------
    InvalidSetting
        If a frame step or names of columns are given, as for a table.
    """
    if given.columns:
        raise InvalidSetting("applies to tables only; the input is a movie.", setting="columns")
    if given.frame_step is not None:
        raise InvalidSetting(
            "applies to tables only; a movie knows its frames, of which every k-th can be taken.",
            in_python="Set frames='::k', or leave this out.",
            setting="frame_step",
            wanted=("frames", "::k"),
        )
    return read_movie(
        source,
        axes=given.axes,
        scale=given.scale,
        unit=given.unit,
        frame_interval=given.frame_interval,
        time_unit=given.time_unit,
        channel=given.channel,
        series=given.series,
        frames=given.frame_slice,
        roi=given.roi_slices,
    )


def _open_under_labels(path: str, given: InputSettings) -> Movie:
    """Open the movie that is measured under labels: by their axes, or its own where it has others, such as channels."""
    channel = given.channel if given.intensity_channel is None else given.intensity_channel
    own = replace(given, kind="movie", intensity=None, intensity_channel=None, channel=channel)
    try:
        return open_movie(path, own)
    except UnknownAxes:
        if given.axes is None:
            raise
    except UnknownChannel as error:
        remedy = error.in_python.replace("channel=", "intensity_channel=")
        raise InvalidInput(
            error.problem, in_python=remedy, setting="intensity_channel", examples=error.examples
        ) from None
    except InvalidSetting as error:
        if error.setting != "channel":
            raise
        raise InvalidSetting(error.problem, setting="intensity_channel") from None
    return _open_under_labels(path, replace(given, axes=None))


def _read_table(source: str | Path, given: InputSettings) -> Points:
    """Read a point table and cut it to the frames and the region asked for."""
    points = read_points(source, **given.of_table).cut(given.frame_slice, given.roi_slices)
    refuse_far_away(points, source, given.columns)
    return points


def _passed_on(progress: StageProgress | None) -> Callable[[Advance], Any] | None:
    """Return what takes an advance and passes its numbers on."""
    return None if progress is None else lambda at: progress(at.stage, at.done, at.total)
