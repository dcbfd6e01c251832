"""The suggested diameter: the particles' own, whatever their number, size and voxels, with its reason."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.detecting import diameter as diameters
from auctrack.tracker.detecting.detect import detect, resolve_settings
from auctrack.tracker.detecting.diameter import diameters_to_try, suggest_diameter, voxels_to_average
from auctrack.tracker.detecting.settings import DetectSettings
from auctrack.tracker.detecting.side_by_side import work_plan
from auctrack.tracker.errors import InvalidInput
from auctrack.tracker.pipeline import track
from auctrack.tracker.settings import InputSettings, Settings
from auctrack.tracker.timeline import Timeline

from ...refusals import refused
from ..traced import with_peak


class Stack:
    """The part of `Movie` that the suggestion relies on, in memory."""

    def __init__(self, images: np.ndarray, scale: tuple[float, ...]) -> None:
        self.images = images
        self.shape, self.ndim, self.dtype = images.shape[1:], images.ndim - 1, images.dtype
        self.calibration = Calibration(scale=(1.0,) * (3 - len(scale)) + tuple(scale), unit="µm")
        self.timeline = Timeline(1, tuple(range(len(images))))
        self.frame_numbers = self.timeline.numbers
        self.origin = (0,) * self.ndim

    def frame(self, number: int, *_: object) -> np.ndarray:
        return self.images[number]


def scattered(rng, shape, scale, count, least):
    """Return up to `count` positions in voxels, at least `least` apart in the scale's unit."""
    chosen = np.empty((0, len(shape)))
    for candidate in rng.random((60 * count, len(shape))) * (np.array(shape) - 1):
        if len(chosen) == count:
            break
        if not len(chosen) or np.linalg.norm((chosen - candidate) * scale, axis=1).min() >= least:
            chosen = np.vstack([chosen, candidate])
    return chosen


def balls(shape, positions, diameter, scale):
    """Render balls with an edge one fifth of their radius wide."""
    image = np.zeros(shape)
    for position in positions:
        squares = [((np.arange(n) - p) * s) ** 2 for n, p, s in zip(shape, position, scale, strict=True)]
        radius = np.sqrt(functools.reduce(np.add, np.ix_(*squares)))
        image = np.maximum(image, 50.0 - 50.0 * np.tanh((radius - diameter / 2.0) / (0.1 * diameter)))
    return image


def spots(shape, positions, diameter, scale):
    """Render Gaussian spots; a spot of standard deviation s has the diameter 2·sqrt(2)·s."""
    image = np.zeros(shape)
    for position in positions:
        profiles = [
            np.exp(-4.0 * ((np.arange(n) - p) * s) ** 2 / diameter**2)
            for n, p, s in zip(shape, position, scale, strict=True)
        ]
        image += 100.0 * functools.reduce(np.multiply, np.ix_(*profiles))
    return image


def movie(render, shape, scale, diameter, count, least, seed=0):
    rng = np.random.default_rng(seed)
    scale = np.array(scale)
    images = [
        render(shape, scattered(rng, shape, scale, count, least * diameter), diameter, scale)
        + 100.0
        + rng.normal(0.0, 5.0, shape)
        for _ in range(2)
    ]
    return Stack(np.array(images, dtype=np.float32), tuple(scale))


@pytest.mark.parametrize("render", [balls, spots])
@pytest.mark.parametrize(("count", "least"), [(5, 2.5), (60, 1.2)], ids=["sparse", "dense"])
@pytest.mark.parametrize(
    ("shape", "scale", "diameter"),
    [
        ((128, 128), (1.0, 1.0), 4.0),
        ((128, 128), (0.1, 0.1), 1.0),
        ((256, 256), (1.0, 1.0), 30.0),
        ((20, 80, 80), (2.0, 1.0, 1.0), 6.0),
        ((24, 96, 96), (0.5, 0.2, 0.2), 2.4),
    ],
)
def test_the_suggestion_is_the_diameter_of_the_particles(render, count, least, shape, scale, diameter):
    suggestion = suggest_diameter(movie(render, shape, scale, diameter, count, least))
    assert suggestion.diameter == pytest.approx(diameter, rel=0.2)


@pytest.mark.parametrize("render", [balls, spots])
@pytest.mark.parametrize("gap", [11.0, 13.0])
def test_particles_that_touch_are_not_taken_for_their_clusters(render, gap):
    rng = np.random.default_rng(1)
    corners = scattered(rng, (120, 120), np.ones(2), 12, 30.0)
    triplets = np.concatenate([corners, corners + np.array([0.0, gap]), corners + gap * np.array([0.87, 0.5])])
    image = render((130, 130), triplets, 10.0, np.ones(2)) + rng.normal(0.0, 5.0, (130, 130))
    assert suggest_diameter(Stack(image[None], (1.0, 1.0))).diameter == pytest.approx(10.0, rel=0.2)


