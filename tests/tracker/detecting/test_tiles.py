"""Frames that are too large to be filtered as a whole: tiles find what the whole frame holds, to the last bit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.detecting import detect as detecting
from auctrack.tracker.detecting import side_by_side, threshold
from auctrack.tracker.detecting.detect import detect
from auctrack.tracker.detecting.settings import DetectSettings
from auctrack.tracker.detecting.tiles import tiles_of

from ..traced import with_peak
from .test_detect import stack_of
from .test_threshold import Stack


@pytest.mark.parametrize("overlap", [1, 5])
@pytest.mark.parametrize("most", [1, 11, 12, 39, 40, None])
def test_each_plane_is_of_one_tile_which_holds_those_around_it(most, overlap):
    tiles = tiles_of(40, most, overlap)
    owned = [np.arange(40)[tile.held][tile.own] for tile in tiles]
    np.testing.assert_array_equal(np.concatenate(owned), np.arange(40))
    for tile, own in zip(tiles, owned, strict=True):
        assert tile.held.start <= max(own[0] - overlap, 0)
        assert tile.held.stop >= min(own[-1] + overlap + 1, 40)
        assert tile.held.stop - tile.held.start <= max(most or 40, 2 * overlap + 1)


def dense(shape, seed=0):
    """Peaks everywhere, equal ones beside each other too."""
    return np.random.default_rng(seed).integers(0, 60, shape)


def without_values(image):
    image = image.astype(np.float64)
    image[10:14, 3:9] = np.nan
    image[-2:, 5] = np.finfo(np.float32).max
    return image


IMAGES = {
    "whole numbers": dense((40, 24, 26)).astype(np.uint16),
    "2D": dense((70, 30)).astype(np.float32),
    "voxels without a value": without_values(dense((40, 20, 22))),
    "padding": np.pad(dense((30, 24, 24)), 6).astype(np.int64),
}


def budget_for(image: np.ndarray, planes: int) -> float:
    """Return GB that have room for filtering so many planes."""
    return (planes + 0.5) * 12 * image[0].size / 1e9


@pytest.mark.parametrize("settings", [{}, {"method": "dog"}, {"bright_on_dark": False, "separation": 0.5}], ids=str)
@pytest.mark.parametrize("planes", [1, 17, 25])
@pytest.mark.parametrize("name", IMAGES)
def test_tiles_find_what_the_whole_frame_holds(name, planes, settings):
    image = IMAGES[name]
    movie = stack_of(image, (2.0, 1.0, 1.0)[-image.ndim :])
    chosen = DetectSettings(4.0, threshold=3.0, **settings)
    whole, tiled = (detect(movie, chosen, memory_budget_gb=gb).table for gb in (4, budget_for(image, planes)))
    assert len(whole) > 50
    pd.testing.assert_frame_equal(tiled, whole, check_exact=True)


def test_a_frame_takes_no_more_memory_than_the_budget_beside_itself():
    image = dense((120, 64, 64)).astype(np.uint16)
    settings, budget = DetectSettings(4.0, threshold=20.0), budget_for(image, 40)

    def taken(gb: float) -> int:
        return with_peak(lambda: detect(stack_of(image, (1.0, 1.0, 1.0)), settings, memory_budget_gb=gb))[1]

    taken(budget)  # compiling allocates too
    assert taken(budget) < image.nbytes + 1e9 * budget < taken(4)


def test_an_automatic_threshold_looks_at_as_many_frames_at_a_time_as_the_budget_has_room_for(monkeypatch):
    monkeypatch.setattr(side_by_side, "processors", lambda: 4)
    monkeypatch.setattr(threshold, "_ENOUGH", 1 << 12)  # of large frames as many voxels are next to nothing
    movie = Stack(np.stack([dense((40, 64, 64)).astype(np.uint16)] * 5))
    settings, voxels = DetectSettings(4.0), movie.images[0].size

    def taken(budget: float) -> int:
        return with_peak(lambda: detect(movie, settings, memory_budget_gb=budget / 1e9))[1]

    taken(4e9)  # compiling allocates too
    one = 28.0 * voxels
    assert taken(1.5 * one) < one < max(taken(4e9) for _ in range(8))  # threads need not meet each time


def test_the_background_is_measured_once_a_frame_however_many_tiles_it_has(monkeypatch):
    asked, measure = [], detecting.background_of
    monkeypatch.setattr(detecting, "background_of", lambda image: asked.append(image.shape) or measure(image))
    image = IMAGES["voxels without a value"]
    detect(stack_of(image, (1.0, 1.0, 1.0)), DetectSettings(4.0, threshold=3.0), memory_budget_gb=budget_for(image, 17))
    assert asked == [image.shape]
