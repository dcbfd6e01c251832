"""Shares of the lost, the new and the unlinked, and what they say of the ends of a link."""

import numpy as np
import pytest

from auctrack.tracker.linking.motion.candidates.graph import candidates
from auctrack.tracker.linking.motion.detections.border import border_of
from auctrack.tracker.linking.motion.detections.ordered import ordered
from auctrack.tracker.linking.motion.models.shares import Shares, ends_by_place, shares_of
from auctrack.tracker.linking.motion.recipe import believed
from auctrack.tracker.linking.motion.shared_shift.shift_of_all import without_drift

from ...movies import in_view, table, walks

PLACES = np.random.default_rng(0).uniform(0, 5, (60, 3))


def movie_of(frames):
    return ordered(table(np.repeat(frames, 60), np.tile(PLACES, (len(frames), 1))))


@pytest.mark.parametrize("unlinked", [0.06, 0.15])
def test_between_two_frames_only_the_lost_and_the_new_count(unlinked):
    """Who was unlinked before the movie, or will be after it, cannot be known."""
    movie, shares = movie_of([0, 1]), Shares(0.3, 0.2, unlinked, np.array([0.7]))
    ends, first = ends_by_place(movie, shares).of_each(), movie.frame == 0
    odds = shares.log_odds(0.0)[0] + ends.leaving[first] + ends.arriving[~first]
    assert odds == pytest.approx(np.log(0.7 / (0.3 * 0.2)))


def test_inside_a_movie_the_four_kinds_of_detections_have_their_shares():
    movie, shares = movie_of(range(5)), Shares(0.3, 0.2, 0.12, np.array([0.7]))
    ends = ends_by_place(movie, shares).of_each()
    inside = movie.frame == 2
    leaving, arriving, tie = (np.unique(values[inside]) for values in (ends.leaving, ends.arriving, ends.tie))
    assert np.exp(leaving) == pytest.approx([0.08 / 0.12])
    assert np.exp(arriving) == pytest.approx([0.18 / 0.12])
    assert np.exp(leaving + arriving) * tie == pytest.approx([0.62 / 0.12])


def test_ends_that_fall_independently_tie_nothing():
    ends = ends_by_place(movie_of(range(4)), Shares(0.25, 0.2, 0.05, np.array([0.7, 0.05]))).of_each()
    assert ends.tie == pytest.approx(np.ones(240))


def test_a_frame_that_is_not_there_hides_links():
    movie = movie_of([0, 1, 3, 4, 5])
    ends = ends_by_place(movie, Shares(0.3, 0.2, 0.12, np.array([0.7]))).of_each()
    assert ends.leaving[movie.number[movie.frame] == 3] == pytest.approx(np.log(0.7 / 0.3))


def test_detections_that_are_never_linked_are_counted_as_unlinked():
    movie = movie_of(range(6))
    graph = candidates(movie, 1, 0.01, movie.position)
    linked = (movie.row[graph.tail] % 60 < 45).astype(float)
    shares = shares_of(movie, graph, linked, linked, 1)
    assert shares.lost == pytest.approx(0.25)
    assert shares.new == pytest.approx(0.25)
    assert shares.unlinked == pytest.approx(0.25 - 0.003)


def test_near_the_border_of_what_is_seen_particles_come_and_go_more_often():
    points, names = in_view(400, step=0.6, missed=0.0, false=0.0)
    movie = ordered(points)
    belief = believed(movie, 0)
    shares = belief.shares
    there = set(zip(points.frames.tolist(), names.tolist(), strict=True))
    inner = points.frames < 7
    lost = np.array([(frame + 1, name) not in there for frame, name in zip(points.frames, names, strict=True)])
    near = np.zeros(len(points), bool)
    near[movie.row[belief.border.at]] = True
    assert shares.inside.lost == pytest.approx(lost[inner & ~near].mean(), abs=0.03)
    assert shares.outside.lost == pytest.approx(lost[inner & near].mean(), abs=0.05)
    assert shares.outside.lost > 5 * shares.inside.lost
    assert shares.outside.new > 5 * shares.inside.new
    assert shares.inside.lost < shares.lost < shares.outside.lost


def test_where_none_leave_the_border_is_as_the_inside():
    shares = believed(ordered(walks(400, walls=True, step=0.6)[0]), 0).shares
    assert shares.inside is None
    assert shares.outside is None


def test_the_border_stays_where_it_is_when_a_drift_is_taken_off():
    places = np.random.default_rng(0).uniform(0, 16, (700, 3))
    frames = [places + np.array([0, 0, 4.0 * k]) for k in range(3)]
    movie = without_drift(ordered(table(np.repeat(range(3), 700), np.concatenate(frames))), "auto")[0]
    assert np.abs(movie.drift).max() > 4
    ends = np.concatenate(frames)[movie.row]
    wanted = ((ends - ends.min(axis=0) < movie.spacing) | (ends.max(axis=0) - ends < movie.spacing)).any(axis=1)
    border = border_of(movie, 1.0)
    np.testing.assert_array_equal(border.at, np.flatnonzero(wanted))
    np.testing.assert_array_equal(border.starts, [np.count_nonzero(wanted[:start]) for start in movie.starts])
    np.testing.assert_array_equal(border.place, movie.frame + 3 * wanted)
