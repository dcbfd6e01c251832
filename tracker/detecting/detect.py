"""Detection of bright blobs, frame after frame: response, threshold, peaks, measures."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Never, TypeAlias

import numpy as np
import pandas as pd

from ...matching.device import cuda
from ...matching.device.transfer import fetched
from ..calibrating.digits import in_unit
from ..errors import InvalidSetting
from ..points import AXES, Points
from ..reading.arrays import Array
from ..reading.frames import FrameSource
from ..stepwise import Progress, Step, Steps, counted, finished
from ..unknown_settings import required_settings
from .around import Around, Sight, look_on_gpu, seen_around
from .blobs import blob_response, reach_of, sigma_of
from .borders import refine_at_borders
from .defects import Mended, without_defects
from .diameter import SUGGESTING_FRAMES, suggest_diameter
from .gpu_peaks import Bounds
from .peaks import apart, can_be_listed, listed_maxima, local_maxima, refine
from .pixels import Pixels, background_of, grey_levels, held_by, pinned_memory, queue_of, working_on
from .settings import DetectSettings
from .side_by_side import DEFAULT_BUDGET, IncomingFrames, WorkPlan, work_plan
from .source import opened
from .threshold import SAMPLED_FRAMES, spread_frames, suggest_threshold
from .tiles import Tile, tiles_of

_MEASURES = "quality", "intensity", "snr"
_VOXELS_A_PARTICLE = 256  # or more, where there is room for all of a frame
_TILES_AT_ONCE = 2  # on a GPU: one is copied there while another is filtered
_SMALLEST_DIAMETER = 2.0  # in voxels of y and x; a smaller spot is not sampled


@dataclass(frozen=True)
class Detected:
    """What detection gives: the particles, the settings in force, and what is to be said of the movie."""

    points: Points
    settings: DetectSettings
    notes: tuple[str, ...] = ()


FrameColumns: TypeAlias = tuple[int, dict[str, np.ndarray]]
"""A frame's number, and the columns of what was found in it."""
_Seen: TypeAlias = tuple[np.ndarray, np.ndarray, Around]
"""Peaks, ascending places in an image, which of them have a value in it, and what is seen around them."""
_OfTile: TypeAlias = tuple[Tile, np.ndarray, np.ndarray]
"""A tile, its peaks in any order, those that are not its own too, as places in it, and columns of what is around."""


