"""Steps that few particles make now and then are linked where ends and beginnings tell of them, and nothing else is."""

from __future__ import annotations

import re

import numpy as np
import pytest

from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.motion import recipe
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points
from tests.tracker.linking.movies import caged, dividing, in_view, table, walks

ON_CPU = LinkSettings(device="cpu")
LONG = 0.4
"""No step within a cage is as long."""


def made(points: Points, names: np.ndarray, jumped: np.ndarray) -> tuple[int, int, int]:
    """How many jumps there are over one frame, how many are linked, and how many other links are as long."""
    links = link_points(points, ON_CPU).links
    source, target = (links[end].to_numpy() for end in ("source", "target"))
    before = set(zip(points.frames + 1, names, strict=True))
    real = sum(each in before for each in zip(points.frames[jumped], names[jumped], strict=True))
    right = (names[source] == names[target]) & (names[source] >= 0)
    long = np.linalg.norm(points.positions[target] - points.positions[source], axis=1) > LONG
    over_one = points.frames[target] - points.frames[source] == 1
    return real, int((right & over_one & jumped[target]).sum()), int((long & ~right & over_one).sum())


@pytest.mark.parametrize("jump", [0.003, 0.01, 0.02])
@pytest.mark.parametrize("ndim", [2, 3])
def test_jumps_out_of_cages_are_linked(ndim, jump):
    """Each of them ended a track, of all but the commonest."""
    real, linked, wrong = made(*caged(ndim=ndim, jump=jump))
    assert linked >= 0.97 * real
    assert wrong <= 0.03 * real


@pytest.mark.parametrize("ndim", [2, 3])
def test_most_are_where_an_end_may_be_a_missed_particle_and_a_beginning_a_false_one(ndim):
    real, linked, wrong = made(*caged(800, ndim=ndim, missed=0.03, false=0.03))
    assert linked >= 0.7 * real
    assert wrong <= 0.1 * real


def test_particles_that_a_flow_carries_jump_as_far():
    """Around where it leads candidates are as near as most steps ask for."""
    real, linked, wrong = made(*caged(800, shear=0.08))
    assert linked >= 0.9 * real
    assert wrong <= 0.03 * real


def test_daughters_far_from_their_mother_are_found():
    """A mother ends, and they begin."""
    points, names, parents = dividing(500, 12, step=0.1, apart=0.5, rate=0.02)
    links = link_points(points, LinkSettings(device="cpu", divisions=True)).links
    ends = names[links["source"]], names[links["target"]]
    found = sum(mother in parents.get(daughter, ()) for mother, daughter in zip(*ends, strict=True))
    assert found > 155  # 144 without


def beside_particles_that_stay(density: int) -> Points:
    """Particles that stay, in a swarm, and as dense in places as these false ones for every twenty of them."""
    rng = np.random.default_rng(0)
    swarm = rng.standard_t(2, (1000, 2)) * 5
    parts = [
        np.vstack(
            [
                (swarm + rng.normal(0, 0.08, swarm.shape))[rng.random(1000) >= 0.05],
                swarm[rng.integers(0, 1000, 50 * density)] + rng.normal(0, 0.5, (50 * density, 2)),
            ]
        )
        for _ in range(16)
    ]
    return table(np.repeat(np.arange(16), [len(part) for part in parts]), np.vstack(parts))


@pytest.mark.parametrize(
    "points",
    [
        caged(jump=0.0)[0],
        caged(1000, 20, jump=0.0, missed=0.2, false=0.2, ndim=2)[0],
        beside_particles_that_stay(1),
        beside_particles_that_stay(3),
        in_view(400, 10, step=0.2)[0],
        in_view(400, 10, step=0.2, ndim=2)[0],
        walks(400, 10, step=0.1, false=0.5)[0],
    ],
    ids=["none", "many missed", "a swarm", "a crowded swarm", "who come and go", "in the plane, too", "many false"],
)
def test_where_nothing_jumps_ends_lie_beside_beginnings_by_chance(monkeypatch, points):
    found = link_points(points, ON_CPU).links
    monkeypatch.setattr(recipe, "with_rare_steps", lambda _: None)
    assert found.equals(link_points(points, ON_CPU).links)


def test_how_rare_they_are_is_said():
    learned = "\n".join(link_points(caged(jump=0.003)[0], ON_CPU).report["learned"])
    said = r"^steps vary along each axis: 99\.\d% by 0\.07\d*, 0\.\d% by 0\.[3-5]\d* pixels$"
    assert re.search(said, learned, re.MULTILINE)
