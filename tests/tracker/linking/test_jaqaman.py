"""Jaqaman's two steps: what the second one joins, at which unmatched cost, and TrackMate's own edges."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment

from auctrack.tracker.errors import InvalidSetting
from auctrack.tracker.formats.tables import read_points
from auctrack.tracker.linking import jaqaman as steps
from auctrack.tracker.linking.link import link, link_points
from auctrack.tracker.linking.settings import PENALTIES, LinkSettings
from auctrack.tracker.linking.whole_movie.best_links import best_links
from auctrack.tracker.points import Points

from .movies import table


def jaqaman(points: Points, search_range: float = 2.0, **given):
    return link_points(points, LinkSettings(search_range, linking="jaqaman", **given))


def places(*detections: tuple[int, float, float]) -> Points:
    """Detections as (frame, y, x)."""
    frames, *positions = zip(*detections, strict=True)
    return table(frames, np.stack(positions, axis=1))


def along(y: float, frames: Iterable[int], x: float = 0.0) -> list[tuple[int, float, float]]:
    """A particle that goes on by 1 a frame."""
    return [(frame, y, x + frame) for frame in frames]


def joined(linking) -> list[tuple[int, int, str]]:
    """The links of the second step."""
    links = linking.links[linking.links["kind"] != "step"]
    return [tuple(row) for row in links[["source", "target", "kind"]].to_numpy().tolist()]


SEEN_AGAIN = (*along(0, [0, 1, 2]), *along(0, [4, 5, 6]))
MOTHER = along(0, range(6))
DAUGHTER = along(1, [3, 4, 5])
OTHER_PARENT = along(1, [0, 1, 2])


class TestGaps:
    def test_a_particle_missed_in_one_frame_is_seen_again_unless_told_otherwise(self):
        assert joined(jaqaman(places(*SEEN_AGAIN))) == [(2, 3, "gap")]
        assert jaqaman(places(*SEEN_AGAIN)).settings.max_missed_frames == 1

    def test_frames_missed_are_as_many_as_asked_for(self):
        twice = places(*along(0, [0, 1]), *along(0, [4, 5]))
        assert not joined(jaqaman(twice, gap_closing_range=5.0))
        assert joined(jaqaman(twice, gap_closing_range=5.0, max_missed_frames=2)) == [(1, 2, "gap")]
        assert not joined(jaqaman(places(*SEEN_AGAIN), max_missed_frames=0))

    def test_the_range_holds_for_the_gap_as_a_whole_and_is_part_of_it(self):
        assert joined(jaqaman(places(*SEEN_AGAIN), gap_closing_range=2.0)) == [(2, 3, "gap")]
        assert not joined(jaqaman(places(*SEEN_AGAIN), gap_closing_range=1.99))

    def test_detections_that_the_first_step_left_alone_are_not_joined(self):
        single = places(*along(0, [0, 1, 2]), *along(0, [4]))
        assert not joined(jaqaman(single))
        assert jaqaman(single).tracks.table["track_id"].tolist() == [0, 0, 0, 1]

    @pytest.mark.parametrize(("near", "far", "closed"), [(9, 1, 9), (9, 2, 11), (5, 1, 6), (36, 4, 36), (35, 5, 40)])
    def test_a_gap_dearer_than_105_percent_of_the_90th_percentile_stays_open(self, near, far, closed):
        """Of ten gaps that is the ninth, of eleven the tenth, of six (halfway) the last, of forty the 36th."""
        jumps = [1.0] * near + [3.0] * far
        detections = [
            (frame, 50.0 * k, x)
            for k, jump in enumerate(jumps)
            for frame, x in ((0, 0.0), (1, 0.1), (3, 0.1 + jump), (4, 0.2 + jump))
        ]
        assert len(joined(jaqaman(places(*detections), 5.0))) == closed


class TestBranches:
    def test_a_start_beside_a_middle_is_a_division_where_these_are_asked_for(self):
        points = places(*MOTHER, *DAUGHTER)
        assert not joined(jaqaman(points))
        linking = jaqaman(points, divisions=True)
        assert joined(linking) == [(2, 6, "division")]
        ids = linking.tracks.table["track_id"]
        assert linking.tracks.parents == {ids[3]: [ids[2]], ids[6]: [ids[2]]}

    def test_an_end_beside_a_middle_is_a_merge_where_these_are_asked_for(self):
        points = places(*MOTHER, *OTHER_PARENT)
        assert not joined(jaqaman(points))
        linking = jaqaman(points, merges=True)
        assert joined(linking) == [(8, 3, "merge")]
        ids = linking.tracks.table["track_id"]
        assert {child: sorted(parents) for child, parents in linking.tracks.parents.items()} == {
            ids[3]: sorted([ids[2], ids[8]])
        }

    @pytest.mark.parametrize(
        ("name", "detections", "asked"),
        [("division_range", DAUGHTER, "divisions"), ("merge_range", OTHER_PARENT, "merges")],
    )
    def test_each_has_a_range_of_its_own(self, name, detections, asked):
        points = places(*MOTHER, *detections)
        assert joined(jaqaman(points, **{asked: True, name: 1.5}))
        assert not joined(jaqaman(points, **{asked: True, name: 1.4}))
        assert joined(jaqaman(points, 1.2, **{asked: True, name: 1.5}))

    def test_an_end_and_a_start_that_are_both_near_take_what_costs_less(self):
        """A track that ends where another begins: the gap between them costs less than a merge and a division."""
        points = places(*along(0, range(8)), *along(1.2, [0, 1, 2]), *along(1.2, [4, 5, 6]))
        kinds = {kind for *_, kind in joined(jaqaman(points, 2.5, divisions=True, merges=True))}
        assert kinds == {"merge", "division"}
        near = places(*along(0, range(8)), *along(1.9, [0, 1, 2]), *along(1.9, [4, 5, 6], x=-1.5))
        assert [kind for *_, kind in joined(jaqaman(near, 2.5, divisions=True, merges=True))] == ["gap"]


def with_feature(points: Points, values) -> Points:
    """The same detections with a feature `size`."""
    return Points(points.table.assign(size=values))


class TestFeaturePenalties:
    """P = 1 + Σ 3·w·|f1 − f2| / (f1 + f2), by which TrackMate multiplies each length."""

    def test_twice_the_value_makes_a_link_look_twice_as_long_and_a_weight_of_half_half_as_much(self):
        points = with_feature(places((0, 0.0, 0.0), (1, 0.0, 1.0)), [1.0, 2.0])
        for weight, looks in ((1.0, 2.0), (0.5, 1.5), (0.0, 1.0)):
            weights = {"size": weight}
            assert len(jaqaman(points, looks + 1e-9, link_penalties=weights).links) == 1
            assert len(jaqaman(points, looks - 1e-9, link_penalties=weights).links) == 0

    def test_links_are_as_long_as_they_are(self):
        points = with_feature(places((0, 0.0, 0.0), (1, 0.0, 1.0)), [1.0, 2.0])
        assert jaqaman(points, 3.0, link_penalties={"size": 1.0}).links["length"].tolist() == [1.0]

    def test_several_features_add_up(self):
        points = Points(places((0, 0.0, 0.0), (1, 0.0, 1.0)).table.assign(size=[1.0, 2.0], glow=[1.0, 5.0]))
        weights = {"size": 1.0, "glow": 1.0}
        assert len(jaqaman(points, 4.0 + 1e-9, link_penalties=weights).links) == 1
        assert len(jaqaman(points, 4.0 - 1e-9, link_penalties=weights).links) == 0

    def test_a_feature_without_a_value_tells_nothing(self):
        points = with_feature(places((0, 0.0, 0.0), (1, 0.0, 1.0)), [np.nan, 2.0])
        assert len(jaqaman(points, 1.1, link_penalties={"size": 9.0}).links) == 1

    def test_of_two_that_are_as_near_the_one_alike_is_linked(self):
        points = with_feature(places((0, 0.0, 0.0), (1, 1.0, 0.0), (1, -1.0, 0.0)), [1.0, 1.5, 1.1])
        links = jaqaman(points, 3.0, link_penalties={"size": 1.0}).links
        assert links["target"].tolist() == [2]

    @pytest.mark.parametrize(
        ("detections", "setting", "given"),
        [
            (SEEN_AGAIN, "gap_closing_penalties", {}),
            ((*MOTHER, *DAUGHTER), "division_penalties", {"divisions": True}),
            ((*MOTHER, *OTHER_PARENT), "merge_penalties", {"merges": True}),
        ],
    )
    def test_what_the_second_step_joins_has_penalties_of_its_own(self, detections, setting, given):
        points = places(*detections)
        second = np.arange(len(points)) >= (3 if setting == "gap_closing_penalties" else 6)
        points = with_feature(points, np.where(second, 2.0, 1.0))
        assert len(joined(jaqaman(points, **given))) == 1
        others = {name: {"size": 9.0} for name in PENALTIES if name not in (setting, "link_penalties")}
        assert len(joined(jaqaman(points, **given, **others))) == 1
        assert not joined(jaqaman(points, **given, **{setting: {"size": 9.0}}))

    def test_a_gap_is_held_to_its_range_by_how_long_it_looks(self):
        points = with_feature(places(*SEEN_AGAIN), np.repeat([1.0, 2.0], 3))
        for gap_closing_range, closed in ((4.0, 1), (3.99, 0)):
            given = {"gap_closing_penalties": {"size": 1.0}, "gap_closing_range": gap_closing_range}
            assert len(joined(jaqaman(points, **given))) == closed

    @pytest.mark.parametrize("weights", [{"size": -1.0}, {"size": np.inf}, {"size": "much"}, [1.0], {1: 1.0}])
    def test_what_is_no_weight_is_refused(self, weights):
        with pytest.raises(InvalidSetting) as refused:
            LinkSettings(linking="jaqaman", link_penalties=weights)
        assert refused.value.setting == "link_penalties"

    @pytest.mark.parametrize("name", PENALTIES)
    def test_a_feature_that_is_not_there_or_another_linking_is_refused(self, name):
        with pytest.raises(InvalidSetting) as refused:
            jaqaman(places(*SEEN_AGAIN), **{name: {"size": 1.0}})
        assert refused.value.setting == name
        with pytest.raises(InvalidSetting) as refused:
            LinkSettings(**{name: {"size": 1.0}})
        assert refused.value.setting == name


def test_a_step_as_long_as_the_range_is_not_made():
    points = places((0, 0, 0), (1, 0, 2))
    assert not len(jaqaman(points, 2.0).links)
    assert len(jaqaman(points, 2.001).links) == 1


def test_particles_that_stand_still_are_linked_and_their_gaps_closed():
    still = np.random.default_rng(0).uniform(0, 50, (30, 2))
    points = table(np.repeat([0, 1, 3, 4], 30), np.tile(still, (4, 1)))
    linking = jaqaman(points, max_missed_frames=1)
    assert len(linking.links) == 90
    assert (linking.links["length"] == 0).all()


@pytest.mark.parametrize(("moving", "closed"), [(0, 20), (1, 20), (3, 23)])
def test_where_nine_gaps_in_ten_are_of_no_length_no_others_are_closed(moving, closed):
    """The alternative cost is 0 then; of 23 of which 3 are longer it is theirs, and all are worth it."""
    apart = 20 + moving
    y, x = np.repeat(np.arange(apart) * 9.0, 4), np.zeros((apart, 4))
    x[:moving, 2:] = 1.0
    linking = jaqaman(table(np.tile([0, 1, 3, 4], apart), np.stack([y, x.ravel()], axis=1)))
    assert len(joined(linking)) == closed
    assert linking.report["is_optimal"]


def test_where_no_frame_may_be_missed_nothing_is_joined_from_one_frame_to_the_next_either():
    jump = places(*along(0, [0, 1, 2]), *along(0, [3, 4, 5], x=3.0))
    assert len(jaqaman(jump, gap_closing_range=5.0).links) == 5
    assert len(jaqaman(jump, gap_closing_range=5.0, max_missed_frames=0).links) == 4


def test_what_the_second_step_leaves_unproven_is_said(monkeypatch):
    def unproven(*given, **how):
        answer = best_links(*given, **how)
        return replace(answer, proof=replace(answer.proof, gap=0.25, is_optimal=False))

    assert jaqaman(places(*SEEN_AGAIN)).report["gap"] < 1e-9
    monkeypatch.setattr(steps, "best_links", unproven)
    report = jaqaman(places(*SEEN_AGAIN)).report
    assert report["gap"] >= 0.25
    assert not report["is_optimal"]


@pytest.mark.parametrize("frames", [[], [0], [0, 0], [0, 5]], ids=["nothing", "one", "one frame", "far apart"])
def test_movies_without_links_are_whole_answers(frames):
    linking = jaqaman(table(frames, np.zeros((len(frames), 2))))
    assert not len(linking.links)
    assert linking.report["is_optimal"]


def reference(cost: np.ndarray, unmatched_cost: float) -> float:
    """The optimum of Jaqaman's full matrix with one alternative cost, less what it costs to link nothing."""
    n, m = cost.shape
    never = 1e6 * unmatched_cost
    full = np.full((n + m, n + m), never)
    full[:n, :m] = np.where(np.isfinite(cost), cost, never)
    full[n:, m:] = np.where(np.isfinite(cost.T), unmatched_cost, never)
    full[np.arange(n), m + np.arange(n)] = unmatched_cost
    full[n + np.arange(m), np.arange(m)] = unmatched_cost
    return float(full[linear_sum_assignment(full)].sum()) - unmatched_cost * (n + m)


