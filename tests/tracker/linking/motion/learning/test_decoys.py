"""Links that are no better than chance are known by decoys: wrong links lead to these as often as to particles."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.motion.detections.ordered import ordered
from auctrack.tracker.linking.motion.learning.decoys import with_decoys
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points
from tests.tracker.linking.movies import f1, table, walks

N, FRAMES = 150, 10


def nothing_goes_on(ndim: int, n: int, frames: int, seed: int) -> Points:
    """Particles that have nothing to do with those of the frame before."""
    places = np.random.default_rng(seed).uniform(0, n ** (1 / ndim), (frames * n, ndim))
    return table(np.repeat(np.arange(frames), n), places)


def motion_of(points: Points):
    return link_points(points, LinkSettings(device="cpu")).motion


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n", "frames"), [(60, 6), (150, 10), (1000, 3), (20, 50)])
@pytest.mark.parametrize("ndim", [2, 3])
def test_links_between_frames_that_have_nothing_to_do_with_each_other_are_chance(ndim, n, frames, seed):
    assert motion_of(nothing_goes_on(ndim, n, frames, seed)).is_chance


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("ndim", [2, 3])
def test_links_of_a_single_frame_pair_are_chance_where_the_two_have_nothing_to_do_with_each_other(ndim, seed):
    assert motion_of(nothing_goes_on(ndim, 300, 2, seed)).is_chance
    assert not motion_of(walks(300, 2, step=0.8, ndim=ndim, seed=seed)[0]).is_chance
    assert not motion_of(walks(40, 2, step=0.8, ndim=ndim, seed=seed)[0]).is_chance


def test_two_frames_turned_about_their_middle_are_said_to_be_guesses():
    """By six degrees, which at the rim is six spacings: two links in a hundred are right."""
    rng, turn = np.random.default_rng(0), np.radians(6)
    distance, angle = np.sqrt(3000 / np.pi * rng.random(3000)), rng.uniform(0, 2 * np.pi, 3000)
    places = [distance[:, None] * np.column_stack([np.cos(to), np.sin(to)]) for to in (angle, angle + turn)]
    linking = link_points(table(np.repeat([0, 1], 3000), np.vstack(places)), LinkSettings(device="cpu"))
    assert linking.report["learned"][-1].endswith("most of them guesses")


def test_it_is_said_in_place_of_how_many_links_are_wrong():
    linking = link_points(nothing_goes_on(2, N, FRAMES, 0), LinkSettings(device="cpu"))
    assert linking.report["learned"][-1].endswith("most of them guesses")


def test_a_dense_cluster_in_the_middle_makes_no_links():
    places = np.random.default_rng(0).normal(size=(FRAMES * N, 2))
    assert motion_of(table(np.repeat(np.arange(FRAMES), N), places)).is_chance


@pytest.mark.parametrize(("step", "least"), [(0.2, 0.97), (0.6, 0.5)], ids=["most right", "half of them right"])
def test_links_of_which_many_are_right_are_none(step, least):
    points, who = walks(300, 12, step=step, persistence=0.5)
    linking = link_points(points, LinkSettings(device="cpu"))
    assert f1(points, who, linking.links["source"], linking.links["target"]) > least
    assert not linking.motion.is_chance


def test_every_other_frame_has_a_decoy_beside_each_particle():
    movie = ordered(walks(100, 6, missed=0.2)[0])
    decoyed, is_asked, is_decoy = with_decoys(movie)
    np.testing.assert_array_equal(decoyed.position[~is_decoy], movie.position)
    np.testing.assert_array_equal(decoyed.frame[~is_decoy], movie.frame)
    np.testing.assert_array_equal(decoyed.frame[is_decoy], movie.frame[movie.frame % 2 == 1])
    np.testing.assert_array_equal(is_asked, decoyed.frame % 2 == 1)
    assert (np.diff(decoyed.frame) >= 0).all()
    places = dict(zip(movie.row.tolist(), movie.position, strict=True))
    of = np.array([places[row] for row in decoyed.row[is_decoy].tolist()])
    assert (np.linalg.norm(decoyed.position[is_decoy] - of, axis=1) > 0).all()
