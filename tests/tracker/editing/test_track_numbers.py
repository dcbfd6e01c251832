"""Track numbers stay through corrections: a number goes to the track that holds most of what had it."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from auctrack.tracker.editing.reopened import reopened
from auctrack.tracker.editing.session import Session
from auctrack.tracker.editing.session_file import read_session, write_session
from auctrack.tracker.errors import InvalidEdit
from auctrack.tracker.formats.tables import read_tracks
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.links import ends_of, tracks_of
from auctrack.tracker.points import Tracks

from ..linking.movies import table, walks
from .test_session import MOTIONS, random_act


def tracks_side_by_side(frames: int = 10) -> Session:
    """Track 0 along y = 0, detections 0, 2, 4, …, and track 1 along y = 30, out of its reach: detections 1, 3, 5, …."""
    rows = [(frame, (0.0, y + 0.1 * frame)) for frame in range(frames) for y in (0, 30)]
    points = table([frame for frame, _ in rows], [place for _, place in rows])
    session = Session(link_points(points, LinkSettings(search_range=5, unmatched_cost=4, motion="none"), editable=True))
    assert numbers(session) == {one: one % 2 for one in range(2 * frames)}
    return session


def numbers(session: Session) -> dict[int, int]:
    """The track of every detection that is there."""
    ids = session.ids().tolist()
    tracks = session.linking(remeasure=False).tracks.table["track_id"].tolist()
    assert tracks == [session.track_number(one) for one in ids]
    return dict(zip(ids, tracks, strict=True))


def by_definition(before: dict[int, int], session: Session, following: int) -> tuple[dict[int, int], int]:
    """What the numbers are by what is said of them, looked at over all detections; and the next one that is free."""
    ids = session.ids()
    linking = session.linking(remeasure=False)
    found = tracks_of(linking.tracks, *ends_of(linking.links)).table["track_id"].to_numpy()  # in the order of time
    tracks = dict(zip(ids.tolist(), found.tolist(), strict=True))
    shared = Counter((before[one], track) for one, track in tracks.items() if one in before)
    goes_to: dict[int, int] = {}
    for number in {number for number, _ in shared}:
        parts = [(-count, track) for (of, track), count in shared.items() if of == number]
        goes_to[number] = min(parts)[1]
    named: dict[int, int] = {}
    for track in sorted(set(tracks.values())):
        due = [(-shared[number, track], number) for number, holder in goes_to.items() if holder == track]
        named[track] = min(due)[1] if due else following
        following += not due
    return {one: named[track] for one, track in tracks.items()}, following


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize("seed", range(2))
def test_after_any_act_numbers_are_what_their_definition_says_and_undoing_brings_them_back(motion, seed):
    session = Session(link_points(walks(70, 6, seed=4)[0], MOTIONS[motion], editable=True))
    rng = np.random.default_rng(seed)
    history = [numbers(session)]
    following = max(history[0].values()) + 1
    while len(history) < 25:
        try:
            random_act(session, rng)
        except InvalidEdit:
            continue
        expected, following = by_definition(history[-1], session, following)
        history.append(numbers(session))
        assert history[-1] == expected
    assert len({*history[-1].values()} - {*history[0].values()}) > 3  # there are new ones
    for before in reversed(history[:-1]):
        session.undo()
        assert numbers(session) == before
    for after in history[1:]:
        session.redo()
        assert numbers(session) == after


def test_the_larger_part_of_a_broken_track_keeps_its_number_and_the_other_gets_a_new_one():
    session = tracks_side_by_side()
    session.break_link(4, 6)  # after 3 of 10 frames
    assert {numbers(session)[one] for one in (0, 2, 4)} == {2}
    assert {numbers(session)[one] for one in range(6, 20, 2)} == {0}
    assert {numbers(session)[one] for one in range(1, 20, 2)} == {1}
    session.add_link(4, 6)
    assert {*numbers(session).values()} == {0, 1}
    session.break_link(5, 7)
    assert {*numbers(session).values()} == {0, 1, 3}  # track 2 was another one


def test_of_two_halves_the_first_keeps_the_number():
    session = tracks_side_by_side()
    session.break_link(8, 10)
    assert [numbers(session)[one] for one in (0, 8, 10, 18)] == [0, 0, 2, 2]


def test_swapped_tracks_keep_the_numbers_of_their_larger_parts():
    session = tracks_side_by_side()
    session.swap_links((4, 6), (5, 7))
    assert [numbers(session)[one] for one in (0, 4, 7, 19)] == [1, 1, 1, 1]
    assert [numbers(session)[one] for one in (1, 5, 6, 18)] == [0, 0, 0, 0]


def test_a_track_that_joins_two_has_the_number_of_the_longer_one():
    session = tracks_side_by_side()
    session.break_link(4, 6)
    session.break_link(15, 17)
    session.add_link(4, 7)
    assert [numbers(session)[one] for one in (0, 4, 7, 15)] == [1, 1, 1, 1]
    assert 2 not in numbers(session).values()


def test_a_new_act_after_an_undo_gets_the_number_that_was_undone():
    session = tracks_side_by_side()
    session.break_link(4, 6)
    session.undo()
    session.break_link(5, 7)
    assert {*numbers(session).values()} == {0, 1, 2}


def test_an_added_detection_has_the_number_of_the_track_that_it_joins_or_a_new_one():
    session = tracks_side_by_side()
    unlinked = session.add_detection(4, (0, 300)).added[0]
    assert session.track_number(unlinked) == 2
    session.delete_detection(unlinked)
    assert session.track_number(unlinked) == 2  # that it was in
    session.delete_detection(8)
    before = numbers(session)
    back = session.add_detection(4, (0, 0.4)).added[0]
    session.hold_links([(6, back), (back, 10)], [])
    assert session.track_number(back) == before[10] == 0


def test_the_daughters_of_a_division_are_new_unless_one_of_them_is_the_larger_part():
    session = tracks_side_by_side()
    session.break_link(11, 13)
    session.mark_division(10, (12, 13))
    linking = session.linking()
    assert [numbers(session)[one] for one in (0, 10, 12, 13, 11)] == [0, 0, 3, 2, 1]
    assert {child: sorted(of) for child, of in linking.tracks.parents.items()} == {2: [0], 3: [0]}


def test_numbers_come_back_with_the_corrections_and_with_the_session_as_a_file(tmp_path):
    linking = link_points(walks(70, 6, seed=4)[0], LinkSettings(), editable=True)
    session = Session(linking)
    rng = np.random.default_rng(5)
    while len(session.acts) < 20:
        try:
            random_act(session, rng)
            if len(session.acts) % 3 == 2:
                session.undo()
                random_act(session, rng)
        except InvalidEdit:
            continue
    session.save(tmp_path / "corrections.json")
    assert numbers(Session.load(tmp_path / "corrections.json", linking)) == numbers(session)
    write_session(session, tmp_path / "movie.auctrack")
    assert numbers(read_session(tmp_path / "movie.auctrack").session) == numbers(session)
    written = read_tracks(tmp_path / "movie.auctrack").table["track_id"].tolist()
    assert written == [*numbers(session).values()]


def given(points, ids) -> Tracks:
    return points.with_track_ids(np.array(ids))


def test_tracks_that_are_taken_up_keep_their_numbers(tmp_path):
    found = link_points(walks(30, 6, seed=4)[0], LinkSettings(), editable=True).tracks
    ids = 1000 - 3 * found.table["track_id"].to_numpy()
    tracks = replace(found, table=found.table.assign(track_id=ids))
    session = Session(reopened(tracks))
    assert [*numbers(session).values()] == ids.tolist()
    source, target = session.doubtful(1)[["source", "target"]].to_numpy().astype(int)[0].tolist()
    session.break_link(source, target)
    assert {*numbers(session).values()} - {*ids.tolist()} <= {1001, 1002}
    write_session(session, tmp_path / "taken-up.auctrack")
    assert numbers(read_session(tmp_path / "taken-up.auctrack").session) == numbers(session)


def test_particles_without_a_track_get_numbers_of_their_own():
    points = table([0, 0, 1, 1], [(0, 0), (0, 30), (0, 0.1), (0, 60)])
    session = Session(reopened(given(points, [7, -1, 7, 3])))
    assert [*numbers(session).values()] == [7, 8, 7, 3]


def test_an_empty_movie_has_no_numbers():
    points = table([], np.empty((0, 2)))
    session = Session(link_points(points, LinkSettings(motion="none", search_range=5), editable=True))
    assert numbers(session) == {}
    added = session.add_detection(0, (0, 0)).added[0]
    assert numbers(session) == {added: 0}
