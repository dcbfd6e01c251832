"""RGB images, as converted videos are: colours are channels, their mean is "grey", and grey videos need no choice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tifffile

from auctrack.tracker.errors import InvalidInput, UnknownAxes, UnknownChannel
from auctrack.tracker.reading.movie import Movie, read_movie

GREY = np.random.default_rng(0).integers(0, 256, (5, 16, 12)).astype(np.uint8)
COLOURS = np.random.default_rng(1).integers(0, 256, (5, 16, 12, 3)).astype(np.uint8)


def video(path: Path, image: np.ndarray, **options: object) -> Path:
    tifffile.imwrite(path, image, photometric="rgb", **options)
    return path


def opened(path: Path, channel: str | int | None = None) -> Movie:
    return read_movie(path, axes="TYX", scale=(1, 1), channel=channel)


def frames(movie: Movie) -> np.ndarray:
    return np.array([movie.frame(number) for number in movie.frame_numbers])


@pytest.mark.parametrize(
    "options",
    [{}, {"compression": "zlib"}, {"imagej": True}, {"metadata": None}],
    ids=["contiguous", "compressed", "ImageJ", "pages"],
)
def test_a_grey_video_is_read_as_such(tmp_path: Path, options: dict[str, object]) -> None:
    with opened(video(tmp_path / "v.tif", np.stack([GREY] * 3, axis=-1), **options)) as movie:
        assert (movie.axes, movie.channels, movie.dtype) == ("TYX", ("grey",), np.uint8)
        np.testing.assert_array_equal(frames(movie), GREY)


def test_opacity_is_no_colour(tmp_path: Path) -> None:
    image = np.stack([GREY, GREY, GREY, np.full_like(GREY, 255)], axis=-1)
    with opened(video(tmp_path / "v.tif", image, extrasamples=["unassalpha"])) as movie:
        np.testing.assert_array_equal(frames(movie), GREY)


@pytest.mark.parametrize("colour", [0, 1, 2], ids=["red", "green", "blue"])
def test_a_colour_is_a_channel(tmp_path: Path, colour: int) -> None:
    path = video(tmp_path / "v.tif", COLOURS)
    with pytest.raises(UnknownChannel, match=r"red.*green.*blue.*grey"):
        opened(path)
    for channel in (colour, ("red", "green", "blue")[colour]):
        with opened(path, channel) as movie:
            np.testing.assert_array_equal(frames(movie), COLOURS[..., colour])


def test_grey_is_the_mean_of_the_colours_rounded(tmp_path: Path) -> None:
    with opened(video(tmp_path / "v.tif", COLOURS), "grey") as movie:
        assert np.abs(frames(movie) - COLOURS.mean(axis=-1)).max() <= 0.5


def test_a_folder_of_colour_images(tmp_path: Path) -> None:
    for number, image in enumerate(COLOURS):
        video(tmp_path / f"t{number}.tif", image, metadata=None)
    for axes in (None, "YX", "TYX"):
        with read_movie(tmp_path, axes=axes, scale=(1, 1), channel="blue") as movie:
            np.testing.assert_array_equal(frames(movie), COLOURS[..., 2])


def test_colours_beside_channels_ask_what_these_are(tmp_path: Path) -> None:
    path = tmp_path / "v.tif"
    tifffile.imwrite(path, COLOURS, imagej=True)  # which writes five channels where nothing is said of the axes
    with pytest.raises(UnknownAxes, match="TYX"):
        read_movie(path, scale=(1, 1))


def test_planes_of_colours_are_refused(tmp_path: Path) -> None:
    path = video(tmp_path / "v.tif", COLOURS.transpose(0, 3, 1, 2), planarconfig="separate")
    with pytest.raises(InvalidInput, match=r"colour \(RGB\)"):
        read_movie(path, scale=(1, 1))