@pytest.mark.parametrize("seed", range(20))
def test_both_steps_reach_the_optimum_of_jaqamans_matrix(seed):
    rng = np.random.default_rng(seed)
    start = rng.uniform(0, 8, (25, 2))
    walks = start + np.cumsum(rng.normal(0, 0.5, (8, 25, 2)), axis=0)
    frame, walker = np.nonzero(rng.random((8, 25)) < 0.8)
    points = table(frame, walks[frame, walker])
    linking = jaqaman(points, 2.5, divisions=True, merges=True)
    assert linking.report["is_optimal"]
    links, place = linking.links, points.positions
    between = ((place[:, None] - place[None]) ** 2).sum(axis=2)
    first = links[: np.flatnonzero(links["kind"] == "step")[-1] + 1]
    for f in range(7):
        now, then = np.flatnonzero(frame == f), np.flatnonzero(frame == f + 1)
        cost = between[np.ix_(now, then)]
        cost = np.where(cost < 2.5**2, cost, np.inf)
        unmatched_cost = 1.05 * cost[np.isfinite(cost)].max()
        made = first[frame[first["source"]] == f]
        assert (made["length"] ** 2 - unmatched_cost).sum() == pytest.approx(reference(cost, unmatched_cost))
    followed, following = (np.isin(np.arange(len(points)), first[end]) for end in ("source", "target"))
    starts, ends, middles = followed & ~following, following & ~followed, followed & following
    lag = frame[None] - frame[:, None]
    allowed = (ends[:, None] & starts & (lag >= 1) & (lag <= 2)) | (
        (lag == 1) & ((ends[:, None] & middles) | (middles[:, None] & starts))
    )
    cost = np.where(allowed & (between <= 2.5**2), between, np.inf)
    costs = np.sort(cost[np.isfinite(cost)])
    unmatched_cost = 1.05 * costs[int(0.9 * (len(costs) - 1) + 0.5)]
    second = links[len(first) :]
    assert (second["length"] ** 2 - unmatched_cost).sum() == pytest.approx(reference(cost, unmatched_cost))


