"""The recipe: a context costs sweeps only where it may tell something."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.motion.learning.belief import Belief
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points


def walkers(persistence: float) -> Points:
    """300 particles a frame, density 1, whose steps are a tenth of their spacing."""
    rng = np.random.default_rng(0)
    step = rng.normal(0, 0.1, (10, 300, 3))
    for before, own in itertools.pairwise(step):
        own[:] = persistence * before + (1 - persistence**2) ** 0.5 * own
    step[0] = rng.random((300, 3)) * 300 ** (1 / 3)
    z, y, x = np.cumsum(step, axis=0).reshape(-1, 3).T
    return Points(pd.DataFrame({"frame": np.repeat(np.arange(10), 300), "z": z, "y": y, "x": x}))


@pytest.mark.parametrize(
    ("persistence", "motion", "asks"),
    [(0.0, "auto", False), (0.8, "auto", True), (0.0, "velocity", True)],
    ids=["walkers", "who goes on", "walkers, by the user's word"],
)
def test_links_are_swept_for_those_before_them_where_these_may_tell_something(monkeypatch, persistence, motion, asks):
    linked: list[bool] = []
    sweep = Belief.sweep

    def watched(belief: Belief, **options: object) -> None:
        linked.append(belief.linked)
        sweep(belief, **options)

    monkeypatch.setattr(Belief, "sweep", watched)
    link_points(walkers(persistence), LinkSettings(device="cpu", motion=motion))
    assert any(linked) is asks