def test_uneven_light_is_not_a_particle():
    plain = movie(spots, (160, 160), (1.0, 1.0), 6.0, 25, 2.0)
    rows, columns = np.mgrid[:160, :160]
    lamp = 400.0 * np.exp(-((rows - 80) ** 2 + (columns - 80) ** 2) / (2 * 70.0**2))
    lit = Stack((plain.images + lamp).astype(np.float32), (1.0, 1.0))
    assert suggest_diameter(lit).diameter == pytest.approx(suggest_diameter(plain).diameter, rel=0.1)


def test_spots_of_the_smallest_diameter_are_not_passed_over_for_what_noise_makes_of_larger_ones():
    rng = np.random.default_rng(11)
    images = [spots((256, 256), scattered(rng, (256, 256), np.ones(2), 60, 6.0), 2.0, np.ones(2)) for _ in range(3)]
    noisy = np.array(images) + rng.normal(100.0, 5.0, (3, 256, 256))
    assert suggest_diameter(Stack(noisy.astype(np.float32), (1.0, 1.0))).diameter == pytest.approx(2.0, rel=0.2)


@pytest.mark.parametrize(("seed", "frames"), [(12, (0, 2, 5)), (14, (0, 3, 5)), (15, (0, 3, 5))])
def test_particles_that_bleach_keep_their_diameter(seed, frames):
    """In the last frame noise hides them from small diameters, which find the bright ones of the others only."""
    rng = np.random.default_rng(seed)
    image = spots((256, 256), scattered(rng, (256, 256), np.ones(2), 60, 14.0), 8.0, np.ones(2))
    bleached = np.array([2.0 * 0.6**t * image for t in frames]) + rng.normal(0.0, 5.0, (3, 256, 256))
    assert suggest_diameter(Stack(bleached.astype(np.float32), (1.0, 1.0))).diameter == pytest.approx(8.0, rel=0.2)


def test_discs_of_a_mask_that_touch_are_not_taken_for_the_chance_arrangement_that_stands_out_most():
    rng = np.random.default_rng(13)
    discs = [balls((256, 256), scattered(rng, (256, 256), np.ones(2), 170, 14.3), 14.0, np.ones(2)) for _ in range(3)]
    mask = (np.array(discs) > 50.0).astype(np.float32) * 255.0
    assert suggest_diameter(Stack(mask, (1.0, 1.0))).diameter == pytest.approx(14.0, rel=0.2)


def test_dark_particles_have_the_diameter_of_the_bright_ones_of_the_negative():
    bright = movie(spots, (128, 128), (1.0, 1.0), 6.0, 20, 2.0)
    dark = Stack(300.0 - bright.images, (1.0, 1.0))
    found = suggest_diameter(dark, bright_on_dark=False)
    assert found.diameter == pytest.approx(suggest_diameter(bright).diameter, rel=1e-3)


def test_the_suggestion_and_the_automatic_threshold_find_every_particle():
    sparse = movie(balls, (20, 80, 80), (2.0, 1.0, 1.0), 6.0, 25, 1.6)
    points = detect(sparse, DetectSettings(suggest_diameter(sparse).diameter))
    assert np.bincount(points.frames).tolist() == [25, 25]


def test_of_a_large_frame_a_window_that_holds_particles_is_looked_at():
    rng = np.random.default_rng(2)
    image = rng.normal(100.0, 5.0, (2100, 1400)).astype(np.float32)
    image[1700:1828, 900:1028] += balls((128, 128), scattered(rng, (128, 128), np.ones(2), 20, 16.0), 8.0, np.ones(2))
    assert suggest_diameter(Stack(image[None], (1.0, 1.0))).diameter == pytest.approx(8.0, rel=0.2)


def test_a_window_is_found_without_a_copy_of_the_frame_and_the_same_from_rows_in_bands(monkeypatch):
    monkeypatch.setattr(diameters, "_VOXELS", 1 << 17)
    grey = np.random.default_rng(0).normal(100.0, 10.0, (60, 160, 160)).astype(np.float32)
    whole = diameters._variances_of_windows(grey, [0, 46, 92], [0, 46, 92], 46)
    monkeypatch.setattr(diameters, "_BAND", 1 << 14)
    np.testing.assert_array_equal(diameters._variances_of_windows(grey, [0, 46, 92], [0, 46, 92], 46), whole)
    _, peak = with_peak(lambda: diameters._window(grey))
    assert peak < 0.5 * grey.nbytes


@pytest.mark.parametrize("shape", [(1, 300, 421), (3, 64, 200)])
def test_the_variances_of_windows_are_those_of_their_grey_levels(shape):
    grey, side = np.random.default_rng(0).poisson(100.0, shape).astype(np.float32), 64
    tops, lefts = (diameters._starts(length, side) for length in shape[1:])
    wanted = [[grey[:, a : a + side, b : b + side].var(dtype=float) for b in lefts] for a in tops]
    np.testing.assert_allclose(diameters._variances_of_windows(grey, tops, lefts, side), wanted, rtol=1e-12)


def test_a_window_of_a_plane_is_found_in_three_sums_a_pixel():
    grey = np.random.default_rng(0).normal(100.0, 10.0, (1200, 1200)).astype(np.float32)
    _, peak = with_peak(lambda: diameters._window(grey))
    assert peak < 3.3 * 8 * grey.size  # a window is .73 of it, and is not held yet


