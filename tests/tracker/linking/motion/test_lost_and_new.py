"""How many detections are lost and new is said as it was learned, and no more of it than can be known."""

from __future__ import annotations

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