class TestSettings:
    POINTS = places(*along(0, range(6)), *along(1, [3, 4, 5]))

    def test_those_that_took_effect_give_the_same_tracks(self):
        made = link_points(self.POINTS, LinkSettings(linking="jaqaman", divisions=True))
        again = link_points(self.POINTS, made.settings)
        assert isinstance(made.settings.search_range, float)
        assert made.settings.division_range == made.settings.search_range
        pd.testing.assert_frame_equal(made.links, again.links)

    @pytest.mark.parametrize(
        "given",
        [
            {"motion": "flow"},
            {"unmatched_cost": 3.0},
            {"cost": "distance"},
            {"pinned": [[0, 1]]},
            {"forbidden": [[0, 1]]},
        ],
        ids=str,
    )
    def test_what_the_two_steps_have_no_place_for_is_refused(self, given):
        with pytest.raises(InvalidSetting, match=next(iter(given))):
            LinkSettings(linking="jaqaman", **given)

    @pytest.mark.parametrize("name", ["gap_closing_range", "division_range", "merge_range"])
    def test_their_ranges_are_lengths_and_go_with_them_only(self, name):
        with pytest.raises(InvalidSetting, match=name):
            LinkSettings(**{name: 3.0})
        with pytest.raises(InvalidSetting, match=name):
            LinkSettings(linking="jaqaman", **{name: -1.0})

    def test_an_unknown_name_is_refused(self):
        with pytest.raises(InvalidSetting, match="jaqaman"):
            LinkSettings(linking="trackmate")  # pyright: ignore[reportArgumentType]

    def test_corrections_are_refused(self):
        with pytest.raises(InvalidSetting, match="editable"):
            link_points(self.POINTS, LinkSettings(2.0, linking="jaqaman"), editable=True)

    def test_with_penalties_more_candidates_than_can_be_written_out_are_refused_and_a_range_that_fits_is_named(self):
        points = clouds(40, 40)
        points = Points(points.table.assign(mass=1.0))
        weighed = {"link_penalties": {"mass": 1.0}, "memory_budget_gb": 2e-6}
        with pytest.raises(InvalidSetting, match="search_range") as refused:
            jaqaman(points, 8.0, **weighed)
        fits = float(str(refused.value).rpartition("search_range: ")[2].split()[0])
        assert jaqaman(points, fits, **weighed).report["is_optimal"]

    def test_margins_that_are_asked_for_are_in_the_unit_of_the_cost(self):
        settings = LinkSettings(2.0, linking="jaqaman", divisions=True)
        margin = link_points(self.POINTS, settings, margins=True).links["margin"]
        assert margin.iloc[-1] == pytest.approx(0.05 * 2.0)  # the division: 5 % of its own squared length
        assert link_points(self.POINTS, settings).links["margin"].isna().all()

    def test_progress_ends_at_the_second_step(self):
        calls: list[tuple[int, int]] = []
        settings = LinkSettings(2.0, linking="jaqaman")
        link_points(self.POINTS, settings, progress=lambda *of: calls.append(of), edge_budget=1)
        assert calls == [(k, 6) for k in range(1, 7)]

    def test_tables_in_memory_are_linked_too(self):
        seen_again = places(*SEEN_AGAIN).table
        assert link(seen_again, 2.0, linking="jaqaman", memory=1)["track_id"].tolist() == [0] * 6
        assert link(seen_again, 2.0, linking="jaqaman", memory=0)["track_id"].tolist() == [0] * 3 + [1] * 3


