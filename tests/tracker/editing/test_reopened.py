"""Saved tracks are taken up with exactly their links, and corrected like those of a linking."""

import re
from dataclasses import replace
from zipfile import ZipFile

import numpy as np
import pytest

from auctrack.tracker.editing.reopened import reopened
from auctrack.tracker.editing.session import Session
from auctrack.tracker.editing.session_file import read_session, write_session
from auctrack.tracker.errors import InvalidInput, InvalidSetting
from auctrack.tracker.formats.graph import edges_of
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.result import Linking
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Tracks

from ..linking.movies import table, walks

SETTINGS = {"none": LinkSettings(motion="none"), "learned": LinkSettings()}


def links_of(linking: Linking) -> set[tuple[int, int]]:
    return set(zip(linking.links["source"].tolist(), linking.links["target"].tolist(), strict=True))


def edges(tracks: Tracks) -> set[tuple[int, int]]:
    return {(source, target) for source, target in edges_of(tracks).tolist()}


def two_tracks(ids) -> Tracks:
    """Two particles side by side for three frames: rows 0, 2, 4 and 1, 3, 5."""
    points = table([0, 0, 1, 1, 2, 2], [(0, 0), (0, 3), (0, 0.1), (0, 3.1), (0, 0.2), (0, 3.2)])
    return points.with_track_ids(np.array(ids))


NEAR = LinkSettings(search_range=5, unmatched_cost=4, motion="none")
RIGHT_ONES_FORBIDDEN = replace(NEAR, forbidden=[[2, 4], [3, 5]])


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_tracks_of_the_same_settings_differ_in_nothing(settings):
    tracks = link_points(walks(70, 6, seed=4)[0], settings).tracks
    linking = reopened(tracks, settings)
    assert links_of(linking) == edges(tracks)
    assert not linking.settings.pinned
    assert not linking.settings.forbidden


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_links_of_another_program_are_kept_whatever_linking_would_make(settings):
    """Half of the tracks are cut, and some of their ends joined to others: none of it is optimal."""
    tracks = link_points(walks(70, 6, seed=4)[0], settings).tracks
    ids, frames = tracks.table["track_id"].to_numpy(), tracks.frames
    other = np.where((frames > 2) & (ids % 2 == 0), ids + ids.max() + 1, ids)
    other[(frames > 3) & (ids == ids[frames == 3][0])] = ids.max() + 1000
    theirs = replace(tracks, table=tracks.table.assign(track_id=other), parents={})
    linking = reopened(theirs, settings)
    assert links_of(linking) == edges(theirs)
    assert linking.settings.forbidden
    assert linking.report["is_optimal"]
    assert Session(linking).linking().links[["source", "target"]].equals(linking.links[["source", "target"]])


def test_exchanged_links_are_pinned_and_noted():
    exchanged = two_tracks([0, 1, 0, 1, 1, 0])
    linking = reopened(exchanged, NEAR)
    assert links_of(linking) == {(0, 2), (1, 3), (3, 4), (2, 5)}
    assert set(linking.settings.pinned) == {(2, 5), (3, 4)}
    assert any(
        "would not make 2 of these links and would make 2 other links;" in note for note in linking.report["notes"]
    )


def test_links_that_tracks_lack_are_noted_without_those_that_they_have_too_many_of():
    (note,) = reopened(two_tracks([0, 1, 2, 1, 2, 1]), replace(NEAR, unmatched_cost=1)).report["notes"]
    assert note.startswith("linking would make 1 other link;")


def test_a_link_held_may_be_broken_and_the_rest_is_proven():
    session = Session(reopened(two_tracks([0, 1, 0, 1, 1, 0]), NEAR))
    session.break_link(2, 5)
    assert not session.is_pinned(2, 5)
    assert session.proof().is_optimal
    session.undo()
    assert session.is_pinned(2, 5)


def test_once_both_wrong_links_are_broken_the_right_ones_come(tmp_path):
    """The tracks lack these, so they were forbidden: no correction of the user has asked for that."""
    linking = reopened(two_tracks([0, 1, 0, 1, 1, 0]), NEAR)
    session = Session(linking)
    assert session.break_link(2, 5, opens_ends=True).made == ()  # the other wrong link is in the way still
    change = session.break_link(3, 4, opens_ends=True)
    assert set(change.made) == {(2, 4), (3, 5)}
    assert set(change.others_made) == {(2, 4), (3, 5)}
    assert session.proof().is_optimal
    session.save(tmp_path / "acts.json")
    write_session(session, tmp_path / "all.auctrack")
    for again in (Session.load(tmp_path / "acts.json", linking), read_session(tmp_path / "all.auctrack").session):
        assert links_of(again.linking()) == links_of(session.linking()) == {(0, 2), (1, 3), (2, 4), (3, 5)}
    session.keep_others()
    assert links_of(session.linking()) == {(0, 2), (1, 3)}
    for _ in range(3):
        session.undo()
    assert links_of(session.linking()) == links_of(linking)


