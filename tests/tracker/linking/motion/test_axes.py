"""A depth that is measured badly: what one step errs by the next one takes back, while the other axes go on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.motion.motion import Motion
from auctrack.tracker.points import Points

from ..movies import f1, table, walks


def badly_measured(error: float, seed: int) -> tuple[Points, np.ndarray]:
    """Particles that go on, whose depths are off by so much, and who each detection is."""
    points, who = walks(400, 12, seed=seed)
    places = points.positions.copy()
    places[:, 0] += np.random.default_rng(seed).normal(scale=error, size=len(places))
    return table(points.frames, places), who


def persistence_of(motion: Motion) -> str:
    return next(line for line in motion.lines() if line.startswith("persistence"))


@pytest.mark.parametrize(("error", "least"), [(0.3, 0.984), (0.4, 0.977)])
def test_what_goes_on_along_the_other_axes_is_not_lost(error, least):
    points, who = badly_measured(error, 0)
    linking = link_points(points)
    assert f1(points, who, linking.links["source"], linking.links["target"]) > least
    z, y, x = linking.motion.persistence_along
    assert z < -0.2
    assert y == pytest.approx(0.87, abs=0.05)
    assert x == pytest.approx(0.87, abs=0.05)
    assert "along z, 0.8" in persistence_of(linking.motion)


def test_axes_that_are_alike_have_one_persistence():
    motion = link_points(walks(400, 12)[0]).motion
    assert len(set(motion.persistence_along.tolist())) == 1
    assert motion.persistence_along[0] == pytest.approx(motion.persistence)
    assert "along" not in persistence_of(motion)


@pytest.mark.parametrize("along", [None, np.array([-1e-4, -1e-4, -2e-3]), np.array([-1e-4, 0.3, 0.3])])
def test_a_persistence_of_nothing_has_no_sign(along: np.ndarray | None) -> None:
    learned = link_points(walks(40, 6, persistence=0.0)[0]).motion
    assert learned is not None
    assert "-0.00" not in persistence_of(replace(learned, persistence=-1e-4, persistence_along=along))
