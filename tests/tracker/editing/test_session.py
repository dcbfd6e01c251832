"""Corrections: every act leaves the best links given what is confirmed and forbidden, and can be taken back."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from auctrack.matching.solving import solve
from auctrack.tracker.editing.session import Session
from auctrack.tracker.editing.session_file import write_session
from auctrack.tracker.errors import InvalidEdit, InvalidInput, InvalidSetting, OutputExists
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.result import Linking
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points
from auctrack.tracker.timeline import Timeline

from ...refusals import refused
from ..linking.movies import table, walks
from .candidates import candidates_of

MOTIONS = {
    "none": LinkSettings(motion="none"),
    "learned": LinkSettings(),
    "divisions and merges": LinkSettings(divisions=True, merges=True),
}


@pytest.fixture(params=MOTIONS, scope="module")
def linking(request) -> Linking:
    """A movie with lost, false and missed detections, linked; a tenth of the links are doubtful."""
    return link_points(walks(70, 6, seed=4)[0], MOTIONS[request.param], editable=True)


def pair_of_tracks() -> Linking:
    """Two particles side by side for three frames: rows 0, 2, 4 and 1, 3, 5."""
    points = table([0, 0, 1, 1, 2, 2], [(0, 0), (0, 3), (0, 0.1), (0, 3.1), (0, 0.2), (0, 3.2)])
    return link_points(points, LinkSettings(search_range=5, unmatched_cost=4, motion="none"), editable=True)


def links_of(session: Session) -> set[tuple[int, int]]:
    ids, links = session.ids(), session.linking().links
    return set(zip(ids[links["source"]].tolist(), ids[links["target"]].tolist(), strict=True))


def log_odds(links: pd.DataFrame) -> pd.Series:
    """That links are right; without learned motion their margins are the order."""
    return links["margin"] if links["probability"].isna().any() else logit(links["probability"])


def assert_proven(session: Session) -> None:
    """The duals at hand prove the links, and a solve from scratch finds none that cost less."""
    proof = session.proof()
    assert proof.is_optimal
    assert solve(session._movie.matching.problem()).cost == pytest.approx(proof.cost, abs=1e-9)


def random_act(session: Session, rng: np.random.Generator):
    """One act at random places, most of them by the doubtful links."""
    doubtful = session.doubtful(30)
    source, target = (int(k) for k in doubtful.iloc[int(rng.integers(len(doubtful)))][["source", "target"]])
    possible = candidates_of(session, source)
    rival = possible[int(rng.integers(len(possible)))][1]
    here = np.array(session.position(source))
    acts = [
        lambda: session.break_link(source, target),
        lambda: session.confirm_link(source, target),
        lambda: session.add_link(source, rival),
        lambda: session.split_track(source),
        lambda: session.mark_division(source, (target, rival)),
        lambda: session.add_detection(session.frame(source), here + 0.3),
        lambda: session.move_detection(source, here + rng.normal(0, 0.3, len(here))),
        lambda: session.delete_detection(target),
        lambda: session.release_link(*session.pinned[0]) if len(session.pinned) else session.release_link(0, 1),
        lambda: session.release_link(*session.forbidden[-1]) if len(session.forbidden) else session.release_link(0, 1),
    ]
    return acts[int(rng.integers(len(acts)))]()


def some_acts(session: Session, count: int, seed: int) -> int:
    """Do acts at random; those that contradict what is confirmed are refused. Returns how many were done."""
    rng, done = np.random.default_rng(seed), 0
    for _ in range(count):
        try:
            random_act(session, rng)
        except InvalidEdit:
            continue
        done += 1
    return done


def test_a_session_begins_with_the_links_as_they_are(linking):
    session = Session(linking)
    links = linking.links.sort_values(["source", "target"], ignore_index=True)
    measured = ["source", "target", "frames", "length", "kind"]
    pd.testing.assert_frame_equal(session.linking().links[measured], links[measured])
    assert_proven(session)
    assert session.undo() is None


def test_it_says_in_a_line_what_it_is():
    session = Session(pair_of_tracks())
    session.confirm_link(1, 3)
    session.delete_detection(0)
    counts = "detections: 5, corrections: 2, confirmed links: 1, forbidden links: 0"
    assert repr(session).startswith(f"<Session with {counts};")


def test_confirming_links_of_the_optimum_changes_nothing(linking):
    session = Session(linking)
    before = links_of(session)
    for source, target in sorted(before):
        change = session.confirm_link(source, target)
        assert change.gone == change.made == ()
    assert links_of(session) == before
    assert_proven(session)


def test_breaking_links_gives_the_best_of_the_rest(linking):
    session = Session(linking)
    for source, target in session.doubtful(12)[["source", "target"]].to_numpy().tolist():
        if target not in session.successors(source):
            continue  # an act before this one took it away
        margin, cost = session.margin(source, target), session.proof().cost
        change = session.break_link(source, target)
        assert (source, target) in change.gone
        assert session.proof().cost - cost == pytest.approx(margin, abs=1e-9)
        assert_proven(session)
        assert target not in session.successors(source)


@pytest.mark.parametrize("seed", range(3))
def test_any_acts_equal_a_solve_from_scratch(linking, seed):
    session = Session(linking)
    assert some_acts(session, 40, seed) > 15
    assert_proven(session)
    for source, target in session.pinned.tolist():
        assert target in session.successors(source)
    for source, target in session.forbidden.tolist():
        assert target not in session.successors(source)


def test_undoing_all_restores_links_duals_and_doubts_and_redoing_all_brings_them_back(linking):
    session = Session(linking)
    session._doubts.measure()
    before, duals = session.linking(), session.proof().col_duals.copy()
    done = some_acts(session, 25, seed=7)
    after, ids = session.linking(), session.ids()
    acts = session.acts
    assert sum(session.undo() is not None for _ in range(done + 1)) == done
    pd.testing.assert_frame_equal(session.linking().links, before.links)
    pd.testing.assert_frame_equal(session.linking().tracks.table, before.tracks.table)
    np.testing.assert_array_equal(session.proof().col_duals, duals)
    assert sum(session.redo() is not None for _ in range(done + 1)) == done
    pd.testing.assert_frame_equal(session.linking().links, after.links)
    np.testing.assert_array_equal(session.ids(), ids)
    assert session.acts == acts


def test_margins_far_from_acts_may_be_left_as_they_were(linking):
    """Tracks and links are the same, and so are the margins of the links that an act made."""
    session, last = Session(linking), set[int]()
    while not last:  # until an act makes links
        change = session.break_link(*session.doubtful(1)[["source", "target"]].to_numpy()[0].tolist())
        last = {end for link in change.made for end in link}
    near, anew = session.linking(remeasure=False), session.linking()
    pd.testing.assert_frame_equal(near.tracks.table[["frame", "track_id"]], anew.tracks.table[["frame", "track_id"]])
    same = ["source", "target", "frames", "length", "kind"]
    pd.testing.assert_frame_equal(near.links[same], anew.links[same])
    touched = near.links[["source", "target"]].isin(last).any(axis=1)
    assert touched.any()
    np.testing.assert_allclose(near.links["margin"][touched], anew.links["margin"][touched], atol=1e-9)
    assert (near.links["margin"] > 0).all()


@pytest.mark.parametrize("is_exported", [False, True])
def test_undoing_a_move_brings_the_margins_beside_both_places_back(linking, is_exported):
    """As they are kept up with the acts, whether or not all were measured for a file meanwhile; redoing too."""
    session = Session(linking)
    source, other = linking.links["source"].iloc[[20, 21]].tolist()
    assert session.frame(source) == session.frame(other)
    before = session.linking(remeasure=False).links
    session.move_detection(source, np.array(session.position(other)) + 0.5)
    after = session.linking(remeasure=False).links
    if is_exported:
        session.linking()
    session.undo()
    pd.testing.assert_frame_equal(session.linking(remeasure=False).links, before, rtol=1e-9, atol=1e-9)
    session.redo()
    pd.testing.assert_frame_equal(session.linking(remeasure=False).links, after, rtol=1e-9, atol=1e-9)


def test_corrections_are_saved_over_a_file_only_where_that_is_asked_for(linking, tmp_path):
    session, path = Session(linking), tmp_path / "corrections.json"
    session.save(path)
    before = path.read_bytes()
    some_acts(session, 3, seed=9)
    with pytest.raises(OutputExists, match="overwrite=True"):
        session.save(path)
    assert path.read_bytes() == before
    session.save(path, overwrite=True)
    assert Session.load(path, linking).acts == session.acts


def test_a_saved_session_is_taken_up_where_it_was_left(linking, tmp_path):
    session = Session(linking)
    some_acts(session, 25, seed=9)
    session.undo()
    session.save(tmp_path / "corrections.json")
    again = Session.load(tmp_path / "corrections.json", linking)
    assert again.acts == session.acts
    pd.testing.assert_frame_equal(again.linking().links, session.linking().links)
    pd.testing.assert_frame_equal(again.linking().tracks.table, session.linking().tracks.table)


def test_changes_say_what_went_and_came(linking):
    session = Session(linking)
    rng, links = np.random.default_rng(3), links_of(session)
    for _ in range(30):
        try:
            change = random_act(session, rng)
        except InvalidEdit:
            continue
        assert links - set(change.gone) | set(change.made) == (links := links_of(session))
        assert set(change.others_gone) <= set(change.gone)
        assert set(change.others_made) <= set(change.made)


def test_a_linking_that_kept_nothing_is_linked_once_more():
    points, _ = walks(30, 4)
    session = Session(link_points(points, LinkSettings(motion="none")))
    assert_proven(session)


def test_ids_may_come_as_the_floats_that_a_row_of_a_table_makes_of_them():
    session = Session(pair_of_tracks())
    row = session.doubtful(1).iloc[0]
    assert isinstance(row.source, float)
    session.break_link(row.source, row.target)
    session.confirm_links([[2.0, 4.0]])
    assert session.acts == [
        {"act": "break_link", "source": int(row.source), "target": int(row.target)},
        {"act": "confirm_links", "links": [[2, 4]]},
    ]
    assert all(type(session.acts[0][end]) is int for end in ("source", "target"))


def test_ids_may_come_as_floats_in_acts_that_are_made_together_too():
    session = Session(pair_of_tracks())
    confirmed = {"act": "confirm_links", "links": [[2.0, 4.0]]}
    added = {"act": "add_detection", "frame": 0, "position": [3.0, 4.0]}
    session.together(
        [{"act": "break_link", "source": 0.0, "target": 2.0}, {"act": "together", "acts": [confirmed]}, added]
    )
    assert repr(session.acts[0]["acts"]) == repr(
        [
            {"act": "break_link", "source": 0, "target": 2},
            {"act": "together", "acts": [{"act": "confirm_links", "links": [[2, 4]]}]},
            added,
        ]
    )


def test_acts_that_are_made_together_are_a_list():
    session = Session(pair_of_tracks())
    with refused(InvalidEdit, match="list"):
        session.together([{"act": "together", "acts": {"act": "break_link", "source": 0, "target": 2}}])


@pytest.mark.parametrize("count", [-1, 2.5, "a"])
def test_how_many_doubtful_links_are_wanted_is_a_whole_number(count):
    linking = pair_of_tracks()
    for asked in (linking, Session(linking)):
        with refused(InvalidSetting, match=re.escape(repr(count)), setting="count"):
            asked.doubtful(count)


def test_swapped_links_are_confirmed_and_the_old_ones_forbidden():
    session = Session(pair_of_tracks())
    change = session.swap_links((0, 2), (1, 3))
    assert change.made == ((0, 3), (1, 2))
    assert change.gone == ((0, 2), (1, 3))
    assert change.others_made == change.others_gone == ()
    assert session.track_of(0) == [0, 3, 5]
    assert session.pinned.tolist() == [[0, 3], [1, 2]]
    assert session.forbidden.tolist() == [[0, 2], [1, 3]]


def test_rivals_are_the_links_that_come_when_one_is_broken(linking):
    session = Session(linking)
    for link in session.doubtful(40)[["source", "target"]].itertuples(index=False):
        rivals = session.rivals(*link)
        assert session.acts == []
        assert rivals == session.break_link(*link).made
        session.undo()


def test_a_confirmed_link_has_no_rivals(linking):
    session = Session(linking)
    link = session.doubtful(1)[["source", "target"]].iloc[0].tolist()
    session.confirm_link(*link)
    assert session.rivals(*link) == ()


def test_links_that_no_act_was_near_are_as_probable_as_before():
    """Of exchanged detections too, which margins do not tell of."""
    linking = link_points(walks(400, 8, step=0.6)[0], editable=True)
    session = Session(linking)
    before = linking.links.set_index(["source", "target"])
    shown = session.doubtful(10**6).set_index(["source", "target"])["probability"]
    pd.testing.assert_series_equal(shown.sort_index(), before["probability"].sort_index())
    exchanged = before[before["probability"] < expit(before["margin"]) - 1e-3].index
    assert len(exchanged) > 10
    session.break_link(*shown.index[0])
    after = session.linking().links.set_index(["source", "target"])["probability"]
    assert (after.reindex(exchanged) == before["probability"][exchanged]).mean() > 0.5


def test_links_that_meet_a_corrected_one_are_doubted_more_until_it_is_undone(linking):
    session = Session(linking)
    before = session.doubtful(10**6)
    assert log_odds(before).is_monotonic_increasing
    source, target = before[["source", "target"]].iloc[len(before) // 2].tolist()
    change = session.break_link(source, target)
    ends = {end for link in (*change.gone, *change.made) for end in link}
    after = session.doubtful(10**6)
    meets = after["source"].isin(ends) | after["target"].isin(ends)
    assert meets.any()
    sure = log_odds(after)
    assert np.minimum(sure, sure * np.where(meets, 0.5, 1.0)).round(9).is_monotonic_increasing
    session._doubts.measure()
    pd.testing.assert_frame_equal(session.doubtful(20), after.head(20), atol=1e-9)
    session.undo()
    again = session.doubtful(10**6)
    assert log_odds(again).round(9).is_monotonic_increasing
    again, before = (found.sort_values(["source", "target"], ignore_index=True) for found in (again, before))
    pd.testing.assert_frame_equal(again, before, atol=1e-9)


def test_a_whole_track_is_confirmed_as_one_act():
    session = Session(pair_of_tracks())
    change = session.confirm_links([(0, 2), (2, 4)])
    assert change.made == change.gone == ()
    assert session.pinned.tolist() == [[0, 2], [2, 4]]
    session.undo()
    assert session.pinned.tolist() == []


def test_a_pin_that_displaces_a_link_reports_what_else_changed():
    session = Session(pair_of_tracks())
    change = session.add_link(0, 3)
    assert change.made[0] == (0, 3)
    assert change.others_made == ((1, 2),)
    assert change.others_gone == ((0, 2), (1, 3))


def test_what_a_break_changed_besides_is_refused_but_for_what_has_no_room(linking):
    session = Session(linking)
    refused = 0
    for link in session.doubtful(40)[["source", "target"]].itertuples(index=False):
        before = links_of(session)
        change = session.break_link(*link)
        if change.others_gone or change.others_made:
            session.keep_others()
            assert_proven(session)
            assert tuple(link) not in links_of(session)
            assert not links_of(session) & set(change.others_made)
            assert set(change.others_gone) <= links_of(session)
            refused += 1
            session.undo()
        session.undo()
        assert links_of(session) == before
    assert refused or not linking.settings.is_learned


def test_a_link_whose_place_was_taken_is_not_kept():
    session = Session(pair_of_tracks())
    session.add_link(0, 3)  # takes the place of 0 → 2 and 1 → 3; 1 → 2 comes
    session.keep_others()
    assert session.forbidden.tolist() == [[1, 2]]
    assert session.pinned.tolist() == [[0, 3]]
    again = Session(pair_of_tracks())
    again.replay(session.acts)
    assert links_of(again) == links_of(session)


def test_a_split_track_ends_and_another_begins():
    session = Session(pair_of_tracks())
    change = session.split_track(2)
    assert (change.gone, change.others_gone) == (((2, 4),), ())
    assert session.successors(2) == ()
    assert session.predecessors(4) == ()
    assert session.track_of(4) == [4]


def test_a_division_is_marked_whether_or_not_divisions_are_looked_for():
    session = Session(pair_of_tracks())
    session.mark_division(2, (4, 5))
    assert session.successors(2) == (4, 5)
    assert session.linking().tracks.parents == {2: [0], 3: [0]}
    kinds = session.linking().links.set_index(["source", "target"])["kind"]
    assert sorted(kinds[2]) == ["division", "step"]


def test_an_added_detection_is_linked_by_its_place_and_can_be_confirmed():
    session = Session(pair_of_tracks())
    change = session.add_detection(3, (0.0, 0.3))
    assert change.added == (6,)
    assert change.made == ((4, 6),)
    assert session.track_of(0) == [0, 2, 4, 6]
    assert session.linking().tracks.table["frame"].tolist() == [0, 0, 1, 1, 2, 2, 3]


def test_a_moved_detection_is_linked_where_it_now_is():
    session = Session(pair_of_tracks())
    session.delete_detection(3)
    session.move_detection(2, (0.0, 3.1))
    assert session.track_of(1) == [1, 2, 5]
    assert session.position(2) == (0.0, 3.1)


def test_a_deleted_detection_takes_its_confirmed_links_along():
    session = Session(pair_of_tracks())
    session.confirm_link(0, 2)
    change = session.delete_detection(2)
    assert change.removed == (2,)
    assert session.pinned.tolist() == []
    assert session.ids().tolist() == [0, 1, 3, 4, 5]
    assert (0, 2) in change.gone
    assert session.undo() is not None
    assert session.is_pinned(0, 2)


def test_merged_detections_are_one_at_their_mean():
    points = table([0, 1, 1, 2], [(0, 0), (0, 0), (0, 1), (0, 0.5)])
    session = Session(link_points(points, LinkSettings(search_range=3, unmatched_cost=2, motion="none")))
    session.merge_detections((2, 1))
    assert session.track_of(0) == [0, 2, 3]
    assert session.position(2) == (0.0, 0.5)


@pytest.mark.parametrize(
    "act",
    [
        lambda session: session.break_link(0, 3),
        lambda session: session.break_link(-4, 4),
        lambda session: session.confirm_links([(0, 2), (1, 2)]),
        lambda session: session.swap_links((0,), (1,)),
        lambda session: session.confirm_link(0, 3),
        lambda session: session.add_link(2, 0),
        lambda session: session.add_link(0, 1),
        lambda session: session.add_link(0, 99),
        lambda session: session.release_link(0, 2),
        lambda session: session.split_track(4),
        lambda session: session.mark_division(2, (4, 4)),
        lambda session: session.mark_division(2, (4,)),
        lambda session: session.add_detection(1, (0.0,)),
        lambda session: session.add_detection(1, (0.0, np.nan)),
        lambda session: session.add_detection(1.5, (0.0, 0.0)),
        lambda session: session.move_detection(-1, (0.0, 0.0)),
        lambda session: session.merge_detections((2, 4)),
        lambda session: session.merge_detections((2,)),
        lambda session: session.keep_others(),
        lambda session: session.hold_links([(2, 0)], []),
        lambda session: session.hold_links([], []),
        lambda session: session.break_link(True, 3),
        lambda session: session.release_link([0], 2),
        lambda session: session.delete_detection(True),
        lambda session: session.mark_division(2, 4),
        lambda session: session.merge_detections(2),
        lambda session: session.confirm_links(2),
        lambda session: session.confirm_links((0, 2)),
        lambda session: session.hold_links(None, [(0, 2)]),
        lambda session: session.swap_links(0, 1),
        lambda session: session.add_detection(1, 0.0),
        lambda session: session.add_detection(1, ("here", 0.0)),
        lambda session: session.add_detection(1, (0.0, 0.0), 7),
        lambda session: session.move_detection(2, None),
        lambda session: session.together(None),
        lambda session: session.replay(None),
        lambda session: session.replay([{"act": "mark_division", "mother": 2, "daughters": 4}]),
        lambda session: session.replay([{"act": "explode"}]),
        lambda session: session.replay([{"act": "break_link", "source": 0}]),
    ],
)
def test_acts_that_do_not_fit_are_refused_and_change_nothing(act):
    session = Session(pair_of_tracks())
    before = links_of(session)
    with pytest.raises(InvalidEdit) as refused:
        act(session)
    assert not isinstance(refused.value.__cause__, (TypeError, ValueError))  # it is said in words of its own
    assert links_of(session) == before
    assert session.acts == []


@pytest.mark.parametrize("detection", [None, "a", 1.5, True, [1], np.array([1, 2]), -1, 99])
def test_what_names_no_detection_is_refused_wherever_one_is_looked_at(detection):
    session = Session(pair_of_tracks())
    for look in (session.frame, session.position, session.successors, session.track_of, session.track_number):
        with pytest.raises(InvalidEdit, match="there is no detection"):
            look(detection)
    assert not session.is_there(detection)
    assert not session.is_pinned(detection, 3)
    assert not session.is_pinned(0, detection)


@pytest.mark.parametrize(
    ("frame", "position", "radius"), [(None, (0, 0), 1), (0, 0, 1), (0, ("a", 0), 1), (0, (0, 0), "1"), (0, (0, 0), -1)]
)
def test_a_place_that_is_none_is_refused_where_detections_near_it_are_asked_for(frame, position, radius):
    with pytest.raises(InvalidEdit, match="needs"):
        Session(pair_of_tracks()).near(frame, position, radius)


REFUSALS = {
    "no link": (lambda session: session.break_link(0, 3), (0, 3), (0, 1)),
    "no link to be sure of": (lambda session: session.margin(0, 3), (0, 3), (0, 1)),
    "no room": (lambda session: session.mark_division(2, (4, 5)) and session.add_link(3, 5), (3, 5), (1, 2)),
    "order": (lambda session: session.add_link(4, 2), (4, 2), (2, 1)),
    "not given": (lambda session: session.release_link(0, 2), (0, 2), (0, 1)),
    "nothing follows": (lambda session: session.split_track(4), (4,), (2,)),
    "no detection": (lambda session: session.split_track(99), (), ()),
}


@pytest.mark.parametrize("kind", REFUSALS)
def test_a_refusal_tells_faces_what_it_is_about(kind):
    act, detections, frames = REFUSALS[kind]
    with pytest.raises(InvalidEdit) as refused:
        act(Session(pair_of_tracks()))
    assert kind.startswith(refused.value.kind)
    assert (refused.value.detections, refused.value.frames) == (detections, frames)


def test_a_second_successor_needs_a_division():
    session = Session(pair_of_tracks())
    session.confirm_link(2, 4)
    with pytest.raises(InvalidEdit, match="2 → 5"):
        session.add_link(2, 5)
    assert not session.is_pinned(2, 5)


def test_an_act_refused_half_way_leaves_nothing_behind():
    session = Session(pair_of_tracks())
    session.confirm_link(1, 3)
    with pytest.raises(InvalidEdit):
        session.mark_division(0, (2, 3))  # the first daughter would do
    assert session.pinned.tolist() == [[1, 3]]


OURS = '"auctrack_corrections": 2, "detections": 6'


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "is not a file of corrections"),
        ("[]", "is not a file of corrections"),
        ('{"auctrack_corrections": 9, "detections": 6, "acts": []}', "of format 2; got 9"),
        (f'{{{OURS}, "acts": []}}', r"\('places' is missing\)"),
        (f'{{{OURS}, "places": {{"0": [0]}}, "acts": []}}', r"with 0 coordinates; these have 2 \(y, x\)"),
        (f'{{{OURS}, "places": {{"0": [1, 2, 3, 4]}}, "acts": []}}', r"with 3 coordinates; these have 2 \(y, x\)"),
        (f'{{{OURS}, "places": {{}}, "acts": [{{"act": "split_track", "detection": 2}}]}}', "without a place"),
        (f'{{{OURS}, "places": {{}}, "acts": 3}}', "is damaged; a correction needs to be an object .*; got 3"),
        (
            f'{{{OURS}, "places": {{}}, "acts": ["split_track"]}}',
            "a correction needs to be an object .*; got 'split_track'",
        ),
        (f'{{{OURS}, "places": {{}}, "acts": [{{}}]}}', "a correction needs to be one of break_link, .*; got None"),
        (f'{{{OURS}, "places": {{}}, "acts": [{{"act": "explode"}}]}}', "one of break_link, .*; got 'explode'"),
        (
            f'{{{OURS}, "places": {{}}, "acts": [{{"act": "break_link", "sauce": 2, "target": 4}}]}}',
            r"a correction break_link needs source, target; got sauce, target\.",
        ),
        (
            f'{{{OURS}, "places": {{}}, "acts": [{{"act": "together", "acts": [{{"act": "explode"}}]}}]}}',
            "is damaged; a correction needs to be one of break_link, .*; got 'explode'",
        ),
    ],
)
def test_files_that_are_none_of_ours_are_refused(tmp_path, content, says):
    (tmp_path / "corrections.json").write_text(content)
    with pytest.raises(InvalidInput, match=rf"corrections\.json: .*{says}"):
        Session.load(tmp_path / "corrections.json", pair_of_tracks())


def test_a_session_that_is_taken_for_corrections_is_said_how_to_open(tmp_path):
    path = tmp_path / "movie.auctrack"
    write_session(Session(pair_of_tracks()), path)
    with pytest.raises(
        InvalidInput, match=r"A session, .*\.auctrack, is opened like a table: in napari by File > Open"
    ):
        Session.load(path, pair_of_tracks())


def test_corrections_made_together_are_checked_one_by_one():
    session = Session(pair_of_tracks())
    with pytest.raises(InvalidEdit, match=r"^corrections that are made together need to be one at least; got none\."):
        session.together([])
    with pytest.raises(InvalidEdit, match=r"^a correction needs to be one of break_link, .*; got 'explode'\."):
        session.together([{"act": "explode"}])
    assert not session.acts


def all_kinds_of_acts(session: Session) -> None:
    session.swap_links((0, 2), (1, 3))
    added = session.add_detection(2, (0.0, 1.5)).added[0]
    session.together([{"act": "delete_detection", "detection": 4}, {"act": "add_link", "source": 3, "target": added}])
    session.move_detection(5, (0.0, 3.3))


def test_corrections_find_their_detections_in_another_order_of_rows(tmp_path):
    made = Session(pair_of_tracks())
    all_kinds_of_acts(made)
    made.save(tmp_path / "corrections.json")
    table = made.begun.tracks.table[["frame", "y", "x"]].iloc[[5, 3, 1, 4, 0, 2]].reset_index(drop=True)
    turned = Session.load(tmp_path / "corrections.json", link_points(Points(table), made.begun.settings))

    def places_linked(session: Session) -> set[tuple[tuple[float, ...], ...]]:
        return {(session.position(source), session.position(target)) for source, target in links_of(session)}

    assert places_linked(turned) == places_linked(made)
    assert [act["act"] for act in turned.acts] == [act["act"] for act in made.acts]


@pytest.mark.parametrize("column", ["frame", "y"])
def test_corrections_of_a_detection_that_is_not_there_are_refused(tmp_path, column):
    made = Session(pair_of_tracks())
    made.split_track(2)
    made.save(tmp_path / "corrections.json")
    table = made.begun.tracks.table[["frame", "y", "x"]].copy()
    table.loc[2, column] += 1
    with pytest.raises(InvalidInput, match=r"corrections\.json: names a detection in frame 1 at y, x = 0\.00, 0\.10, "):
        Session.load(tmp_path / "corrections.json", link_points(Points(table), made.begun.settings))


def test_corrections_are_not_made_again_on_tracks_that_hold_them(tmp_path):
    made = Session(pair_of_tracks())
    made.move_detection(4, (0.0, 0.4))
    made.save(tmp_path / "corrections.json")
    with pytest.raises(InvalidInput, match="hold them already"):
        Session.load(tmp_path / "corrections.json", made.linking())


def test_an_empty_movie_can_be_corrected():
    points = Points(pd.DataFrame({"frame": [], "y": [], "x": []}))
    session = Session(link_points(points))
    change = session.add_detection(0, (1.0, 2.0))
    assert change.added == (0,)
    assert len(session.linking().tracks) == 1


def test_links_that_go_with_a_detection_are_no_other_change():
    """Nor those that come with one: there is nothing to keep as it was."""
    session = Session(pair_of_tracks())
    for change in (session.delete_detection(2), session.undo(), session.add_detection(3, (0.0, 0.0))):
        assert change.gone or change.made
        assert change.others_gone == change.others_made == ()
        assert not session.can_keep_others


def test_acts_done_together_are_undone_as_one(linking, tmp_path):
    session = Session(linking)
    before, n = links_of(session), len(linking.tracks)
    place = np.array(session.position(3)) + 0.2
    acts = [
        {"act": "delete_detection", "detection": 0},
        {"act": "move_detection", "detection": 3, "position": place},
        {"act": "add_detection", "frame": session.frame(0), "position": session.position(0)},
    ]
    change = session.together(acts)
    assert (change.added, change.removed, change.moved) == ((n,), (0,), (3,))
    assert_proven(session)
    after = links_of(session)
    session.save(tmp_path / "acts.json")
    assert links_of(Session.load(tmp_path / "acts.json", linking)) == after
    session.undo()
    assert (links_of(session), session.is_there(0), session.undo()) == (before, True, None)
    session.redo()
    assert links_of(session) == after
    with pytest.raises(InvalidEdit):
        session.together([acts[1], acts[0]])  # 0 is away
    assert links_of(session) == after


def test_what_an_added_or_moved_detection_measures_stands_in_the_table(tmp_path):
    linking = pair_of_tracks()
    points = replace(linking.tracks, table=linking.tracks.table.assign(intensity=1.0, area=2.0))
    linking = link_points(points, linking.settings, editable=True)
    session = Session(linking)
    session.add_detection(2, (0.0, 3.0), {"intensity": 5.0, "other": 1.0})
    session.move_detection(0, (0.0, 0.5), {"intensity": np.float32(7.0)})
    session.move_detection(1, (0.0, 4.5))
    session.save(tmp_path / "acts.json")
    for one in (session, Session.load(tmp_path / "acts.json", linking)):
        table = one.linking().tracks.table
        assert "other" not in table
        assert table["intensity"].tolist() == [7.0, *[1.0] * 5, 5.0]
        assert table["area"].isna().tolist() == [False] * 6 + [True]
    session.undo()
    session.undo()
    assert session.linking().tracks.table["intensity"].iloc[0] == 1.0


def test_detections_near_a_place_are_found_wherever_they_are_now():
    session = Session(pair_of_tracks())
    place = session.position(2)
    assert session.near(session.frame(2), place, 0.1) == [2]
    session.move_detection(2, [along + 10.0 for along in place])
    assert session.near(session.frame(2), place, 0.1) == []
    assert session.near(session.frame(2), session.position(2), 0.1) == [2]


def test_a_detection_is_added_in_a_frame_that_was_looked_at():
    linking = pair_of_tracks()
    points = replace(linking.tracks, timeline=Timeline(1, (0, 1, 2)))
    session = Session(link_points(points, linking.settings, editable=True))
    session.add_detection(2, (0.0, 3.0))
    with pytest.raises(InvalidEdit):
        session.add_detection(3, (0.0, 3.0))
