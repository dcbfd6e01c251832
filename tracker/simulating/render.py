"""A simulation as a microscope would see it: spots of light in a noisy TIFF stack, with the exact truth beside it.

A particle is a Gaussian spot, its brightness its own for life. The camera counts photons (Poisson) of the spots and of
an even background, adds its read noise (normal), and clips to 16 bits. Voxel (0, 0, 0) is centred on the box's origin,
so a position in voxels times the voxel size is the simulation's position in µm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO
from uuid import UUID

import numpy as np
import pandas as pd
import tifffile

from ...matching.jit.compiled import compiled
from ..calibrating.calibration import Calibration
from ..calibrating.lengths import is_above_zero
from ..errors import InvalidSetting
from ..formats.write import sidecar_beside, write_whole
from ..kinds import SIZE, declared_as, require_kinds
from ..points import AXES, Tracks
from ..suffixes import OME_TIFF, TRUTH, without_ending
from .simulate import Simulation, SimulationSettings

# Spots end here, in PSF sigmas: what is cut off is below 4e-4 of the peak.
_REACH = 4.0
_SPOTS = 1000  # drawn at a time: Ctrl-C waits for compiled code
_ZLIB_LEVEL = 1  # a tenth of the time of the usual 6, and noise gets 5 % larger
# tifffile would draw a new UUID each time; with a fixed one the same settings give the same bytes.
_UUID = UUID(int=0)


_SIZES = declared_as(
    "three finite lengths above 0 (z, y, x)",
    lambda sizes: np.ndim(sizes) == 1 and len(sizes) == 3 and all(map(is_above_zero, sizes)),
)


@dataclass(frozen=True, kw_only=True)
class RenderSettings:
    """The microscope and its camera.

    Parameters
    ----------
    voxel_um : tuple of float
        Voxel size (z, y, x). A 2D simulation uses y and x.
    psf_sigma_um : tuple of float
        Standard deviation of a spot along z, y, x.
    peak : float
        Mean brightness of a spot's centre over the background, in photons.
    peak_spread : float
        Relative standard deviation of the brightness from particle to particle (log-normal).
    background : float
        Mean background, in photons a voxel.
    read_noise : float
        Standard deviation of the camera's read noise, in photons.
    seed : int
        Seeds brightness and noise; movement has its own seed in `SimulationSettings`.

    Raises
    ------
    InvalidSetting
        If a value is out of its range.
    """

    voxel_um: tuple[float, float, float] = field(default=(1.0, 0.5, 0.5), metadata=_SIZES)
    psf_sigma_um: tuple[float, float, float] = field(default=(1.5, 0.75, 0.75), metadata=_SIZES)
    peak: float = field(default=100.0, metadata=SIZE)
    peak_spread: float = field(default=0.25, metadata=SIZE)
    background: float = field(default=10.0, metadata=SIZE)
    read_noise: float = field(default=1.5, metadata=SIZE)
    seed: int = field(default=0, metadata=SIZE)

    def __post_init__(self) -> None:
        require_kinds(self)


def movie_shape(swarm: SimulationSettings, settings: RenderSettings) -> tuple[int, ...]:
    """Return the shape of one frame, (z, y, x) or (y, x): every voxel whose centre is in the box, rounded.

    Raises
    ------
    InvalidSetting
        If a frame would have more than 2**40 voxels, or along an axis a single one.
    """
    voxel = np.asarray(settings.voxel_um[-swarm.ndim :])
    shape = tuple(int(edge) + 1 for edge in np.rint(swarm.box / voxel))
    if math.prod(shape) > 2**40:
        raise InvalidSetting(
            f"needs to leave a frame of at most 2**40 voxels; got {' × '.join(map(str, shape))} for "
            f"the box. Give larger voxels, or a smaller box.",
            setting="voxel_um",
        )
    if 1 in shape:
        axis = AXES[-swarm.ndim :][shape.index(1)]
        box = " × ".join(f"{edge:g}" for edge in swarm.box)
        raise InvalidSetting(
            f"needs voxels that are small beside the box of {box} µm; got {settings.voxel_um[AXES.index(axis)]:g} µm "
            f"along {axis}, where a single one would hold all of it. Give smaller voxels, or a larger box.",
            setting="voxel_um",
        )
    return shape


def rendered_truth(simulation: Simulation, settings: RenderSettings) -> Tracks:
    """Return the truth in the movie's voxels.

    Returns
    -------
    Tracks
        `frame`, the position in voxels (`z`, `y`, `x`), `track_id`, the same position in µm (`z_um`, `y_um`, `x_um`),
        and `peak`, the brightness of the spot's centre over the background in photons.
    """
    truth = simulation.truth
    axes = simulation.settings.axes
    voxel = dict[str, float](zip(AXES, settings.voxel_um, strict=True))
    identity = truth.table["track_id"].to_numpy()
    columns = {"frame": truth.frames}
    columns |= {axis: truth.table[axis].to_numpy() / voxel[axis] for axis in axes}
    columns |= {"track_id": identity}
    columns |= {f"{axis}_um": truth.table[axis].to_numpy() for axis in axes}
    columns |= {"peak": _peaks(int(identity.max()) + 1, settings)[identity]}
    calibration = truth.calibration.override(scale=settings.voxel_um)
    return Tracks(pd.DataFrame(columns), calibration, timeline=truth.timeline)


def render_frame(simulation: Simulation, settings: RenderSettings, frame: int) -> np.ndarray:
    """Draw one frame; the same frame comes out alone or within a movie.

    Parameters
    ----------
    simulation : Simulation
    settings : RenderSettings
    frame : int
        Frame number, 0 to frames - 1.

    Returns
    -------
    ndarray
        uint16, the shape of `movie_shape`.
    """
    if not 0 <= frame < simulation.settings.frames:
        raise InvalidSetting(f"frame needs a number from 0 to {simulation.settings.frames - 1}; got {frame!r}.")
    return _draw(simulation, rendered_truth(simulation, settings), settings, frame)


def render(
    simulation: Simulation,
    path: str | Path,
    settings: RenderSettings | None = None,
    *,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Path, Path]:
    """Write a simulation as an OME-TIFF, and its exact truth as a CSV table beside it.

    One frame is in memory at a time. No file appears before all are complete.

    Parameters
    ----------
    simulation : Simulation
    path : str or Path
        Where the movie goes; must end in ".ome.tif" or ".ome.tiff". The truth goes to ".truth.csv" instead, with the
        columns of `rendered_truth`; its units and all settings go to ".truth.csv.settings.json".
    settings : RenderSettings, optional
    overwrite : bool
        Whether files that stand there may be replaced.
    progress : callable, optional
        Called as ``progress(done, total)`` after every plane of the movie; what it raises stops the rendering and
        leaves nothing.

    Returns
    -------
    movie, truth : Path
        Where they are. The movie is uint16, axes TZYX (TYX in 2D), with voxel size and time increment.

    Raises
    ------
    InvalidSetting
        If the path does not end as an OME-TIFF does.
    OutputExists
        If one of the files exists and `overwrite` is False.
    OutputFailed
        If the disk is full, or the folder may not be written to. One that is missing is made.
    """
    settings = settings or RenderSettings()
    movie_path, truth_path = output_paths(Path(path))
    truth = rendered_truth(simulation, settings)
    made_with = {"simulation": simulation.settings, "render": settings}
    write_whole(
        {
            movie_path: lambda file: _write_movie(file, simulation, truth, settings, progress),
            truth_path: lambda file: truth.table.to_csv(file, index=False, lineterminator="\n"),
            **sidecar_beside(truth_path, truth.table, truth.calibration, made_with, timeline=truth.timeline),
        },
        overwrite=overwrite,
    )
    return movie_path, truth_path


def output_paths(path: Path) -> tuple[Path, Path]:
    """Return where the movie and its truth go.

    Raises
    ------
    InvalidSetting
        If the path does not end as an OME-TIFF does.
    """
    stem = without_ending(path.name, OME_TIFF)
    if stem != path.name:
        return path, path.with_name(stem + TRUTH)
    raise InvalidSetting(f"path needs to end in {' or '.join(OME_TIFF)}; got {path.name!r}.")


def _write_movie(
    file: BinaryIO,
    simulation: Simulation,
    truth: Tracks,
    settings: RenderSettings,
    progress: Callable[[int, int], None] | None,
) -> None:
    frames = simulation.settings.frames
    shape = (frames, *movie_shape(simulation.settings, settings))
    planes_a_frame = math.prod(shape[1:-2])

    def planes() -> Iterator[np.ndarray]:
        for frame in range(frames):

            def drawn(plane: int, before: int = frame * planes_a_frame) -> None:
                if progress is not None:
                    progress(before + plane, frames * planes_a_frame)

            yield from _draw(simulation, truth, settings, frame, drawn).reshape(-1, *shape[-2:])

    tifffile.imwrite(
        file,
        planes(),
        shape=shape,
        dtype=np.uint16,
        ome=True,
        bigtiff=math.prod(shape) * 2 > 2**32 - 2**25,
        photometric="minisblack",
        compression="zlib",
        compressionargs={"level": _ZLIB_LEVEL},
        metadata=_ome_metadata(truth.calibration, ndim=simulation.settings.ndim),
    )


def _ome_metadata(calibration: Calibration, ndim: int) -> dict[str, object]:
    metadata: dict[str, object] = {
        "axes": "TZYX" if ndim == 3 else "TYX",
        "TimeIncrement": calibration.frame_interval,
        "TimeIncrementUnit": calibration.time_unit,
        "UUID": str(_UUID),
        "Creator": "auctrack",
    }
    for axis, size in list(zip("ZYX", calibration.scale, strict=True))[-ndim:]:
        metadata |= {f"PhysicalSize{axis}": float(size), f"PhysicalSize{axis}Unit": calibration.unit}
    return metadata


def _draw(
    simulation: Simulation,
    truth: Tracks,
    settings: RenderSettings,
    frame: int,
    drawn: Callable[[int], None] | None = None,
) -> np.ndarray:
    """Return one frame; `drawn` is called with the number of planes that are there."""
    ndim = simulation.settings.ndim
    shape = movie_shape(simulation.settings, settings)
    start, stop = np.searchsorted(truth.frames, (frame, frame + 1))
    rows = truth.table.iloc[start:stop]
    centres = np.zeros((len(rows), 3))
    centres[:, 3 - ndim :] = rows[list(simulation.settings.axes)].to_numpy()
    sigma = np.asarray(settings.psf_sigma_um) / np.asarray(settings.voxel_um)
    # A plane is a stack of one slice, with every spot's z on it.
    photons = np.empty((1,) * (3 - ndim) + shape)
    for plane in photons:  # one by one: Ctrl-C waits for each, and new memory takes seconds for a large frame
        plane[:] = settings.background
    peaks = rows["peak"].to_numpy()
    for part in (slice(k, k + _SPOTS) for k in range(0, len(rows), _SPOTS)):
        _add_spots(photons, centres[part], peaks[part], sigma, _REACH)
    return _recorded(photons, settings, np.random.default_rng((settings.seed, 1, frame)), drawn).reshape(shape)


def _recorded(
    photons: np.ndarray, settings: RenderSettings, rng: np.random.Generator, drawn: Callable[[int], None] | None
) -> np.ndarray:
    """Return what the camera reads, uint16, where so many photons are expected; `photons` is overwritten.

    Plane by plane, whose arrays stay in the processor's cache; first all photons, then all read noise.
    """
    for number, plane in enumerate(photons, 1):  # takes longer than all that follows
        plane[:] = rng.poisson(plane)
        if drawn is not None:
            drawn(number)
    image = np.empty(photons.shape, dtype=np.uint16)
    for plane, pixels in zip(photons, image, strict=True):
        plane += rng.normal(0.0, settings.read_noise, plane.shape)
        np.rint(plane, out=plane)
        np.clip(plane, 0, np.iinfo(np.uint16).max, out=plane)
        pixels[:] = plane
    return image


def _peaks(particles: int, settings: RenderSettings) -> np.ndarray:
    """Brightness of every particle, float64 (particles,): log-normal with the mean and spread asked for."""
    rng = np.random.default_rng((settings.seed, 0))
    variance = math.log1p(settings.peak_spread**2)
    return settings.peak * np.exp(rng.normal(0.0, 1.0, particles) * math.sqrt(variance) - variance / 2)


@compiled
def _add_spots(image: np.ndarray, centres: np.ndarray, peaks: np.ndarray, sigma: np.ndarray, reach: float) -> None:
    """Add one Gaussian a particle to `image` (z, y, x), in place; only voxels within `reach` sigmas are touched."""
    low = np.empty(3, dtype=np.int64)
    high = np.empty(3, dtype=np.int64)
    profile = np.empty((3, max(image.shape)))
    for particle in range(len(centres)):
        for axis in range(3):
            centre = centres[particle, axis]
            low[axis] = max(0, math.ceil(centre - reach * sigma[axis]))
            high[axis] = min(image.shape[axis] - 1, math.floor(centre + reach * sigma[axis]))
            for i in range(low[axis], high[axis] + 1):
                profile[axis, i] = math.exp(-0.5 * ((i - centre) / sigma[axis]) ** 2)
        for z in range(low[0], high[0] + 1):
            at_z = peaks[particle] * profile[0, z]
            for y in range(low[1], high[1] + 1):
                at_y = at_z * profile[1, y]
                for x in range(low[2], high[2] + 1):
                    image[z, y, x] += at_y * profile[2, x]
