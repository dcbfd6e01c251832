"""Label images become one point a label and frame: its centroid, its size, its mean intensity."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tifffile
from scipy import ndimage

from auctrack.tracker.detecting import labels as detecting_labels
from auctrack.tracker.detecting.labels import label_steps, labelled_at_a_time
from auctrack.tracker.errors import InvalidInput
from auctrack.tracker.points import Points
from auctrack.tracker.reading.movie import Movie, read_movie
from auctrack.tracker.stepwise import finished

from ..traced import with_peak
from .test_threshold import Stack


def movie_of(path: Path, image: np.ndarray, **options: object) -> Movie:
    axes = "TZYX"[-image.ndim :] if image.ndim != 3 else "TYX"
    tifffile.imwrite(path, image, photometric="minisblack")
    return read_movie(path, axes=axes, scale=(2, 1, 1)[-(image.ndim - 1) :], **options)


def points_of(labels: Movie, intensity: Movie | None = None) -> Points:
    return finished(label_steps(labels, intensity))


def scattered(shape: tuple[int, ...], labels: int, dtype: type, seed: int = 0) -> np.ndarray:
    """Return label images whose labels lie scattered, with frames and labels missing."""
    image = np.random.default_rng(seed).integers(0, labels, shape)
    image[1] = 0
    image[image == 3] = 0
    return image.astype(dtype)


@pytest.mark.parametrize("shape", [(4, 5, 12, 9), (4, 12, 9)])
@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.uint32, np.float32])
def test_centroid_size_and_intensity_are_those_of_scipy(tmp_path: Path, shape: tuple[int, ...], dtype: type) -> None:
    image = scattered(shape, 7, dtype)
    values = np.random.default_rng(1).integers(0, 60000, shape).astype(np.uint16)
    points = points_of(movie_of(tmp_path / "l.tif", image), movie_of(tmp_path / "i.tif", values))
    axes = ["z", "y", "x"][4 - len(shape) :]
    assert list(points.table.columns) == [
        "frame", *axes, "label", "volume" if len(axes) == 3 else "area", "mean_intensity"
    ]  # fmt: skip
    assert sorted(set(points.frames)) == [0, 2, 3]
    for frame, rows in points.table.groupby("frame"):
        found = np.unique(image[frame])[1:]
        assert rows["label"].tolist() == found.tolist()
        centroids = ndimage.center_of_mass(np.ones(shape[1:]), image[frame], found)
        np.testing.assert_allclose(rows[axes], centroids, rtol=1e-12)
        np.testing.assert_array_equal(rows.iloc[:, -2], [np.count_nonzero(image[frame] == label) for label in found])
        np.testing.assert_allclose(rows["mean_intensity"], ndimage.mean(values[frame], image[frame], found), rtol=1e-12)


def test_positions_are_those_of_the_whole_file(tmp_path: Path) -> None:
    image = np.zeros((2, 6, 20, 20), np.uint16)
    image[:, 3:5, 8:11, 12:15] = 9
    whole = points_of(movie_of(tmp_path / "l.tif", image))
    cut = points_of(
        movie_of(tmp_path / "l.tif", image, roi=(slice(2, 6), slice(5, 15), slice(11, 20)), frames=slice(1, 2))
    )
    assert whole.table.loc[1, ["z", "y", "x"]].tolist() == [3.5, 9, 13]
    pd.testing.assert_frame_equal(cut.table, whole.table[1:].reset_index(drop=True))
    assert whole.calibration.scale == (2, 1, 1)


def test_large_label_values_cost_no_memory(tmp_path: Path) -> None:
    image = np.zeros((1, 4, 4), np.uint32)
    image[0, 1, 2] = 2**32 - 1
    points = points_of(movie_of(tmp_path / "l.tif", image))
    assert points.table["label"].tolist() == [2**32 - 1]


def test_no_label_at_all_is_a_table_without_rows(tmp_path: Path) -> None:
    points = points_of(movie_of(tmp_path / "l.tif", np.zeros((3, 4, 5, 6), np.uint8)))
    assert len(points) == 0
    assert list(points.table.columns) == ["frame", "z", "y", "x", "label", "volume"]


@pytest.mark.parametrize("value", [-1, 0.5, np.nan, 1e30])
def test_an_intensity_image_is_not_taken_for_labels(tmp_path: Path, value: float) -> None:
    image = np.zeros((2, 4, 5), np.int16 if value == -1 else np.float32)
    image[1, 2, 2] = value
    with pytest.raises(InvalidInput, match="frame 1 "):
        points_of(movie_of(tmp_path / "l.tif", image))


def test_movies_that_do_not_fit(tmp_path: Path) -> None:
    labels = movie_of(tmp_path / "l.tif", np.zeros((3, 4, 5), np.uint8))
    for shape in ((3, 5, 4), (2, 4, 5)):
        with pytest.raises(InvalidInput, match=r"i\.tif"):
            points_of(labels, movie_of(tmp_path / "i.tif", np.zeros(shape, np.uint8)))


def test_progress_counts_frames(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    labels = movie_of(tmp_path / "l.tif", np.zeros((3, 4, 5), np.uint8))
    finished(label_steps(labels), lambda step: seen.append((step.done, step.total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


class MeetingFrames(Stack):
    """Frames that come when two are asked for at a time, or never."""

    met = threading.Barrier(2, timeout=20)

    def frame(self, number: int, empty: object = None) -> np.ndarray:
        self.met.wait()
        return super().frame(number, empty)


def test_frames_are_read_side_by_side_and_come_in_order(monkeypatch) -> None:
    monkeypatch.setattr(detecting_labels, "processors", lambda: 2)
    images = np.zeros((6, 4, 5), np.uint8)
    images[:, 2, 2] = np.arange(1, 7)
    points = finished(label_steps(MeetingFrames(images)))
    assert points.table["label"].tolist() == [1, 2, 3, 4, 5, 6]
    assert points.frames.tolist() == [0, 1, 2, 3, 4, 5]


def test_closed_between_two_steps_no_thread_is_left() -> None:
    before = threading.active_count()
    steps = label_steps(Stack(np.ones((20, 4, 5), np.uint8)))
    next(steps)
    steps.close()
    assert threading.active_count() == before


def test_as_many_frames_at_a_time_as_the_budget_has_room_for(monkeypatch) -> None:
    monkeypatch.setattr(detecting_labels, "processors", lambda: 16)
    assert labelled_at_a_time((32, 512, 512), 100) == 14
    assert labelled_at_a_time((32, 512, 512), 3) == 3
    assert labelled_at_a_time((512, 2048, 2048), 100) == 1


def test_labels_as_large_as_cells_take_less_than_what_is_planned_for_a_voxel() -> None:
    y, x = np.indices((512, 512))
    image = (1 + y // 16 * 32 + x // 16).astype(np.uint16)
    _, peak = with_peak(lambda: points_of(Stack(image[np.newaxis])))
    assert peak < detecting_labels._BYTES_A_VOXEL * image.size


def test_the_nuclei_of_hl60_lie_where_their_truth_says(real_data) -> None:
    with read_movie(real_data("hl60_3d/labels.tif"), scale=(2, 1, 1)) as labels:
        points = points_of(labels)
    truth = pd.read_csv(real_data("hl60_3d/truth.csv")).rename(columns={"true_id": "label"})
    both = truth.merge(points.table, on=["frame", "label"], how="outer", indicator=True)
    assert (both["_merge"] == "both").all()
    np.testing.assert_allclose(both[["z_x", "y_x", "x_x"]], both[["z_y", "y_y", "x_y"]], rtol=1e-9)
