"""Linking: what a link may be, what a track is, and that every frame pair is solved to the optimum."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from auctrack.matching import Problem, solve
from auctrack.matching.solvers import SOLVERS
from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.errors import InvalidInput, InvalidSetting
from auctrack.tracker.formats.tables import read_points
from auctrack.tracker.linking.gate import candidates as gate
from auctrack.tracker.linking.link import link, link_points, link_steps
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points
from auctrack.tracker.scoring.score import score_links
from auctrack.tracker.simulating.simulate import SimulationSettings, simulate
from auctrack.tracker.timeline import Timeline

from ..traced import with_peak

SHARED = Path(__file__).parents[3] / "../shared"


def needs(path: Path) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not path.exists(), reason=f"{path} is not there (real data are not part of the project)")


def table(*frames: list[float], numbers: list[int] | None = None) -> pd.DataFrame:
    """Points on a line, one list of x a frame."""
    numbers = list(range(len(frames))) if numbers is None else numbers
    rows = [(number, 0.0, x) for number, xs in zip(numbers, frames, strict=True) for x in xs]
    return pd.DataFrame(rows, columns=["frame", "y", "x"])


def edges(linking) -> set[tuple[int, int]]:
    return set(zip(linking.links["source"].tolist(), linking.links["target"].tolist(), strict=True))


def walkers(**options) -> Points:
    settings = {"particles": 400, "frames": 6, "missed": 0.05, "false": 0.05, "seed": 3} | options
    return simulate(SimulationSettings(**settings)).detections


class TestTracks:
    def test_a_particle_keeps_its_number(self):
        out = link(table([0, 10], [0.5, 10.5], [11, 1]), 3)
        assert out["track_id"].tolist() == [0, 1, 0, 1, 1, 0]

    def test_numbers_count_from_0_in_the_order_of_appearance_and_single_points_have_one(self):
        out = link(table([5], [5, 90], [90, 40]), 3)
        assert out["track_id"].tolist() == [0, 0, 1, 1, 2]

    def test_row_order_index_and_features_are_kept(self):
        points = walkers().table.sample(frac=1, random_state=1).assign(name="spot")
        out = link(points, 8)
        made = ["track_id", "link_probability", "link_margin"]
        pd.testing.assert_frame_equal(out.drop(columns=made), points)

    def test_shuffled_rows_give_the_same_links(self):
        points = walkers()
        shuffled = points.table.sample(frac=1, random_state=2)
        partner = link(points, 8).groupby("track_id").groups.values()
        again = link(shuffled, 8).groupby("track_id").groups.values()
        assert {frozenset(group) for group in partner} == {frozenset(group) for group in again}

    def test_no_particle_is_in_a_track_twice_in_one_frame(self):
        out = link(walkers(), 20)
        assert not out.duplicated(["track_id", "frame"]).any()

    def test_trackpy_users_may_ask_for_their_column(self):
        before = table([0], [0]).assign(track_id=7)
        out = link(before, 3, track_column="particle", motion="none")
        assert out.columns.tolist() == ["frame", "y", "x", "track_id", "particle"]
        assert out["track_id"].tolist() == [7, 7]

    def test_linking_again_replaces_the_column(self):
        once = link(table([0], [0]), 3)
        pd.testing.assert_frame_equal(link(once, 3), once)

    @pytest.mark.parametrize("name", ["frame", "y", 5, "", "link_probability", "link_margin", "parent_track_id"])
    def test_the_column_needs_a_name_that_is_not_that_of_another(self, name):
        with pytest.raises(InvalidSetting, match="track_column"):
            link(table([0], [0]), 3, track_column=name)

    def test_a_table_of_trackpy_whose_index_is_called_frame_too(self):
        points = table([0, 10], [10.5, 0.5]).set_index("frame", drop=False)
        out = link(points)
        assert out["track_id"].tolist() == [0, 1, 1, 0]
        assert out.index.equals(points.index)

    @pytest.mark.parametrize("points", [table(), table([]), table([1.0])], ids=["no frame", "empty frame", "one point"])
    def test_nothing_to_link(self, points):
        assert link(points, 3)["track_id"].tolist() == list(range(len(points)))


class TestFrames:
    def test_a_strided_table_links_across_the_step_that_is_stated(self):
        out = link(table([0], [1], [2], numbers=[0, 5, 10]), 3, frame_step=5)
        assert out["track_id"].tolist() == [0, 0, 0]

    def test_a_stride_that_is_not_stated_is_said_and_not_linked_over(self):
        with pytest.warns(UserWarning, match="frame_step=2"):
            out = link(table([0], [0], [0], numbers=[0, 2, 4]), 3)
        assert out["track_id"].tolist() == [0, 1, 2]

    def test_a_stray_point_changes_no_link_elsewhere(self):
        rows = table([0], [1], [2], numbers=[0, 2, 4])
        stray = pd.concat([rows, rows.iloc[:1].assign(frame=1, x=50.0)], ignore_index=True)
        points, with_stray = (Points(each, timeline=Timeline(1, tuple(range(5)))) for each in (rows, stray))
        for each in (points, with_stray):
            linking = link_points(each, LinkSettings(3, motion="none"))
            assert len(linking.links) == 0
            assert linking.report["unstated_stride"] is None

    def test_whole_float_frame_numbers_keep_working(self):
        out = link(table([0], [0], numbers=[0, 1]).astype({"frame": float}), 3)
        assert out["track_id"].tolist() == [0, 0]

    def test_tracks_keep_what_is_known_of_their_frames(self):
        points = Points(table([0], [0], numbers=[0, 1]), timeline=Timeline(1, (0, 1, 2)))
        assert link_points(points, LinkSettings(3, motion="none")).tracks.timeline == points.timeline

    def test_points_carry_their_own_step(self):
        with pytest.raises(InvalidSetting, match="frame_step"):
            link(Points(table([0], [0])), 3, frame_step=2)

    def test_a_missing_frame_is_not_jumped(self):
        out = link(table([0], [0], [0], numbers=[0, 1, 3]), 3, memory=0)
        assert out["track_id"].tolist() == [0, 0, 1]

    def test_frame_numbers_far_apart_are_no_neighbours(self):
        with pytest.warns(UserWarning, match=f"frame_step={10**12 + 3}"):
            out = link(table([0], [0], numbers=[-3, 10**12]), 3)
        assert out["track_id"].tolist() == [0, 1]


class TestDistances:
    def test_no_link_is_longer_than_the_search_range(self):
        linking = link_points(walkers(), LinkSettings(search_range=4.0, unmatched_cost=100.0, motion="none"))
        assert 0 < linking.links["length"].max() <= 4.0

    @pytest.mark.parametrize("cost", ["squared", "distance"])
    def test_no_link_is_longer_than_twice_the_unmatched_cost(self, cost):
        linking = link_points(walkers(), LinkSettings(search_range=20.0, unmatched_cost=1.5, cost=cost, motion="none"))
        assert 0 < linking.links["length"].max() <= 3.0

    @pytest.mark.parametrize("cost", ["squared", "distance"])
    @pytest.mark.parametrize("length", [3.0, 0.3, 1e-9, 7e6])
    def test_a_link_as_long_as_a_range_whose_unmatched_cost_is_half_of_it_is_made(self, length, cost):
        """As trackpy makes it, whose range is its unmatched cost too."""
        linked = link(table([0.0], [length]), length, unmatched_cost=length / 2, cost=cost, motion="none")
        assert linked["track_id"].tolist() == [0, 0]

    @pytest.mark.parametrize("motion", ["auto", "diffusion"])
    @pytest.mark.parametrize("length", [3.0, 0.3, 1e-9, 7e6])
    def test_such_a_link_is_made_with_learned_motion_too(self, length, motion):
        linked = link(table([0.0], [length]), length, unmatched_cost=length / 2, motion=motion)
        assert linked["track_id"].tolist() == [0, 0]

    def test_a_link_is_as_long_as_its_points_are_apart_in_physical_units(self):
        points = walkers()
        scaled = Points(points.table, Calibration(scale=(4.0, 2.0, 1.0), unit="µm"))
        linking = link_points(scaled, LinkSettings(search_range=10.0, motion="none"))
        steps = scaled.positions[linking.links["target"]] - scaled.positions[linking.links["source"]]
        np.testing.assert_allclose(linking.links["length"], np.linalg.norm(steps, axis=1), rtol=1e-14)

    def test_scale_decides_who_is_near(self):
        points = pd.DataFrame({"frame": [0, 1, 1], "z": [0.0, 1, 0], "y": [0.0] * 3, "x": [0.0, 0, 2]})
        assert link(points, 5, unmatched_cost=5)["track_id"].tolist() == [0, 0, 1]
        assert link(points, 5, unmatched_cost=5, scale=(4, 1, 1))["track_id"].tolist() == [0, 1, 0]

    @pytest.mark.parametrize("scale", [(1, 1), (5, 1, 1, 1), 2.0], ids=str)
    def test_scale_needs_one_size_an_axis(self, scale):
        points = pd.DataFrame({"frame": [0, 1], "z": 0.0, "y": 0.0, "x": 0.0})
        with pytest.raises(InvalidSetting):
            link(points, 5, scale=scale)

    def test_voxels_of_positions_in_um_are_refused(self):
        points = table([0, 8]).rename(columns={"y": "y_um", "x": "x_um"})
        with pytest.raises(InvalidSetting, match="scale does not go with positions that are in µm already"):
            link(points, 5, scale=(0.5, 0.5))

    def test_scale_of_points_is_their_own(self):
        with pytest.raises(InvalidSetting, match="calibration"):
            link(walkers(), 5, scale=(1, 1, 1))

    def test_particles_that_stand_still_are_linked_at_cost_0(self):
        out = link(table(*[[0, 3, 6, 9]] * 3), 2)
        assert out["track_id"].tolist() == [0, 1, 2, 3] * 3


class TestOptimum:
    @pytest.mark.parametrize("cost", ["squared", "distance"])
    def test_each_frame_pair_has_scipys_objective(self, cost):
        points, radius = walkers(particles=150, persistence=0.2), 9.0
        linking = link_points(
            points, LinkSettings(search_range=radius, unmatched_cost=radius / 2, cost=cost, motion="none")
        )
        assert linking.report["is_optimal"]
        dear = radius**2 if cost == "squared" else radius  # what two unlinked particles cost
        for frame in range(5):
            a, b = (np.flatnonzero(points.frames == number) for number in (frame, frame + 1))
            d = cdist(points.positions[a], points.positions[b])
            worth = np.minimum((d**2 if cost == "squared" else d) - dear, 0)
            best = worth[linear_sum_assignment(worth)].sum()
            ours = linking.links[np.isin(linking.links["source"], a)]["length"].to_numpy()
            assert (ours ** (2 if cost == "squared" else 1) - dear).sum() == pytest.approx(best, rel=1e-12)

    def test_the_solver_does_not_change_the_links(self):
        points = walkers(particles=100)
        by_solver = {
            name: edges(link_points(points, LinkSettings(8.0, solver=name, motion="none")))
            for name in ("jv", "auction")
        }
        assert by_solver["jv"] == by_solver["auction"]

    def test_how_the_movie_is_cut_into_solves_does_not_change_the_links(self):
        points, settings = walkers(), LinkSettings(12.0, motion="none")
        whole = link_points(points, settings)
        pieces = link_points(points, settings, edge_budget=1)
        assert whole.report["solves"] == 1
        assert pieces.report["solves"] == whole.report["frame_pairs"] == 5
        assert edges(whole) == edges(pieces)


class TestWideRanges:
    """More candidate links than are written out: the same optimum from a matrix, or from costs never stored."""

    @pytest.mark.parametrize("cost", ["squared", "distance"])
    @pytest.mark.parametrize("unmatched_cost", [3.0, 100.0])
    def test_links_and_lengths_are_those_of_the_written_candidates(self, monkeypatch, unmatched_cost, cost):
        points, settings = walkers(particles=150), LinkSettings(9.0, unmatched_cost, cost, device="cpu", motion="none")
        written = link_points(points, settings)
        monkeypatch.setattr(gate, "ALWAYS_WRITTEN", 100)
        monkeypatch.setattr(gate, "A_POINT", 0.0)
        self.is_the_same(link_points(points, settings), written)

    @pytest.mark.parametrize("cost", ["squared", "distance"])
    @pytest.mark.parametrize(
        ("search_range", "budget"), [(6.0, 5e-6), (40.0, 1.9e-4)], ids=["costs never stored", "a matrix"]
    )
    def test_no_memory_budget_changes_links_or_lengths(self, search_range, budget, cost):
        points = walkers(particles=150)
        settings = LinkSettings(search_range, search_range / 2, cost, device="cpu", motion="none")
        tight = replace(settings, memory_budget_gb=budget)
        self.is_the_same(link_points(points, tight), link_points(points, settings))

    def is_the_same(self, wide, written):
        assert wide.report["solves"] == 5 > written.report["solves"]
        assert wide.report["is_optimal"]
        assert edges(wide) == edges(written)
        np.testing.assert_allclose(wide.links["length"], written.links["length"], rtol=1e-12)

    def test_a_range_beyond_what_the_unmatched_cost_pays_for_is_not_looked_at(self):
        """20,000 points a frame within range of each other are 400 million pairs, of which few are needed."""
        points = walkers(particles=2000, frames=2)
        near = link_points(points, LinkSettings(8.0, 4.0, motion="none"))
        far = link_points(points, LinkSettings(1e6, 4.0, motion="none"))
        assert far.report["candidate_links"] == near.report["candidate_links"]
        assert edges(far) == edges(near)

    @pytest.mark.parametrize(
        ("search_range", "unmatched_cost", "budget"),
        [(6.0, 9.0, 5e-6), (6.0, 2.0, 5e-6), (40.0, 9.0, 1.9e-4), (1e4, 1e4, 5e-6), (6.0, 9.0, 1e-9)],
        ids=["the range decides", "costs never stored", "a matrix", "all are within reach", "none may be held"],
    )
    @pytest.mark.parametrize("is_forbidden", [False, True])
    def test_candidates_are_counted_or_said_to_be_more(self, search_range, unmatched_cost, budget, is_forbidden):
        points = walkers(particles=150)
        settings = LinkSettings(search_range, unmatched_cost, device="cpu", motion="none")
        if is_forbidden:
            settings = replace(settings, forbidden=link_points(points, settings).links[["source", "target"]].to_numpy())
        all_of_them, known = (link_points(points, replace(settings, memory_budget_gb=gb)).report for gb in (4, budget))
        assert known["candidate_links"] > 0
        assert not all_of_them["more_candidates"]
        if known["more_candidates"]:
            assert known["candidate_links"] <= all_of_them["candidate_links"]
        else:
            assert known["candidate_links"] == all_of_them["candidate_links"]
        assert known["more_candidates"] == (search_range == 6.0)

    def test_the_unmatched_cost_is_measured_without_the_pairs_in_range(self, monkeypatch):
        monkeypatch.setattr(gate, "pairs_in_grid", self.refuse_many(gate.pairs_in_grid))
        near, far = (
            link_points(walkers(), LinkSettings(r, motion="none")).unmatched_cost.distance for r in (30.0, 1e6)
        )
        assert near == pytest.approx(far, rel=1e-9)

    def refuse_many(self, original):
        def checked(x, grid, radius):
            assert radius < 30
            return original(x, grid, radius)

        return checked

    @pytest.mark.parametrize("spread", [0.0, 0.5, 2.0])
    def test_of_many_candidates_a_particle_none_is_stored_which_changes_no_link(self, spread):
        """Half of the particles are in a cluster, where most are within range of each other."""
        rng, n = np.random.default_rng(0), 1500
        at = [np.concatenate([rng.normal(0, spread, (n, 3)), 1e3 + 40 * rng.random((n, 3))]) for _ in range(2)]
        points = Points(pd.DataFrame(np.concatenate(at), columns=list("zyx")).assign(frame=np.repeat([0, 1], 2 * n)))
        settings = LinkSettings(6.0, 3.0, motion="none", device="cpu")
        link_points(points, settings)  # code is loaded once
        linking, peak = with_peak(lambda: link_points(points, settings))
        assert linking.report["is_optimal"]
        assert peak < 20e6
        asked_about = link_points(points, settings, margins=True)
        assert linking.unmatched_cost == asked_about.unmatched_cost
        assert len(linking.links) == len(asked_about.links)
        assert (linking.links["length"] ** 2).sum() == pytest.approx((asked_about.links["length"] ** 2).sum(), rel=1e-9)

    def test_all_particles_in_one_place_are_not_written_out(self):
        """As many edges as pairs take a sparse solver minutes."""
        points = Points(pd.DataFrame({"frame": np.repeat([0, 1], 1200), "y": 1.0, "x": 2.0}))
        (pair,) = gate.gated_pairs(points, 1.0)
        assert isinstance(pair, gate.WideGate)
        linking = link_points(points, LinkSettings(1.0, motion="none"))
        assert len(linking.links) == 1200
        assert linking.report["is_optimal"]

    @pytest.mark.parametrize("budget", [4, 1e-9])
    def test_a_range_that_holds_back_links_the_unmatched_cost_pays_for_is_kept(self, budget):
        points = Points(table([0.0, 1.0], [0.2, 8.0]))
        settings = LinkSettings(3.0, 50.0, device="cpu", motion="none", memory_budget_gb=budget)
        assert edges(link_points(points, settings)) == {(0, 2)}


def clouds(*sizes, axes=3, seed=0, spread=9.0) -> Points:
    """Random points without motion, so many a frame; a frame of none is one that the movie lacks."""
    frames, rng = np.repeat(np.arange(len(sizes)), sizes), np.random.default_rng(seed)
    at = rng.random((len(frames), axes)) * spread
    return Points(
        pd.DataFrame(at, columns=list("zyx")[3 - axes :]).assign(**{"y": 0.0} if axes == 1 else {}, frame=frames)
    )


class TestARangeThatDecides:
    """The unmatched cost pays for links longer than the range, and those within it are too many for the budget."""

    @pytest.mark.parametrize("cost", ["squared", "distance"])
    @pytest.mark.parametrize("unmatched_cost", [3.0, 50.0, 1e6])
    @pytest.mark.parametrize("axes", [1, 2, 3])
    @pytest.mark.parametrize("sizes", [(50, 60, 40, 55), (30, 1, 30), (40, 0, 40, 40)], ids=str)
    def test_links_and_what_they_cost_are_those_of_a_large_budget(self, sizes, axes, unmatched_cost, cost):
        points = clouds(*sizes, axes=axes)
        self.is_the_same(
            points, LinkSettings(3.0, unmatched_cost, cost, motion="none"), is_unique=axes > 1 or cost == "squared"
        )

    @pytest.mark.parametrize("seed", range(5))
    def test_where_distances_tie_too(self, seed):
        points = clouds(60, 70, 50, axes=2, seed=seed)
        points = replace(points, table=points.table.round())
        self.is_the_same(points, LinkSettings(3.0, 4.0), is_unique=False)

    @pytest.mark.parametrize("unmatched_cost", [0.3, 3.0])
    def test_forbidden_and_pinned_links_too(self, unmatched_cost):
        points = clouds(50, 60, 40)
        settings = LinkSettings(3.0, unmatched_cost, motion="none", device="cpu")
        made = link_points(points, settings).links[["source", "target"]].to_numpy()
        self.is_the_same(points, replace(settings, forbidden=made[::3], pinned=made[1:2]))

    def test_frames_that_are_expected_elsewhere_too(self):
        points = clouds(50, 60, 40)
        self.is_the_same(points, LinkSettings(3.0, 9.0, predict=lambda points, rows, _: points.positions[rows] + 0.5))

    def is_the_same(self, points, settings, *, is_unique=True):
        settings = replace(settings, motion="none", device="cpu")
        large, small = (link_points(points, replace(settings, memory_budget_gb=gb)) for gb in (4, 1e-9))
        power = 2 if settings.cost == "squared" else 1
        costs = [(made.links["length"] ** power).sum() for made in (large, small)]
        assert costs[1] == pytest.approx(costs[0], rel=1e-9)
        assert len(large.links) == len(small.links)
        assert large.report["is_optimal"]
        assert small.report["is_optimal"]
        assert small.links["length"].max() <= 3.0 or settings.predict
        if is_unique:
            assert edges(large) == edges(small)

    def test_margins_are_never_below_the_true_ones(self):
        points, settings = clouds(50, 60), LinkSettings(3.0, 9.0, motion="none", device="cpu")
        large, small = (
            link_points(points, replace(settings, memory_budget_gb=gb), margins=True).links.set_index("source")
            for gb in (4, 1e-9)
        )
        assert (small["margin"] >= large["margin"] * (1 - 1e-9)).all()

    def test_memory_is_bounded_by_the_budget(self):
        """All pairs of 4,000 points are 16 million, 0.8 GB written out; most of them are within 12 spacings."""
        points = clouds(4000, 4000, spread=4000 ** (1 / 3))
        settings = LinkSettings(12.0, 50.0, motion="none", device="cpu", memory_budget_gb=0.02)
        link_points(clouds(300, 300), replace(settings, memory_budget_gb=1e-9))  # compiling allocates too
        made, taken = with_peak(lambda: link_points(points, settings))
        assert made.report["is_optimal"]
        assert len(made.links) == 4000
        assert taken < settings.memory_budget

    def test_corrections_and_further_costs_need_links_that_are_written_out(self):
        points, settings = clouds(30, 30), LinkSettings(3.0, 9.0, motion="none", device="cpu", memory_budget_gb=1e-9)
        with pytest.raises(InvalidSetting, match="editable"):
            link_points(points, settings, editable=True)
        bounded = replace(settings, memory_budget_gb=1e-6)
        with pytest.raises(InvalidSetting, match=r"editable.* frame 0 to 1 .*search_range") as refused:
            link_points(points, bounded, editable=True)
        fits = float(str(refused.value).rpartition("search_range: ")[2].split()[0])
        assert link_points(points, replace(bounded, search_range=fits), editable=True).solution is not None
        with pytest.raises(InvalidSetting, match="extra_cost"):
            link_points(points, replace(settings, extra_cost=lambda *of: np.zeros(len(of[1]))))

    @pytest.mark.parametrize(
        ("cost", "unmatched_cost"), [("squared", 0.7), ("squared", 0.9), ("distance", 0.3), ("distance", 0.5)]
    )
    @pytest.mark.parametrize("budget", [4e-5, 2e-5])
    def test_further_costs_are_asked_for_in_parts(self, cost, unmatched_cost, budget):
        """Of 11,000 links within the range, a fifth forbidden and a fifth cheaper than their length, few pay."""

        def further(_, source, target):
            asked.append(len(source))
            kind = (source * 7 + target) % 5
            return np.where(kind == 0, np.inf, np.where(kind == 1, -0.4, 0.1 * kind))

        points, asked, reports = clouds(90, 80, 85), [], []
        settings = LinkSettings(9.0, unmatched_cost, cost, motion="none", device="cpu", extra_cost=further)
        made = link_points(points, settings).links[["source", "target"]].to_numpy()
        settings = replace(settings, forbidden=made[::3], pinned=made[1:2])
        for gb in (4, budget):
            asked.clear()
            made = link_points(points, replace(settings, memory_budget_gb=gb), margins=True)
            reports.append((made.report["candidate_links"], made.links.sort_values("source", ignore_index=True)))
        (count, written), (counted, in_parts) = reports
        assert len(asked) > 10
        assert counted == count
        pd.testing.assert_frame_equal(in_parts, written)


class TestPaperFailure:
    """The auction-tracking paper's own failure: one particle leaves while another enters, and the two are matched.

    Its model has no unmatched cost for staying unlinked, so with as many particles in both frames everyone is matched.
    """

    FRAMES = table([10.0, 20, 30, 99], [1.0, 11, 21, 31])  # 99 leaves on the right, 1 enters on the left

    def test_the_papers_model_matches_the_leaver_to_the_one_that_enters(self):
        before, after = (self.FRAMES[self.FRAMES["frame"] == f][["y", "x"]].to_numpy() for f in (0, 1))
        answer = solve(Problem.points(before, after))
        assert answer.is_optimal
        assert (answer.col_of_row >= 0).all()
        assert not np.array_equal(answer.col_of_row, [1, 2, 3, -1])

    def test_ours_leaves_both_alone(self):
        assert edges(link_points(Points(self.FRAMES), LinkSettings(search_range=200.0, motion="none"))) == {
            (0, 5),
            (1, 6),
            (2, 7),
        }

    def test_in_a_movie_whose_leavers_are_replaced_by_enterers(self):
        swarm = simulate(SimulationSettings(particles=300, frames=8, walls="leave", keep_density=True, seed=4))
        points = swarm.detections
        linking = link_points(points, LinkSettings(search_range=1000.0, motion="none"))
        papers_links = sum(int(np.sum(points.frames == f)) for f in range(7))  # everyone, every time
        ours = score_links(linking.tracks, points).links
        assert ours.predicted < papers_links
        assert ours.precision > 0.97


class TestSettings:
    @pytest.mark.parametrize("name", ["search_range", "unmatched_cost"])
    @pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, 1e160, 10**400, True, 3j, "wide", None])
    def test_lengths_must_be_lengths(self, name, value):
        with pytest.raises(InvalidSetting, match=name):
            LinkSettings(**({"search_range": 5.0} | {name: value}), motion="none")

    @pytest.mark.parametrize("value", [np.float16(3), np.float32(3), np.int8(3)])
    def test_lengths_may_be_numbers_of_numpy(self, value):
        assert link(table([0, 10], [2, 13]), value, unmatched_cost=value)["track_id"].tolist() == [0, 1, 0, 1]

    def test_a_range_for_each_axis_as_trackpy_takes_it_is_told_to_be_one_for_all(self):
        with pytest.raises(InvalidSetting, match="the same along all axes") as refused:
            link(walkers().table, search_range=(2, 8, 8))
        assert refused.value.setting == "search_range"

    def test_an_unknown_cost_is_refused(self):
        with pytest.raises(InvalidSetting, match="cubed"):
            LinkSettings(3.0, cost="cubed", motion="none")  # pyright: ignore[reportArgumentType]

    def test_an_unknown_solver_is_refused_before_anything_is_linked(self):
        with pytest.raises(InvalidSetting) as error:
            LinkSettings(solver="magic", motion="none")
        assert error.value.setting == "solver"

    @pytest.mark.parametrize("points", ["spots.csv", np.zeros((3, 3))], ids=["path", "array"])
    def test_only_tables_are_linked(self, points):
        with pytest.raises(InvalidInput, match="DataFrame"):
            link(points, 3)

    @pytest.mark.parametrize("scale", [2, "2,1", ("a", 1), (None, 1), (1, 2, 3, 4)])
    def test_a_scale_that_is_no_sizes_is_refused(self, scale):
        with pytest.raises(InvalidSetting, match="scale"):
            link(table([0]), 3, scale=scale)

    def test_nan_positions_are_refused_with_their_row(self):
        with pytest.raises(InvalidInput, match=r"row 1 .*nan"):
            link(table([0, np.nan]), 3)

    def test_the_settings_that_took_effect_give_the_same_tracks(self):
        points = walkers()
        automatic = link_points(points, LinkSettings(motion="none"))
        again = link_points(points, automatic.settings)
        assert isinstance(automatic.settings.search_range, float)
        assert isinstance(automatic.settings.unmatched_cost, float)
        pd.testing.assert_frame_equal(automatic.tracks.table, again.tracks.table)

    def test_progress_ends_at_the_number_of_frames(self):
        calls: list[tuple[int, int]] = []
        link_points(
            walkers(),
            LinkSettings(8.0, motion="none"),
            progress=lambda done, total: calls.append((done, total)),
            edge_budget=1,
        )
        assert calls == [(k, 6) for k in range(2, 7)]

    def test_the_tracks_so_far_hold_both_ends_of_the_links_so_far(self):
        steps = link_steps(Points(table([0], [0.5], [0.8, 50])), LinkSettings(3.0, motion="none"), edge_budget=1)
        so_far = next(steps).so_far()
        assert so_far.table["x"].tolist() == [0, 0.5]

    def test_the_report_counts_what_was_linked_and_names_the_solver(self):
        report = link_points(Points(table([0, 10], [0.5, 10.5], [11, 1])), LinkSettings(3.0, motion="none")).report
        assert {name: report[name] for name in ("frame_pairs", "candidate_links", "links")} == {
            "frame_pairs": 2,
            "candidate_links": 4,
            "links": 4,
        }
        assert report["solver"] in SOLVERS


class TestFakeTracks:
    """TrackMate's own result on its demonstration movie, linked with its settings, without gap closing."""

    @pytest.fixture(autouse=True)
    def trackmates_tables(self, real_data):
        self.folder = real_data("faketracks")

    def linked(self, cost):
        points = read_points(self.folder / "trackmate_tracks_without_gap_closing_spots.csv")
        linking = link_points(points, LinkSettings(search_range=15.0, unmatched_cost=15.0, cost=cost, motion="none"))
        spots = points.table["id"].to_numpy()
        length = linking.links["length"].to_numpy()
        return dict(
            zip(zip(spots[linking.links["source"]], spots[linking.links["target"]], strict=True), length, strict=True)
        )

    def trackmates(self):
        made = pd.read_csv(self.folder / "trackmate_tracks_without_gap_closing_edges.csv")
        return dict(
            zip(zip(made["spot_source_id"], made["spot_target_id"], strict=True), made["link_cost"], strict=True)
        )

    @pytest.mark.parametrize("cost", ["squared", "distance"])
    def test_the_edges_are_trackmates_127(self, cost):
        assert len(self.trackmates()) == 127
        assert self.linked(cost).keys() == self.trackmates().keys()

    def test_the_squared_lengths_are_trackmates_link_costs(self):
        ours, theirs = self.linked("squared"), self.trackmates()
        for edge, cost in theirs.items():
            assert ours[edge] ** 2 == pytest.approx(cost, rel=1e-12)