def detect(
    movie: FrameSource | str | Path | Array,
    settings: DetectSettings | None = None,
    *,
    axes: str | None = None,
    scale: Sequence[float] | None = None,
    unit: str | None = None,
    frame_interval: float | None = None,
    time_unit: str | None = None,
    channel: int | str | None = None,
    series: int | str | None = None,
    frames: slice | str | None = None,
    roi: tuple[slice, ...] | str | None = None,
    progress: Progress | None = None,
    workers: int | None = None,
    device: str = "auto",
    memory_budget_gb: float = DEFAULT_BUDGET / 1e9,
    **misplaced: Never,
) -> Points:
    """Find the blobs of every frame of a movie.

    Frames are worked on in threads, for a GPU read and copied there ahead by others; the result does not depend on
    `workers`, nor on the memory budget. Of each frame there are at most three float32 copies at a time. Where the
    budget has no room for as many frames as there are workers, several workers share a frame; a frame that is too large
    for it, or for the GPU, is filtered in tiles, one of which goes to the GPU while another is filtered there.

    Parameters
    ----------
    movie : Movie, str, Path or array
        2D or 3D; its calibration gives the voxel size. What is not opened is by `read_movie`: a file, folder or glob
        pattern, or an array of NumPy, dask, zarr or xarray. Voxels without a value (NaN, inf, or too large to be one:
        1e18 and more) count as background, and nothing is detected on them.
    settings : DetectSettings, optional
        Without any, all is measured from the movie.
    axes, scale, unit, frame_interval, time_unit, channel, series, frames, roi : optional
        What a file or an array does not say, and the part of it that is wanted, as `read_movie` takes them.
    progress : callable, optional
        Called in this thread as progress(frames done, frames in all). An exception raised in it stops the work.
    workers : int, optional
        Threads. None: one for each processor that this process may use.
    device : {"cpu", "cuda", "cuda:N", "auto"}
        Where frames are filtered. "auto": on the current GPU, if there is one that holds a frame, or tiles half of
        which are their own, and the movie has 2**27 voxels or more. A GPU finds what a CPU does but for rounding in
        float32.
    memory_budget_gb : float
        Memory of the host, in GB, that filtering may take beside the frame at hand. Automatic settings look at whole
        frames, one at a time at least, whatever it is.
    **misplaced
        None: settings come in `DetectSettings`, which the message says where one is given by itself.

    Returns
    -------
    Points
        Sorted by frame, then z, y, x; an index from 0. Columns: `frame`; `z` (3D only), `y`, `x`, in voxels of the
        whole file; `quality`, the filter's response at the peak; `intensity`, the mean grey level within half a
        diameter; `snr`, that mean minus the mean of the shell around it (1 to 1.5 radii), over the shell's
        standard deviation (0 where the shell is empty or constant). Frames without detections have no rows. What the
        automatic settings stand for says `resolve_settings(movie, settings)`.

    Raises
    ------
    InvalidSetting
        If the diameter is below two voxels of y or x, or larger than the frame; if `settings` are none, or one is given
        beside them; if something is said of the axes and the like of a movie that was opened.
    InvalidInput
        If the diameter is automatic and nothing in the movie suggests one; where a movie is opened, as `read_movie`.
    DeviceUnavailable, DeviceMemoryExceeded
        If the GPU asked for is not there, or does not hold as many planes as a filter reaches over.

    Notes
    -----
    An even border around the image (zeros of stitching or registration) is no part of it: see `padding.content`. What a
    camera does to a pixel, row or column alike in every frame is filled in from its neighbours: see `defects`.

    Positions come from a parabola per axis through the response's peak, next to the frame's borders from the image
    itself (`borders.refine_at_borders`); on Gaussian spots 33 times as high as the noise their mean error per axis
    stays below 0.1 voxel (tests/tracker/detecting/test_detect.py).
    """
    settings = required_settings(DetectSettings, settings, misplaced, detect, such_as="diameter")
    said = {"axes": axes, "scale": scale, "unit": unit, "frame_interval": frame_interval, "time_unit": time_unit}
    said |= {"channel": channel, "series": series, "frames": frames, "roi": roi}
    with opened(movie, said) as source:
        steps = detect_steps(source, settings, workers=workers, device=device, budget=1e9 * memory_budget_gb)
        return finished(steps, counted(progress)).points


def detect_steps(
    movie: FrameSource,
    settings: DetectSettings,
    *,
    workers: int | None = None,
    device: str = "auto",
    budget: float = DEFAULT_BUDGET,
) -> Steps[Detected]:
    """Detect as `detect` does, frame by frame, and return the settings in force too; the budget in bytes.

    Frames are on their way to a GPU while what is automatic is measured.
    """
    frames = movie.frame_numbers
    plan = work_plan(movie.shape, len(frames), workers, device, budget=budget, overlap=0)
    movie = Mended(movie, kept_in=pinned_memory(plan.device) if plan.is_fed else None)
    with ExitStack() as held:
        incoming = (
            held.enter_context(IncomingFrames(movie, frames, plan, _measured(frames, settings)))
            if plan.is_fed
            else None
        )
        movie.look()  # at once: the frames that are being read wait for it
        resolved, hint = _resolved(movie, settings, plan.device, incoming, budget)
        if incoming is None:
            overlap = _overlap(resolved, movie.calibration.scale_for(movie.ndim))
            plan = work_plan(movie.shape, len(frames), workers, device, budget=budget, overlap=overlap)
            incoming = held.enter_context(IncomingFrames(movie, frames, plan))
        points = yield from _found(movie, resolved, incoming)
        return Detected(points, resolved, (*movie.notes, *hint))


def _measured(frames: tuple[int, ...], settings: DetectSettings) -> list[int]:
    """Return the frames that `resolve_settings` looks at, in the order in which it does."""
    for_diameter = spread_frames(frames, SUGGESTING_FRAMES) if settings.diameter == "auto" else ()
    for_threshold = spread_frames(frames, SAMPLED_FRAMES) if settings.threshold is None else ()
    return list(dict.fromkeys((*for_diameter, *for_threshold)))


def _found(movie: FrameSource, settings: DetectSettings, incoming: IncomingFrames) -> Steps[Points]:
    """Find the particles of frames as they come."""
    how = settings, movie.calibration.scale_for(movie.ndim), incoming.plan
    found, total = list[FrameColumns](), len(movie.frame_numbers)
    if incoming.plan.device != "cpu":
        frames = incoming.queued(lambda frame: _columns_ahead(frame, *how))
    else:
        frames = incoming.worked(lambda frame: _columns(frame, *how))
    for each in frames:
        found.append(each)
        yield Step(len(found), total, partial(_points_of, movie, found), settings)
    return _points_of(movie, found)


