"""Detection: every blob once, where it is, in voxels of the whole file; and what is refused."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import ndimage
from scipy.spatial import cKDTree

from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.detecting import peaks
from auctrack.tracker.detecting.blobs import (
    blob_response,
    gaussian_kernels,
    noise_gain,
    sigma_of,
)
from auctrack.tracker.detecting.detect import detect, detect_frame, resolve_settings
from auctrack.tracker.detecting.peaks import apart, keep_highest, local_maxima
from auctrack.tracker.detecting.settings import DetectSettings
from auctrack.tracker.errors import InvalidSetting
from auctrack.tracker.reading.contiguous import NEW_MEMORY, PixelBuffer
from auctrack.tracker.timeline import Timeline


@dataclass
class Stack:
    """The part of `Movie` that detection relies on, in memory."""

    images: np.ndarray
    calibration: Calibration
    origin: tuple[int, ...] = (0, 0, 0)
    first: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        return self.images.shape[1:]

    @property
    def ndim(self) -> int:
        return self.images.ndim - 1

    @property
    def dtype(self) -> np.dtype:
        return self.images.dtype

    @property
    def timeline(self) -> Timeline:
        return Timeline(1, self.frame_numbers)

    @property
    def frame_numbers(self) -> tuple[int, ...]:
        return tuple(range(self.first, self.first + len(self.images)))

    def frame(self, number: int, into: PixelBuffer = NEW_MEMORY) -> np.ndarray:
        image = into.empty(self.shape, self.dtype)
        image[...] = self.images[number - self.first]
        return image


def gaussian_spots(shape, positions, diameter, scale, height=100.0):
    """Render Gaussian spots; a spot of standard deviation s has the diameter 2·sqrt(2)·s."""
    spread = diameter / (2.0 * np.sqrt(2.0)) / np.asarray(scale)
    image = np.zeros(shape)
    for position in positions:
        profiles = [
            np.exp(-((np.arange(size) - p) ** 2) / (2.0 * s**2))
            for size, p, s in zip(shape, position, spread, strict=True)
        ]
        image += height * functools.reduce(np.multiply, np.ix_(*profiles))
    return image


def lattice(rng, shape, step, margin):
    """Return positions on a lattice, each shifted by a random part of a voxel."""
    axes = [np.arange(edge, size - edge, gap) for size, gap, edge in zip(shape, step, margin, strict=True)]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(shape))
    return nodes + rng.uniform(-0.5, 0.5, nodes.shape)


def stack_of(image, scale, **rest):
    scale = (1.0,) * (3 - len(scale)) + tuple(scale)
    rest.setdefault("origin", (0,) * image.ndim)
    return Stack(np.asarray(image)[None], Calibration(scale=scale, unit="µm"), **rest)


CASES = {
    "2D": ((128, 128), (1.0, 1.0), 5.0, (14, 14), (8, 8)),
    "2D fine voxels": ((128, 128), (0.1, 0.1), 0.6, (14, 14), (8, 8)),
    "3D": ((32, 64, 64), (1.0, 1.0, 1.0), 5.0, (11, 12, 12), (6, 7, 7)),
    "3D coarse z": ((20, 80, 80), (2.0, 1.0, 1.0), 5.0, (7, 13, 13), (3, 7, 7)),
    "3D coarse z, micrometres": ((20, 80, 80), (0.5, 0.2, 0.2), 1.2, (7, 15, 15), (3, 8, 8)),
}


@pytest.mark.parametrize("method", ["log", "dog"])
@pytest.mark.parametrize("name", CASES)
def test_every_blob_is_found_once_within_a_tenth_of_a_voxel(name, method):
    shape, scale, diameter, step, margin = CASES[name]
    rng = np.random.default_rng(7)
    truth = lattice(rng, shape, step, margin)
    image = 100.0 + gaussian_spots(shape, truth, diameter, np.array(scale)) + rng.normal(0.0, 3.0, shape)
    points = detect(stack_of(image.astype(np.float32), scale), DetectSettings(diameter, method=method))
    found = points.table[list(points.axes)].to_numpy()
    assert len(found) == len(truth)
    distance, nearest = cKDTree(found).query(truth)
    assert len(set(nearest)) == len(truth)
    error = np.abs(found[nearest] - truth)
    assert error.mean() < 0.1
    assert distance.max() < 0.5
    assert np.abs((found[nearest] - truth).mean(axis=0)).max() < 0.05  # no drift to one side


def test_positions_are_those_of_the_whole_file_and_frames_those_of_the_movie():
    truth = np.array([[5.0, 20.0, 22.0]])
    image = gaussian_spots((12, 40, 44), truth, 6.0, np.ones(3))
    movie = stack_of(image, (1, 1, 1), origin=(3, 100, 200), first=17)
    table = detect(movie, DetectSettings(6.0, threshold=10.0)).table
    assert table["frame"].tolist() == [17]
    assert np.allclose(table[["z", "y", "x"]].to_numpy(), truth + np.array([3, 100, 200]), atol=0.02)


def test_columns_quality_intensity_and_snr_say_what_they_promise():
    radius = 6.0
    grid = np.stack(np.meshgrid(*[np.arange(49)] * 3, indexing="ij"), axis=-1)
    image = np.where(((grid - 24) ** 2).sum(axis=-1) <= radius**2, 150.0, 50.0)
    image += np.random.default_rng(0).normal(0.0, 10.0, image.shape)
    points = detect(stack_of(image, (1, 1, 1)), DetectSettings(2 * radius, threshold=50.0))
    assert list(points.table.columns) == ["frame", "z", "y", "x", "quality", "intensity", "snr"]
    (row,) = points.table.to_dict("records")
    assert row["quality"] == pytest.approx(0.925 * 100.0, rel=0.05)
    assert row["intensity"] == pytest.approx(150.0, abs=2.0)
    assert row["snr"] == pytest.approx(100.0 / 10.0, rel=0.1)


def test_dark_blobs_are_the_bright_ones_of_the_negative():
    rng = np.random.default_rng(1)
    image = gaussian_spots((64, 64), [[20.3, 30.1], [45.0, 12.6]], 6.0, np.ones(2)) + rng.normal(0, 2, (64, 64))
    bright = detect(stack_of(image, (1, 1)), DetectSettings(6.0)).table
    dark = detect(stack_of(200.0 - image, (1, 1)), DetectSettings(6.0, bright_on_dark=False)).table
    assert len(bright) == 2
    assert np.allclose(dark[["y", "x", "quality", "snr"]], bright[["y", "x", "quality", "snr"]], rtol=1e-3)
    assert np.allclose(dark["intensity"], 200.0 - bright["intensity"], rtol=1e-3)


def test_a_spot_between_two_voxels_is_one_detection():
    image = gaussian_spots((40, 40), [[20.5, 19.5]], 6.0, np.ones(2))
    table = detect(stack_of(image, (1, 1)), DetectSettings(6.0, threshold=5.0)).table
    assert table[["y", "x"]].to_numpy() == pytest.approx(np.array([[20.5, 19.5]]), abs=0.01)


def test_a_saturated_plateau_is_one_detection():
    image = np.minimum(gaussian_spots((40, 40), [[20.0, 20.0]], 10.0, np.ones(2), height=1000.0), 200.0)
    assert len(detect(stack_of(image, (1, 1)), DetectSettings(14.0, threshold=20.0))) == 1


def test_equal_peaks_that_touch_on_a_plateau_leave_the_first_in_raster_order():
    response = np.zeros((9, 9), dtype=np.float32)
    response[4, 3:6] = 1.0
    assert local_maxima(response, 0.5, 2.5, np.ones(2)).tolist() == [39]
    assert local_maxima(response, 0.5, 1.5, np.ones(2)).tolist() == [39, 41]


@pytest.mark.parametrize("shape", [(1, 1), (40, 30), (1, 9, 9), (3, 20, 20), (12, 13, 14)])
def test_peaks_are_the_voxels_above_the_threshold_that_no_neighbour_exceeds(shape):
    response = np.random.default_rng(7).integers(-3, 9, shape).astype(np.float32)
    wanted = np.flatnonzero((response == ndimage.maximum_filter(response, size=3)) & (response > 5))
    np.testing.assert_array_equal(local_maxima(response, 5.0, 0.5, np.ones(len(shape))), wanted)


def test_the_higher_of_two_near_peaks_stays_and_a_dropped_peak_drops_nobody():
    pairs = np.array([[1, 0], [1, 2]])
    assert keep_highest(pairs, np.array([3.0, 2.0, 1.0])).tolist() == [True, False, True]
    assert keep_highest(pairs, np.array([1.0, 1.0, 1.0])).tolist() == [True, False, True]
    assert keep_highest(pairs, np.array([1.0, 2.0, 1.0])).tolist() == [False, True, False]


@pytest.mark.parametrize("separation", [0.0, 1.0, 2.5, 100.0])
@pytest.mark.parametrize("n", [0, 1, 300])
def test_peaks_are_told_apart_alike_however_few_rivals_are_looked_for_at_a_time(monkeypatch, n, separation):
    rng = np.random.default_rng(n)
    positions, heights = np.floor(rng.random((n, 3)) * [3, 20, 20]), rng.integers(0, 9, n).astype(np.float32)
    monkeypatch.setattr(peaks, "_FEW_ROWS", 7)
    monkeypatch.setattr(peaks, "_PAIRS_AT_A_TIME", 1)
    distance = np.linalg.norm(positions[:, None] - positions, axis=2)
    stays = np.ones(n, bool)
    for peak in np.argsort(-heights, kind="stable"):
        rivals = (distance[peak] <= separation) & (np.arange(n) != peak) & (separation > 0)
        stays[peak] = not (stays & rivals & ((heights > heights[peak]) | _before(heights, peak))).any()
    assert apart(positions, heights, separation).tolist() == stays.tolist()


def _before(heights: np.ndarray, peak: int) -> np.ndarray:
    return (heights == heights[peak]) & (np.arange(len(heights)) < peak)


@pytest.mark.parametrize("step", [1.0, 0.5, 0.3, 0.1, 0.07])
def test_peaks_just_as_far_apart_as_the_separation_are_rivals_whatever_their_voxels_and_places(step):
    for voxels in range(1, 10):
        separation = round(voxels * step, 2)  # as it is written
        for first in (0, 1, 2, 5, 100, 1001):
            places = np.array([[0, 0, first], [0, 0, first + voxels], [0, 0, first + 2 * voxels + 1]])
            stays = apart(places * [1.0, 1.0, step], np.array([3.0, 2.0, 1.0]), separation)
            assert stays.tolist() == [True, False, True], (voxels, first)


def test_keep_highest_equals_the_descending_greedy_choice():
    rng = np.random.default_rng(3)
    points, heights = rng.random((400, 2)), rng.integers(0, 50, 400).astype(float)
    pairs = cKDTree(points).query_pairs(0.06, output_type="ndarray")
    rivals = [set() for _ in points]
    for a, b in pairs.tolist():
        rivals[a].add(b)
        rivals[b].add(a)
    chosen: set[int] = set()
    for i in np.argsort(-heights, kind="stable").tolist():
        if not rivals[i] & chosen:
            chosen.add(i)
    assert set(np.flatnonzero(keep_highest(pairs, heights)).tolist()) == chosen


def test_blobs_at_the_border_are_found_inside_the_frame():
    truth = np.array([[0.0, 0.0], [0.4, 30.0], [39.0, 20.2], [20.0, 39.4]])
    image = gaussian_spots((40, 40), truth, 6.0, np.ones(2))
    found = detect(stack_of(image, (1, 1)), DetectSettings(6.0, threshold=20.0)).table[["y", "x"]].to_numpy()
    assert len(found) == len(truth)
    assert found.min() > -0.5
    assert found.max() < 39.5
    assert cKDTree(found).query(truth)[0].max() < 0.2


def test_a_frame_of_one_plane_can_be_three_dimensional():
    image = gaussian_spots((1, 40, 40), [[0.0, 20.2, 11.3]], 6.0, np.ones(3))
    table = detect(stack_of(image, (2, 1, 1)), DetectSettings(6.0, threshold=5.0)).table
    assert table[["z", "y", "x"]].to_numpy() == pytest.approx(np.array([[0.0, 20.2, 11.3]]), abs=0.1)


def test_frames_without_blobs_have_no_rows_and_an_empty_movie_is_legal():
    images = np.zeros((3, 40, 40))
    images[1] = gaussian_spots((40, 40), [[20.0, 20.0]], 6.0, np.ones(2))
    movie = Stack(images, Calibration(), origin=(0, 0))
    assert detect(movie, DetectSettings(6.0, threshold=5.0)).frames.tolist() == [1]
    empty = detect(Stack(images[:1], Calibration(), origin=(0, 0)), DetectSettings(6.0))
    assert len(empty) == 0
    assert list(empty.table.columns) == ["frame", "y", "x", "quality", "intensity", "snr"]
    assert empty.table["frame"].dtype == np.int64


def test_nothing_is_above_a_threshold_that_no_pixel_can_have():
    assert len(detect(stack_of(np.eye(32) * 100, (1, 1)), DetectSettings(6.0, threshold=1e99))) == 0


def test_voxels_without_a_value_are_background_and_nothing_is_found_on_them():
    rng = np.random.default_rng(2)
    image = 100.0 + gaussian_spots((64, 64), [[20.0, 20.0], [45.0, 45.0]], 6.0, np.ones(2)) + rng.normal(0, 1, (64, 64))
    image[:, 58:] = np.nan
    image[44:47, 44:47] = np.inf
    image[50, 50] = 1e300  # beyond float32
    image[10, 50] = np.finfo(np.float32).max  # how some programs mark a hole
    table = detect(stack_of(image, (1, 1)), DetectSettings(6.0, threshold=15.0)).table
    near_first = np.hypot(table["y"] - 20.0, table["x"] - 20.0) < 0.2
    assert near_first.sum() == 1
    under = image[table["y"].round().astype(int), table["x"].round().astype(int)]
    assert (np.abs(under) < 1e18).all()
    assert len(detect(stack_of(np.full((32, 32), np.nan), (1, 1)), DetectSettings(6.0))) == 0


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32, np.float32, np.float64, bool])
def test_every_real_dtype_is_read(dtype):
    image = (gaussian_spots((40, 40), [[20.0, 20.0]], 8.0, np.ones(2)) > 50).astype(dtype)
    assert len(detect(stack_of(image, (1, 1)), DetectSettings(8.0, threshold=0.3))) == 1


def test_the_result_depends_neither_on_the_number_of_workers_nor_on_background_and_unit():
    rng = np.random.default_rng(5)
    images = np.stack(
        [gaussian_spots((16, 48, 48), lattice(rng, (16, 48, 48), (8, 14, 14), (4, 8, 8)), 5.0, np.array([2.0, 1, 1]))
         for _ in range(5)]
    ) + rng.normal(0.0, 2.0, (5, 16, 48, 48))  # fmt: skip
    calibration = Calibration(scale=(2.0, 1.0, 1.0), unit="µm")
    one = detect(Stack(images, calibration), DetectSettings(5.0, threshold=20.0), workers=1).table
    three = detect(Stack(images, calibration), DetectSettings(5.0, threshold=20.0), workers=3).table
    assert one.equals(three)
    metres = Calibration(scale=(2e-6, 1e-6, 1e-6), unit="m")
    shifted = detect(Stack(images + 1000.0, metres), DetectSettings(5e-6, threshold=20.0)).table
    assert np.allclose(shifted[["z", "y", "x"]], one[["z", "y", "x"]], atol=1e-3)


def test_calibration_passes_through_and_progress_counts_frames():
    movie = Stack(np.zeros((4, 32, 32)), Calibration(scale=(1, 0.5, 0.5), unit="µm", frame_interval=3.0), origin=(0, 0))
    seen: list[tuple[int, int]] = []
    points = detect(movie, DetectSettings(3.0), progress=lambda done, total: seen.append((done, total)))
    assert points.calibration is movie.calibration
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_an_interrupt_in_progress_stops_the_reading():
    read: list[int] = []

    class Counting(Stack):
        def frame(self, number: int, *_: object) -> np.ndarray:
            read.append(number)
            return super().frame(number)

    def interrupt(*_: int) -> None:
        raise KeyboardInterrupt

    movie = Counting(np.zeros((50, 32, 32)), Calibration(), origin=(0, 0))
    with pytest.raises(KeyboardInterrupt):
        detect(movie, DetectSettings(4.0, threshold=1.0), progress=interrupt, workers=2)
    looked_at = 3  # for defects of the camera
    assert len(read) <= looked_at + 3


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"diameter": 0.0}, "diameter .*0.0"),
        ({"diameter": float("nan")}, "diameter .*nan"),
        ({"diameter": 5.0, "separation": -1.0}, "separation .*-1.0"),
        ({"diameter": 5.0, "threshold": float("inf")}, "threshold .*inf"),
        ({"diameter": "large"}, "diameter .*'large'"),
        ({"diameter": 5.0, "threshold": "high"}, "threshold .*'high'"),
        ({"diameter": 5.0, "method": "blob"}, "method .*'log', 'dog'.*'blob'"),
    ],
)
def test_settings_out_of_range_are_refused(settings, named):
    with pytest.raises(InvalidSetting, match=named):
        DetectSettings(**settings)


def test_a_diameter_that_does_not_fit_the_frame_is_refused_with_the_remedy():
    movie = stack_of(np.zeros((8, 60, 50)), (2.0, 0.5, 0.5))
    with pytest.raises(InvalidSetting, match=r"\b2 .*y .*x.*\b1 µm.*0\.9 µm"):
        detect(movie, DetectSettings(0.9))
    with pytest.raises(InvalidSetting, match=r"25 µm.*26 µm"):
        detect(movie, DetectSettings(26.0))
    detect(movie, DetectSettings(20.0, threshold=1.0))  # larger than the stack is deep: legal


def test_a_single_frame_needs_the_threshold_filled_in():
    image = gaussian_spots((40, 40), [[20.0, 20.0]], 6.0, np.ones(2)) + np.random.default_rng(0).normal(0, 1, (40, 40))
    with pytest.raises(InvalidSetting, match="resolve_settings"):
        detect_frame(image, DetectSettings(6.0), np.ones(2))
    with pytest.raises(InvalidSetting, match="resolve_settings"):
        detect_frame(image, DetectSettings(threshold=5.0), np.ones(2))
    movie = stack_of(image, (1, 1))
    settings = resolve_settings(movie, DetectSettings(6.0))
    preview = detect_frame(image, settings, np.ones(2))
    assert preview.equals(detect(movie, DetectSettings(6.0)).table[preview.columns.tolist()])


def test_with_nothing_given_diameter_and_threshold_come_from_the_movie():
    rng = np.random.default_rng(4)
    truth = lattice(rng, (96, 96), (16, 16), (9, 9))
    movie = stack_of(gaussian_spots((96, 96), truth, 6.0, np.ones(2)) + rng.normal(0.0, 3.0, (96, 96)), (1, 1))
    settings = resolve_settings(movie, DetectSettings())
    assert settings.known_diameter == pytest.approx(6.0, rel=0.15)
    assert settings.threshold is not None
    assert len(detect(movie, DetectSettings())) == len(truth)


@pytest.mark.parametrize("ndim", [2, 3])
def test_the_response_to_a_ball_peaks_at_its_own_diameter_with_its_contrast(ndim):
    grid = np.stack(np.meshgrid(*[np.arange(61)] * ndim, indexing="ij"), axis=-1)
    ball = (100.0 * (((grid - 30) ** 2).sum(axis=-1) <= 8.0**2)).astype(np.float32)
    at = {d: blob_response(ball, d, np.ones(ndim))[(30,) * ndim] for d in (12.0, 16.0, 21.0)}
    assert at[16.0] == pytest.approx({2: 73.6, 3: 92.5}[ndim], rel=0.03)
    assert at[16.0] > max(at[12.0], at[21.0])
    assert sigma_of(16.0, np.array([2.0, 1.0, 1.0])) == pytest.approx(16 / (2 * 3**0.5) / np.array([2.0, 1.0, 1.0]))


@pytest.mark.parametrize("sigma", [0.05, 0.3, 0.5, 1.0, 7.3])
def test_kernels_leave_no_trace_of_a_background_and_keep_a_parabola(sigma):
    gauss, second = gaussian_kernels(sigma)
    x = np.arange(len(gauss)) - len(gauss) // 2
    assert gauss.sum() == pytest.approx(1.0)
    assert second.sum() == pytest.approx(0.0, abs=1e-12)
    assert second @ x**2 == pytest.approx(2.0 * sigma**2)


@pytest.mark.parametrize("method", ["log", "dog"])
def test_noise_gain_is_what_white_noise_shows(method):
    scale = np.array([2.0, 1.0, 1.0])
    noise = np.random.default_rng(0).normal(size=(40, 96, 96)).astype(np.float32)
    response = blob_response(noise, 5.0, scale, method)[8:-8, 12:-12, 12:-12]
    assert response.std() == pytest.approx(noise_gain(5.0, scale, method), rel=0.03)