RECIPE = SHARED / "recipes/persistent_walks.py"


@pytest.fixture(scope="module")
def movie():
    """The peers' movie at 2,000 a frame: points, spacing, and the recipe's F1 of links (10,000: tests/benchmarks)."""
    spec = importlib.util.spec_from_file_location("persistent_walks", RECIPE)
    assert spec is not None
    assert spec.loader is not None
    recipe = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recipe)
    coordinates, ids, spacing = recipe.simulate(2000, 10, 0.9, True, 0)
    frames = np.repeat(np.arange(10), [len(c) for c in coordinates])
    points = pd.DataFrame(np.vstack(coordinates), columns=["z", "y", "x"]).assign(frame=frames)

    def f1(linking) -> float:
        return recipe.score(linking.links[["source", "target"]].to_numpy(), coordinates, ids)["f1_adj"]

    return Points(points), spacing, f1


@needs(RECIPE)
class TestAccuracy:
    """Simulated movies of the peers' tables: persistence 0.9, 5 % missed, 5 % false detections."""

    @pytest.mark.parametrize("gate", [0.78, 1.05, 1.35, 1.8])
    def test_default_settings_at_any_gate(self, movie, gate):
        points, spacing, f1 = movie
        assert f1(link_points(points, LinkSettings(search_range=gate * spacing, motion="none"))) >= 0.979

    def test_the_gate_as_the_unmatched_cost_loses_at_wide_gates(self, movie):
        points, spacing, f1 = movie
        wide = 1.8 * spacing
        assert f1(link_points(points, LinkSettings(search_range=wide, unmatched_cost=wide / 2, motion="none"))) < 0.97


