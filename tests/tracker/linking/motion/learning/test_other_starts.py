"""Particles that move farther than their neighbours are apart, or are few among false ones; how that is found."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.motion import recipe
from auctrack.tracker.linking.motion.detections.ordered import ordered
from auctrack.tracker.linking.motion.learning import other_starts
from auctrack.tracker.linking.motion.learning.likelihood import log_likelihood
from auctrack.tracker.linking.motion.learning.other_starts import Start, starts, try_starts
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points
from tests.tracker.linking.movies import f1, table, through_walls, walks

N, FRAMES = 200, 12
SAID = "links were found by how particles keep moving"


def fliers(ndim: int, step: float) -> tuple[Points, np.ndarray]:
    """Particles of a box at density 1 that fly straight on, and who each is."""
    rng = np.random.default_rng(1)
    edge, velocity = N ** (1 / ndim), rng.normal(size=(N, ndim))
    velocity *= step / np.linalg.norm(velocity, axis=1, keepdims=True)
    path = rng.random((N, ndim)) * edge + np.arange(FRAMES)[:, None, None] * velocity
    return through_walls(path + rng.normal(scale=0.01, size=path.shape), edge)


def right_share(points: Points, who: np.ndarray, **settings) -> float:
    """Return the F1 of the links over one frame."""
    links = link_points(points, LinkSettings(device="cpu", max_missed_frames=0, **settings)).links
    return f1(points, who, links["source"].to_numpy(), links["target"].to_numpy())


def notes(points: Points, **settings) -> str:
    return " ".join(link_points(points, LinkSettings(device="cpu", **settings)).motion.notes)


@pytest.mark.parametrize(
    ("ndim", "step"),
    [(2, 0.8), (2, 2.0), (3, 1.0)],
    ids=["plane, 1.6 spacings", "plane, 4 spacings", "space, 1.8 spacings"],
)
def test_particles_that_fly_on_are_followed_however_many_are_nearer(ndim, step):
    points, who = fliers(ndim, step)
    assert right_share(points, who) > 0.95
    assert right_share(points, who, motion="diffusion") < 0.3
    assert SAID in notes(points)


def test_particles_are_followed_among_as_many_false_detections():
    points, who = walks(300, 20, step=0.45, persistence=0.9, missed=0.0, false=1.0)
    assert right_share(points, who) > 0.95


def test_three_frames_are_enough():
    points, who = fliers(2, 1.0)
    seen = points.frames < 3
    assert right_share(table(points.frames[seen], points.positions[seen]), who[seen]) > 0.9


def test_few_links_found_by_how_particles_go_on_are_not_said_to_teach_nothing():
    """Of eight particles, fewer links than some could be held out of to measure what those before them tell."""
    rng, velocity = np.random.default_rng(0), np.random.default_rng(9).normal(scale=6.0, size=(8, 2))
    path = rng.uniform(0, 40, (8, 2)) + np.arange(5)[:, None, None] * velocity
    points = table(np.repeat(np.arange(5), 8), path.reshape(-1, 2) + rng.normal(scale=0.02, size=(40, 2)))
    motion = link_points(points, LinkSettings(device="cpu")).motion
    assert motion.is_persistent
    said = " ".join(motion.lines())
    assert SAID in said
    assert "too few links to learn from those before" not in said
    assert "by 0.00 nats" not in said


def test_two_frames_say_nothing_of_who_goes_on():
    points, _ = fliers(2, 1.0)
    seen = points.frames < 2
    assert SAID not in notes(table(points.frames[seen], points.positions[seen]))


@pytest.mark.parametrize("motion", ["none", "diffusion", "flow"])
def test_who_forbids_past_and_future_gets_links_that_know_of_none(motion):
    points, _ = fliers(2, 0.8)
    linking = link_points(points, LinkSettings(device="cpu", motion=motion))
    assert linking.motion is None or not linking.motion.is_persistent


def test_particles_that_are_near_are_linked_as_near_ones():
    points, _ = walks(300, 8, step=0.3, persistence=0.0)
    assert SAID not in notes(points)


def test_the_windows_of_a_movie_start_as_its_excerpt_did():
    points, who = fliers(2, 0.8)
    whole = right_share(points, who, motion="velocity")
    parts = right_share(points, who, motion="velocity", memory_budget_gb=N * FRAMES * 800 / 2 / 1e9)
    assert parts > 0.95
    assert whole > 0.97


@pytest.mark.parametrize("ndim", [2, 3])
def test_candidates_of_uniform_particles_are_as_many_as_stated(ndim):
    rng = np.random.default_rng(0)
    movie = ordered(table(np.repeat([0, 1], 4000), rng.random((8000, ndim))))
    for start, guess in zip(starts(ndim), other_starts._GUESSES, strict=True):
        near = recipe.candidates_ahead(movie, 1, start.radius, 0.0, None)
        assert len(near) / 4000 == pytest.approx(guess.candidates, rel=0.25)  # those at the border have fewer


def test_true_links_are_likelier_than_those_of_nearest_neighbours():
    points, _ = fliers(3, 1.0)
    movie = ordered(points)
    learned = recipe.OverOneFrame("velocity")
    near, other = (log_likelihood(learned(movie, start)) for start in (Start(), Start(starts(3)[0])))
    assert other > near + len(points)


class TestSample:
    def test_of_a_small_movie_it_is_the_movie(self):
        movie = ordered(walks(100, 10)[0])
        sample, is_inner = other_starts.sample_of(movie)
        assert is_inner.all()
        np.testing.assert_array_equal(sample.position, movie.position)
        np.testing.assert_array_equal(sample.row, movie.row)

    def test_of_particles_at_one_place_it_is_as_many_of_each_frame(self):
        movie = ordered(table(np.repeat(np.arange(6), 4000), np.ones((24_000, 2))))
        sample, _ = other_starts.sample_of(movie)
        assert len(sample) == other_starts.SAMPLE
        assert np.diff(sample.starts).tolist() == [other_starts.SAMPLE // other_starts.FEWEST_FRAMES] * 5

    def test_of_a_large_one_it_is_some_frames_of_some_of_its_field_of_view(self):
        movie = ordered(walks(4000, 20)[0])
        sample, is_inner = other_starts.sample_of(movie)
        assert 0.1 < is_inner.mean() < 0.9
        assert len(sample) == pytest.approx(other_starts.SAMPLE, rel=0.2)
        assert len(sample.number) == other_starts.FEWEST_FRAMES
        np.testing.assert_array_equal(sample.starts[[0, -1]], [0, len(sample.position)])
        place = {int(row): tuple(at) for row, at in zip(movie.row, movie.position, strict=True)}
        assert all(place[int(row)] == tuple(at) for row, at in zip(sample.row, sample.position, strict=True))


def streams(step: float) -> tuple[Points, np.ndarray]:
    """Two streams beside each other, one to the right and one to the left, that particles come into and leave."""
    rng, n, frames, width = np.random.default_rng(1), 100, 14, 10.0
    place, velocity = rng.random((n, 2)) * width, np.zeros((n, 2))
    velocity[:, 1] = np.where(place[:, 0] > width / 2, step, -step)
    path, who = np.empty((frames, n, 2)), np.empty((frames, n), np.int64)
    laps = np.zeros(n, np.int64)
    for frame in range(frames):
        path[frame], who[frame] = place, laps * n + np.arange(n)
        place = place + velocity + rng.normal(size=(n, 2)) * [0.02, 0.1]
        laps += (place[:, 1] < 0) | (place[:, 1] > width)
        place[:, 1] %= width
    return table(np.repeat(np.arange(frames), n), path.reshape(-1, 2)), who.ravel()


def test_where_the_flow_was_taken_learning_starts_with_whole_steps():
    """Around the flow they are short; their model would look for short steps where there are none."""
    points, who = streams(1.3)
    start = try_starts(ordered(points), recipe.OverOneFrame("auto")).start
    assert start.takes_flow
    assert start.going_on.model.typical_step == pytest.approx(2.6, rel=0.1)  # in spacings
    assert right_share(points, who) > 0.96


def dense_cluster() -> tuple[Points, np.ndarray]:
    """Few particles that all go one way, each at a speed of its own that it keeps."""
    rng, n, frames = np.random.default_rng(1), 20, 60
    velocity = [0.0, 0.3] + rng.normal(size=(n, 2)) * [0.045, 0.15]
    path = rng.random((n, 2)) * [4.5, 9.0] + np.arange(frames)[:, None, None] * velocity
    path += rng.normal(scale=0.02, size=path.shape)
    return table(np.repeat(np.arange(frames), n), path.reshape(-1, 2)), np.tile(np.arange(n), frames)


def test_a_flow_that_says_less_than_the_past_is_left_out():
    points, who = dense_cluster()
    movie, learned = ordered(points), recipe.OverOneFrame("auto")
    assert learned(movie, Start()).near is not None
    assert log_likelihood(learned(movie, Start(takes_flow=False))) > log_likelihood(learned(movie, Start()))
    assert link_points(points, LinkSettings(device="cpu")).motion.flow_weight == 0
    assert right_share(points, who) > 0.98


@pytest.mark.parametrize(("step", "cuts_off"), [(0.4, False), (1.05, True)])
def test_a_start_that_cuts_links_off_goes_on_with_the_widest_radius(step, cuts_off):
    narrow, wide, *_ = starts(2)
    (led_to, _), *_ = other_starts._tried(ordered(fliers(2, step)[0]), narrow, recipe.OverOneFrame("auto"))
    assert led_to.going_on.radius == (wide.radius if cuts_off else narrow.radius)


def test_a_start_whose_candidates_are_too_many_is_not_tried():
    movie = ordered(fliers(2, 2.0)[0])
    learned = recipe.OverOneFrame("auto")
    assert try_starts(movie, learned).start.going_on.radius == max(start.radius for start in starts(2))
    few = recipe.OverOneFrame("auto", most=8 * len(movie))
    found = try_starts(movie, few).start.going_on
    assert found is None or found.radius < max(start.radius for start in starts(2))


def test_a_sample_is_cut_out_where_particles_are():
    """Of a ring so large that nobody is near its centre."""
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, (4, 20_000))
    places = 500 * np.stack([np.sin(angle), np.cos(angle)], axis=-1)
    sample, is_inner = other_starts.sample_of(ordered(table(np.repeat(np.arange(4), 20_000), places.reshape(-1, 2))))
    assert len(sample) == pytest.approx(other_starts.SAMPLE, rel=0.2)
    assert is_inner.any()
