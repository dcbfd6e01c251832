"""Particles hardly higher than noise, in noise of any grain, or so many that noise is nowhere seen: nothing given."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from scipy.spatial import cKDTree

from auctrack.tracker.detecting.detect import detect, detect_steps
from auctrack.tracker.detecting.settings import DetectSettings
from auctrack.tracker.detecting.threshold import suggest_threshold
from auctrack.tracker.stepwise import counted, finished

from .test_diameter import Stack, balls, scattered, spots

PLANE = 160, 160
NOISE = 5.0


def f1(images, truth, diameter, scale=(1.0, 1.0)):
    """Return the F1 of what is found with nothing given: within half a diameter of a true place, one for each."""
    points = detect(Stack(np.rint(images).astype(np.uint16), scale), workers=1, device="cpu")
    found = [points.table.loc[points.frames == frame, points.axes].to_numpy() for frame in range(len(truth))]
    met = 0
    for places, real in zip(found, truth, strict=True):
        distance, nearest = cKDTree(real * scale).query(places * scale)
        met += len(np.unique(nearest[distance <= diameter / 2.0]))
    return 2.0 * met / (len(points) + sum(map(len, truth)))


def grained(rng, shape, grain):
    """Return noise of standard deviation NOISE that is smooth over so many voxels."""
    noise = gaussian_filter(rng.normal(size=shape), grain)
    return NOISE * noise / noise.std()


def frames_of(rng, diameter, count, times_noise, grain=0.0, frames=4):
    """Return frames of spots so many times as high as the noise, and where they are."""
    places = [scattered(rng, PLANE, np.ones(2), count, 1.6 * diameter) for _ in range(frames)]
    heights = times_noise * NOISE / 100.0
    images = [heights * spots(PLANE, at, diameter, np.ones(2)) + grained(rng, PLANE, grain) for at in places]
    return 100.0 + np.array(images), places


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("diameter", "count", "times_noise", "least"),
    [(8.0, 40, 2.0, 0.96), (5.0, 100, 3.0, 0.96), (12.0, 25, 2.0, 0.96), (5.0, 100, 2.0, 0.85)],
)
def test_spots_hardly_higher_than_the_noise_of_a_pixel_are_found(diameter, count, times_noise, least, seed):
    images, places = frames_of(np.random.default_rng(seed), diameter, count, times_noise)
    assert f1(images, places, diameter) > least


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("grain", "least"), [(1.0, 0.95), (2.0, 0.85)])
def test_spots_in_noise_with_a_grain_are_found(grain, least, seed):
    images, places = frames_of(np.random.default_rng(seed), 8.0, 40, 5.0, grain)
    assert f1(images, places, 8.0) > least


@pytest.mark.parametrize(
    ("diameter", "grain", "times_noise", "is_told"), [(8, 2, 5, True), (8, 2, 2, True), (8, 0, 20, False)]
)
def test_where_no_gap_divides_particles_from_noise_it_is_said(diameter, grain, times_noise, is_told):
    images, _ = frames_of(np.random.default_rng(0), float(diameter), 40, times_noise, grain)
    settings = DetectSettings(float(diameter))
    hint = suggest_threshold(Stack(images, (1.0, 1.0)), settings).hint
    assert bool(hint) == is_told
    movie = Stack(np.rint(images).astype(np.uint16), (1.0, 1.0))
    found = finished(detect_steps(movie, settings, device="cpu"), counted(None))
    assert len(found.notes) == is_told
    assert all(f"{found.settings.threshold:.4g}" in note for note in found.notes)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("is_even", [True, False])
def test_discs_that_fill_the_frame_are_found(is_even, seed):
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*[np.arange(8.0, 152.0, 12.5)] * 2, indexing="ij"), axis=-1).reshape(-1, 2)
    places = [
        grid + rng.uniform(-0.6, 0.6, grid.shape) if is_even else scattered(rng, PLANE, np.ones(2), 110, 12.0)
        for _ in range(3)
    ]
    images = [0.5 * balls(PLANE, at, 12.0, np.ones(2)) + rng.normal(0.0, NOISE, PLANE) for at in places]
    assert f1(100.0 + np.array(images), places, 12.0) > 0.97


@pytest.mark.parametrize("shape", [(320, 320), (16, 96, 96)], ids=["2D", "3D"])
@pytest.mark.parametrize("grain", [1.0, 2.0])
@pytest.mark.parametrize("diameter", [3.0, 8.0])
def test_of_noise_with_a_grain_hardly_any_is_a_particle(diameter, shape, grain):
    rng = np.random.default_rng(3)
    images = 100.0 + np.array([grained(rng, shape, grain) for _ in range(3)])
    movie = Stack(np.rint(images).astype(np.uint16), (1.0,) * len(shape))
    assert len(detect(movie, DetectSettings(diameter), device="cpu")) <= 8
