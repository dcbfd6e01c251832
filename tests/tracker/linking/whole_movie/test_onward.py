"""Where particles were about to go, by the links before them or, seen from the frame after, by those that follow."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.tracker.linking.motion.detections.ordered import ordered
from auctrack.tracker.linking.motion.learning.belief import Belief
from auctrack.tracker.linking.motion.models.step_model import tables
from auctrack.tracker.linking.motion.recipe import believed
from auctrack.tracker.linking.whole_movie.onward import Onward, onward
from auctrack.tracker.points import Points

from ..movies import walks
from ..trust.likelihood import of_one_class


def learned(points: Points) -> Belief:
    return of_one_class(believed(ordered(points), 0, "velocity"))


def sure_of(belief: Belief, *, divide: bool) -> tuple[np.ndarray, np.ndarray, Onward]:
    """The sure links whose one end has one sure link beyond it; these; and what is said of them."""
    graph = belief.graph
    sure = np.flatnonzero(belief.probability > 0.999)
    near, far = (graph.tail, graph.head) if divide else (graph.head, graph.tail)
    beyond = np.full(graph.n, -1)
    beyond[far[sure]] = sure
    links = sure[beyond[near[sure]] >= 0]
    return links, beyond[near[links]], onward(belief, links, 1, divide=divide)


@pytest.mark.parametrize("divide", [True, False])
def test_a_sure_link_says_how_far_the_next_one_leads_and_how_likely_it_is_a_step(divide):
    belief = learned(walks(300, 6, step=0.2, missed=0, false=0)[0])
    links, beyond, said = sure_of(belief, divide=divide)
    model, step = tables(belief.model, 1), belief.own_steps().all()
    near = belief.graph.tail[links] if divide else belief.graph.head[links]
    goes_on = model.turns[:2].sum() * model.slope[0, 0] * step[beyond]
    assert len(links) > 500
    np.testing.assert_allclose(said.expected[0, near], goes_on, atol=0.02 * belief.model.typical_step)
    tells = model.turns[:2].sum() * belief.model.second.mean() + model.turns[2] * belief.model.first.mean()
    np.testing.assert_allclose(said.variance[near], tells, rtol=0.05)
    off = step[links] - model.slope[0, 0] * step[beyond]
    tied = np.exp(model.second_norm[0, 0, 0] - 0.5 * (off**2 @ model.second_precision[0, 0, 0]))
    alone = np.exp(model.first_norm[0, 0] - 0.5 * (step[links] ** 2 @ model.first_precision[0, 0]))
    expected = model.turns[:2].sum() * tied + model.turns[2] * alone
    assert np.median(np.abs(said.density / expected - 1)) < 0.01


def test_nothing_is_expected_where_links_know_of_no_others():
    points = walks(200, 6, step=0.2, missed=0, false=0)[0]
    belief = believed(ordered(points), 0, "flow")
    belief.linked = False
    said = onward(belief, np.arange(5), 1, divide=True)
    assert not said.expected.any()
    np.testing.assert_allclose(said.variance, belief.model.variance.mean())
