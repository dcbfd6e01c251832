"""Places that are rounded: z in whole planes, pixels in whole numbers."""

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.motion.detections.ordered import NEAREST, log_density_of, ordered
from auctrack.tracker.linking.motion.detections.rounding import places_of, rounding_of
from auctrack.tracker.points import Points
from tests.tracker.linking.movies import f1, walks

N, FRAMES = 400, 10
STARTS = N * np.arange(FRAMES + 1)


def places(ndim: int = 3, seed: int = 0) -> np.ndarray:
    """Places of `FRAMES` frames spread evenly at density 1."""
    return np.random.default_rng(seed).uniform(0, N ** (1 / ndim), (FRAMES * N, ndim))


@pytest.mark.parametrize("pitch", [0.02, 0.25, 1.0])
def test_a_displacement_is_off_by_twice_the_variance_of_a_rounded_place(pitch):
    rounded = places()
    rounded[:, 0] = pitch * np.round(rounded[:, 0] / pitch)
    assert rounding_of(rounded, STARTS) == pytest.approx([pitch**2 / 6, 0, 0])


def test_a_unit_that_makes_no_whole_numbers_and_two_decimals_hide_no_planes():
    rounded = places(2)
    rounded[:, 0] = np.round(np.round(rounded[:, 0] * 4) * 0.333, 2) - 7.3
    assert rounding_of(rounded, STARTS) == pytest.approx([0.333**2 / 6, 0], rel=0.05)


def test_a_tenth_of_the_detections_may_lie_between_planes():
    rounded = places()
    most = np.random.default_rng(1).random(len(rounded)) < 0.9
    rounded[most, 0] = np.round(rounded[most, 0])
    assert rounding_of(rounded, STARTS) == pytest.approx([1 / 6, 0, 0])


@pytest.mark.parametrize(
    "of",
    [
        lambda x: x,
        lambda x: np.tile(x[:N], (FRAMES, 1)),  # still
        lambda x: np.repeat(x[::2], 2, axis=0),  # each detected twice
        lambda x: np.zeros_like(x),
        lambda x: np.round(x, 6),
    ],
    ids=["even", "still", "each detected twice", "all at one place", "digits of a file"],
)
def test_other_places_are_not_rounded(of):
    assert rounding_of(of(places()), STARTS) == pytest.approx(np.zeros(3), abs=1e-9)


def test_where_no_frame_holds_two_particles_nothing_is_asked():
    one_each = np.random.default_rng(0).uniform(0, 9, (FRAMES, 2))
    assert places_of(one_each, []) == []
    assert not rounding_of(one_each, np.arange(FRAMES + 1)).any()
    assert log_density_of(one_each, np.arange(FRAMES + 1)) == 2 * np.log(NEAREST[2])


def test_planes_of_which_a_frame_has_few_particles_are_far_finer_than_it_is_dense():
    few = np.round(np.random.default_rng(0).uniform(0, 500, (FRAMES * 20, 2)))
    assert not rounding_of(few, 20 * np.arange(FRAMES + 1)).any()


def test_no_place_and_one_are_not_rounded():
    assert rounding_of(np.empty((0, 2)), np.zeros(1, np.int64)).tolist() == [0, 0]
    assert rounding_of(np.ones((1, 2)), np.array([0, 1])).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("ndim", "pitches", "least"),
    [(3, {"z": 1.0}, 0.98), (2, {"y": 0.2, "x": 0.2}, 0.93)],
    ids=["planes as far apart as particles", "pixels as long as steps"],
)
def test_steps_within_a_plane_are_no_surer_than_those_to_the_next(ndim, pitches, least):
    """Taken as they are, .93 and .91 of them were right, and in planes 4 times as many wrong as expected."""
    exact, who = walks(500, 20, step=0.3, missed=0.03, false=0.03, ndim=ndim)
    table = pd.DataFrame(exact.table)
    for axis, pitch in pitches.items():
        table[axis] = pitch * np.round(table[axis] / pitch)
    points = Points(table)
    assert ordered(points).rounding.all() == (ndim == 2)
    links = link_points(points).links
    wrong = (who[links["source"]] != who[links["target"]]) | (who[links["source"]] < 0)
    assert f1(points, who, links["source"], links["target"]) > least
    assert wrong.sum() < 1.5 * (1 - links["probability"]).sum()