@pytest.mark.parametrize(
    ("name", "spots", "edges", "given"),
    [
        ("without_gap_closing", "without_gap_closing", 127, {"max_missed_frames": 0}),
        ("with_gap_closing", "without_gap_closing", 128, {}),
        ("with_merging", "without_gap_closing", 129, {"merges": True}),
        ("with_splitting", "without_gap_closing", 130, {"divisions": True}),
        ("with_splitting_merging", "with_splitting_merging", 180, {"divisions": True, "merges": True}),
    ],
)
def test_the_edges_are_trackmates(real_data, name, spots, edges, given):
    """Its demonstration movie with its settings: all max distances 15, max frame gap 2."""
    folder = real_data("faketracks")
    points = read_points(folder / f"trackmate_tracks_{spots}_spots.csv")
    theirs = pd.read_csv(folder / f"trackmate_tracks_{name}_edges.csv")
    linking = jaqaman(points, 15.0, **given)
    spot = points.table["id"].to_numpy()
    ours = set(zip(spot[linking.links["source"]], spot[linking.links["target"]], strict=True))
    assert len(ours) == edges
    assert ours == set(zip(theirs["spot_source_id"], theirs["spot_target_id"], strict=True))
    assert linking.report["is_optimal"]


def clouds(*sizes: int, seed: int = 0) -> Points:
    """Random points without motion, so many a frame."""
    frames = np.repeat(np.arange(len(sizes)), sizes)
    return table(frames, np.random.default_rng(seed).random((len(frames), 2)) * 9)