@pytest.mark.parametrize("voxels", [True, False])
def test_link_measures_a_dataframe_by_its_physical_columns(voxels: bool) -> None:
    spots = pd.DataFrame({"frame": [0, 1], "z": [0.0, 2.0], "y": [0.0, 0.0], "x": [0.0, 0.0]})
    physical = spots.assign(z_um=spots["z"] * 5, y_um=spots["y"], x_um=spots["x"])
    given = physical if voxels else physical.drop(columns=["z", "y", "x"])
    assert link(given, search_range=9, unmatched_cost=9)["track_id"].tolist() == [0, 1]
    assert link(given, search_range=11, unmatched_cost=11)["track_id"].tolist() == [0, 0]
    assert list(link(given, search_range=11, motion="none").columns) == [*given.columns, "track_id"]


def test_a_mapping_of_names_to_arrays_is_a_table():
    columns = {"frame": np.array([0, 0, 1, 1]), "y": np.array([0.0, 9.0, 9.5, 0.5]), "x": np.zeros(4)}
    pd.testing.assert_frame_equal(link(columns, 3), link(pd.DataFrame(columns), 3))
    assert "track_id" not in columns


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"y": [1.0, 2.0]}, "frame of 3, y of 2, x of 3"),
        ({"x": [[1.0, 2.0, 3.0]]}, "x of 1 × 3"),
        ({"x": np.zeros((3, 2))}, "x of 3 × 2"),
        ({"frame": 0, "y": 1.0, "x": 2.0}, "frame a single value, y a single value"),
    ],
    ids=["lengths", "nested", "matrix", "values"],
)
def test_columns_that_make_no_table_are_refused_with_the_shape_of_each(other, said):
    with pytest.raises(InvalidInput, match=f"one dimension and one length; got .*{said}"):
        link({"frame": [0, 1, 2], "y": np.arange(3.0), "x": np.arange(3.0)} | other)


def test_rows_that_a_table_holds_twice_are_warned_of():
    spots = pd.DataFrame({"frame": np.repeat(range(4), 3), "y": [1.0, 5.0, 9.0] * 4, "x": 1.0})
    assert len(link(spots, 3)) == 12
    with pytest.warns(UserWarning, match=r"4 particles are exactly where .*first at frame 0, y 1, x 1"):
        link(spots.assign(y=[1.0, 5.0, 1.0] * 4), 3)
