"""A movie that is an array: read as one in a file, with what a file would say given."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from auctrack.tracker.errors import InvalidInput, UnknownAxes, UnknownScale
from auctrack.tracker.reading.movie import read_movie

ARRAY = np.random.default_rng(0).integers(0, 4000, (3, 4, 2, 16, 12)).astype(np.uint16)  # t, z, c, y, x
TZYX = ARRAY[:, :, 0]


class Lazy:
    """An array that computes what is asked for, as dask's and zarr's do; it tells what that was."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype
        self.asked: list[object] = []

    def __getitem__(self, index: object) -> np.ndarray:
        self.asked.append(index)
        return self.array[index]


@pytest.mark.parametrize(
    ("axes", "order"),
    [("TZCYX", "tzcyx"), ("TCZYX", "tczyx"), ("CZTYX", "cztyx"), ("ZCTYX", "zctyx"), ("ctzyx", "ctzyx")],
)
@pytest.mark.parametrize("channel", [0, 1])
def test_every_order_of_axes_gives_the_same_frames(axes, order, channel):
    array = ARRAY.transpose(["tzcyx".index(axis) for axis in order])
    with read_movie(array, axes=axes, scale=(2, 1, 1), channel=channel) as movie:
        frames = [movie.frame(number) for number in movie.frame_numbers]
    np.testing.assert_array_equal(frames, ARRAY[:, :, channel])


@pytest.mark.parametrize(
    ("array", "axes", "frames"),
    [
        (TZYX[:, 1], "TYX", TZYX[:, 1]),
        (TZYX[0], "ZYX", TZYX[:1]),
        (TZYX[0, 0], "YX", TZYX[:1, 0]),
        (TZYX[:, :1], "TZYX", TZYX[:, 0]),
        (TZYX.reshape(12, 16, 12), "TZ4YX", TZYX),
        (TZYX.astype(">f4"), "TZYX", TZYX),
    ],
    ids=["2D", "one stack", "one image", "one plane", "a row of planes", "foreign byte order"],
)
def test_forms_of_arrays(array, axes, frames):
    with read_movie(array, axes=axes, unit="pixel") as movie:
        np.testing.assert_array_equal([movie.frame(number) for number in movie.frame_numbers], frames)
        assert movie.frame(0).dtype.isnative
        assert movie.shape == frames.shape[1:]


class Named(Lazy):
    """An array whose dimensions have names, as those of xarray do."""

    def __init__(self, array: np.ndarray, *dims: str) -> None:
        super().__init__(array)
        self.dims = dims


@pytest.mark.parametrize("dims", [("T", "Z", "Y", "X"), ("t", "z", "y", "x"), ("time", "z", "y", "x")])
def test_the_names_that_an_array_has_for_its_dimensions_are_its_axes(dims):
    with read_movie(Named(TZYX, *dims), unit="pixel") as movie:
        np.testing.assert_array_equal([movie.frame(number) for number in movie.frame_numbers], TZYX)
    with read_movie(Named(ARRAY.transpose(0, 2, 1, 3, 4), "T", "C", "Z", "Y", "X"), unit="pixel", channel=1) as movie:
        np.testing.assert_array_equal(movie.frame(2), ARRAY[2, :, 1])
    with read_movie(Named(TZYX, *dims), axes="ZTYX", unit="pixel") as movie:
        assert movie.axes == "ZTYX"


@pytest.mark.parametrize(
    "dims",
    [
        ("dim_0", "dim_1", "dim_2", "dim_3"),
        ("T", "Z", "Y"),
        ("T", "T", "Y", "X"),
        ("T", "Z", "X", "Y"),
        ("", "TZ", "Y", "X"),
    ],
)
def test_names_of_dimensions_that_say_nothing_are_asked_for(dims):
    with pytest.raises(UnknownAxes, match="needs axes"):
        read_movie(Named(TZYX, *dims), unit="pixel")


