"""How many detections are lost and new is said as it was learned, and no more of it than can be known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from auctrack.tracker.linking.link import link_points
from auctrack.tracker.points import Points

from ..movies import walks


def said_of(points: Points) -> str:
    motion = link_points(points).motion
    assert motion is not None
    (line,) = [line for line in motion.lines() if "lost" in line]
    return line


def test_where_none_is_lost_a_bound_is_said() -> None:
    points, _ = walks(300, 6, seed=1, step=0.1, missed=0, false=0)
    assert said_of(points) == "at most 0.3% of detections lost and at most 0.3% new per frame"


def test_of_false_detections_the_share_is_said() -> None:
    points, _ = walks(300, 6, seed=1, step=0.1, missed=0, false=0.2)
    lost, new = (float(word.rstrip("%")) for word in said_of(points).split() if word.endswith("%"))
    assert (lost, new) == (pytest.approx(100 / 6, abs=3), pytest.approx(100 / 6, abs=3))


@pytest.mark.parametrize(
    ("missed", "said"),
    [
        ((0.002,), "1 missed frame: 0.2% of detections seen again after 1"),
        ((0.02, 0.01), "2 missed frames: 2.0% of detections seen again after 1, 1.0% after 2"),
        ((0.02, 0.0001), "2 missed frames: 2.0% of detections seen again after 1, 0.0% after 2"),
        ((0.02, 0.0) + (1e-5,) * 13, "15 missed frames: 2.0% of detections seen again after 1, 0.0% after 2 to 15"),
        ((0.0, 0.0, 0.01), "3 missed frames: 0.0% of detections seen again after 1, 0.0% after 2, 1.0% after 3"),
        ((0.0,) * 8, "8 missed frames: 0.0% of detections seen again after 1 to 8"),
    ],
)
def test_gaps_that_are_hardly_seen_are_said_together(missed: tuple[float, ...], said: str) -> None:
    motion = link_points(walks(40, 4, seed=1, step=0.1, missed=0, false=0)[0]).motion
    assert motion is not None
    assert f"gaps of up to {said}" in replace(motion, missed=missed).lines()


def test_a_drift_is_not_said_to_be_gone_from_positions_that_keep_it() -> None:
    points, _ = walks(40, 4, seed=1, step=0.1, missed=0, false=0)
    linking = link_points(points)
    assert linking.motion is not None
    (line,) = (line for line in replace(linking.motion, largest_drift=9.0).lines() if "drift" in line)
    assert "subtracted" not in line
    assert "positions keep it" in line
    assert (linking.tracks.positions == points.positions).all()
