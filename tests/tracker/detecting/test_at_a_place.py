"""A user points at a particle: it is placed and measured as if it had been detected, to the last bit.

But for a place at the border of a frame, which detection takes from how wide all particles of the frame are.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.detecting.at_a_place import particles_at
from auctrack.tracker.detecting.detect import detect_frame
from auctrack.tracker.detecting.settings import DetectSettings

SCALES = {2: np.array([0.5, 0.5]), 3: np.array([1.0, 0.5, 0.5])}


def image_of(ndim: int, *, padded: bool = False) -> np.ndarray:
    """Noise in which there is a peak every few voxels, at the borders too."""
    random = np.random.default_rng(ndim)
    image = random.normal(100, 20, (60, 70) if ndim == 2 else (20, 40, 50))
    return np.pad(image, 3) if padded else image


@pytest.mark.parametrize("settings", [DetectSettings(2.5, 0.0), DetectSettings(3.0, 0.0, "dog", bright_on_dark=False)])
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("ndim", [2, 3])
def test_each_detected_particle_is_the_one_that_is_meant_by_its_place(ndim, padded, settings):
    image, scale = image_of(ndim, padded=padded), SCALES[ndim]
    detected = detect_frame(image, settings, scale)
    axes, own = ["z", "y", "x"][-ndim:], 3 if padded else 0
    places = detected[axes].to_numpy()
    edge = (places < own + 3) | (places > np.array(image.shape) - own - 4)
    inner = np.flatnonzero(~edge.any(axis=1))
    assert len(inner) > 20
    for row in inner:
        meant = particles_at(image, settings, scale, places[row])
        pd.testing.assert_series_equal(meant.iloc[0], detected.iloc[row], check_names=False)


@pytest.mark.parametrize("ndim", [2, 3])
def test_the_place_itself_comes_last_and_is_measured_where_no_peak_is_near(ndim):
    image = np.full((30,) * ndim, 7.0)
    place = np.full(ndim, 12.3)
    meant = particles_at(image, DetectSettings(2.5), SCALES[ndim], place)
    np.testing.assert_array_equal(meant[["z", "y", "x"][-ndim:]].iloc[-1], place)
    assert meant["intensity"].iloc[-1] == 7.0
    assert abs(meant["quality"].iloc[-1]) < 1e-4
    assert meant["snr"].iloc[-1] == 0.0


def test_what_is_farther_than_a_third_of_a_diameter_is_not_meant():
    """Uphill of the place or not."""
    grid = np.arange(60.0)
    image = 90 * np.exp(-((grid[:, None] - 30) ** 2 + (grid - 30) ** 2) / 60)
    for x, rows in ((31.9, 2), (32.1, 1)):
        assert len(particles_at(image, DetectSettings(6.0), np.ones(2), np.array([30.0, x]))) == rows


def test_of_two_that_touch_it_is_the_one_on_whose_slope_the_place_is():
    """Detection keeps the brighter one alone; a user can point at either."""
    grid = np.arange(40.0)
    image = np.zeros((40, 40))
    for x, height in ((18, 60), (22, 90)):
        image += height * np.exp(-((grid[:, None] - 20) ** 2 + (grid - x) ** 2) / 2.5)
    settings, scale = DetectSettings(5.0, 1.0, separation=6.0), np.ones(2)
    assert len(detect_frame(image, settings, scale)) == 1
    for x in (18, 22):
        meant = particles_at(image, settings, scale, np.array([20.0, x]))
        assert abs(meant["x"].iloc[0] - x) < 0.7
