"""Particles are found in arrays and files as in the movies that are opened of them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import tifffile

import auctrack
from auctrack.tests.refusals import refused
from auctrack.tracker.errors import InvalidInput, InvalidSetting, UnknownAxes, UnknownScale

IMAGES = tifffile.imread(Path(__file__).parents[3] / "sample_data" / "movie.ome.tif")[:4]
SAID = {"axes": "TZYX", "scale": (1, 0.5, 0.5), "frame_interval": 10, "frames": "1:3", "roi": "0:10,4:,:"}
FOUND = auctrack.DetectSettings(diameter=2.5, threshold=10)


def in_movie() -> auctrack.Points:
    with auctrack.read_movie(IMAGES, **SAID) as movie:
        return auctrack.detect(movie, FOUND)


def same(points: auctrack.Points) -> None:
    expected = in_movie()
    assert len(expected) > 0
    pd.testing.assert_frame_equal(points.table, expected.table)
    assert (points.calibration, points.timeline) == (expected.calibration, expected.timeline)


def test_an_array_is_looked_at_as_the_movie_that_is_opened_of_it() -> None:
    same(auctrack.detect(IMAGES, FOUND, **SAID))


def test_arrays_of_dask_are_too() -> None:
    same(auctrack.detect(pytest.importorskip("dask.array").from_array(IMAGES), FOUND, **SAID))


@pytest.mark.parametrize("kind", [Path, str])
def test_so_is_a_file(tmp_path: Path, kind: type) -> None:
    tifffile.imwrite(tmp_path / "m.tif", IMAGES, photometric="minisblack")
    same(auctrack.detect(kind(tmp_path / "m.tif"), FOUND, **SAID))


def test_what_an_array_does_not_say_is_asked_for() -> None:
    with refused(UnknownAxes, setting="axes"):
        auctrack.detect(IMAGES, FOUND)
    with refused(UnknownScale, setting="scale"):
        auctrack.detect(IMAGES, FOUND, axes="TZYX")


def test_what_a_movie_says_itself_is_not_said_again() -> None:
    with auctrack.read_movie(IMAGES, **SAID) as movie, refused(InvalidSetting, match="read_movie", setting="axes"):
        auctrack.detect(movie, FOUND, axes="TZYX")


def test_points_are_no_movie() -> None:
    with pytest.raises(InvalidInput, match=r"^movie needs a Movie; got Points"):
        auctrack.detect(in_movie(), FOUND)
