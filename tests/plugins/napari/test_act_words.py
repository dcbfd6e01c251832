"""What is said of each act: its tracks as they are shown, its frames, and what was done; no act is without words."""

from __future__ import annotations

import pytest

from auctrack.plugins.napari.session.act_words import Seen, act_words, refusal_words
from auctrack.tracker.editing.acts import ACTS
from auctrack.tracker.errors import InvalidEdit

SHOWN = {0: Seen(3, 4), 1: Seen(3, 5), 2: Seen(7, 4), 3: Seen(7, 5), 4: Seen(None, 5)}
PLACE = {"frame": 5, "position": [0.0, 0.0]}
SAID = {
    "break_link": ({"source": 0, "target": 1}, "Track 3: link of frames 4–5 broken"),
    "confirm_link": ({"source": 0, "target": 3}, "Tracks 3 and 7: link of frames 4–5 confirmed"),
    "add_link": ({"source": 0, "target": 3}, "Tracks 3 and 7: particles of frames 4–5 linked"),
    "confirm_links": ({"links": [[0, 1], [2, 3]]}, "2 links confirmed"),
    "hold_links": (
        {"pinned": [[0, 3]], "forbidden": [[0, 1]]},
        "Tracks 3 and 7: link of frames 4–5 moved to the other particle",
    ),
    "swap_links": ({"first": [0, 1], "second": [2, 3]}, "Tracks 3 and 7: swapped from frame 5 onwards"),
    "release_link": ({"source": 0, "target": 1}, "Track 3: link of frames 4–5 no longer confirmed or broken"),
    "split_track": ({"detection": 0}, "Track 3: ended in frame 4"),
    "mark_division": ({"mother": 0, "daughters": [1, 3]}, "Tracks 3 and 7: division after frame 4 marked"),
    "add_detection": (PLACE, "Frame 5: particle added"),
    "move_detection": ({"detection": 1, "position": [0.0, 0.0]}, "Track 3: particle in frame 5 moved"),
    "delete_detection": ({"detection": 4}, "Particle in frame 5 deleted"),
    "merge_detections": ({"detections": [0, 2]}, "Tracks 3 and 7: particles in frame 4 merged"),
    "together": ({"acts": [{"act": "delete_detection", "detection": one} for one in (0, 1)]}, "2 particles deleted"),
}


REFUSED = {
    "no detection": ((), "This particle is not there any more."),
    "no link": ((0, 3), "There is no link from track 3 in frame 4 to track 7 in frame 5."),
    "order": ((1, 2), "Links lead forward in time, not from track 3 in frame 5 to track 7 in frame 4."),
    "no room": (
        (0, 4),
        "A link from track 3 in frame 4 to the particle in frame 5 cannot be confirmed: one of these two particles "
        "already has a confirmed link. Break that one first (B).",
    ),
    "not given": ((2, 3), "The link from track 7 in frame 4 to track 7 in frame 5 is neither confirmed nor forbidden."),
    "nothing follows": ((3,), "Track 7 already ends in frame 5."),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_refusal_is_said_by_tracks_and_frames(kind):
    detections, said = REFUSED[kind]
    error = InvalidEdit("9", kind=kind, detections=detections, frames=tuple(SHOWN[one].frame for one in detections))
    assert refusal_words(error, lambda one: SHOWN[one].track) == said


def test_a_refusal_that_names_no_detection_is_said_as_it_is():
    assert refusal_words(InvalidEdit("there is nothing."), lambda one: one) == "there is nothing."


def test_every_act_has_words():
    assert SAID.keys() == ACTS.keys()


@pytest.mark.parametrize("name", SAID)
def test_an_act_is_said_by_its_tracks_and_frames_and_so_are_its_undoing_and_redoing(name):
    arguments, said = SAID[name]
    words = act_words({"act": name, **arguments}, SHOWN.__getitem__)
    assert str(words) == said
    for how in ("Undone", "Redone"):
        again = words.told_again(how)
        assert again.startswith(f"{how}: {words.what}")
        assert words.subject.lower() in again


@pytest.mark.parametrize(
    ("pinned", "forbidden", "said"),
    [
        ([[0, 3]], [[2, 3]], "Tracks 3 and 7: 1 link confirmed, 1 link forbidden"),
        ([[0, 3], [2, 1]], [], "Tracks 3 and 7: 2 links confirmed"),
    ],
)
def test_links_that_are_held_are_counted(pinned, forbidden, said):
    words = act_words({"act": "hold_links", "pinned": pinned, "forbidden": forbidden}, SHOWN.__getitem__)
    assert str(words) == said


def test_particles_that_were_added_and_deleted_at_once_are_edited():
    acts = [{"act": "add_detection", **PLACE}, {"act": "delete_detection", "detection": 0}]
    assert str(act_words({"act": "together", "acts": acts}, SHOWN.__getitem__)) == "2 particles edited"
