"""Frozen, shifted and missing frames are found with their numbers, and steady movies are left in peace."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

from auctrack.tracker.reading.frame_faults import FrameFaults, Shift, frame_faults
from auctrack.tracker.reading.movie import read_movie


def scene(rng: np.random.Generator, frames: int, *, step: float = 0.7, size: int = 96) -> np.ndarray:
    """Blobs that wander over a wide field, of which a camera sees the middle; float (frames, size, size)."""
    wide = size + 40
    places = rng.random((60, 2)) * wide
    movie = np.zeros((frames, wide, wide))
    for frame in movie:
        places = (places + rng.normal(0, step, places.shape)) % wide
        np.add.at(frame, tuple(places.astype(int).T), 100.0)
        frame[:] = ndimage.gaussian_filter(frame, 2.5) * 20
    return movie


def faults(seen: np.ndarray, rng: np.random.Generator, **options: int) -> FrameFaults:
    noisy = rng.poisson(seen + 10).astype(np.uint16)
    return of(noisy, **options)


def of(pixels: np.ndarray, **options: int) -> FrameFaults:
    with read_movie(pixels, axes="TYX", scale=(1, 1)) as movie:
        return frame_faults(movie, **options)


def middle(movie: np.ndarray, y: int = 0, x: int = 0) -> np.ndarray:
    return movie[..., 20 + y : -20 + y, 20 + x : -20 + x]


@pytest.mark.parametrize("seed", range(5))
def test_a_steady_movie_has_no_faults(seed: int):
    rng = np.random.default_rng(seed)
    assert faults(middle(scene(rng, 20)), rng) == FrameFaults(20)


@pytest.mark.parametrize("jump", [(0, 6), (-5, 0), (9, -12), (-3, 3)])
def test_a_stage_jump_is_named_with_its_frame_and_size(jump: tuple[int, int]):
    rng = np.random.default_rng(1)
    wide = scene(rng, 20)
    seen = middle(wide).copy()
    seen[12:] = middle(wide[12:], *jump)
    (found,) = faults(seen, rng).shifted
    assert found.frame == 12
    assert (found.y, found.x) == pytest.approx((-jump[0], -jump[1]), abs=1)  # the blobs move too


def test_frozen_frames_are_named_and_hide_nothing_else():
    rng = np.random.default_rng(2)
    pixels = rng.poisson(middle(scene(rng, 20)) + 10).astype(np.uint16)
    pixels[7:9] = pixels[6]
    found = of(pixels)
    assert (found.frozen, found.shifted, found.unlike) == ((7, 8), (), ())


def test_a_difference_in_one_pixel_is_not_frozen():
    pixels = np.zeros((3, 8, 8), np.uint16)
    pixels[1, 0, 0] = 1
    assert of(pixels).frozen == ()


def test_dropped_frames_are_where_the_scene_is_suddenly_unlike():
    rng = np.random.default_rng(3)
    seen = middle(scene(rng, 30, step=0.5))
    assert faults(np.delete(seen, range(11, 21), axis=0), rng).unlike == (11,)


def test_voxels_without_a_value_hide_no_fault():
    """As around a registered movie: such a border was alike in all frames, and frames with it in none."""
    rng = np.random.default_rng(3)
    wide = scene(rng, 40, step=0.5)
    seen = np.delete(middle(wide), range(11, 21), axis=0)
    seen[20:] = middle(wide[30:], 5, 9)
    pixels = rng.poisson(seen + 10).astype(np.float32)[:, np.newaxis].repeat(2, axis=1)
    pixels[:, 1] += 1
    pixels[25] = pixels[24]
    pixels[:, :, :20] = np.nan
    pixels[5, 0, 40:60, 40:60] = np.nan
    with read_movie(pixels, axes="TZYX", scale=(1, 1, 1)) as movie:
        found = frame_faults(movie)
    assert (found.frozen, found.unlike) == ((25,), (11,))
    assert [jump.frame for jump in found.shifted] == [20]


def test_only_the_first_frames_of_what_is_too_large_are_looked_at():
    pixels = np.tile(np.arange(8, dtype=np.uint8), (5, 8, 1))
    assert of(pixels, most_bytes=200) == FrameFaults(3, (1, 2))


@pytest.mark.parametrize("value", [0, np.nan, np.inf])
def test_frames_without_contrast_are_blank_and_nothing_is_said_of_those_beside_them(value):
    rng = np.random.default_rng(5)
    pixels = rng.poisson(middle(scene(rng, 8, step=0.5)) + 10).astype(np.float32)
    pixels[4] = value
    found = of(pixels)
    assert (found.blank, found.frozen, found.shifted, found.unlike) == ((4,), (), (), ())
    assert found.lines()[0].startswith("blank: frame 4 is")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38])
@pytest.mark.filterwarnings("error")
def test_pixels_that_are_no_numbers_hide_no_contrast(value):
    rng = np.random.default_rng(6)
    seen = middle(scene(rng, 30, step=0.5)).astype(np.float32)
    seen[:, 0, 0] = value
    found = of(np.delete(seen, range(11, 21), axis=0))
    assert (found.blank, found.unlike) == ((), (11,))


def test_depth_is_averaged():
    rng = np.random.default_rng(4)
    wide = scene(rng, 12)
    seen = middle(wide).copy()
    seen[5:] = middle(wide[5:], 8, 0)
    volumes = rng.poisson(np.repeat(seen[:, None], 3, axis=1) + 10).astype(np.uint16)
    with read_movie(volumes, axes="TZYX", scale=(1, 1, 1)) as movie:
        assert frame_faults(movie).shifted == (Shift(5, -8, 0),)


def test_lines_name_the_frames():
    said = FrameFaults(30, (3, 4), (Shift(9, 5, -2),), (11,)).lines()
    assert [line.partition(":")[0] for line in said] == ["frozen", "shifted", "unlike"]
    assert all(number in line for number, line in zip(("3, 4", "9", "11"), said, strict=True))
    assert FrameFaults(30).lines() == []
