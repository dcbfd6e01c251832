"""Even borders around an image are no part of it; a dark background is."""

from __future__ import annotations

import numpy as np
import pytest

import auctrack
from auctrack.tracker.detecting.diameter import suggest_diameter
from auctrack.tracker.detecting.padding import content, slanted_share


def spots(shape: tuple[int, ...], background: float) -> np.ndarray:
    """Return Gaussian spots of sigma 2 on a grid, with noise where there is a background."""
    places = np.meshgrid(*map(np.arange, shape), indexing="ij")
    squares = sum(((place + 8) % 16 - 8.0) ** 2 for place in places)
    noise = np.random.default_rng(0).normal(0.0, 3.0, shape) if background else 0.0
    return (background + 80.0 * np.exp(-squares / 8.0) + noise).astype(np.uint16)


@pytest.mark.parametrize("value", [0, 65535])
@pytest.mark.parametrize(
    "around", [((30, 50), (40, 60)), ((0, 0), (0, 90)), ((200, 200), (200, 200)), ((0, 0), (0, 0))]
)
def test_the_content_is_what_was_padded(around, value):
    image = spots((64, 96), 200.0)
    padded = np.pad(image, around, constant_values=value)
    np.testing.assert_array_equal(padded[content(padded)], image)


def test_planes_are_padding_too():
    stack = np.pad(spots((20, 48, 48), 200.0), ((3, 5), (10, 0), (0, 12)))
    assert content(stack) == (slice(3, 23), slice(10, 58), slice(0, 48))


def test_a_black_background_and_an_even_image_are_no_padding():
    blob = np.pad(np.roll(spots((16, 16), 0.0), (8, 8), (0, 1)), 20)
    assert content(blob) == (slice(0, 56), slice(0, 56))
    assert content(np.zeros((8, 9))) == (slice(0, 8), slice(0, 9))


def rotated(image: np.ndarray, degrees: float, value: float) -> np.ndarray:
    """Return what a rotated window of half the image's sides shows, the rest even."""
    half = np.array(image.shape) / 2.0
    y, x = np.indices(image.shape) - half[:, None, None] + 0.5
    turn = np.deg2rad(degrees)
    along = np.abs(np.stack([np.cos(turn) * y - np.sin(turn) * x, np.sin(turn) * y + np.cos(turn) * x]))
    return np.where((along < 0.7 * half[:, None, None]).all(axis=0), image, value)


@pytest.mark.parametrize(("degrees", "value"), [(5, 0), (20, 0), (45, 65535)])
def test_padding_around_a_rotated_frame_is_slanted(degrees, value):
    image = spots((128, 128), 200.0)
    assert slanted_share(rotated(image, degrees, value)) > 0.05
    assert slanted_share(np.stack([rotated(image, degrees, value)] * 3)) > 0.05


@pytest.mark.parametrize("background", [0.0, 200.0])
def test_neither_straight_padding_nor_a_dark_background_is_slanted(background):
    image = spots((128, 128), background)
    for seen in (image, np.pad(image, 20), rotated(image, 0, 0), np.zeros_like(image), 0 * image + (image > 40)):
        assert slanted_share(seen) == 0.0


def test_padding_changes_neither_the_suggestions_nor_the_spots():
    image = spots((96, 96), 200.0)
    bare, padded = (
        auctrack.read_movie(np.stack([frame, frame]), axes="TYX", scale=(1, 1))
        for frame in (image, np.pad(image, ((40, 60), (0, 100))))
    )
    suggested = suggest_diameter(padded).diameter
    assert suggested == pytest.approx(suggest_diameter(bare).diameter, rel=0.02)
    settings = auctrack.DetectSettings(suggested)
    found, wanted = (auctrack.detect(movie, settings).table[["y", "x"]].to_numpy() for movie in (padded, bare))
    np.testing.assert_allclose(found, wanted + np.array([40, 0]))