def _points_of(movie: FrameSource, found: list[FrameColumns]) -> Points:
    """Return what was found in some frames as points of the whole file."""
    axes, filled = list(AXES[3 - movie.ndim :]), [each for each in found if len(each[1]["quality"])]
    if not filled:
        return Points(_empty_table(["frame", *axes, *_MEASURES]), movie.calibration, timeline=movie.timeline)
    numbers, columns = zip(*filled, strict=True)
    table = {"frame": np.repeat(np.array(numbers, np.int64), [len(each["quality"]) for each in columns])}
    table |= {name: np.concatenate([each[name] for each in columns]) for name in (*axes, *_MEASURES)}
    for axis, offset in zip(axes, movie.origin, strict=True):
        table[axis] += offset
    return Points(pd.DataFrame(table, copy=False), movie.calibration, timeline=movie.timeline)


def resolve_settings(
    movie: FrameSource,
    settings: DetectSettings,
    device: str = "auto",
    budget: float = DEFAULT_BUDGET,
) -> DetectSettings:
    """Return the settings in force for a movie: checked against its frames, what is automatic filled in.

    `device`, as in `detect`, is where this is measured. The budget, in bytes, decides how many frames are looked at
    together, never what is found.

    Raises
    ------
    InvalidSetting
        As `detect`.
    InvalidInput
        If the diameter is automatic and nothing in the movie suggests one.
    """
    return _resolved(without_defects(movie), settings, device, None, budget)[0]


def _resolved(
    movie: FrameSource, settings: DetectSettings, device: str, incoming: IncomingFrames | None, budget: float
) -> tuple[DetectSettings, list[str]]:
    """Return the settings in force, and what is to be said of them."""
    hint: list[str] = []
    if settings.diameter == "auto":
        suggested = suggest_diameter(
            movie, bright_on_dark=settings.bright_on_dark, device=device, incoming=incoming, budget=budget
        )
        settings, hint = replace(settings, diameter=suggested.diameter), suggested.hints
    scale = movie.calibration.scale_for(movie.ndim)
    check_diameter(settings.known_diameter, movie.shape, scale, movie.calibration.unit)
    if settings.threshold is None:
        divided = suggest_threshold(movie, settings, device, incoming, budget)
        settings, hint = replace(settings, threshold=divided.threshold), [*hint, *filter(None, [divided.hint])]
    return settings, hint


def detect_frame(
    image: np.ndarray, settings: DetectSettings, scale: np.ndarray, *, threads: int = 1, device: str = "cpu"
) -> pd.DataFrame:
    """Find the blobs of one image; the live preview of a frame.

    Parameters
    ----------
    image : ndarray (z, y, x) or (y, x), any real dtype
    settings : DetectSettings
        `diameter` and `threshold` must be numbers here (`resolve_settings`, or `threshold.suggest_threshold`).
    scale : ndarray, float64 (ndim,)
        Voxel size in the unit of the diameter.
    threads : int
        That filter the image; the result is the same for any number.
    device : {"cpu", "cuda", "cuda:N"}
        Where the image is filtered.

    Returns
    -------
    DataFrame
        Columns as in `detect` without `frame`, in raster order; positions in voxels of `image`.

    Raises
    ------
    InvalidSetting
        If diameter or threshold is automatic, or the diameter does not fit the image.
    """
    check_diameter(settings.known_diameter, image.shape, scale, "units")
    return pd.DataFrame(_columns(Pixels.of(image), settings, scale, WorkPlan(1, threads, device)))


def _columns(frame: Pixels, settings: DetectSettings, scale: np.ndarray, plan: WorkPlan) -> dict[str, np.ndarray]:
    """Return the columns of the table of `detect_frame`: a table for each frame takes longer than what stands in it."""
    return _columns_of(frame, *_peaks_of(frame.pixels, settings, scale, plan), settings, scale)


