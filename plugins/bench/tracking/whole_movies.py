"""Movies from pixels to tracks on a GPU, beside what reading and copying their pixels alone takes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any
from weakref import finalize

import numpy as np
import tifffile

from ....matching.jit.threads import side_by_side
from ....tracker.detecting.pixels import Pixels, held_by
from ....tracker.detecting.side_by_side import IncomingFrames, work_plan
from ....tracker.pipeline import TrackingResult, track
from ....tracker.reading.movie import read_movie
from ..assignment.solver_variants import missing_device
from ..benchmark import Effort
from ..measure.harness import Case, Experiment, Facts, Variant, WrongAnswer

SHAPE, FRAMES = (64, 1024, 1024), 100
QUICK = (16, 96, 96), 4
_VOXELS_A_PARTICLE = 8600
_SIGMA, _HEIGHT, _STEP = 1.5, 300.0, 0.7  # of spots, in voxels and grey levels, and of their steps along an axis
_GREY, _NOISE = 100.0, 10.0
_MARGIN = 5  # voxels between a particle and the border
_LEAST_FOUND = 0.9
_SCALE = (1.0, 1.0, 1.0)
_WAYS: dict[str, dict[str, Any]] = {
    "": {},
    ", by distance": {"motion": "none"},
    ", by distance, spots given": {"motion": "none", "diameter": 4.3, "threshold": 60.0},
}
"""What is given of settings, by what a variant is called after."""


@dataclass(frozen=True)
class MovieFile:
    """A movie as an uncompressed TIFF of uint16, deleted with its folder when it is no longer used.

    Attributes
    ----------
    path : Path
        In a folder of its own, where TMPDIR says; in memory (/dev/shm) no disk has a part in what is measured.
    particles : int
        In each frame.
    """

    path: Path
    particles: int

    def __post_init__(self) -> None:
        finalize(self, rmtree, self.path.parent)


def whole_movies(effort: Effort, gpu: str) -> Experiment:
    """Return the experiment: one movie, by ways to go through its pixels."""
    shape, frames = QUICK if effort.quick else (SHAPE, FRAMES)
    case = Case(" × ".join(map(str, shape)), frames, partial(_movie, shape, frames))
    missing = missing_device(gpu)
    variants = [
        Variant("read", partial(_pixels, "cpu"), _nothing),
        Variant("read and copied to the GPU", partial(_pixels, gpu), _nothing, device=gpu, missing=missing),
        *(
            Variant(
                f"pixels to tracks{how}, GPU", partial(_tracks, gpu, **given), _followed, device=gpu, missing=missing
            )
            for how, given in _WAYS.items()
        ),
    ]
    return Experiment("pixels", [case], variants, effort.times(3, 1))


def _movie(shape: tuple[int, ...], frames: int, seed: int) -> MovieFile:
    """Write a movie of Gaussian spots that walk at random in even noise."""
    rng = np.random.default_rng(seed)
    size = np.array(shape)
    n = int(size.prod()) // _VOXELS_A_PARTICLE
    positions = rng.random((n, 3)) * (size - 2 * _MARGIN) + _MARGIN
    walks: list[np.ndarray] = []
    for _ in range(frames):
        walks.append(positions)
        positions = np.clip(positions + rng.normal(0, _STEP, (n, 3)), _MARGIN, size - 1 - _MARGIN)
    noise = rng.normal(_GREY, _NOISE, shape).astype(np.float32).ravel()
    shifts = rng.integers(0, noise.size, frames)
    path = Path(mkdtemp(), "movie.tif")
    pixels = tifffile.memmap(
        path,
        shape=(frames, *shape),
        dtype=np.uint16,
        bigtiff=True,
        photometric="minisblack",
        metadata={"axes": "TZYX"},
    )

    def render(frame: int) -> None:
        image = np.roll(noise, shifts[frame])
        place, spots = _spots(walks[frame], shape)
        image[place] += spots
        pixels[frame] = np.clip(image, 0, 65535).reshape(shape)

    side_by_side(render, range(frames))
    pixels.flush()
    return MovieFile(path, n)


def _spots(positions: np.ndarray, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the voxels around each position, in the flattened image, and the grey levels of its spot there."""
    nearest = np.rint(positions).astype(np.int64)
    around = np.arange(-_MARGIN + 1, _MARGIN)
    along = [
        np.exp(-((around - (positions - nearest)[:, axis, None]) ** 2) / (2 * _SIGMA**2)).astype(np.float32)
        for axis in range(3)
    ]
    z, y, x = (nearest[:, axis, None] + around for axis in range(3))
    place = (z[:, :, None, None] * shape[1] + y[:, None, :, None]) * shape[2] + x[:, None, None, :]
    spots = _HEIGHT * along[0][:, :, None, None] * along[1][:, None, :, None] * along[2][:, None, None, :]
    return place.ravel(), spots.ravel()


def _pixels(device: str, given: MovieFile) -> int:
    """Read all frames as detection does, and bring them to the device; return their bytes."""
    with read_movie(given.path, scale=_SCALE) as movie:
        plan = work_plan(movie.shape, len(movie), None, device)

        def hold(frame: Pixels) -> int:
            with held_by(plan.device, frame.pixels) as pixels:
                return pixels.nbytes

        with IncomingFrames(movie, movie.frame_numbers, plan) as incoming:
            return sum(held for _, held in incoming.worked(hold))


def _tracks(gpu: str, given: MovieFile, **settings: Any) -> TrackingResult:
    return track(given.path, scale=_SCALE, device=gpu, **settings)


def _nothing(given: MovieFile, held: int) -> Facts:
    del given
    return {"bytes": held}


def _followed(given: MovieFile, found: TrackingResult) -> Facts:
    frames = len(found.linking.tracks.frame_numbers)
    points, report = len(found.linking.tracks), found.linking.report
    if not report["is_optimal"] or points < _LEAST_FOUND * given.particles * frames:
        raise WrongAnswer(f"{points} points of {given.particles * frames}, links proven: {report['is_optimal']}")
    return {"points": points, "links": report["links"]}
