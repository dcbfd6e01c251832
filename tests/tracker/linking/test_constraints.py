"""Pinned and forbidden links: kept to, and the best links given them."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment

import auctrack
from auctrack.tracker.editing.session import Session
from auctrack.tracker.errors import InvalidSetting
from auctrack.tracker.linking.constraints import with_places
from auctrack.tracker.linking.gate import candidates
from auctrack.tracker.linking.given_links import read_links
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.result import Linking
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points

from ...refusals import refused
from ..editing.candidates import candidates_of
from .movies import table, walks

SETTINGS = {
    "none": {"motion": "none"},
    "learned": {},
    "divisions and merges": {"divisions": True, "merges": True},
}
PLACES = [(0, 0), (0, 3), (0, 0.1), (0, 3.1), (0, 0.2), (0, 3.2)]


def two_particles():
    """Side by side for three frames: rows 0, 2, 4 and 1, 3, 5."""
    return table([0, 0, 1, 1, 2, 2], PLACES)


def ends(linking: Linking) -> set[tuple[int, int]]:
    return set(zip(linking.links["source"].tolist(), linking.links["target"].tolist(), strict=True))


def linked(**given) -> Linking:
    return link_points(two_particles(), LinkSettings(5, 4, motion="none", **given))


@pytest.fixture(params=SETTINGS, scope="module")
def movie(request):
    points = walks(70, 6, seed=2)[0]
    return points, SETTINGS[request.param]


def test_pinning_all_links_of_the_optimum_changes_nothing(movie):
    points, settings = movie
    free = link_points(points, LinkSettings(**settings))
    pinned = link_points(points, LinkSettings(**settings, pinned=free.links))
    assert ends(pinned) == ends(free)
    assert np.isposinf(pinned.links["margin"]).all()
    assert (pinned.links["probability"] == 1).all()


@pytest.mark.parametrize("motion", ["none", "auto"])
def test_pinning_a_half_of_them_changes_nothing_either(motion):
    points = walks(70, 6, seed=2)[0]
    free = link_points(points, LinkSettings(motion=motion))
    pinned = link_points(points, LinkSettings(motion=motion, pinned=free.links.iloc[::2]))
    assert ends(pinned) == ends(free)
    assert pinned.report["is_optimal"]


@pytest.mark.parametrize("seed", range(4))
def test_pins_and_bans_at_random_equal_corrections_one_by_one(movie, seed):
    points, settings = movie
    session = Session(link_points(points, LinkSettings(**settings), editable=True))
    rng = np.random.default_rng(seed)
    doubtful = session.doubtful(60).sample(16, random_state=seed)[["source", "target"]].to_numpy()
    for source, target in doubtful.tolist():
        if target not in session.successors(source):
            continue
        after = session.successors(source)
        rivals = [end for begin, end in candidates_of(session, source) if begin == source and end not in after]
        if rng.random() < 0.6 or not rivals or session.predecessors(rivals[0]) == ():
            session.break_link(source, target)
        elif not any(session.is_pinned(k, rivals[0]) for k in session.predecessors(rivals[0])):
            session.add_link(source, rivals[0])
    given = LinkSettings(**settings, pinned=session.pinned, forbidden=session.forbidden)
    scratch = link_points(points, given, margins=True)
    assert scratch.report["is_optimal"]
    assert ends(scratch) >= set(map(tuple, session.pinned.tolist()))
    assert not ends(scratch) & set(map(tuple, session.forbidden.tolist()))
    again = Session(scratch)
    assert again.proof().cost == pytest.approx(session.proof().cost, abs=1e-9)
    assert ends(again.linking()) == ends(scratch)


def test_a_ban_is_the_assignment_without_that_pair():
    rng = np.random.default_rng(0)
    for _ in range(20):
        earlier, later = rng.uniform(0, 4, (6, 2)), rng.uniform(0, 4, (6, 2))
        points = table([0] * 6 + [1] * 6, np.vstack([earlier, later]))
        settings = LinkSettings(100, 100, motion="none")
        source, target = link_points(points, settings).links[["source", "target"]].iloc[0]
        banned = link_points(points, LinkSettings(100, 100, motion="none", forbidden=[[source, target]]))
        cost = ((earlier[:, None] - later) ** 2).sum(axis=2)
        cost[source, target - 6] = 1e6
        assert (banned.links["length"] ** 2).sum() == pytest.approx(cost[linear_sum_assignment(cost)].sum())


def test_where_costs_are_a_matrix_bans_are_kept_to_as_well(monkeypatch):
    points = walks(60, 4, seed=1)[0]
    settings = LinkSettings(3.0, 1.5, motion="none")
    free = link_points(points, settings)
    banned = LinkSettings(3.0, 1.5, motion="none", forbidden=free.links.iloc[::5], pinned=free.links.iloc[1::5])
    sparse = link_points(points, banned)
    monkeypatch.setattr(candidates, "ALWAYS_WRITTEN", 1)
    monkeypatch.setattr(candidates, "DENSE_SHARE", 0.0)
    dense = link_points(points, banned)
    assert ends(dense) == ends(sparse)
    assert not ends(dense) & set(map(tuple, free.links.iloc[::5][["source", "target"]].to_numpy().tolist()))


def test_a_pin_is_made_beyond_range_and_unmatched_cost():
    points = table([0, 1], [(0, 0), (0, 50)])
    assert len(link_points(points, LinkSettings(5, 4, motion="none")).links) == 0
    assert ends(link_points(points, LinkSettings(5, 4, motion="none", pinned=[[0, 1]]))) == {(0, 1)}


@pytest.mark.parametrize(("frames", "pin"), [([0, 1, 1], (0, 1)), ([0, 0, 1], (1, 2))], ids=["earlier", "later"])
def test_pins_that_use_a_frame_up_leave_nothing_to_match(frames, pin):
    points = table(frames, [(0, 0), (0, 1), (0, 2)])
    assert ends(link_points(points, LinkSettings(5, 4, motion="none", pinned=[pin]))) == {pin}


def test_a_pin_displaces_and_the_displaced_find_the_next_best():
    assert ends(linked(pinned=[[0, 3]])) == {(0, 3), (1, 2), (2, 4), (3, 5)}


def test_with_learned_motion_a_pin_may_span_missed_frames():
    points = walks(70, 6, seed=2)[0]
    source = int(np.flatnonzero(points.frames == 0)[0])
    target = int(np.flatnonzero(points.frames == 3)[0])
    links = link_points(points, LinkSettings(pinned=[[source, target]])).links.set_index(["source", "target"])
    assert links.loc[(source, target), "kind"] == "gap"
    assert links.loc[(source, target), "frames"] == 3


def test_two_pins_out_of_one_are_a_division_and_two_into_one_a_merge():
    points = walks(70, 6, seed=2)[0]
    a, b = np.flatnonzero(points.frames == 1)[:2].tolist()
    c, d = np.flatnonzero(points.frames == 2)[:2].tolist()
    divided = link_points(points, LinkSettings(divisions=True, pinned=[[a, c], [a, d]])).links
    assert sorted(divided[divided["source"] == a]["kind"]) == ["division", "step"]
    merged = link_points(points, LinkSettings(merges=True, pinned=[[a, c], [b, c]])).links
    assert sorted(merged[merged["target"] == c]["kind"]) == ["merge", "step"]


def test_places_name_the_nearest_detections():
    by_place = [[0, 0.0, 0.2, 1, 0.0, 2.9]]
    assert ends(linked(pinned=by_place)) == ends(linked(pinned=[[0, 3]]))
    columns = ["source_frame", "source_y", "source_x", "target_frame", "target_y", "target_x"]
    assert ends(linked(forbidden=pd.DataFrame(by_place, columns=columns))) == ends(linked(forbidden=[[0, 3]]))


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"pinned": [[0, 9]]}, "0 → 9"),
        ({"forbidden": [[-1, 2]]}, "-1 → 2"),
        ({"pinned": [[2, 0]]}, "2 → 0"),
        ({"pinned": [[0, 1]]}, "0 → 1"),
        ({"pinned": [[0, 4]]}, "0 → 4"),
        ({"pinned": [[0, 2]], "forbidden": [[0, 2]]}, "0 → 2"),
        ({"pinned": [[0, 2], [0, 3]]}, "2 and 3"),
        ({"pinned": [[0, 2], [1, 2]]}, "0 and 1"),
        ({"pinned": [[0, 0.0, 1.5, 1, 0.0, 0.1]]}, "0, 1.5"),
        ({"pinned": [[7, 0.0, 1.5, 8, 0.0, 0.1]]}, "frame 7"),
        ({"pinned": [[0, 0.0, 0.0, 0.0, 1, 0.0, 0.0, 0.0]]}, "8 numbers"),
        ({"pinned": [[0.5, 2]]}, "whole"),
        ({"pinned": [[0, 2, 3]]}, "pairs of rows"),
        ({"pinned": "0-2"}, "pairs of rows"),
        ({"forbidden": pd.DataFrame({"a": [1]})}, "columns source, target"),
    ],
)
def test_what_cannot_be_given_is_refused_by_name(given, named):
    with pytest.raises(InvalidSetting) as refused:
        linked(**given)
    assert named in str(refused.value)


def test_more_missed_frames_than_allowed_are_refused():
    points = walks(70, 6, seed=2)[0]
    source, target = int(np.flatnonzero(points.frames == 0)[0]), int(np.flatnonzero(points.frames == 3)[0])
    with pytest.raises(InvalidSetting, match="misses 2"):
        link_points(points, LinkSettings(max_missed_frames=1, pinned=[[source, target]]))


def test_nothing_given_is_as_good_as_none():
    assert LinkSettings(pinned=[], forbidden=np.empty((0, 2))) == LinkSettings()


def test_link_takes_them():
    spots = pd.DataFrame(PLACES, columns=["y", "x"]).assign(frame=[0, 0, 1, 1, 2, 2])
    tracks = auctrack.link(spots, 5, unmatched_cost=4, motion="none", pinned=[[0, 3]], forbidden=[[1, 2]])
    assert tracks["track_id"].tolist() == [0, 1, 2, 0, 2, 0]


def test_a_file_that_is_none_is_refused(tmp_path):
    with refused(InvalidSetting, match=r"none\.csv\) cannot be read", setting="pinned"):
        read_links(tmp_path / "none.csv", "pinned")
    for content in ("", "\n\n"):
        (tmp_path / "empty.csv").write_text(content)
        with refused(
            InvalidSetting, match=r"empty\.csv\) needs the columns source, target.*it has none", setting="pinned"
        ):
            read_links(tmp_path / "empty.csv", "pinned")
    (tmp_path / "tracks.xml").write_text(f"<Log>{'word_' * 2000}</Log>\n")
    with refused(InvalidSetting, match=r"needs the columns .* it has <Log>[word_]{195} …\.$", setting="pinned"):
        read_links(tmp_path / "tracks.xml", "pinned")
    (tmp_path / "ragged.csv").write_text("source,target\n1,2\n1,2,3\n")
    with refused(InvalidSetting, match=r"ragged\.csv\) .* \(Expected 2 fields in line 3, saw 3\)", setting="pinned"):
        read_links(tmp_path / "ragged.csv", "pinned")


@pytest.mark.parametrize(
    "dialect", [{}, {"sep": ";", "decimal": ","}, {"sep": "\t"}, {"sep": ";", "encoding": "utf-8-sig"}]
)
def test_a_file_is_separated_as_tables_of_points_may_be(tmp_path, dialect):
    places = [[0, 0.1, 20.25, 1 / 3, 1, 0.1, 21.5, 2 / 3], [1, 0.1, 21.5, 2 / 3, 2, 0.3, 22.5, 1.0]]
    columns = [f"{end}_{axis}" for end in ("source", "target") for axis in ("frame", "z", "y", "x")]
    links = pd.DataFrame(places, columns=columns).astype({"source_frame": int, "target_frame": int})
    links.to_csv(tmp_path / "links.csv", index=False, **dialect)
    assert read_links(tmp_path / "links.csv", "pinned") == tuple(map(tuple, places))


def test_links_given_by_rows_are_given_by_places_in_any_order():
    points = walks(40, 5, seed=2)[0]
    links = link_points(points, editable=True).links[["source", "target"]].to_numpy()
    linking = link_points(points, LinkSettings(pinned=links[3:9], forbidden=links[11:14]))
    named = with_places(linking.tracks, linking.settings)
    shuffled = Points(points.table.sample(frac=1, random_state=1, ignore_index=True), points.calibration)
    assert {len(link) for link in (*named.pinned, *named.forbidden)} == {8}
    np.testing.assert_allclose(
        np.sort(link_points(shuffled, named).links["length"]), np.sort(linking.links["length"]), atol=1e-12
    )
