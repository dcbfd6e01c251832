"""Dense packings that move as one: the near shift that most particles share, which in crystals is one of many."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from auctrack.plugins.words.notes import on_doubt, on_repeats
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.motion.detections.ordered import ordered
from auctrack.tracker.linking.motion.shared_shift.drift import drift_of
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points
from tests.tracker.linking.movies import crystal, f1, packing, passing, table, walks

SEEN = {"hardly any noise": {}, "noise, missed and false ones": {"jitter": 0.07, "missed": 0.1, "false": 0.1}}


@cache
def glass(ndim: int) -> tuple[np.ndarray, float]:
    """A packing that goes on beyond its box, and the edge of that."""
    place, edge = packing(400 if ndim == 3 else 600, ndim)
    boxes = edge * np.stack(np.meshgrid(*[np.arange(-1, 2)] * ndim, indexing="ij"), axis=-1).reshape(-1, ndim)
    return (place + boxes[:, None]).reshape(-1, ndim), edge


def along(ndim: int, step: float, seed: int, frames: int = 2) -> np.ndarray:
    """Where particles are that go on by a step a frame, in whichever direction."""
    way = np.random.default_rng(seed).normal(size=ndim)
    return np.arange(frames)[:, None] * step * way / np.linalg.norm(way)


def found_shift(points: Points) -> np.ndarray:
    movie = ordered(points)
    return drift_of(movie).of_frames[-1] * movie.spacing


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("step", [0.5, 0.8, 1.0, 1.3, 2.0])
@pytest.mark.parametrize("seen", SEEN.values(), ids=SEEN)
def test_the_shift_of_a_packing_is_found_though_it_is_as_long_as_the_spacing(ndim, step, seen):
    for seed in range(4):
        shift = along(ndim, step, seed)
        points, _ = passing(*glass(ndim), shift, seed=seed, **seen)
        assert found_shift(points) == pytest.approx(shift[1], abs=0.1)


@pytest.mark.parametrize("ndim", [2, 3])
def test_a_packing_at_rest_has_no_shift(ndim):
    points, _ = passing(*glass(ndim), np.zeros((4, ndim)))
    drift = drift_of(ordered(points))
    assert not drift.of_frames.any()
    assert not drift.repeats


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize(
    "path",
    [
        lambda ndim: along(ndim, 1.0, seed=1, frames=4),
        lambda ndim: along(ndim, 2.0, seed=2, frames=2).repeat(2, axis=0),
        lambda ndim: np.random.default_rng(3).normal(0, 0.4, (4, ndim)),
    ],
    ids=["by a spacing a frame", "at once by two", "to and fro"],
)
def test_a_packing_that_moves_as_one_is_linked_right_without_doubt(ndim, path):
    """Of a glass that drifted by a spacing a frame 665 of 9,539 links were right, and no note said so."""
    points, who = passing(*glass(ndim), path(ndim))
    linking = link_points(points)
    assert f1(points, who, linking.links["source"], linking.links["target"]) > 0.999
    assert linking.motion.largest_drift > 0.5
    assert linking.report["expected_wrong"] < 0.01 * len(linking.links)
    assert not on_repeats(linking)


@pytest.mark.parametrize("kind", ["square", "hexagonal", "fcc"])
@pytest.mark.parametrize("seen", SEEN.values(), ids=SEEN)
class TestCrystals:
    """A crystal that moves by one of its spacings looks the same: the shortest shift is taken, and that is said."""

    def test_at_rest_stays_at_rest(self, kind, seen):
        place = crystal(kind, 7.0)
        points, _ = passing(place, 7.0, np.zeros((4, place.shape[1])), **seen)
        drift = drift_of(ordered(points))
        assert not drift.of_frames.any()
        assert drift.repeats

    def test_that_moves_by_a_spacing_is_said_to_be_one(self, kind, seen):
        place = crystal(kind, 7.0)
        points, _ = passing(place, 7.0, along(place.shape[1], 1.0, seed=1, frames=4), **seen)
        linking = link_points(points)
        assert linking.motion.repeats
        assert len(on_repeats(linking)) == 1
        assert on_repeats(linking)[0] in on_doubt(linking)


def test_a_crystal_that_rattles_so_that_windows_hold_hardly_enough_stays_at_rest():
    """One of many as good windows has enough by chance; it won where others were asked to have as many."""
    place = crystal("fcc", 12.0)
    for seed in range(4):
        points, _ = passing(place, 12.0, np.zeros((2, 3)), jitter=0.12, missed=0.05, seed=seed)
        assert not drift_of(ordered(points)).of_frames.any()


def test_a_crystal_that_moves_by_less_than_half_its_spacing_is_followed():
    place = crystal("hexagonal", 20.0)
    points, who = passing(place, 20.0, along(2, 0.4, seed=1, frames=5))
    linking = link_points(points)
    assert f1(points, who, linking.links["source"], linking.links["target"]) > 0.999


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("n", [12, 30, 100, 1000])
@pytest.mark.parametrize("step", [0.2, 0.9, 3.0])
def test_particles_anywhere_are_no_crystal(ndim, n, step):
    for seed in range(5):
        points, _ = walks(n, 4, step=step, ndim=ndim, seed=seed)
        assert not drift_of(ordered(points)).repeats


@pytest.mark.parametrize("many", [50, 100, 400])
def test_a_dense_cluster_is_no_crystal(many):
    """Windows are full all the way through it."""
    rng, points = np.random.default_rng(7), walks(150, 5, ndim=2, seed=7)[0]
    cluster = rng.normal(6.0, 0.3, (many, 2)) + rng.normal(0, 0.02, (5, many, 2))
    added = table(np.repeat(np.arange(5), many), cluster.reshape(-1, 2)).table
    both = replace(points, table=pd.concat([points.table, added], ignore_index=True))
    assert not drift_of(ordered(both)).repeats


def test_where_a_drift_is_predicted_nothing_is_said_of_others():
    place = crystal("square", 15.0)
    shift = along(2, 1.0, seed=1, frames=4)
    points, who = passing(place, 15.0, shift)

    def ahead(points, rows, frames):
        return points.positions_of(rows) + shift[1] * (frames - points.frames[rows])[:, None]

    linking = link_points(points, LinkSettings(predict=ahead))
    assert f1(points, who, linking.links["source"], linking.links["target"]) > 0.999
    assert not on_repeats(linking)
