"""The automatic threshold: particles above, noise below, few particles or many, or none at all."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.detecting import threshold
from auctrack.tracker.detecting.detect import detect
from auctrack.tracker.detecting.peaks import local_maxima
from auctrack.tracker.detecting.settings import DetectSettings
from auctrack.tracker.detecting.threshold import (
    QualitySample,
    image_qualities,
    pixel_noise,
    sample_qualities,
    spread_frames,
    suggest_threshold,
    threshold_between,
)
from auctrack.tracker.timeline import Timeline

from ..traced import with_peak


class Stack:
    """The part of `Movie` that detection relies on, in memory."""

    def __init__(self, images: np.ndarray, scale: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> None:
        self.images = images
        self.shape, self.ndim, self.dtype = images.shape[1:], images.ndim - 1, images.dtype
        self.calibration = Calibration(scale=scale, unit="µm")
        self.timeline = Timeline(1, tuple(range(len(images))))
        self.frame_numbers = self.timeline.numbers
        self.origin = (0,) * self.ndim
        self.read: list[int] = []

    def __len__(self) -> int:
        return len(self.images)

    def frame(self, number: int, *_: object) -> np.ndarray:
        self.read.append(number)
        return self.images[number]


def spots(rng, shape, count, diameter, frames, height=100.0, apart=1.3):
    """Render Gaussian spots at random whole voxels, no two nearer than `apart` diameters."""
    reach = int(np.ceil(1.5 * diameter))
    axes = np.meshgrid(*[np.arange(-reach, reach + 1)] * len(shape), indexing="ij")
    spot = height * np.exp(-4.0 * sum(axis**2 for axis in axes) / diameter**2)
    images = np.zeros((frames, *(size + 2 * reach for size in shape)))
    for image in images:
        lottery = rng.random(shape).astype(np.float32)
        places = local_maxima(lottery, 0.0, apart * diameter, np.ones(len(shape)))
        chosen = np.stack(np.unravel_index(places, shape), axis=1)
        chosen = chosen[rng.permutation(len(chosen))[:count]]
        assert len(chosen) == count
        for voxel in chosen:
            image[tuple(slice(v, v + 2 * reach + 1) for v in voxel)] += spot * np.exp(0.2 * rng.normal())
    return images[(slice(None), *(slice(reach, -reach) for _ in shape))]


@pytest.mark.parametrize(
    ("count", "shape", "diameter"),
    [(5, (128, 128), 6.0), (5, (24, 64, 64), 6.0), (300, (256, 256), 6.0), (800, (32, 96, 96), 4.0)],
)
def test_few_particles_or_many_are_all_found_and_nothing_else(count, shape, diameter):
    rng = np.random.default_rng(11)
    images = 200.0 + spots(rng, shape, count, diameter, 2) + rng.normal(0.0, 4.0, (2, *shape))
    found = detect(Stack(images.astype(np.float32)), DetectSettings(diameter)).frames
    assert np.abs(np.bincount(found, minlength=2) - count).max() <= max(1, 0.01 * count)


def test_five_thousand_particles_in_a_frame():
    rng = np.random.default_rng(12)
    images = 200.0 + spots(rng, (512, 512), 5000, 4.0, 1) + rng.normal(0.0, 4.0, (1, 512, 512))
    assert len(detect(Stack(images.astype(np.float32)), DetectSettings(4.0))) == pytest.approx(5000, rel=0.01)


@pytest.mark.parametrize("shape", [(192, 192), (24, 96, 96)])
@pytest.mark.parametrize("noise", ["gaussian", "poisson", "correlated"])
def test_frames_of_noise_give_nearly_nothing(shape, noise):
    rng = np.random.default_rng(13)
    images = rng.normal(0.0, 5.0, (4, *shape)) + 100.0
    if noise == "poisson":
        images = rng.poisson(100.0, (4, *shape)).astype(np.uint16)
    if noise == "correlated":
        images = sum(np.roll(images, shift, axis=-1) + np.roll(images, shift, axis=-2) for shift in (-1, 0, 1))
    found = len(detect(Stack(images), DetectSettings(6.0)))
    assert found <= 8  # of about a hundred peaks of noise a frame in 2D and six hundred in 3D


def test_one_threshold_holds_for_the_movie_from_a_few_of_its_frames():
    rng = np.random.default_rng(14)
    images = spots(rng, (96, 96), 10, 6.0, 21) + rng.normal(0.0, 4.0, (21, 96, 96))
    movie = Stack(images)
    first = suggest_threshold(movie, DetectSettings(6.0)).threshold
    assert movie.read == [0, 5, 10, 15, 20]
    assert suggest_threshold(movie, DetectSettings(6.0, threshold=3.0)).threshold == first
    table = detect(movie, DetectSettings(6.0)).table
    assert table.equals(detect(movie, DetectSettings(6.0, threshold=first)).table)
    assert table["quality"].min() > first


def test_the_threshold_scales_with_the_grey_levels_and_ignores_the_background():
    rng = np.random.default_rng(15)
    images = spots(rng, (96, 96), 10, 6.0, 3) + rng.normal(0.0, 4.0, (3, 96, 96))
    plain = suggest_threshold(Stack(images), DetectSettings(6.0)).threshold
    brighter = suggest_threshold(Stack(7.0 * images + 500.0), DetectSettings(6.0)).threshold
    assert brighter == pytest.approx(7.0 * plain, rel=1e-2)


def sample(noise_peaks, particle_peaks, dips=(), white=1.0, response=1.0):
    return QualitySample(np.concatenate([noise_peaks, particle_peaks]), np.asarray(dips, float), white, response)


def test_the_threshold_lies_in_the_gap_between_the_heaps():
    rng = np.random.default_rng(16)
    noise, particles = rng.lognormal(0.0, 0.4, 500), rng.lognormal(np.log(100.0), 0.3, 40)
    assert noise.max() < threshold_between(sample(noise, particles)) < particles.min()


def test_a_floor_far_below_the_noise_is_seen_through():
    rng = np.random.default_rng(17)
    noise, particles = rng.lognormal(0.0, 0.4, 5000), rng.lognormal(np.log(60.0), 0.2, 50)
    assert noise.max() < threshold_between(sample(noise, particles, white=0.3, response=0.5)) < particles.min()


def test_without_a_gap_dips_tell_noise_from_a_full_frame():
    rng = np.random.default_rng(18)
    heap = rng.lognormal(np.log(10.0), 0.5, 500)
    mirrored = sample([], heap, dips=rng.lognormal(np.log(10.0), 0.5, 500), white=1.0, response=40.0)
    assert threshold_between(mirrored) >= 40.0
    shallow = sample([], heap, dips=rng.lognormal(np.log(3.0), 0.5, 500), white=1.0, response=40.0)
    assert threshold_between(shallow) == 1.0


def test_too_few_peaks_give_the_higher_floor():
    assert threshold_between(sample([0.5, 0.7], [30.0], white=2.0, response=3.0)) == 3.0
    assert threshold_between(sample([], [], white=2.0, response=3.0)) == 3.0


def test_the_sample_holds_what_the_histogram_shows():
    rng = np.random.default_rng(19)
    images = spots(rng, (96, 96), 10, 6.0, 3, apart=3.0) + rng.normal(0.0, 4.0, (3, 96, 96))
    drawn = sample_qualities(Stack(images), DetectSettings(6.0), frames=(1,))
    level = threshold_between(drawn)
    assert (drawn.qualities > 0).all()
    assert 8 <= (drawn.qualities > level).sum() <= 10  # those on the frame's edge are left out
    again = image_qualities(images[1].astype(np.float32)[None], [4.0], 6.0, np.ones(2), "log", 3.0)
    assert np.array_equal(np.sort(again.qualities), np.sort(drawn.qualities))


@pytest.mark.parametrize("level", [7.0, 0.1, 1e6, 65535.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_an_even_background_has_neither_peaks_nor_dips(level, sign):
    even = np.full((8, 60, 60), sign * level, dtype=np.float32)
    drawn = image_qualities(even[None], [1.0], 6.0, np.array([3.0, 1.0, 1.0]), "log", 3.0)
    assert len(drawn.qualities) == len(drawn.depths) == 0


def test_pixel_noise_sees_through_particles_and_knows_rounding():
    rng = np.random.default_rng(20)
    image = spots(rng, (128, 128), 20, 6.0, 1)[0] + rng.normal(0.0, 4.0, (128, 128))
    assert pixel_noise(image.astype(np.float32), np.dtype(np.float32)) == pytest.approx(4.0, rel=0.1)
    flat = np.full((32, 32), 7.0, dtype=np.float32)
    assert pixel_noise(flat, np.dtype(np.uint8)) == pytest.approx(12**-0.5)
    assert 0 < pixel_noise(flat, np.dtype(np.float32)) < 1e-5


def test_frames_are_spread_from_first_to_last():
    assert spread_frames((3, 4, 5), 5) == (3, 4, 5)
    assert spread_frames(tuple(range(0, 200, 2)), 3) == (0, 100, 198)
    assert spread_frames((), 5) == ()


@pytest.mark.parametrize("shape", [(40, 128, 128), (1024, 1024)])
@pytest.mark.parametrize("dtype", [np.uint16, np.float32])
def test_a_frame_that_is_looked_at_takes_at_most_three_copies_in_float32_beside_itself(dtype, shape, monkeypatch):
    monkeypatch.setattr(threshold, "_ENOUGH", 1 << 12)  # of large frames as many voxels are next to nothing
    images = np.random.default_rng(0).normal(100.0, 10.0, (1, *shape)).astype(dtype)
    sample_qualities(Stack(images), DetectSettings(6.0))  # compiled
    _, peak = with_peak(lambda: sample_qualities(Stack(images), DetectSettings(6.0)))
    assert peak < 3.0 * 4 * images[0].size
