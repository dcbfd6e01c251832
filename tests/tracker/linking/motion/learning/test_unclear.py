"""Where the best links are less likely than none at all, more are wrong than they make expect, which is said."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.plugins.words.notes import on_chance
from auctrack.tracker.linking.advice.expected_accuracy import expected_f1
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.result import Linking
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points
from tests.tracker.linking.movies import f1, table, walks

SLOW, FAST = 0.3, 1.3  # steps, in distances to the nearest neighbour


def linked(step: float, persistence: float, ndim: int, frames: int = 10) -> tuple[Linking, int, float]:
    """Return links, how many of them are wrong, and the F1 of those between consecutive frames."""
    points, who = walks(300, frames, step=step, persistence=persistence, ndim=ndim, walls=True)
    linking = link_points(points, LinkSettings(device="cpu"))
    source, target = linking.links[["source", "target"]].to_numpy().T
    wrong = int(((who[source] < 0) | (who[source] != who[target])).sum())
    return linking, wrong, f1(points, who, source, target)


@pytest.mark.parametrize("frames", [4, 10])
@pytest.mark.parametrize("persistence", [0.0, 0.5])
@pytest.mark.parametrize("ndim", [2, 3])
def test_where_steps_are_longer_than_the_spacing_more_links_are_said_to_be_wrong_than_are_expected(
    ndim, persistence, frames
):
    linking, wrong, _ = linked(FAST, persistence, ndim, frames)
    assert wrong > linking.report["expected_wrong"]
    assert linking.report["more_are_wrong"]
    assert len(on_chance(linking)) == 1
    assert "more than" in linking.report["learned"][-1] or "guesses" in linking.report["learned"][-1]
    assert expected_f1(linking.tracks) is None


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize(("step", "is_said"), [(SLOW, False), (0.6, False), (2.0, True)])
def test_so_they_are_in_a_swarm_that_is_dense_in_the_middle(ndim, step, is_said):
    """There any link was likelier than from anywhere, and nothing was said of the mosquitos' every 40th frame."""
    points, who = swarm(step, ndim)
    linking = link_points(points, LinkSettings(device="cpu"))
    source, target = linking.links[["source", "target"]].to_numpy().T
    wrong = int((who[source] != who[target]).sum())
    assert linking.report["more_are_wrong"] == is_said
    assert not is_said or wrong > max(1.1 * linking.report["expected_wrong"], 0.4 * len(source))


def swarm(step: float, ndim: int, n: int = 300, frames: int = 8) -> tuple[Points, np.ndarray]:
    """Random walks from a place far denser in the middle, and who each detection is."""
    rng = np.random.default_rng(1)
    position = rng.standard_t(2, (n, ndim)) * n ** (1 / ndim) / 4
    who = [np.flatnonzero(rng.random(n) > 0.05) for _ in range(frames)]
    places: list[np.ndarray] = []
    for seen in who:
        places.append(position[seen])
        position = position + rng.normal(0, 0.55 * step / np.sqrt(8 / np.pi), position.shape)
    return table(np.repeat(np.arange(frames), [len(seen) for seen in who]), np.vstack(places)), np.concatenate(who)


@pytest.mark.parametrize("step", [SLOW, 0.5])
@pytest.mark.parametrize("persistence", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("ndim", [2, 3])
def test_where_nearly_all_links_are_right_nothing_is_said(ndim, persistence, step):
    linking, _, reached = linked(step, persistence, ndim)
    assert reached > 0.8
    assert not linking.report["more_are_wrong"]
    assert not on_chance(linking)
    assert "more than" not in linking.report["learned"][-1]


def test_particles_that_keep_their_way_are_followed_over_steps_as_long_as_the_spacing_and_nothing_is_said():
    linking, _, reached = linked(1.0, 0.9, 3)
    assert reached > 0.94
    assert not linking.motion.is_unclear
    assert not on_chance(linking)


@pytest.mark.parametrize("missed", [0.0, 0.05])
def test_where_a_feature_tells_particles_apart_their_links_are_none_the_less_clear(missed):
    points, who = walks(300, 10, step=1.1, persistence=0.0, missed=missed, false=missed, walls=True)
    points.table["intensity"] = np.random.default_rng(0).uniform(1, 1e4, who.max() + 2)[who]
    plain, told = (link_points(points, LinkSettings(device="cpu", features=names)) for names in ((), ("intensity",)))
    source, target = told.links[["source", "target"]].to_numpy().T
    assert ((who[source] == who[target]) & (who[source] >= 0)).mean() > 0.96
    assert [made.report["more_are_wrong"] for made in (plain, told)] == [True, False]
    assert not on_chance(told)
