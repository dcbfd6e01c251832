"""Particles that move in all manners, with nothing given: links are right, and no motion that is forced does better."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points
from tests.tracker.linking.movies import f1, through_walls

N, FRAMES = 150, 12
BEHIND = 0.02
"""How much better a motion that is forced may link: which is the best there is hard to tell from the movie."""


def walk(rng: np.random.Generator, ndim: int, step: float) -> np.ndarray:
    """Steps that know of none before them, root mean square `step`; float64 (frames, n, d), as of all."""
    return rng.normal(scale=step / np.sqrt(ndim), size=(FRAMES, N, ndim))


def going_on(rng: np.random.Generator, ndim: int, step: float, persistence: float) -> np.ndarray:
    """Steps of which a share repeats the one before."""
    steps = walk(rng, ndim, step)
    for before, own in pairwise(steps):
        own[:] = persistence * before + np.sqrt(1 - persistence**2) * own
    return steps


def flying(rng: np.random.Generator, ndim: int, step: float, turns: float = 0.0) -> np.ndarray:
    """Steps of one length that go straight on, a share of them in a new direction."""
    steps = walk(rng, ndim, step)
    steps *= step / np.linalg.norm(steps, axis=2, keepdims=True)
    for before, own in pairwise(steps):
        straight = rng.random(N) >= turns
        own[straight] = before[straight]
    return steps


def mixed(one: np.ndarray, other: np.ndarray, share: float) -> np.ndarray:
    """Steps of two kinds of particles, a share of them the other."""
    return np.concatenate([one[:, round(N * share) :], other[:, : round(N * share)]], axis=1)


def speeds(rng: np.random.Generator, ndim: int) -> np.ndarray:
    """Steps that go on, of particles of which each has a speed of its own."""
    return going_on(rng, ndim, 0.5, 0.9) * np.exp(rng.normal(scale=0.7, size=(N, 1)))


KINDS = {
    "walks": (lambda rng, d: walk(rng, d, 0.2), {}, 0.92),
    "going on, steps of one and a half spacings": (lambda rng, d: going_on(rng, d, 0.8, 0.95), {}, 0.85),
    "straight, four spacings a step": (lambda rng, d: flying(rng, d, 2.0 if d == 2 else 1.5), {}, 0.87),
    "runs and tumbles": (lambda rng, d: flying(rng, d, 0.8, turns=0.1), {}, 0.92),
    "a fifth flies among those that stay": (
        lambda rng, d: mixed(walk(rng, d, 0.05), flying(rng, d, 1.0), 0.2),
        {},
        0.97,
    ),
    "half walk, half go on": (lambda rng, d: mixed(walk(rng, d, 0.3), going_on(rng, d, 0.9, 0.97), 0.5), {}, 0.85),
    "each at a speed of its own": (speeds, {}, 0.83),
    "as many false ones": (lambda rng, d: going_on(rng, d, 0.2, 0.9), {"false": 1.0}, 0.94),
    "missed and false ones": (lambda rng, d: going_on(rng, d, 0.5, 0.95), {"missed": 0.1, "false": 0.1}, 0.91),
}


def movie(kind: str, ndim: int, seed: int = 1) -> tuple[Points, np.ndarray]:
    """Some particles of a kind in a box at density 1, and who they are."""
    steps_of, seen, _ = KINDS[kind]
    rng = np.random.default_rng(seed)
    steps = steps_of(rng, ndim)
    edge = N ** (1 / steps.shape[2])
    steps[0] = rng.uniform(0, edge, steps[0].shape)
    path = np.cumsum(steps, axis=0)
    return through_walls(path + rng.normal(scale=0.01, size=path.shape), edge, seed=seed, **seen)


def linked(points: Points, who: np.ndarray, motion: str) -> float:
    links = link_points(points, LinkSettings(device="cpu", motion=motion)).links
    return f1(points, who, links["source"].to_numpy(), links["target"].to_numpy())


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_links_are_right_and_no_motion_that_is_forced_does_better(kind, ndim):
    points, who = movie(kind, ndim)
    learned = linked(points, who, "auto")
    assert learned > KINDS[kind][2]
    assert learned > linked(points, who, "diffusion") - BEHIND
    assert learned > linked(points, who, "flow+velocity") - BEHIND
