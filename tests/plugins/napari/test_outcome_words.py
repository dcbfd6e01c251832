"""What is said of a correction: what an added particle was joined to, how far a link is, what else changed."""

from __future__ import annotations

import pytest

from auctrack.plugins.napari.session.outcome_words import far_words, joined_words, others_words
from auctrack.tracker.editing.change import Change
from auctrack.tracker.editing.session import Session
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.settings import LinkSettings

from ...tracker.linking.movies import table

TRACKS = {0: 4, 1: 4, 2: 7, 3: 7}
ADDED = 9


def change(name="add_detection", made=(), gone=(), others_made=(), others_gone=(), **arguments) -> Change:
    added = (ADDED,) if name == "add_detection" else ()
    return Change({"act": name, **arguments}, gone, made, others_gone, others_made, added, (), (), ())


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ([], ", joined to no track"),
        ([(0, ADDED)], ", joined to track 4 before it"),
        ([(ADDED, 2)], ", joined to track 7 after it"),
        ([(0, ADDED), (ADDED, 2)], ", joined to track 4 before it and track 7 after it"),
        ([(0, ADDED), (ADDED, 1)], " within track 4"),
        ([(0, ADDED), (2, ADDED)], ", joined to track 4 and track 7 before it"),
        ([(1, ADDED), (0, 2)], ", joined to track 4 before it"),
    ],
)
def test_it_is_said_what_an_added_particle_is_joined_to(made, said):
    assert joined_words(change(made=tuple(made)), TRACKS.__getitem__) == said


def test_of_no_other_act_is_it_said():
    assert joined_words(change("add_link", made=((0, 2),), source=0, target=2), TRACKS.__getitem__) == ""


@pytest.mark.parametrize(
    ("act", "arguments", "is_far"),
    [
        ("add_link", {"source": 0, "target": 2}, False),
        ("add_link", {"source": 0, "target": 3}, True),
        ("mark_division", {"mother": 0, "daughters": [2, 3]}, True),
        ("break_link", {"source": 0, "target": 3}, False),
    ],
)
def test_a_distance_is_said_where_no_link_that_was_found_is_as_long(act, arguments, is_far):
    """Two particles that move by 1 and are 30 apart; the first one's next place is 30.02 from the second one."""
    points = table([0, 0, 1, 1], [(0, 0), (0, 30), (1, 0), (1, 30)])
    session = Session(link_points(points, LinkSettings(search_range=5, unmatched_cost=4, motion="none")))
    said = far_words(change(act, **arguments), session)
    assert said == (", 30 pixels apart (the longest link found: 1 pixel)" if is_far else "")


def test_where_no_link_was_found_any_distance_is_accepted_without_a_word():
    unlinked = link_points(table([0, 1], [(0, 0), (0, 30)]), LinkSettings(search_range=5, motion="none"))
    assert far_words(change("add_link", source=0, target=1), Session(unlinked)) == ""


@pytest.mark.parametrize(
    ("gone", "made", "said"),
    [
        (0, 0, "no other link changed."),
        (0, 1, "1 other link new (solid). "),
        (2, 0, "2 other links gone (dashed). "),
        (1, 2, "1 other link gone (dashed), 2 new (solid). "),
    ],
)
def test_other_links_that_changed_are_counted(gone, made, said):
    did = change("break_link", others_gone=((0, 1),) * gone, others_made=((0, 1),) * made)
    words = others_words(did, can_keep=True)
    assert words.startswith(said)
    assert ("K undoes" in words) == bool(gone + made)
    assert "K undoes" not in others_words(did, can_keep=False)
