"""What is given back, and what is raised, goes to another process and comes back as it was."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import auctrack
from auctrack.matching.errors import AuctrackError

from .linking.movies import walks

POINTS = walks(60, 5, missed=0.05, false=0)[0]


def there_and_back(value):
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("settings", [{}, {"motion": "none"}, {"linking": "jaqaman", "search_range": 5}], ids=str)
def test_a_linking_arrives_with_its_links(settings):
    linking = auctrack.link_points(POINTS, auctrack.LinkSettings(**settings))
    arrived = there_and_back(linking)
    assert arrived.links.equals(linking.links)
    assert arrived.tracks.table.equals(linking.tracks.table)
    assert arrived.doubtful(3).equals(linking.doubtful(3))


def test_a_session_arrives_with_its_corrections_and_goes_on():
    session = auctrack.Session(auctrack.link_points(POINTS))
    session.break_link(*session.doubtful(1)[["source", "target"]].iloc[0])
    arrived = there_and_back(session)
    assert arrived.acts == session.acts
    assert arrived.linking().links.equals(session.linking().links)
    assert arrived.undo() is not None
    assert arrived.proof().is_optimal


@pytest.mark.parametrize(
    "call",
    [
        lambda: auctrack.read_points("not_there.csv"),
        lambda: auctrack.read_points(POINTS.table.assign(x="a")),
        lambda: auctrack.read_points(POINTS.table.drop(columns="x")),
        lambda: auctrack.read_movie(np.zeros((2, 3, 9, 9))),
        lambda: auctrack.LinkSettings(motion="fast"),
        lambda: auctrack.solve(np.full((2, 2), np.inf)),
    ],
)
def test_an_error_arrives_with_its_words_and_what_it_names(call):
    with pytest.raises(AuctrackError) as caught:
        call()
    arrived = there_and_back(caught.value)
    assert type(arrived) is type(caught.value)
    assert str(arrived) == str(caught.value)
    assert vars(arrived).keys() == vars(caught.value).keys()


def test_points_are_told_apart_as_objects_and_may_be_keys():
    again = auctrack.Points(POINTS.table.copy(), POINTS.calibration)
    assert POINTS == POINTS
    assert again != POINTS
    assert {POINTS: "one", again: "another"}[again] == "another"
