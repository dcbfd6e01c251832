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


def of_paths(path: np.ndarray, seen: np.ndarray) -> tuple[Points, np.ndarray]:
    """Points of particles whose places (frames, particles, axes) are seen where `seen`, and which of them each is."""
    frame, particle = np.nonzero(seen)
    return Points(pd.DataFrame({"frame": frame, **dict(zip("zyx", path[seen].T, strict=True))})), particle


def missing_and_wrong(points: Points, particle: np.ndarray) -> tuple[int, int]:
    """How many links from one detection of a particle to its next are not made, and how many others are."""
    links = link_points(points, LinkSettings(device="cpu")).links
    right = np.count_nonzero(particle[links["source"]] == particle[links["target"]])
    return len(points) - len(np.unique(particle)) - right, len(links) - right


def test_rare_long_steps_of_what_is_carried_are_candidates():
    """Of a glass that drifts: cages are a tenth as wide as it moves in a frame, and few leave theirs at once."""
    rng, side = np.random.default_rng(0), np.arange(9.0)
    step = rng.standard_t(3, (8, 729, 3)) * 0.025 + [0.0, 0.3, 0.6]
    step[0] = np.stack(np.meshgrid(side, side, side), axis=-1).reshape(-1, 3) + rng.normal(0, 0.08, (729, 3))
    missing, wrong = missing_and_wrong(*of_paths(step.cumsum(axis=0), np.ones((8, 729), bool)))
    assert missing <= 10  # of steps as long as the spacing some are no links that could be told
    assert wrong == 0


def test_gaps_are_closed_where_the_flow_changes_from_frame_to_frame():
    """Of a sheared suspension that swings: across a missed frame the flow before it leads aside."""
    rng = np.random.default_rng(0)
    edge = 800 ** (1 / 3)
    path = [rng.random((800, 3)) * edge]
    for frame in range(7):
        along_x = 0.2 * np.sin(1.2 * frame) * (path[-1][:, 0] - edge / 2)
        path.append(path[-1] + along_x[:, None] * [0, 0, 1] + rng.normal(0, 0.02, (800, 3)))
    missing, wrong = missing_and_wrong(*of_paths(np.array(path), rng.random((8, 800)) > 0.05))
    assert missing < 0.02 * 8 * 800
    assert wrong == 0
