"""Detection of bright blobs, frame after frame: response, threshold, peaks, measures."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from ..calibrating.lengths import is_size, require_length
from ..errors import InvalidInput, InvalidSetting
from ..points import AXES, Points
from .blobs import Method, ball, blob_response, grey_levels, local_maxima, refine, sigma_of
from .borders import refine_at_borders
from .diameter import suggest_diameter
from .threshold import automatic_threshold

if TYPE_CHECKING:
    from ..reading.movie import Movie

_SMALLEST_DIAMETER = 2.0  # in voxels of y and x; a smaller spot is not sampled
_SHELL = 1.5  # outer radius of the surroundings, in radii of the particle
_GATHERED = 1 << 22  # voxels looked up at a time when intensities are measured
_LARGE_FRAME = 1 << 26  # voxels; above, frames are filtered one at a time


@dataclass(frozen=True)
class DetectSettings:
    """What to look for.

    Parameters
    ----------
    diameter : float or "auto"
        Diameter of a particle, in the calibration's unit (µm when known, pixels otherwise). The filter is tuned to a
        ball of this diameter: sigma = diameter / (2·sqrt(ndim)). For a Gaussian spot give 1.2 times its full width
        at half maximum. "auto": the one that `suggest.suggest_diameter` proposes for the movie.
    threshold : float or None
        Least `quality` of a detection, in grey levels: the filter's response, about the particle's contrast.
        None: one threshold for the whole movie, from a few of its frames (`threshold.automatic_threshold`).
    method : {"log", "dog"}
        Laplacian of Gaussian, or the difference of Gaussians that approximates it, to compare with programs that use
        it: a little broader, and hardly faster (a twentieth of the time of a frame).
    bright_on_dark : bool
        False finds dark particles on a bright background.
    separation : float or None
        Of two detections nearer than this only the better stays, in the calibration's unit. None: half the diameter.

    Raises
    ------
    InvalidSetting
        If a number is not finite, a length not above zero, the method unknown, or `bright_on_dark` no truth value.
    """

    diameter: float | Literal["auto"] = "auto"
    threshold: float | None = None
    method: Method = "log"
    bright_on_dark: bool = True
    separation: float | None = None

    def __post_init__(self) -> None:
        if self.diameter != "auto":
            require_length("diameter", self.diameter)
        if self.separation is not None:
            require_length("separation", self.separation)
        if self.threshold is not None and not is_size(self.threshold):
            raise InvalidSetting(
                f"threshold needs a finite quality of 0 or more, or None for the automatic one; got {self.threshold!r}."
            )
        if not isinstance(self.bright_on_dark, (bool, np.bool_)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidSetting(f"bright_on_dark needs True or False; got {self.bright_on_dark!r}.")
        if self.method not in ("log", "dog"):
            raise InvalidSetting(f"method needs to be 'log' or 'dog'; got {self.method!r}.")

    @property
    def known_diameter(self) -> float:
        """The diameter as a number; raises `InvalidSetting` where it is still to be suggested."""
        if self.diameter == "auto":
            raise InvalidSetting("diameter needs a number here; fill it in by resolve_settings().")
        return float(self.diameter)

    @property
    def least_separation(self) -> float:
        """The separation in force: `separation`, or half the diameter."""
        return self.known_diameter / 2.0 if self.separation is None else float(self.separation)


def detect(
    movie: Movie,
    settings: DetectSettings,
    *,
    progress: Callable[[int, int], None] | None = None,
    workers: int = 2,
) -> Points:
    """Find the blobs of every frame of a movie.

    Frames are read one after the other and filtered in threads; the result does not depend on `workers`. Each worker
    holds at most five float32 copies of a frame (eight of a stack of three planes or fewer); movies with more than
    2**26 voxels a frame use one worker.

    Parameters
    ----------
    movie : Movie
        2D or 3D; its calibration gives the voxel size. Voxels without a value (NaN, inf, or too large to be one:
        1e18 and more) count as background, and nothing is detected on them.
    settings : DetectSettings
    progress : callable, optional
        Called in this thread as progress(frames done, frames in all). An exception raised in it stops the work.
    workers : int
        Frames filtered at a time.

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
        If the diameter is below two voxels of y or x, or larger than the frame.
    InvalidInput
        If the diameter is automatic and nothing in the movie suggests one, or a path or an array is given for a movie.

    Notes
    -----
    Positions come from a parabola per axis through the response's peak, next to the frame's borders from the image
    itself (`borders.refine_at_borders`); on Gaussian spots 33 times as high as the noise their mean error per axis
    stays below 0.1 voxel (tests/tracker/detecting/test_detect.py).
    """
    if isinstance(movie, (str, Path, np.ndarray)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"movie needs a Movie; got {type(movie).__name__}. auctrack.read_movie makes one of it.")
    settings = resolve_settings(movie, settings)
    scale = movie.calibration.scale_for(movie.ndim)
    frames = movie.frame_numbers
    tables: list[pd.DataFrame] = []
    for number, table in _in_order(movie, settings, scale, 1 if math.prod(movie.shape) > _LARGE_FRAME else workers):
        tables.append(table.assign(frame=np.int64(number)))
        if progress is not None:
            progress(len(tables), len(frames))
    columns = ["frame", *AXES[3 - movie.ndim :], "quality", "intensity", "snr"]
    found = [table for table in tables if len(table)]
    table = pd.concat(found, ignore_index=True)[columns] if found else _empty_table(columns)
    for axis, offset in zip(AXES[3 - movie.ndim :], movie.origin, strict=True):
        table[axis] += offset
    return Points(table, movie.calibration, timeline=movie.timeline)


def resolve_settings(movie: Movie, settings: DetectSettings) -> DetectSettings:
    """Return the settings in force for a movie: checked against its frames, what is automatic filled in.

    Raises
    ------
    InvalidSetting
        As `detect`.
    InvalidInput
        If the diameter is automatic and nothing in the movie suggests one.
    """
    if settings.diameter == "auto":
        suggested = suggest_diameter(movie, bright_on_dark=settings.bright_on_dark)
        settings = replace(settings, diameter=suggested.diameter)
    scale = movie.calibration.scale_for(movie.ndim)
    check_diameter(settings.known_diameter, movie.shape, scale, movie.calibration.unit)
    if settings.threshold is not None:
        return settings
    return replace(settings, threshold=automatic_threshold(movie, settings))


def detect_frame(image: np.ndarray, settings: DetectSettings, scale: np.ndarray) -> pd.DataFrame:
    """Find the blobs of one image; the live preview of a frame.

    Parameters
    ----------
    image : ndarray (z, y, x) or (y, x), any real dtype
    settings : DetectSettings
        `diameter` and `threshold` must be numbers here (`resolve_settings`, or `threshold.automatic_threshold`).
    scale : ndarray, float64 (ndim,)
        Voxel size in the unit of the diameter.

    Returns
    -------
    DataFrame
        Columns as in `detect` without `frame`, in raster order; positions in voxels of `image`.

    Raises
    ------
    InvalidSetting
        If diameter or threshold is automatic, or the diameter does not fit the image.
    """
    if settings.threshold is None:
        raise InvalidSetting("threshold needs a number to detect in a single frame; fill it in by resolve_settings().")
    diameter = settings.known_diameter
    check_diameter(diameter, image.shape, scale, "units")
    grey, known = grey_levels(image)
    bright = grey if settings.bright_on_dark else -grey
    response = blob_response(bright, diameter, scale, settings.method)
    voxels = local_maxima(response, settings.threshold, settings.least_separation, scale)
    if known is not None:
        voxels = voxels[known[tuple(voxels.T)]]
    positions = refine_at_borders(refine(response, voxels), voxels, bright, response, sigma_of(diameter, scale))
    table = pd.DataFrame(positions, columns=list(AXES[3 - image.ndim :]))
    table["quality"] = response[tuple(voxels.T)].astype(np.float64)
    del response, bright
    inside, around, spread = _surroundings(grey, voxels, diameter / 2.0, scale)
    contrast = inside - around if settings.bright_on_dark else around - inside
    table["intensity"] = inside
    table["snr"] = np.divide(contrast, spread, out=np.zeros_like(contrast), where=spread > 0)
    return table


def check_diameter(diameter: float, shape: tuple[int, ...], scale: np.ndarray, unit: str) -> None:
    """Raise InvalidSetting unless two voxels of y and x fit into the diameter, and the diameter into the frame."""
    rows, columns = scale[-2:]
    smallest = _SMALLEST_DIAMETER * max(rows, columns)
    if diameter < smallest:
        raise InvalidSetting(
            f"diameter needs at least {_SMALLEST_DIAMETER:g} voxels along y and x, here {smallest:g} {unit}; got "
            f"{diameter:g} {unit}. Give it in the unit of the voxel size, or check the voxel size."
        )
    largest = min(shape[-2] * rows, shape[-1] * columns)
    if diameter > largest:
        raise InvalidSetting(
            f"diameter needs to fit into the frame, which is {largest:g} {unit} wide; got {diameter:g} {unit}. "
            f"Give it in the unit of the voxel size, or check the voxel size and the region of interest."
        )


def _in_order(
    movie: Movie, settings: DetectSettings, scale: np.ndarray, workers: int
) -> Iterator[tuple[int, pd.DataFrame]]:
    """Yield (frame number, table) in order; frames are read here, at most workers + 1 of them at a time."""
    pool = ThreadPoolExecutor(workers, thread_name_prefix="detect")
    waiting: deque[tuple[int, Future[pd.DataFrame]]] = deque()
    try:
        for number in movie.frame_numbers:
            waiting.append((number, pool.submit(detect_frame, movie.frame(number), settings, scale)))
            if len(waiting) > workers:
                done, table = waiting.popleft()
                yield done, table.result()
        for number, table in waiting:
            yield number, table.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _surroundings(
    grey: np.ndarray, voxels: np.ndarray, radius: float, scale: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return per peak, float64 (n,): mean within the radius, mean and standard deviation of the shell around it."""
    core = ball(radius, scale)
    shell = ball(_SHELL * radius, scale, inner=np.nextafter(radius, np.inf))
    inside, around, spread = (np.zeros(len(voxels)) for _ in range(3))
    step = max(1, _GATHERED // (len(core) + len(shell)))
    for start in range(0, len(voxels), step):
        chunk = slice(start, start + step)
        inside[chunk], _ = _mean_and_deviation(grey, voxels[chunk], core)
        around[chunk], spread[chunk] = _mean_and_deviation(grey, voxels[chunk], shell)
    return inside, around, spread


def _mean_and_deviation(grey: np.ndarray, voxels: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation (n,) of the grey levels at the offsets that fall into the image."""
    where = voxels[:, None, :] + offsets[None, :, :]
    valid = np.all((where >= 0) & (where < np.array(grey.shape)), axis=2)
    values = grey[tuple(np.where(valid[..., None], where, 0).transpose(2, 0, 1))].astype(np.float64)
    count = np.maximum(valid.sum(axis=1), 1)
    mean = np.where(valid, values, 0.0).sum(axis=1) / count
    deviation = np.where(valid, values - mean[:, None], 0.0)
    return mean, np.sqrt((deviation**2).sum(axis=1) / count)


def _empty_table(columns: list[str]) -> pd.DataFrame:
    """Return a table without rows whose columns have their types."""
    return pd.DataFrame({name: np.empty(0, dtype=np.int64 if name == "frame" else np.float64) for name in columns})
