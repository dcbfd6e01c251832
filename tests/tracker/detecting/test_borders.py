"""Particles at the frame's border are where they are, not at the border."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial import cKDTree

from auctrack import read_movie
from auctrack.tracker.detecting.around import Sight, seen_around
from auctrack.tracker.detecting.borders import _variances
from auctrack.tracker.detecting.detect import detect, detect_frame
from auctrack.tracker.detecting.settings import DetectSettings

SAMPLE = Path(__file__).parents[3] / "sample_data"


def picture(shape, centres, spread):
    """Gaussian spots of height 100 with a standard deviation an axis, in voxels."""
    image = np.zeros(shape)
    for centre in centres:
        profiles = [np.exp(-(((np.arange(n) - c) / s) ** 2) / 2) for n, c, s in zip(shape, centre, spread, strict=True)]
        image += 100.0 * functools.reduce(np.multiply, np.ix_(*profiles))
    return image


def along_a_border(shape, axis, step, *, at_end):
    """Centres from 0 to 1.4 voxels off one border, and as many in the middle."""
    others = [np.arange(step, n - step / 2, step) for i, n in enumerate(shape) if i != axis]
    places = np.stack(np.meshgrid(*others, indexing="ij"), axis=-1).reshape(-1, len(shape) - 1)
    off = np.linspace(0.0, 1.4, len(places))
    border = np.insert(places, axis, shape[axis] - 1 - off if at_end else off, axis=1)
    return border, np.insert(places, axis, shape[axis] / 2, axis=1)


@pytest.mark.parametrize("bright", [True, False], ids=["bright", "dark"])
@pytest.mark.parametrize("at_end", [False, True], ids=["start", "end"])
@pytest.mark.parametrize(
    ("shape", "axis", "spread"),
    [
        ((96, 200), 0, (1.5, 1.5)),
        ((200, 96), 1, (2.5, 2.5)),
        ((20, 80, 80), 0, (1.5, 1.5, 1.5)),
        ((20, 80, 80), 0, (2.2, 1.5, 1.5)),  # longer along z than the diameter says
        ((40, 60, 160), 1, (1.5, 1.5, 1.5)),
    ],
)
def test_a_particle_is_found_within_its_border_voxel_without_pixel_locking(shape, axis, spread, at_end, bright):
    border, middle = along_a_border(shape, axis, 20.0, at_end=at_end)
    image = picture(shape, [*border, *middle], spread)
    settings = DetectSettings(2 * 2**0.5 * spread[-1], threshold=15.0, bright_on_dark=bright)
    table = detect_frame(image if bright else 300.0 - image, settings, np.ones(len(shape)))
    found = table[list("zyx")[-len(shape) :]].to_numpy()
    distance, nearest = cKDTree(found).query(border)
    assert distance.max() < 0.5
    error = (found[nearest] - border)[:, axis]
    assert np.abs(error).mean() < 0.12
    assert (found[nearest, axis] % 1 != 0).mean() > 0.95


def test_positions_stay_inside_the_outermost_voxels():
    centres = [[-1.5, 20.0], [-0.4, 50.0], [0.0, 80.0], [39.9, 35.0], [41.0, 65.0]]
    found = detect_frame(picture((40, 100), centres, (2.0, 2.0)), DetectSettings(5.6, threshold=5.0), np.ones(2))
    assert len(found) == 5
    assert found["y"].between(-0.5, 39.5, inclusive="neither").all()
    assert found["y"].nunique() == 5


@pytest.mark.parametrize("planes", [1, 2, 3, 4])
def test_thin_stacks_keep_particles_in_their_plane(planes):
    for z in range(planes):
        image = picture((planes, 40, 40), [[z, 20.3, 19.8]], (2.0, 2.0, 2.0))
        (row,) = detect_frame(image, DetectSettings(5.6, threshold=5.0), np.ones(3)).to_dict("records")
        assert row["z"] == pytest.approx(z, abs=0.35)
        assert (row["y"], row["x"]) == pytest.approx((20.3, 19.8), abs=0.05)


@pytest.mark.parametrize(("around", "variance"), [(1.0, 31.0), (-10.0, 1 / 16)], ids=["flat", "a needle"])
def test_a_particle_is_taken_for_no_wider_or_narrower_than_sixteen_times(around, variance):
    """σ = 1 in 2D: the filter suits a variance of 1, and what it answers to that is 2 wide; 16 times as wide less 1."""
    response = np.full((9, 9), around)
    response[4, 4] = 1.0
    seen = seen_around(response, response, np.array([4 * 9 + 4]), Sight.of(2 * 2**0.5, (1.0, 1.0)))
    assert _variances(np.array([[4, 4]]), (9, 9), seen, np.ones(2)) == pytest.approx([variance, variance])


def test_saturated_particles_have_finite_positions():
    image = np.minimum(picture((60, 60), [[0.0, 15.0], [1.0, 45.0], [30.0, 30.0]], (4.0, 4.0)), 20.0)
    found = detect_frame(image, DetectSettings(11.0, threshold=2.0), np.ones(2))
    assert len(found) >= 3
    assert np.isfinite(found.to_numpy()).all()


def test_the_sample_movie_is_as_exact_at_its_walls_as_inside_and_nothing_lies_on_a_whole_voxel():
    movie, truth = read_movie(SAMPLE / "movie.ome.tif"), pd.read_csv(SAMPLE / "movie.truth.csv")
    table = detect(movie, DetectSettings(2.5, threshold=11.0)).table
    assert (table[["z", "y", "x"]] % 1 == 0).mean().max() < 0.005
    errors, places = [], []
    for frame, found in table.groupby("frame"):
        true = truth.loc[truth["frame"] == frame, ["z", "y", "x"]].to_numpy()
        distance, nearest = cKDTree(true).query(found[["z", "y", "x"]])
        errors.append((found[["z", "y", "x"]].to_numpy() - true[nearest])[distance < 1.5])
        places.append(true[nearest][distance < 1.5])
    error, place = np.concatenate(errors)[:, 0], np.concatenate(places)[:, 0]
    wall = (place < 2) | (place > movie.shape[0] - 3)
    assert np.sqrt((error[wall] ** 2).mean()) < 1.15 * np.sqrt((error[~wall] ** 2).mean())
