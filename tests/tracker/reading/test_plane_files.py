"""A folder of one plane or channel a file: the words before the numbers in their names say which each is."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import tifffile

from auctrack.tracker.errors import InvalidInput, UnknownAxes, UnknownChannel
from auctrack.tracker.reading.movie import read_movie

PIXELS = np.random.default_rng(0).integers(0, 4000, (3, 2, 4, 16, 12)).astype(np.uint16)  # T C Z Y X
SIZE = (2, 0.5, 0.5)


def written(folder: Path, name: str, *, times=(0, 1, 2), channels=(0,), planes=(0, 1, 2, 3)) -> Path:
    """Write one file a plane, under a name with {t}, {c} and {z}."""
    places = itertools.product(enumerate(times), enumerate(channels), enumerate(planes))
    for (t, time), (c, channel), (z, plane) in places:
        path = folder / name.format(t=time, c=channel, z=plane)
        tifffile.imwrite(path, PIXELS[t, c, z], photometric="minisblack", metadata=None)
    return folder


@pytest.mark.parametrize(
    "name",
    ["img_t{t:03d}_z{z:03d}.tif", "z{z}t{t}.tif", "imgT{t:02d}Z{z:02d}.tif", "pos2 time-{t} plane={z}.tif"],
)
def test_planes_are_put_together_by_their_names(tmp_path: Path, name: str) -> None:
    with read_movie(written(tmp_path, name), scale=SIZE) as movie:
        assert movie.shape == (4, 16, 12)
        assert movie.calibration.scale == SIZE
        np.testing.assert_array_equal([movie.frame(t) for t in movie.frame_numbers], PIXELS[:, 0])


def test_axes_say_what_bare_numbers_count_from_left_to_right(tmp_path: Path) -> None:
    written(tmp_path, "{z:02d}_{t:02d}.tif")
    with read_movie(tmp_path, scale=SIZE[1:]) as movie:
        assert len(movie) == 12
        assert "TZYX" in movie.timeline_note
    with read_movie(tmp_path, axes="ZTYX", scale=SIZE) as movie:
        np.testing.assert_array_equal([movie.frame(t) for t in range(3)], PIXELS[:, 0])
    with read_movie(tmp_path, axes="TZYX", scale=SIZE) as movie:
        np.testing.assert_array_equal([movie.frame(t) for t in range(4)], PIXELS[:, 0].swapaxes(0, 1))


def test_more_letters_than_the_names_have_numbers_are_refused_as_they_were_given(tmp_path: Path) -> None:
    written(tmp_path, "{z:02d}.tif", times=(0,))
    with pytest.raises(UnknownAxes, match=r"axes TZYX .*2 letters .*1 number"):
        read_movie(tmp_path, axes="TZYX", scale=SIZE)


def test_one_bare_number_is_the_time_and_how_it_would_be_the_plane_is_said(tmp_path: Path) -> None:
    written(tmp_path, "{z:04d}.tif", times=(0,))
    with read_movie(tmp_path, scale=SIZE[1:]) as movie:
        assert (movie.ndim, len(movie)) == (2, 4)
        assert "ZYX" in movie.timeline_note
    with read_movie(tmp_path, axes="ZYX", scale=SIZE) as movie:
        assert (movie.shape, len(movie)) == ((4, 16, 12), 1)
    with read_movie(tmp_path, axes="YX", scale=SIZE[1:]) as movie:
        assert movie.timeline_note == ""


def test_axes_given_without_planes_win_over_names(tmp_path: Path) -> None:
    with read_movie(written(tmp_path, "t{t}_z{z}.tif"), axes="TYX", scale=SIZE[1:]) as movie:
        assert (movie.ndim, len(movie)) == (2, 12)


def test_axes_that_the_words_in_names_contradict_are_taken_and_that_is_said(tmp_path: Path) -> None:
    written(tmp_path, "t{t}_z{z}.tif")
    with read_movie(tmp_path, axes="ZTYX", scale=SIZE) as movie:
        assert (movie.shape, len(movie)) == ((3, 16, 12), 4)
        assert "TZ" in movie.timeline_note
    with read_movie(tmp_path, axes="TZYX", scale=SIZE) as movie:
        assert (movie.shape, len(movie), movie.timeline_note) == ((4, 16, 12), 3, "")


def test_channels_in_names_are_chosen_by_them(tmp_path: Path) -> None:
    written(tmp_path, "t{t}_ch{c:02d}_z{z}.tif", channels=(1, 2))
    with pytest.raises(UnknownChannel, match="ch2"):
        read_movie(tmp_path, scale=SIZE)
    with read_movie(tmp_path, scale=SIZE, channel="ch2") as movie:
        np.testing.assert_array_equal([movie.frame(t) for t in range(3)], PIXELS[:, 1])


def test_stacks_of_one_channel_a_file(tmp_path: Path) -> None:
    for t, c in np.ndindex(3, 2):
        tifffile.imwrite(tmp_path / f"t{t}c{c}.tif", PIXELS[t, c], imagej=True, metadata={"axes": "ZYX"})
    with read_movie(tmp_path, scale=SIZE, channel=1) as movie:
        np.testing.assert_array_equal([movie.frame(t) for t in range(3)], PIXELS[:, 1])


def test_a_region_opens_the_files_of_its_planes_alone(tmp_path: Path) -> None:
    written(tmp_path, "t{t}_z{z}.tif")
    with read_movie(tmp_path, scale=SIZE, roi=(slice(1, 3), slice(2, 9), slice(None))) as movie:
        for z in (0, 3):
            (tmp_path / f"t2_z{z}.tif").unlink()
        np.testing.assert_array_equal(movie.frame(2), PIXELS[2, 0, 1:3, 2:9])
        assert movie.origin == (1, 2, 0)


def test_times_that_are_missing_are_missing_frames(tmp_path: Path) -> None:
    with read_movie(written(tmp_path, "t{t}_z{z}.tif", times=(4, 5, 8)), scale=SIZE) as movie:
        assert movie.frame_numbers == (0, 1, 4)
        assert "no file for 2 frames" in movie.timeline_note
        np.testing.assert_array_equal(movie.frame(4), PIXELS[2, 0])


def test_planes_of_one_time_are_one_frame(tmp_path: Path) -> None:
    with read_movie(written(tmp_path, "z{z}.tif", times=(0,)), scale=SIZE) as movie:
        assert movie.frame_numbers == (0,)
        np.testing.assert_array_equal(movie.frame(0), PIXELS[0, 0])


def test_the_only_number_is_time_even_after_a_c(tmp_path: Path) -> None:
    with read_movie(written(tmp_path, "c{t}.tif", planes=(0,)), scale=SIZE[1:]) as movie:
        np.testing.assert_array_equal([movie.frame(t) for t in range(3)], PIXELS[:, 0, 0])


def test_a_word_that_the_files_contradict_counts_nothing(tmp_path: Path) -> None:
    for t in range(3):
        tifffile.imwrite(tmp_path / f"z{t}_t{t}.tif", PIXELS[t, 0], imagej=True, metadata={"axes": "ZYX"})
    with read_movie(tmp_path, scale=SIZE) as movie:
        np.testing.assert_array_equal([movie.frame(t) for t in range(3)], PIXELS[:, 0])


def test_a_plane_without_a_file_is_named(tmp_path: Path) -> None:
    written(tmp_path, "t{t}_z{z}.tif")
    (tmp_path / "t1_z2.tif").unlink()
    with pytest.raises(InvalidInput, match="t1, z2"):
        read_movie(tmp_path, scale=SIZE)


def test_two_files_of_one_plane_are_refused(tmp_path: Path) -> None:
    written(tmp_path, "t{t}_z{z}.tif")
    (tmp_path / "t01_z2.tif").write_bytes((tmp_path / "t1_z2.tif").read_bytes())
    with pytest.raises(InvalidInput, match=r"t0?1_z2"):
        read_movie(tmp_path, scale=SIZE)


def test_a_truncated_plane_is_named(tmp_path: Path) -> None:
    written(tmp_path, "t{t}_z{z}.tif")
    broken = tmp_path / "t2_z3.tif"
    broken.write_bytes(broken.read_bytes()[:-100])
    with pytest.raises(InvalidInput, match="t2_z3"):
        read_movie(tmp_path, scale=SIZE)
