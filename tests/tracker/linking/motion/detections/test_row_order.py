"""Nothing that is learned, and no link, depends on how the rows of a table come."""

import numpy as np
import pytest

from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.motion.detections.ordered import SAMPLE, ordered
from auctrack.tracker.linking.motion.detections.row_order import by_frame_and_place
from auctrack.tracker.linking.motion.shared_shift.drift import VOTERS, drift_of
from auctrack.tracker.points import Points

from ...movies import table, walks

RNG = np.random.default_rng(0)
FRAME = np.repeat([7, 3, 12], 2000)
AXES = list(RNG.uniform(0, 90, (3, 6000)))


def content(frame: np.ndarray, axes: list[np.ndarray]) -> np.ndarray:
    """The detections in the order of `by_frame_and_place`."""
    order = by_frame_and_place(frame, axes)
    return np.stack([frame, *axes])[:, order]


@pytest.mark.parametrize("lattice", [False, True])
def test_the_order_is_that_of_any_other_order_of_the_rows(lattice):
    axes = [np.floor(along) for along in AXES] if lattice else AXES
    row = RNG.permutation(len(FRAME))
    np.testing.assert_array_equal(content(FRAME[row], [along[row] for along in axes]), content(FRAME, axes))


def test_other_units_origins_and_first_frames_leave_the_order():
    order = by_frame_and_place(FRAME, AXES)
    moved = [0.3 * along - 41.7 for along in AXES]
    np.testing.assert_array_equal(by_frame_and_place(FRAME + 100, moved), order)


def test_frames_come_one_after_the_other_however_far_apart_their_numbers_are():
    frame = np.where(FRAME == 12, 2**61, FRAME)
    order = by_frame_and_place(frame, AXES)
    np.testing.assert_array_equal(frame[order], np.sort(frame))
    assert len(np.unique(order)) == len(frame)


@pytest.mark.parametrize("ndim", [2, 3])
def test_every_third_of_a_frame_is_a_sample_of_it(ndim):
    """Also where particles lie on a lattice and none moves; frames then do not hold the same ones."""
    places = np.stack(np.meshgrid(*[np.arange(60.0 if ndim == 2 else 16.0)] * ndim), axis=-1).reshape(-1, ndim)
    frame, axes = np.repeat([0, 1], len(places)), list(np.tile(places, (2, 1)).T)
    third = by_frame_and_place(frame, axes)[: len(places) : 3]
    later = by_frame_and_place(frame, axes)[len(places) :: 3] - len(places)
    chosen = places[third]
    sigma = np.sqrt(places.var(axis=0) / len(third))
    assert (np.abs(chosen.mean(axis=0) - places.mean(axis=0)) < 4 * sigma).all()
    odd = (chosen % 2).mean(axis=0)
    assert (np.abs(odd - 0.5) < 4 * 0.5 / np.sqrt(len(third))).all()
    assert len(np.intersect1d(third, later)) == pytest.approx(len(third) / 3, abs=4 * np.sqrt(len(third)))


def drifting(points: Points) -> Points:
    shift = np.array([0.0, 2.5, -1.4])
    return table(points.frames, points.positions + points.frames[:, None] * shift)


MOVIES = {
    "two frames": lambda: walks(SAMPLE + 600, 2)[0],
    "drift": lambda: drifting(walks(2 * SAMPLE // 5, 6, seed=1)[0]),
}


@pytest.mark.parametrize("name", MOVIES)
def test_links_and_what_was_learned_are_those_of_any_other_order_of_the_rows(name):
    points = MOVIES[name]()
    assert len(points) > 2 * SAMPLE
    assert np.bincount(points.frames).min() > 2 * VOTERS
    row = np.random.default_rng(1).permutation(len(points))
    other = table(points.frames[row], points.positions[row])
    here, there = ordered(points), ordered(other)
    assert there.spacing == here.spacing
    np.testing.assert_array_equal(drift_of(there).of_frames, drift_of(here).of_frames)
    np.testing.assert_array_equal(row[there.row], here.row)
    wanted, found = link_points(points), link_points(other)
    assert found.report["learned"] == wanted.report["learned"]
    links = found.links.assign(source=row[found.links["source"]], target=row[found.links["target"]])
    links, expected = (each.sort_values(["source", "target"], ignore_index=True) for each in (links, wanted.links))
    np.testing.assert_array_equal(links[["source", "target"]], expected[["source", "target"]])
    np.testing.assert_allclose(links["probability"], expected["probability"], rtol=0, atol=1e-9)