def _columns_of(
    frame: Pixels, places: np.ndarray, seen: Around, settings: DetectSettings, scale: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the columns of peaks, ascending places in the pixels of a frame."""
    positions = positions_of(places, seen, frame.pixels.shape, settings, scale)
    positions += [part.start for part in frame.inside]
    axes = AXES[3 - len(frame.inside) :]
    return dict(zip(axes, positions.T.copy(), strict=True)) | measures_of(seen, settings)


def _columns_ahead(
    frame: Pixels, settings: DetectSettings, scale: np.ndarray, plan: WorkPlan
) -> Callable[[], Callable[[], dict[str, np.ndarray]]]:
    """Begin with a frame on a GPU, and return what waits for it and returns what makes `_columns` of it.

    A frame is one tile there, or several, of which one is copied while the one before it is filtered. `_columns` does
    it where not all can be queued: voxels without a value, more peaks than there is room for.
    """
    plainly = partial(_columns, frame, settings, scale, plan)
    tiles = tiles_of(len(frame.pixels), plan.planes, _overlap(settings, scale))
    waiting, found = deque[Callable[[], _OfTile | None]](), list[_OfTile | None]()
    if can_be_listed(settings.least_separation, scale):
        for tile in tiles:
            if len(waiting) == _TILES_AT_ONCE:
                found.append(waiting.popleft()())
            waiting.append(_tile_ahead(tile, frame.pixels, settings, scale, plan, is_whole=len(tiles) == 1))

    def finish() -> Callable[[], dict[str, np.ndarray]]:
        found.extend(wait() for wait in waiting)
        parts = [part for part in found if part is not None]
        if len(parts) == len(tiles):
            return partial(_columns_in_order, frame, parts, settings, scale)
        if len(tiles) == 1:
            return plainly
        columns = plainly()  # here, where nothing else is begun: a tile fills the GPU
        return lambda: columns

    return finish


def _tile_ahead(
    tile: Tile, image: np.ndarray, settings: DetectSettings, scale: np.ndarray, plan: WorkPlan, *, is_whole: bool
) -> Callable[[], _OfTile | None]:
    """Begin with a tile on a GPU, and return what waits for it; of one that cannot be queued that returns None."""
    pixels = Pixels(image[tile.held], ()).brought_to(plan.device).pixels
    with queue_of(plan.device) as wait:
        grey, known = grey_levels(pixels)
        if known is not None:
            return lambda: None
        bright = grey if settings.bright_on_dark else -grey
        response = blob_response(bright, settings.known_diameter, scale, settings.method)
        room = Bounds.of(response.size, _VOXELS_A_PARTICLE)
        separation = settings.least_separation if is_whole else 0.0
        peaks = listed_maxima(response, settings.known_threshold, separation, scale, room)
        sight = Sight.of(settings.known_diameter, tuple(scale.tolist()))
        seen = look_on_gpu(response, bright, peaks.places, peaks.counts[1:], sight)
    held = [pixels]  # until the GPU is done with them

    def finish() -> _OfTile | None:
        wait()
        held.clear()
        with working_on(plan.device):
            count, more = peaks.outcome(peaks.counts.get())
            if more is not None:
                return None
            places, around = (fetched(cuda.cupy(), table[:count]) for table in (peaks.places, seen))
        return tile, places, around

    return finish


def _columns_in_order(
    frame: Pixels, found: list[_OfTile], settings: DetectSettings, scale: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the columns of peaks that come in any order within a tile, by what is seen around them."""
    plane, parts = math.prod(frame.pixels.shape[1:]), list[_Seen]()
    for tile, places, around in found:
        order = np.argsort(places)
        order = order[_is_own(tile, places[order], plane)]
        own, held = places[order], frame.pixels[tile.held].shape
        kept, seen = np.ones(len(order), bool), Around.of_tables([(around, order)], own, held)
        parts.append((own + tile.held.start * plane, kept, seen))
    return _columns_of(frame, *_joined(parts, frame.pixels.shape, settings, scale), settings, scale)


def positions_of(
    places: np.ndarray, seen: Around, shape: tuple[int, ...], settings: DetectSettings, scale: np.ndarray
) -> np.ndarray:
    """Return where peaks are between the voxels, float64 (n, ndim), by their places in the image flattened."""
    voxels = np.stack(np.unravel_index(places, shape), axis=1)
    inner = refine(voxels, shape, seen)
    return refine_at_borders(inner, voxels, shape, seen, sigma_of(settings.known_diameter, scale))


def measures_of(seen: Around, settings: DetectSettings) -> dict[str, np.ndarray]:
    """Return the measures of a table of detections."""
    contrast = seen.inside - seen.around
    return {
        "quality": seen.height,
        "intensity": seen.inside if settings.bright_on_dark else 0.0 - seen.inside,  # and never -0
        "snr": np.divide(contrast, seen.spread, out=np.zeros_like(contrast), where=seen.spread > 0),
    }


def _peaks_of(
    image: np.ndarray, settings: DetectSettings, scale: np.ndarray, plan: WorkPlan
) -> tuple[np.ndarray, Around]:
    """Return the peaks of an image, ascending places in it flattened, and what is seen around them."""
    tiles = tiles_of(len(image), plan.planes, _overlap(settings, scale))
    background = cache(partial(background_of, image))
    parts = [_seen_in(tile, image, background, settings, scale, plan, is_whole=len(tiles) == 1) for tile in tiles]
    return _joined(parts, image.shape, settings, scale)


def _joined(
    parts: Sequence[_Seen], shape: tuple[int, ...], settings: DetectSettings, scale: np.ndarray
) -> tuple[np.ndarray, Around]:
    """Return the peaks of an image from those of its tiles, as `_seen_in` returns them."""
    places = np.concatenate([places for places, _, _ in parts])
    kept = np.concatenate([known for _, known, _ in parts])
    seen = Around.joined([seen for _, _, seen in parts])
    if len(parts) > 1:  # which of two peaks stays may be said by one of another tile
        voxels = np.stack(np.unravel_index(places, shape), axis=1)
        kept &= apart(voxels * scale, seen.height, settings.least_separation)
    return (places, seen) if kept.all() else (places[kept], seen.of(kept))


def _is_own(tile: Tile, places: np.ndarray, plane: int) -> np.ndarray:
    """Mark the places of a tile that are its own."""
    return (places >= tile.own.start * plane) & (places < tile.own.stop * plane)


def _overlap(settings: DetectSettings, scale: np.ndarray) -> int:
    """Return the planes on each side that peaks, and what is seen around them, depend on."""
    return 1 + reach_of(settings.known_diameter, scale, settings.method)[0]


def _seen_in(
    tile: Tile,
    image: np.ndarray,
    background: Callable[[], float],
    settings: DetectSettings,
    scale: np.ndarray,
    plan: WorkPlan,
    *,
    is_whole: bool,
) -> _Seen:
    """Return a tile's own peaks as places in the image, which of them have a value in it, and what is seen around them.

    Those of a whole image are well apart.
    """
    plane = math.prod(image.shape[1:])
    with held_by(plan.device, image[tile.held]) as pixels:
        grey, known = grey_levels(pixels, background)
        bright = grey if settings.bright_on_dark else -grey
        del grey
        response = blob_response(bright, settings.known_diameter, scale, settings.method, plan.threads)
        separation = settings.least_separation if is_whole else 0.0
        places = local_maxima(response, settings.known_threshold, separation, scale)
        if not is_whole:
            places = places[_is_own(tile, places, plane)]
        seen = seen_around(response, bright, places, Sight.of(settings.known_diameter, tuple(scale.tolist())))
        of_image = np.ones(len(places), bool) if known is None else cuda.to_host(known.reshape(-1)[places])
        return cuda.to_host(places) + tile.held.start * plane, of_image, seen


def check_diameter(diameter: float, shape: tuple[int, ...], scale: np.ndarray, unit: str) -> None:
    """Raise InvalidSetting unless two voxels of y and x fit into the diameter, and the diameter into the frame."""
    rows, columns = scale[-2:]
    smallest = _SMALLEST_DIAMETER * max(rows, columns)
    if diameter < smallest:
        raise InvalidSetting(
            f"needs at least {_SMALLEST_DIAMETER:g} voxels along y and x, here {in_unit(unit, smallest)}; got "
            f"{in_unit(unit, diameter)}. Give it in the unit of the voxel size, or check the voxel size.",
            setting="diameter",
        )
    largest = min(shape[-2] * rows, shape[-1] * columns)
    if diameter > largest:
        raise InvalidSetting(
            f"needs to fit into the frame, which is {in_unit(unit, largest)} wide; got {in_unit(unit, diameter)}. "
            f"Give it in the unit of the voxel size, or check the voxel size and the region of interest.",
            setting="diameter",
        )


def _empty_table(columns: list[str]) -> pd.DataFrame:
    """Return a table without rows whose columns have their types."""
    return pd.DataFrame({name: np.empty(0, dtype=np.int64 if name == "frame" else np.float64) for name in columns})
