"""Masks of truth values are movies of 0 and 1, and as labels each of their regions is a particle."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import tifffile

import auctrack
from auctrack.tracker.reading.movie import Movie, read_movie

CENTRES = np.array([[4, 4], [4, 20], [15, 9]])
MASK = np.zeros((4, 21, 30), np.bool_)
"""Three squares of 3 × 3, of which each goes on by a pixel along x a frame; width and height are no whole bytes."""
for _t, _mask in enumerate(MASK):
    for _y, _x in CENTRES:
        _mask[_y - 1 : _y + 2, _x + _t - 1 : _x + _t + 2] = True
SAID = {"axes": "TYX", "scale": (1, 1)}


def frames(movie: Movie) -> np.ndarray:
    return np.array([movie.frame(number) for number in movie.frame_numbers])


@pytest.mark.parametrize("options", [{}, {"compression": "zlib"}, {"metadata": None}], ids=["plain", "packed", "pages"])
def test_a_mask_in_a_tiff_file_is_read_as_0_and_1(tmp_path: Path, options: dict[str, object]) -> None:
    tifffile.imwrite(tmp_path / "m.tif", MASK, photometric="minisblack", **options)
    with read_movie(tmp_path / "m.tif", **SAID) as movie:
        assert (movie.dtype, movie.is_mask) == (np.uint8, True)
        assert "truth values" in movie.describe()
        assert frames(movie).dtype == np.uint8
        np.testing.assert_array_equal(frames(movie), MASK)
    with read_movie(tmp_path / "m.tif", roi="2:13,5:28", **SAID) as part:
        np.testing.assert_array_equal(frames(part), MASK[:, 2:13, 5:28])


def test_so_is_one_in_an_array_and_in_a_folder_of_frames(tmp_path: Path) -> None:
    for number, image in enumerate(MASK):
        tifffile.imwrite(tmp_path / f"t{number}.tif", image, photometric="minisblack")
    for source, axes in ((MASK, "TYX"), (tmp_path, "YX")):
        with read_movie(source, axes=axes, scale=(1, 1)) as movie:
            assert movie.is_mask
            np.testing.assert_array_equal(frames(movie), MASK)


def test_numbers_are_no_mask_even_if_there_are_two_of_them() -> None:
    with read_movie(MASK.astype(np.uint8), **SAID) as movie:
        assert not movie.is_mask


def test_each_region_of_a_mask_given_as_labels_is_a_particle() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = auctrack.track(MASK, kind="labels", **SAID)
    assert result.tracks.table["track_id"].nunique() == len(CENTRES)
    for t in range(len(MASK)):
        found = result.tracks.table.query("frame == @t")
        assert sorted(map(tuple, found[["y", "x"]].to_numpy())) == sorted((y, x + t) for y, x in CENTRES)
        assert (found["area"] == 9).all()


def test_regions_in_3d_touch_by_faces() -> None:
    mask = np.zeros((2, 3, 8, 8), np.bool_)
    mask[:, 0, 1, 1] = mask[:, 1, 2, 2] = mask[:, 1, 5, 5] = mask[:, 2, 5, 5] = True
    found = auctrack.track(mask, kind="labels", axes="TZYX", scale=(1, 1, 1)).tracks.table
    assert sorted(found.query("frame == 0")["volume"]) == [1, 1, 2]


def test_without_being_labels_a_mask_is_a_movie_in_which_particles_are_found() -> None:
    found = auctrack.detect(MASK, auctrack.DetectSettings(diameter=4), **SAID)
    assert (found.table.groupby("frame").size() == len(CENTRES)).all()
