"""A shift that many particles share, and that is one of all only where they move as one."""

import numpy as np
import pandas as pd
import pytest

from auctrack.matching.device import cuda
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.motion.detections.ordered import ordered
from auctrack.tracker.linking.motion.gpu_ordered import ordered_on_gpu
from auctrack.tracker.linking.motion.learning import other_starts
from auctrack.tracker.linking.motion.shared_shift import shift_of_all
from auctrack.tracker.linking.motion.shared_shift.drift import drift_of
from auctrack.tracker.linking.motion.shared_shift.shift_of_all import without_drift
from auctrack.tracker.points import Points
from tests.tracker.linking.movies import f1, table, walks

EDGE, FRAMES = 20.0, 12


def streams(seed: int, *, speed: float = 0.8, ways: int = 2, jitter: float = 0.0) -> tuple[Points, np.ndarray]:
    """Particles that fly straight one way or the other, seen in a window of density 1, and who each detection is."""
    rng = np.random.default_rng(seed)
    place = rng.uniform(-FRAMES * speed, EDGE + FRAMES * speed, (round((EDGE + 2 * FRAMES * speed) ** 2), 2))
    way = np.where(rng.random(len(place)) < (0.5 if ways == 2 else 1.0), 1, -1) * speed
    way = way * rng.lognormal(0, 0.2, len(way))
    at, names = [], []
    for _ in range(FRAMES):
        seen = np.flatnonzero(((place > 0) & (place < EDGE)).all(axis=1) & (rng.random(len(place)) > 0.03))
        at.append(place[seen] + rng.normal(0, jitter, 2))
        names.append(seen)
        place = place + np.stack([np.zeros(len(way)), way], axis=1) + rng.normal(0, 0.03, place.shape)
    return table(np.repeat(np.arange(FRAMES), [len(each) for each in at]), np.vstack(at)), np.concatenate(names)


@pytest.mark.parametrize(("speed", "seed"), [(0.4, 0), (0.8, 0), (0.8, 1)])
def test_particles_that_stream_two_ways_have_no_shift_of_all(speed, seed):
    """Steps of .8 were linked at F1 .95 while the one way and the other was taken off in turn."""
    points, who = streams(seed, speed=speed)
    links = link_points(points).links
    assert f1(points, who, links["source"], links["target"]) > 0.97
    movie = ordered(points)
    assert drift_of(movie).of_frames.any() or speed < 0.8
    assert not without_drift(movie, "auto")[0].drift.any()


def test_a_shaking_camera_is_a_shift_of_all():
    points, who = streams(0, ways=1, jitter=1.0)
    assert without_drift(ordered(points), "auto")[0].drift.any()
    links = link_points(points).links
    assert f1(points, who, links["source"], links["target"]) > 0.97


@pytest.mark.parametrize("motion", ["auto", "velocity", "flow", "diffusion"])
def test_a_shift_stays_a_shift_of_all_where_links_are_hardly_better_than_none(motion):
    """No links at all are likelier than few right ones, which says nothing of the shift."""
    points, _ = walks(1000, 8, step=0.8, persistence=0.0, ndim=2)
    shift = np.random.default_rng(0).normal(0, 2, (8, 2))
    movie = ordered(table(points.frames, points.positions + shift[points.frames]))
    drift = drift_of(movie).of_frames
    assert drift.any()
    np.testing.assert_array_equal(without_drift(movie, motion)[0].drift, drift)


def test_planes_farther_apart_than_particles_are_no_shift():
    """Votes for whole planes had passed for a shift of seven spacings: F1 .01."""
    exact, who = walks(500, 20, step=0.3, missed=0.03, false=0.03)
    points = Points(pd.DataFrame(exact.table).assign(z=exact.table["z"].round()))
    assert not drift_of(ordered(points)).of_frames.any()
    links = link_points(points).links
    assert f1(points, who, links["source"], links["target"]) > 0.99


@pytest.mark.gpu
@pytest.mark.parametrize("ways", [1, 2])
def test_a_gpu_takes_off_what_a_cpu_does(ways):
    points, _ = streams(0, ways=ways, jitter=ways == 1)
    here = without_drift(ordered(points), "auto")[0]
    with cuda.using("cuda") as cp:
        there = ordered_on_gpu(cp, points, "auto")
        assert there is not None
        assert there.drift == pytest.approx(here.drift, abs=0.05)  # grids of another corner and spacing
        assert here.drift.any() == (ways == 1)
        assert there.rounding == pytest.approx(here.rounding, rel=1e-9)


def test_a_sample_without_its_shift_is_tried_once(monkeypatch):
    asked: list[bytes] = []
    best_of = other_starts.best_of

    def counted(sample, *of):
        asked.append(sample.position.tobytes())
        return best_of(sample, *of)

    for room in (other_starts, shift_of_all):
        monkeypatch.setattr(room, "best_of", counted)
    table = walks(150, 8)[0].table
    linking = link_points(Points(table.assign(x=table["x"] + 3.0 * table["frame"])))
    assert linking.motion.largest_drift > 2
    assert len(asked) == len(set(asked)) == 2