def test_frames_are_looked_at_as_many_at_a_time_as_the_budget_has_room_for(monkeypatch):
    images = np.random.default_rng(0).normal(100.0, 2.0, (4, 64, 64))
    images[:, 30:34, 30:34] += 200.0
    given = []

    def plan(*frames, **room):
        given.append(room.get("budget"))
        return work_plan(*frames, **room)

    monkeypatch.setattr(diameters, "work_plan", plan)
    resolve_settings(Stack(images, (1.0, 1.0)), DetectSettings(threshold=1.0), "cpu", budget=1e6)
    assert 1e6 in given


def test_the_reason_names_the_diameter_the_frames_and_the_number_of_blobs():
    suggestion = suggest_diameter(movie(balls, (128, 128), (0.5, 0.5), 4.0, 12, 2.0))
    best = int(np.argmin(np.abs(np.log(suggestion.diameters / suggestion.diameter))))
    for words in (f"{suggestion.diameter:.3g} µm", "frames 0, 1", f"{suggestion.blobs[best]} of them"):
        assert words in suggestion.reason
    assert suggestion.unit == "µm"
    assert len(suggestion.diameters) == len(suggestion.responses) == len(suggestion.blobs)
    assert suggestion.diameters[0] == pytest.approx(2 * 0.5)
    assert suggestion.diameters[-1] <= 0.5 * 128 * 0.5


@pytest.mark.parametrize("side", [64, 400, 1024, 2048])
@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (0.3, 0.1, 0.1), (10.0, 0.5, 1.0), (0.2, 1.0, 1.0), (1.0, 1.0)])
def test_averaging_leaves_a_voxel_of_every_axis_and_eight_to_sixteen_in_a_diameter(scale, side):
    voxel = np.array(scale)
    for planes in range(1, 65) if len(scale) == 3 else (1,):
        shape = (planes, side, side)[-len(scale) :]
        for diameter in diameters_to_try(shape, voxel):
            bins = voxels_to_average(diameter, voxel, shape)
            assert ((bins >= 1) & (bins <= shape)).all()
            across = diameter / (bins * voxel)[-2:].max()
            assert across < 16 or across == pytest.approx(16)
            assert bins[-2:].min() == 1 or across > 8 or across == pytest.approx(8)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("shape", [(1, 128, 128), (2, 128, 128), (5, 128, 96), (96, 96)])
def test_thin_stacks_are_tracked_with_nothing_given(shape, dtype):
    rng = np.random.default_rng(5)
    centres = scattered(rng, shape, np.ones(len(shape)), 12, 14.0)
    image = spots(shape, centres, 6.0, np.ones(len(shape)))
    movie = np.stack([image + 50.0 + rng.normal(0.0, 3.0, shape) for _ in range(2)]).astype(dtype)
    described = InputSettings(axes="TZYX" if len(shape) == 3 else "TYX", scale=(1.0,) * len(shape))
    result = track(movie, Settings(described))
    assert np.bincount(result.tracks.frames).tolist() == [12, 12]


def test_particles_of_one_frame_among_empty_ones_are_found():
    images = np.random.default_rng(4).normal(100.0, 5.0, (12, 64, 64)).astype(np.float32)
    images[4] += spots((64, 64), np.array([[20.0, 20.0], [40.0, 45.0], [14.0, 50.0]]), 8.0, np.ones(2))
    suggestion = suggest_diameter(Stack(images, (1.0, 1.0)))
    assert suggestion.diameter == pytest.approx(8.0, rel=0.2)
    assert np.bincount(detect(Stack(images, (1.0, 1.0))).frames, minlength=12).tolist() == [0] * 4 + [3] + [0] * 7


def test_nothing_but_noise_is_said_so():
    noise = np.random.default_rng(3).normal(100.0, 5.0, (3, 96, 96)).astype(np.float32)
    dark = {False: "particles are darker than the background"}
    with refused(InvalidInput, setting="bright_on_dark", examples=dark):
        suggest_diameter(Stack(noise, (1.0, 1.0)))
    bright = {True: "particles are brighter than the background"}
    with refused(InvalidInput, setting="bright_on_dark", examples=bright):
        suggest_diameter(Stack(np.full((1, 32, 32), 7, dtype=np.uint8), (1.0, 1.0)), bright_on_dark=False)


@pytest.mark.parametrize(
    ("count", "said"),
    [(1, "frame 0;"), (3, "frames 0, 1, 2;"), (9, "9 frames from 0 to 8;"), (99, "frames from 0 to 98;")],
)
def test_many_frames_that_were_looked_at_are_counted_a_few_are_named(count, said):
    with pytest.raises(InvalidInput, match=said):
        suggest_diameter(Stack(np.zeros((count, 32, 32), dtype=np.uint8), (1.0, 1.0)))


def test_a_frame_too_small_for_any_blob_is_said_so():
    with pytest.raises(InvalidInput, match=r"3 × 20 "):
        suggest_diameter(Stack(np.zeros((1, 3, 20), dtype=np.uint8), (1.0, 1.0)))
