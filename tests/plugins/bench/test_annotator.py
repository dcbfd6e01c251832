"""The simulated annotator: what it counts, and that it ends with what is right."""

import numpy as np
import pandas as pd
import pytest

from auctrack.plugins.bench.tracking.annotator import ENOUGH, Annotator, Truth, at_random, longest_first
from auctrack.plugins.bench.tracking.movies import simulated
from auctrack.tracker.editing.session import Session
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points

ORDERS = {
    "queue": Annotator.by_doubt,
    "random": lambda annotator: annotator.by_key(at_random(0)),
    "longest": lambda annotator: annotator.by_key(longest_first(annotator.points)),
}


@pytest.fixture(params=ORDERS)
def done(request) -> Annotator:
    """An annotator who has worked through a hard movie."""
    points = simulated(3, particles=60, frames=6, step=0.6, persistence=0.5, missed=0.05, false=0.05).points
    session = Session(link_points(points, LinkSettings(motion="none"), editable=True))
    annotator = Annotator(session, Truth.of(points))
    assert annotator.share < 0.95
    ORDERS[request.param](annotator)
    return annotator


def test_the_truth_joins_a_particle_to_its_next_detection_and_nobody_to_anything():
    table = pd.DataFrame({"frame": [3, 0, 0, 1, 0], "true_id": [0, 0, -1, -1, 5], "y": 0.0, "x": np.arange(5.0)})
    truth = Truth.of(Points(table))
    assert (truth.after, truth.before) == ({1: 0}, {0: 1})


def test_enough_links_are_right_in_the_end_and_the_rest_proven(done):
    links = done.session.linking().links[["source", "target"]].to_numpy().tolist()
    right = sum(done.truth.is_right((source, target)) for source, target in links)
    assert right / len(links) >= ENOUGH
    assert done.share == pytest.approx(right / len(links))
    assert done.session.proof().is_optimal


def test_every_look_is_one_act_and_every_correction_a_look(done):
    acts = [act["act"] for act in done.session.acts]
    assert len(acts) == done.looked == done.curve[-1][0]
    assert sum(act != "confirm_link" for act in acts) == done.corrected > 0


def test_confirmed_and_made_links_are_true_and_forbidden_ones_false(done):
    assert all(map(done.truth.is_right, map(tuple, done.session.pinned.tolist())))
    assert not any(map(done.truth.is_right, map(tuple, done.session.forbidden.tolist())))