def test_a_link_that_the_user_broke_stays_so_when_another_one_beside_it_is():
    session = Session(reopened(two_tracks([0, 1, 0, 1, 1, 0]), NEAR))
    for link in ((2, 5), (3, 4), (2, 4), (3, 5)):
        session.break_link(*link, opens_ends=True)
    assert not links_of(session.linking()) & {(2, 4), (3, 5)}


@pytest.mark.parametrize("saved", [False, True])
def test_what_the_user_forbade_stays_so_when_a_link_beside_it_is_broken(tmp_path, saved):
    """With the right links forbidden the exchanged ones are made; beside each, once broken, is a right one."""
    session = Session(link_points(two_tracks([0, 1] * 3), RIGHT_ONES_FORBIDDEN, editable=True))
    if saved:
        write_session(session, tmp_path / "all.auctrack")
        session = read_session(tmp_path / "all.auctrack").session
    assert links_of(session.linking()) == {(0, 2), (1, 3), (2, 5), (3, 4)}
    for link in ((2, 5), (3, 4)):
        session.break_link(*link, opens_ends=True)
    assert links_of(session.linking()) == {(0, 2), (1, 3)}


def test_what_the_user_forbade_stays_so_where_linking_would_decide_otherwise_today(tmp_path):
    linked = link_points(two_tracks([0, 1] * 3), RIGHT_ONES_FORBIDDEN, editable=True)
    write_session(Session(replace(linked, tracks=two_tracks([0, 1, 0, 1, 2, 3]))), tmp_path / "all.auctrack")
    begun = read_session(tmp_path / "all.auctrack").session.begun
    assert links_of(begun) == {(0, 2), (1, 3)}
    assert {*map(tuple, begun.settings.forbidden)} == {(2, 4), (3, 5), (2, 5), (3, 4)}
    assert {*begun.lacked} == {(2, 5), (3, 4)}


def test_a_file_of_before_says_nothing_of_what_its_tracks_lacked(tmp_path):
    """Then all that was forbidden to begin with was taken for it, in the corrections that it holds too."""
    session = Session(reopened(two_tracks([0, 1, 0, 1, 1, 0]), NEAR))
    session.break_link(2, 5, opens_ends=True)
    session.break_link(3, 4, opens_ends=True)
    write_session(session, tmp_path / "all.auctrack")
    with ZipFile(tmp_path / "all.auctrack") as packed, ZipFile(tmp_path / "old.auctrack", "w") as old:
        for name in packed.namelist():
            content = packed.read(name).decode()
            old.writestr(name, re.sub(r'"lacked": \[\[.*?\]\], ', "", content) if name == "session.json" else content)
    assert "lacked" not in ZipFile(tmp_path / "old.auctrack").read("session.json").decode()
    again = read_session(tmp_path / "old.auctrack").session
    assert links_of(again.linking()) == {(0, 2), (1, 3), (2, 4), (3, 5)}


def test_lineage_is_taken_up():
    points = table([0, 1, 1, 2, 2], [(0, 0), (0, -1), (0, 1), (0, -2), (0, 2)])
    tracks = replace(points.with_track_ids(np.array([0, 1, 2, 1, 2])), parents={1: [0], 2: [0]})
    linking = reopened(tracks)
    assert links_of(linking) == {(0, 1), (0, 2), (1, 3), (2, 4)}
    assert linking.settings.divisions
    assert sorted(linking.tracks.parents.values()) == [[0], [0]]


def test_a_track_at_two_places_at_once_is_refused():
    with pytest.raises(InvalidInput, match=r"track 0 .*frame 0"):
        reopened(two_tracks([0, 0, 0, 1, 0, 1]), NEAR)


def test_links_that_the_settings_do_not_know_are_refused():
    gap = Tracks(two_tracks([0, 1, 2, 1, 0, 1]).table)
    with pytest.raises(InvalidSetting, match="motion"):
        reopened(gap, NEAR)