class TestWideRanges:
    """More candidates of a frame pair than the budget has room for: the links and costs are those of a large one."""

    @pytest.mark.parametrize("search_range", [1.0, 5.0, 20.0])
    @pytest.mark.parametrize("budget", [1e-9, 2e-6, 1.8e-5], ids=["none held", "some", "a matrix"])
    @pytest.mark.parametrize("seed", range(4))
    def test_links_are_those_of_a_large_budget(self, seed, budget, search_range):
        points = clouds(40, 50, 0, 45, 45, seed=seed)
        large, small = (
            jaqaman(points, search_range, merges=True, divisions=True, memory_budget_gb=gb) for gb in (4, budget)
        )
        assert small.report["is_optimal"]
        pd.testing.assert_frame_equal(
            *(made.links.sort_values(["source", "target"], ignore_index=True) for made in (large, small))
        )

    def test_a_link_as_long_as_the_range_is_none(self):
        at = np.array([[0.0, 0.0], [5.0, 0.0], [3.0, 0.0], [5.0, 1.0]])
        large, small = (jaqaman(table([0, 0, 1, 1], at), 3.0, memory_budget_gb=gb) for gb in (4, 1e-9))
        assert edges_of(large) == edges_of(small) == {(1, 3)}

    def test_all_particles_in_one_place_are_linked(self):
        points = table(np.repeat([0, 1], 20), np.zeros((40, 2)))
        assert len(jaqaman(points, memory_budget_gb=5e-7).links) == 20


def edges_of(linking) -> set[tuple[int, int]]:
    return set(zip(linking.links["source"].tolist(), linking.links["target"].tolist(), strict=True))
