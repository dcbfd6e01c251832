"""The whole way on one page: read or detect points, link them (`link.py` gates, matches, chains), cut short tracks."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .detecting.detect import detect, resolve_settings
from .detecting.labels import read_points_from_labels
from .detecting.settings import DetectSettings
from .detecting.side_by_side import crew_for
from .errors import InvalidInput, InvalidSetting
from .formats.tables import read_points
from .linking.link import link_points
from .linking.result import Linking
from .measuring.measures import filter_by_length
from .points import Points, Tracks
from .reading.arrays import Array
from .reading.movie import Movie, read_movie
from .settings import InputSettings, Settings
from .stage_seconds import StageSeconds

_LOG = logging.getLogger(__name__)

StageProgress = Callable[[str, int, int], None]
"""Called as progress(stage, done, total); stages are "detect" and "link"."""


@dataclass(frozen=True)
class TrackingResult:
    """What a run gives.

    Attributes
    ----------
    tracks : Tracks
        Tracks of at least `settings.min_length` detections.
    linking : Linking
        All links, the price of unlinked particles and the proof.
    settings : Settings
        As they took effect: numbers in place of everything automatic. Running with them gives the same tracks.
    seconds : StageSeconds
        Where the time went: "read" (pixels, or the table), "detect", "link"; and in its `devices`, on what.
    """

    tracks: Tracks
    linking: Linking
    settings: Settings
    seconds: StageSeconds = field(default_factory=StageSeconds)

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
        File, folder or glob pattern of one movie; a movie that is an array of NumPy, dask or zarr, with its axes and
        voxel size in `settings`; or the path of a point table.
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
    seconds = StageSeconds()
    points, found_with = find_points(source, settings, progress=progress, seconds=seconds)
    _LOG.info("%d points in %d frames, %s", len(points), len(points.frame_numbers), points.calibration)
    with seconds.of("link"):
        linking = link_points(points, settings.link, progress=_stage("link", progress))
    seconds.devices["link"] = linking.report["device"]
    _LOG.info("linked with %s: %s", linking.settings, dict(linking.report))
    tracks = filter_by_length(linking.tracks, settings.min_length)
    effective = replace(settings, detect=found_with or settings.detect, link=linking.settings)
    return TrackingResult(tracks, linking, effective, seconds)


def _check_types(source: object, settings: object) -> None:
    """Refuse what users who link tables in memory try first."""
    if not isinstance(settings, Settings):
        raise InvalidSetting(
            f"settings needs Settings; got {type(settings).__name__}. Settings.from_mapping makes them of a mapping."
        )
    is_path = isinstance(source, (str, Path))
    if not is_path and (settings.input.kind == "table" or not isinstance(source, Array)):
        raise InvalidInput(
            f"source needs an array, or the path of a movie or a point table; got {type(source).__name__}. "
            "Tables in memory are linked by auctrack.link."
        )


def find_points(
    source: str | Path | Array,
    settings: Settings,
    *,
    progress: StageProgress | None = None,
    seconds: StageSeconds | None = None,
) -> tuple[Points, DetectSettings | None]:
    """Return the particles of an input, and the detection settings in force (None where nothing is detected).

    `seconds` is told what reading and detecting took.
    """
    given = settings.input
    seconds = StageSeconds() if seconds is None else seconds
    if isinstance(source, (str, Path)) and given.is_table(source):
        with seconds.of("read"):
            return _read_table(source, given), None
    with seconds.of("read"):
        opened = open_movie(source, given)
    with opened as movie:
        _LOG.info("opened\n%s", movie.describe())
        with seconds.of("detect"):
            found = _found(movie, settings, progress, seconds)
        seconds.told_apart("read", "detect", movie.seconds_reading)
        return found


def _found(
    movie: Movie, settings: Settings, progress: StageProgress | None, seconds: StageSeconds
) -> tuple[Points, DetectSettings | None]:
    if settings.input.kind == "labels":
        return _read_labels(movie, settings.input, progress), None
    device = seconds.devices["detect"] = crew_for(movie.shape, len(movie), None, settings.link.device).device
    effective = resolve_settings(movie, settings.detect, device)
    _LOG.info("detecting on %s with %s", device, effective)
    return detect(movie, effective, progress=_stage("detect", progress), device=device), effective


def open_movie(source: str | Path | Array, given: InputSettings) -> Movie:
    """Open a movie as the input settings say.

    Raises
    ------
    InvalidSetting
        If a frame step or names of columns are given, as for a table.
    """
    if given.columns:
        raise InvalidSetting("columns (--columns) goes with tables; what was given is a movie.")
    if given.frame_step is not None:
        raise InvalidSetting(
            "frame_step (--frame-step) goes with tables; a movie knows its frames. To use every k-th of them give "
            "frames (--frames) ::k."
        )
    return read_movie(
        source,
        axes=given.axes,
        scale=given.scale,
        unit=given.unit,
        frame_interval=given.frame_interval,
        time_unit=given.time_unit,
        channel=given.channel,
        frames=given.frame_slice,
        roi=given.roi_slices,
    )


def _read_table(source: str | Path, given: InputSettings) -> Points:
    """Read a point table and cut it to the frames and the region asked for."""
    points = read_points(
        source,
        columns=given.columns,
        scale=given.scale,
        unit=given.unit,
        frame_interval=given.frame_interval,
        time_unit=given.time_unit,
        frame_step=given.frame_step,
    )
    return points.cut(given.frame_slice, given.roi_slices)


def _read_labels(movie: Movie, given: InputSettings, progress: StageProgress | None) -> Points:
    if given.intensity is None:
        return read_points_from_labels(movie, progress=_stage("detect", progress))
    with open_movie(given.intensity, replace(given, kind="movie", intensity=None)) as intensity:
        return read_points_from_labels(movie, intensity, progress=_stage("detect", progress))


def _stage(name: str, progress: StageProgress | None) -> Callable[[int, int], None]:
    """Return a progress function that logs, and reports under the name of a stage."""

    def advance(done: int, total: int) -> None:
        _LOG.debug("%s: %d of %d", name, done, total)
        if progress is not None:
            progress(name, done, total)

    return advance