def test_only_the_part_that_is_asked_for_is_computed():
    lazy = Lazy(TZYX)
    with read_movie(lazy, axes="TZYX", scale=(2, 1, 1), frames=slice(1, 3), roi=np.s_[1:3, 2:9, 3:7]) as movie:
        assert lazy.asked == []
        np.testing.assert_array_equal(movie.frame(2), TZYX[2, 1:3, 2:9, 3:7])
    assert lazy.asked == [np.s_[2, 1:3, 2:9, 3:7]]
    assert (movie.origin, movie.frame_numbers) == ((1, 2, 3), (1, 2))


def test_a_frame_is_a_copy():
    array = TZYX.copy()
    read_movie(array, axes="TZYX", scale=(2, 1, 1)).frame(0)[:] = 0
    np.testing.assert_array_equal(array, TZYX)


def test_a_movie_larger_than_memory_is_not_copied():
    huge = as_strided(TZYX[0, 0], (100_000, 1000, 1000, 12), (0, 0, 0, 2))  # 2.4 TB
    np.testing.assert_array_equal(read_movie(huge, axes="TZYX", unit="pixel").frame(99_999)[7, 5], TZYX[0, 0, 0])


def test_what_the_movie_is_taken_to_be():
    text = read_movie(TZYX, axes="TZYX", scale=(2, 1, 1), frame_interval=5).describe()
    assert "file      array\n" in text
    assert "voxel z × y × x = 2 × 1 × 1 µm  (given)" in text


@pytest.mark.parametrize(
    ("array", "given", "error", "said"),
    [
        (TZYX, {}, UnknownAxes, r"array: needs axes.* 4 .*3 × 4 × 16 × 12.*axes=\"TZYX\" if time points come first"),
        (TZYX[0, 0, 0], {"axes": "TYX"}, InvalidInput, "needs 2 to 5 dimensions.* has 1, of 12"),
        (ARRAY[None], {}, InvalidInput, "needs 2 to 5 dimensions.* has 6, "),
        (TZYX, {"axes": "TYX"}, UnknownAxes, " 3 .*array .* 4"),
        (TZYX, {"axes": "TZXY"}, UnknownAxes, r"moveaxis\(array, \(3, 2\), \(-2, -1\)\), .*\"TZYX\""),
        (TZYX, {"axes": "tyxc"}, UnknownAxes, r"moveaxis\(array, \(1, 2\), \(-2, -1\)\), .*\"TCYX\""),
        (TZYX[:, 0], {"axes": "TZ5YX"}, UnknownAxes, " 3 .*array"),
        (
            Lazy(TZYX.reshape(12, 16, 12)),
            {"axes": "TZ4YX"},
            InvalidInput,
            r"Lazy .*12 × 16",
        ),
        (TZYX, {"axes": "TZYX"}, UnknownScale, r"array: needs scale, .*scale=\(z, y, x\)"),
        (ARRAY, {"axes": "TZCYX", "unit": "pixel"}, InvalidInput, " 2 channels"),
        (TZYX[:0], {"axes": "TZYX"}, InvalidInput, "array: .*0"),
        (TZYX + 0j, {"axes": "TZYX"}, InvalidInput, "complex128"),
        (np.ma.masked_less(TZYX, 9), {"axes": "TZYX"}, InvalidInput, "array: "),
        (
            [TZYX],
            {"axes": "TZYX"},
            InvalidInput,
            "list$|list\\.",
        ),
    ],
    ids=[
        "no axes",
        "one dimension",
        "six dimensions",
        "too few",
        "wrong end",
        "colours last",
        "uneven",
        "not to be reshaped",
        "no scale",
        "channels",
        "empty",
        "complex",
        "masked",
        "list",
    ],
)
def test_what_is_refused(array, given, error, said):
    with pytest.raises(error, match=said) as caught:
        read_movie(array, **given)
    assert "the file does not say" not in str(caught.value)
    assert "Settings" not in str(caught.value)


def test_frames_and_region_may_be_given_as_settings_are():
    with read_movie(TZYX, axes="TZYX", scale=(2, 1, 1), frames="1:", roi="1:3,2:9,:") as movie:
        assert movie.frame_numbers == (1, 2)
        np.testing.assert_array_equal(movie.frame(2), TZYX[2, 1:3, 2:9])
