"""Excerpts: whole small frames, the middle of large ones, and only as many frame pairs as are needed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.linking.gate.candidates import frame_pairs
from auctrack.tracker.linking.gate.excerpt import excerpts
from auctrack.tracker.linking.unmatched_cost.measured import measured_steps
from auctrack.tracker.points import Points


def movie(n: int, frames: int = 4, step: float = 0.05) -> Points:
    """Random walkers at density 1."""
    rng = np.random.default_rng(4)
    place = rng.random((n, 3)) * n ** (1 / 3)
    places = [place := place + rng.normal(0, step, (n, 3)) for _ in range(frames)]
    return Points(
        pd.DataFrame(np.vstack(places), columns=["z", "y", "x"]).assign(frame=np.repeat(np.arange(frames), n))
    )


def test_small_frames_are_taken_whole_until_there_are_enough():
    taken = list(excerpts(frame_pairs(movie(100), 0.0), 150))
    assert [(len(part.earlier), len(part.later)) for part in taken] == [(100, 100)] * 2
    assert all(part.earlier_counted.all() and part.later_counted.all() for part in taken)


def test_of_a_large_frame_a_box_in_its_middle_is_counted_and_a_margin_goes_with_it():
    points = movie(20_000)
    (part,) = excerpts(frame_pairs(points, 0.0), 1_000)
    counted, around = part.earlier.grid.points[part.earlier_counted], part.earlier.grid.points
    assert len(counted) == pytest.approx(1_000, rel=0.15)
    edge = np.ptp(counted, axis=0)
    np.testing.assert_allclose(counted.mean(axis=0), points.positions.mean(axis=0), atol=1.0)
    np.testing.assert_allclose(np.ptp(around, axis=0), 1.25 * edge, rtol=0.05)
    np.testing.assert_array_equal(points.positions[part.earlier.rows], around)


def test_particles_in_one_place_are_all_in_the_box():
    table = pd.DataFrame({"frame": np.repeat([0, 1], 50), "y": 1.0, "x": 2.0})
    (part,) = excerpts(frame_pairs(Points(table), 0.0), 10)
    assert part.earlier_counted.sum() == part.later_counted.sum() == 50


def test_a_box_that_the_next_frame_leaves_empty_falls_back_to_all_of_it():
    ring = pd.DataFrame({"frame": 1, "y": [0.0, 0.0, 100.0, 100.0], "x": [0.0, 100.0, 0.0, 100.0]})
    rng = np.random.default_rng(0)
    cloud = pd.DataFrame(rng.random((400, 2)) * 100, columns=["y", "x"]).assign(frame=0)
    (part,) = excerpts(frame_pairs(Points(pd.concat([cloud, ring], ignore_index=True)), 0.0), 10)
    assert len(part.later) == 4


def test_an_excerpt_measures_what_the_whole_frame_does():
    whole = measured_steps(frame_pairs(movie(2_900, step=0.15), 0.0), 1.0, 3)
    part = measured_steps(frame_pairs(movie(30_000, step=0.15), 0.0), 1.0, 3)
    assert whole is not None
    assert part is not None
    assert part.longest == pytest.approx(whole.longest, rel=0.05)
    assert np.sqrt(part.distribution.variance) == pytest.approx(0.15, rel=0.05)
