"""Scores of tracks whose mistakes are known, and the recipe's formula beside ours."""

from __future__ import annotations

import importlib.util
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.errors import InvalidInput, InvalidSetting
from auctrack.tracker.points import Points, Tracks
from auctrack.tracker.scoring.point_matching import match_points
from auctrack.tracker.scoring.score import score_links
from auctrack.tracker.simulating.simulate import SimulationSettings, simulate
from auctrack.tracker.timeline import Timeline

RECIPE = Path(__file__).parents[3] / "../shared/recipes/persistent_walks.py"


def tracks(*lives: dict[int, float], kind=Tracks, name="track_id", **options):
    """One track a life, `{frame: x}`, all in the plane y = 0."""
    rows = [(number, frame, 0.0, x) for number, life in enumerate(lives) for frame, x in life.items()]
    return kind(pd.DataFrame(rows, columns=[name, "frame", "y", "x"]).astype({name: int, "frame": int}), **options)


def standing(x: float, frames) -> dict[int, float]:
    return dict.fromkeys(frames, x)


def figures(agreement) -> tuple[int, int, int]:
    return agreement.real, agreement.predicted, agreement.correct


TRUTH = tracks(standing(0.0, range(5)), standing(10.0, range(5)), standing(20.0, range(2, 5)))


def test_the_truth_itself_is_perfect():
    score = score_links(TRUTH, TRUTH, tolerance=1.0)
    assert figures(score.detections) == (13, 13, 13)
    assert figures(score.links) == (10, 10, 10)
    assert (score.tracks.complete, score.tracks.completeness, score.tracks.mean_coverage) == (3, 1.0, 1.0)
    assert (score.tracks.mean_fragments, score.tracks.switches) == (1.0, 0)
    shares = {name: value for name, value in score.summary().items() if name.endswith(("precision", "recall", "f1"))}
    assert {value for name, value in shares.items() if not name.startswith("gap")} == {1.0}


def test_two_trackings_of_the_same_detections_are_compared_by_whom_they_are_of():
    """Beside track ids, which each counts in its own way, both say which particle a detection is."""
    true_id = TRUTH.table["track_id"].to_numpy()
    is_false = np.arange(len(TRUTH)) % 5 == 4
    named = TRUTH.table.assign(true_id=np.where(is_false, -1, true_id))
    ours, theirs = (Tracks(named.assign(track_id=ids)) for ids in (2 - true_id, true_id))
    real = int((~is_false).sum())
    for one, other in ((ours, theirs), (theirs, ours), (ours, ours)):
        assert figures(score_links(one, other).detections) == (13, 13, real)
    whole = [Tracks(of.table.assign(true_id=true_id)) for of in (ours, theirs)]
    assert figures(score_links(*whole).links) == (10, 10, 10)


def test_two_tracks_that_swap_once_lose_two_links_and_both_their_wholeness():
    swapped = tracks(
        standing(0.0, range(3)) | standing(10.0, (3, 4)),
        standing(10.0, range(3)) | standing(0.0, (3, 4)),
        standing(20.0, range(2, 5)),
    )
    score = score_links(swapped, TRUTH, tolerance=1.0)
    assert figures(score.detections) == (13, 13, 13)
    assert figures(score.links) == (10, 10, 8)
    assert score.links.f1 == pytest.approx(0.8)
    assert (score.tracks.complete, score.tracks.switches) == (1, 2)
    assert score.tracks.mean_coverage == pytest.approx((3 / 5 + 3 / 5 + 1) / 3)
    assert score.tracks.mean_fragments == pytest.approx((2 + 2 + 1) / 3)


def test_a_track_cut_in_two_loses_one_link_of_recall_and_none_of_precision():
    cut = tracks(standing(0.0, range(3)), standing(0.0, (3, 4)), standing(10.0, range(5)), standing(20.0, range(2, 5)))
    score = score_links(cut, TRUTH, tolerance=1.0)
    assert figures(score.links) == (10, 9, 9)
    assert (score.links.precision, score.links.recall) == (1.0, 0.9)
    assert (score.tracks.predicted, score.tracks.complete, score.tracks.switches) == (4, 2, 1)


def test_a_track_that_runs_on_after_its_particle_died_is_not_whole():
    died = tracks(standing(0.0, range(3)))
    score = score_links(tracks(standing(0.0, range(5))), died, tolerance=1.0)
    assert figures(score.detections) == (3, 5, 3)
    assert figures(score.links) == (2, 4, 2)
    assert (score.tracks.complete, score.tracks.mean_coverage) == (0, 1.0)


def test_a_missed_detection_costs_its_two_links_and_a_false_one_its_precision():
    predicted = tracks(standing(0.0, (0, 1)), standing(0.0, (3, 4)), standing(10.0, range(5)), {3: 50.0})
    score = score_links(predicted, tracks(standing(0.0, range(5)), standing(10.0, range(5))), tolerance=1.0)
    assert figures(score.detections) == (10, 10, 9)
    assert figures(score.links) == (8, 6, 6)


def test_a_link_across_a_gap_counts_only_when_gaps_are_asked_for():
    predicted = tracks(standing(0.0, (0, 1, 3, 4)))
    truth = tracks(standing(0.0, range(5)))
    assert figures(score_links(predicted, truth, tolerance=1.0).links) == (4, 2, 2)
    # With gaps, the link over the missed frame is a real one, beside the four that a perfect detector would allow.
    assert figures(score_links(predicted, truth, tolerance=1.0, max_missed_frames=1).links) == (5, 3, 3)
    seen = tracks(standing(0.0, (0, 1, 3, 4)))
    assert figures(score_links(predicted, seen, tolerance=1.0, max_missed_frames=1).links) == (3, 3, 3)


def test_a_link_over_a_longer_gap_than_asked_for_counts_on_neither_side():
    life = tracks(standing(0.0, (0, 1, 5, 6)))
    assert figures(score_links(life, life, tolerance=1.0, max_missed_frames=2).links) == (2, 2, 2)
    assert figures(score_links(life, life, tolerance=1.0, max_missed_frames=3).links) == (3, 3, 3)


def test_a_link_that_skips_a_detection_of_its_particle_is_wrong():
    """The row at frame 1 is there, in a track of its own: joining 0 to 2 over it is no gap of the particle's life."""
    predicted = tracks(standing(0.0, (0, 2)), {1: 0.0})
    score = score_links(predicted, tracks(standing(0.0, range(3))), tolerance=1.0, max_missed_frames=1)
    assert figures(score.links) == (2, 1, 0)


def test_consecutive_means_the_frame_step_of_the_truth():
    lives = standing(0.0, range(0, 20, 5)), standing(10.0, range(0, 20, 5))
    strided = tracks(*lives, timeline=Timeline(5))
    assert figures(score_links(strided, tracks(*lives), tolerance=1.0).links) == (0, 0, 0)
    assert figures(score_links(strided, strided, tolerance=1.0).links) == (6, 6, 6)


def test_daughter_links_count_only_when_divisions_are_asked_for():
    truth = tracks(standing(0.0, range(3)), standing(-1.0, (3, 4)), standing(1.0, (3, 4)), parents={1: [0], 2: [0]})
    one_daughter = Tracks(truth.table, parents={1: [0]})
    assert figures(score_links(one_daughter, truth, tolerance=0.5).links) == (4, 4, 4)
    assert figures(score_links(one_daughter, truth, tolerance=0.5, include_divisions=True).links) == (6, 5, 5)
    wrong = Tracks(truth.table, parents={2: [0], 1: [2]})
    assert figures(score_links(wrong, truth, tolerance=0.5, include_divisions=True).links) == (6, 5, 5)


def test_a_track_that_runs_on_into_a_daughter_is_wrong_there_unless_divisions_are_asked_for():
    truth = tracks(standing(0.0, range(3)), standing(1.0, (3, 4)), parents={1: [0]})
    runs_on = tracks(standing(0.0, range(3)) | standing(1.0, (3, 4)))
    assert figures(score_links(runs_on, truth, tolerance=0.5).links) == (3, 4, 3)
    assert figures(score_links(runs_on, truth, tolerance=0.5, include_divisions=True).links) == (4, 4, 4)


def test_a_pair_at_the_tolerance_matches_and_beyond_it_does_not():
    truth, found = tracks({0: 0.0}), tracks({0: 2.0})
    assert match_points(found, truth, 2.0).tolist() == [0]
    assert match_points(found, truth, 1.999).tolist() == [-1]


def test_points_match_within_their_own_frame_only():
    assert match_points(tracks({0: 0.0}), tracks({1: 0.0}), 5.0).tolist() == [-1]


def test_a_detection_on_the_spot_is_not_traded_for_two_far_ones():
    truth, found = tracks({0: 0.0}, {0: 4.0}), tracks({0: 4.0}, {0: 8.0})
    assert match_points(found, truth, 5.0).tolist() == [1, -1]


def test_points_at_distance_zero_match():
    at_zero = tracks({0: 1.0}, {0: 1.5}, {0: 2.0})
    assert match_points(at_zero, at_zero, 1.0).tolist() == [0, 1, 2]


@st.composite
def two_clouds(draw):
    coordinate = st.integers(0, 6).map(float)
    cloud = st.lists(st.tuples(coordinate, coordinate), min_size=0, max_size=4)
    return draw(cloud), draw(cloud), draw(st.sampled_from([0.5, 1.0, 1.5, 2.5, 10.0]))


def cheapest(gated: np.ndarray, unmatched: float, row: int = 0, taken: frozenset[int] = frozenset()) -> float:
    """The least Σ gated distance over every one-to-one assignment there is, tried one by one."""
    if row == len(gated):
        return 0.0
    free = [column for column in range(gated.shape[1]) if column not in taken]
    return min(
        unmatched + cheapest(gated, unmatched, row + 1, taken),
        *(gated[row, column] + cheapest(gated, unmatched, row + 1, taken | {column}) for column in free),
        math.inf,
    )


@settings(deadline=None, max_examples=100, derandomize=True)
@given(two_clouds())
def test_the_matching_minimises_the_gated_distance(case):
    found, truth, tolerance = case
    clouds = [
        Points(pd.DataFrame(np.asarray(c, dtype=float).reshape(-1, 2), columns=["y", "x"]).assign(frame=0))
        for c in (found, truth)
    ]
    gated = np.minimum(cdist(*(c.positions for c in clouds)), tolerance)
    best = cheapest(gated, tolerance)
    match = match_points(*clouds, tolerance)
    hit = np.flatnonzero(match >= 0)
    assert len(set(match[hit])) == len(hit)
    distances = np.linalg.norm(clouds[0].positions[hit] - clouds[1].positions[match[hit]], axis=1)
    assert (distances <= tolerance).all()
    assert distances.sum() + tolerance * (len(found) - len(hit)) == pytest.approx(best)


def test_the_tables_may_be_in_different_voxels_of_the_same_unit():
    simulation = simulate(SimulationSettings(particles=200, frames=3, missed=0.1, localisation_error_um=0.05, seed=1))
    detections = simulation.detections.table
    in_voxels = detections.assign(z=detections["z"] / 2, y=detections["y"] / 0.5, track_id=detections["true_id"])
    predicted = Tracks(in_voxels, Calibration(scale=(2, 0.5, 1), unit="µm"))
    score = score_links(predicted, simulation.truth, tolerance=0.5)
    assert score.links.precision == 1.0
    assert score.detections.recall == pytest.approx(len(detections) / 600)


def nearest_links(points: Points, reach: float) -> np.ndarray:
    """Link rows of consecutive frames, each to its nearest within reach; row pairs, with many mistakes in them."""
    pairs = []
    for frame in range(points.frames.max()):
        a, b = np.flatnonzero(points.frames == frame), np.flatnonzero(points.frames == frame + 1)
        distance = cdist(points.positions[a], points.positions[b])
        i, j = linear_sum_assignment(np.minimum(distance, reach))
        close = distance[i, j] < reach
        pairs.append(np.column_stack([a[i[close]], b[j[close]]]))
    return np.concatenate(pairs)


def close_gaps(points: Points, pairs: np.ndarray, reach: float) -> np.ndarray:
    """Add links over one frame from rows without a successor to rows without a predecessor."""
    added = []
    for frame in range(points.frames.max() - 1):
        a = np.setdiff1d(np.flatnonzero(points.frames == frame), pairs[:, 0])
        b = np.setdiff1d(np.flatnonzero(points.frames == frame + 2), pairs[:, 1])
        distance = cdist(points.positions[a], points.positions[b])
        i, j = linear_sum_assignment(np.minimum(distance, reach))
        close = distance[i, j] < reach
        added.append(np.column_stack([a[i[close]], b[j[close]]]))
    # A row has at most one successor and one predecessor, gap links included.
    taken = np.concatenate(added)
    _, first = np.unique(taken[:, 0], return_index=True)
    taken = taken[np.sort(first)]
    _, first = np.unique(taken[:, 1], return_index=True)
    return np.concatenate([pairs, taken[np.sort(first)]])


def chained(points: Points, pairs: np.ndarray) -> Tracks:
    """Give every chain of links a track id, every unlinked row its own."""
    track_id = np.arange(len(points))
    for a, b in pairs[np.argsort(points.frames[pairs[:, 0]], kind="stable")]:
        track_id[b] = track_id[a]
    return Tracks(points.table.assign(track_id=track_id), points.calibration)


def noisy_walk(seed: int) -> tuple[Points, np.ndarray, np.ndarray]:
    detections = simulate(SimulationSettings(particles=300, frames=6, missed=0.08, false=0.08, seed=seed)).detections
    pairs = nearest_links(detections, 7.8)
    return detections, pairs, close_gaps(detections, pairs, 9.0)


@pytest.mark.parametrize("seed", [0, 1])
def test_by_identity_the_score_is_the_recipes_formula(seed):
    """The formula of shared/recipes/persistent_walks.py, written out with sets of row pairs."""
    detections, adjacent, with_gaps = noisy_walk(seed)
    frame, true_id = detections.frames, detections.table["true_id"].to_numpy()
    row = {(f, i): r for r, (f, i) in enumerate(zip(frame, true_id, strict=True)) if i >= 0}
    real = {(r, row[f + 1, i]) for (f, i), r in row.items() if (f + 1, i) in row}
    real_gaps = {(r, row[f + 2, i]) for (f, i), r in row.items() if (f + 2, i) in row and (f + 1, i) not in row}
    for pairs, missed, wanted in ((adjacent, 0, real), (with_gaps, 0, real), (with_gaps, 1, real | real_gaps)):
        predicted = {tuple(p) for p in pairs if frame[p[1]] - frame[p[0]] <= missed + 1}
        hits = len(predicted & wanted)
        score = score_links(chained(detections, pairs), detections, max_missed_frames=missed).links
        assert figures(score) == (len(wanted), len(predicted), hits)
        assert score.f1 == 2 * hits / (len(predicted) + len(wanted))
        assert 0.5 < score.f1 < 0.99


@pytest.mark.skipif(not RECIPE.exists(), reason="the recipes of ../shared/recipes are not on this machine")
def test_by_identity_the_score_is_what_the_recipe_itself_says():
    spec = importlib.util.spec_from_file_location("persistent_walks", RECIPE)
    recipe = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recipe)
    coords, ids, spacing = recipe.simulate(400, T=6, persistence=0.9, noisy=True, seed=3)
    frame = np.repeat(np.arange(6), [len(c) for c in coords])
    table = pd.DataFrame(np.vstack(coords), columns=["z", "y", "x"]).assign(frame=frame, true_id=np.concatenate(ids))
    detections = Points(table)
    with_gaps = close_gaps(detections, nearest_links(detections, 0.78 * spacing), spacing)
    theirs = recipe.score(with_gaps, coords, ids)
    predicted = chained(detections, with_gaps)
    ours = score_links(predicted, detections)
    closed = score_links(predicted, detections, max_missed_frames=1)
    assert round(ours.links.f1, 4) == theirs["f1_adj"]
    assert round(ours.links.precision, 4) == theirs["prec"]
    assert round(ours.links.recall, 4) == theirs["rec"]
    assert ours.links.real == theirs["n_true"]
    assert round(closed.links.f1, 4) == theirs["f1_withgaps"]
    assert closed.links.predicted == theirs["n_pred"]
    assert closed.links.real == theirs["n_true"] + theirs["n_true_gap"]


def test_by_position_on_exact_positions_the_score_is_that_by_identity():
    detections, adjacent, _ = noisy_walk(2)
    predicted = chained(detections, adjacent)
    by_position = score_links(predicted, detections, tolerance=1e-6)
    by_identity = score_links(predicted, detections)
    assert by_position == by_identity


def test_row_order_and_names_of_tracks_change_nothing():
    detections, adjacent, _ = noisy_walk(3)
    predicted = chained(detections, adjacent)
    whole = score_links(predicted, detections, tolerance=0.5, max_missed_frames=1)
    rng = np.random.default_rng(0)
    renamed = rng.permutation(len(predicted)) + 10**6
    table = predicted.table.assign(track_id=renamed[predicted.table["track_id"]]).sample(frac=1, random_state=1)
    truth = Points(detections.table.sample(frac=1, random_state=2), detections.calibration)
    assert score_links(Tracks(table, predicted.calibration), truth, tolerance=0.5, max_missed_frames=1) == whole
    assert score_links(Tracks(table, predicted.calibration), truth, max_missed_frames=1) == score_links(
        predicted, detections, max_missed_frames=1
    )


def test_rows_without_a_track_are_detections_only():
    predicted = Tracks(TRUTH.table.assign(track_id=-1))
    score = score_links(predicted, TRUTH, tolerance=1.0)
    assert figures(score.detections) == (13, 13, 13)
    assert figures(score.links) == (10, 0, 0)
    assert (score.tracks.predicted, score.tracks.mean_coverage) == (0, 0.0)
    assert math.isnan(score.links.precision)
    assert score.links.f1 == 0.0


def test_nothing_found_and_nothing_to_find_are_told_apart():
    none = Tracks(TRUTH.table.iloc[:0])
    for tolerance in (1.0, None):
        empty = none if tolerance else Tracks(none.table.assign(true_id=0))
        found_nothing = score_links(empty, TRUTH, tolerance=tolerance).summary()
        assert (found_nothing["link_recall"], found_nothing["link_precision"]) == (0.0, None)
        predicted = TRUTH if tolerance else Tracks(TRUTH.table.assign(true_id=-1))
        nothing_there = score_links(predicted, none, tolerance=tolerance).summary()
        assert (nothing_there["link_recall"], nothing_there["link_precision"]) == (None, 0.0)
        assert (nothing_there["track_completeness"], nothing_there["mean_coverage"]) == (None, None)


def test_the_summary_is_plain_json():
    summary = score_links(TRUTH, TRUTH, tolerance=1.0).summary()
    assert json.loads(json.dumps(summary)) == summary
    assert summary["real_links"] == 10
    assert summary["complete_tracks"] == 3


def test_detections_are_scored_where_none_is_linked():
    truth = tracks({0: 0.0}, {0: 5.0}, {1: 0.0}, name="true_id", kind=Points)
    found = pd.DataFrame({"frame": [0, 0, 1, 1], "y": 0.0, "x": [0.1, 9.0, 0.1, 0.2], "track_id": range(4)})
    agreement = score_links(Tracks(found), truth, tolerance=1.0).detections
    assert figures(agreement) == (3, 4, 2)
    assert (agreement.precision, agreement.recall) == (0.5, pytest.approx(2 / 3))


def test_names_and_frames_however_large_are_told_apart():
    """Frame and name as one number would leave int64 here, and make two particles one."""
    table = pd.DataFrame({"frame": [0, 0, 2**32 - 1], "y": 0.0, "x": [0.0, 9.0, 0.0], "true_id": [0, 2**32, 7]})
    found = Tracks(table.iloc[[0]].assign(track_id=0))
    score = score_links(found, Points(table))
    assert figures(score.detections) == (3, 1, 1)
    assert figures(score_links(Tracks(table.iloc[[1]].assign(track_id=0)), Points(table)).detections) == (3, 1, 1)


def test_false_detections_in_the_truth_table_are_not_real():
    detections = simulate(SimulationSettings(particles=100, frames=2, false=0.5)).detections
    found = Tracks(detections.table.assign(track_id=range(len(detections))), detections.calibration)
    score = score_links(found, detections, tolerance=1e-9).detections
    assert (score.real, score.predicted, score.correct) == (200, len(detections), 200)


def test_bad_tables_and_settings_are_refused():
    with pytest.raises(InvalidInput, match=r"^tracks .*Tracks.*DataFrame.*read_tracks"):
        score_links(TRUTH.table, TRUTH)
    with pytest.raises(InvalidInput, match="'true_id'"):
        score_links(TRUTH, TRUTH)
    with pytest.raises(InvalidInput, match="'track_id' or 'true_id'"):
        score_links(TRUTH, Points(TRUTH.table.drop(columns="track_id")), tolerance=1.0)
    doubled = pd.concat([TRUTH.table, TRUTH.table.iloc[[0]]], ignore_index=True)
    twice = Points(doubled).with_track_ids(doubled["track_id"].to_numpy())
    with pytest.raises(InvalidInput, match=r"track 0 .*frame 0"):
        score_links(twice, TRUTH, tolerance=1.0)
    with pytest.raises(InvalidInput, match=r"particle 0 .*frame 0"):
        score_links(TRUTH, twice, tolerance=1.0)
    with pytest.raises(InvalidInput, match=r"true_id 0 .*frame 0"):
        score_links(Tracks(TRUTH.table.assign(true_id=0)), TRUTH)
    with pytest.raises(InvalidInput, match="track_id"):
        score_links(TRUTH, Tracks(TRUTH.table.assign(track_id=0.5)), tolerance=1.0)
    with pytest.raises(InvalidInput, match=r"pixel.*µm"):
        score_links(TRUTH, Tracks(TRUTH.table, Calibration(unit="µm")), tolerance=1.0)
    with pytest.raises(InvalidInput, match=r" 2.* 3"):
        score_links(TRUTH, Tracks(TRUTH.table.assign(z=0.0)), tolerance=1.0)
    for tolerance in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(InvalidSetting, match="tolerance"):
            score_links(TRUTH, TRUTH, tolerance=tolerance)
    with pytest.raises(InvalidSetting, match="max_missed_frames"):
        score_links(TRUTH, TRUTH, tolerance=1.0, max_missed_frames=-1)


class TestLinksAcrossGaps:
    """They are counted by themselves, whether or not they are among the links."""

    @pytest.mark.parametrize("missed", [0, 1, 9])
    @pytest.mark.parametrize(
        ("predicted", "wanted"),
        [
            ([range(5)], (0, 0, 0)),
            ([(0, 1, 3, 4)], (1, 1, 1)),  # over a frame in which the particle was not found
            ([(0, 1, 6)], (1, 1, 1)),
            ([(0, 1), (3, 4)], (1, 0, 0)),  # not closed: missed
            ([(0, 2), (1,)], (0, 1, 0)),  # over a detection of the particle, in a track of its own
        ],
    )
    def test_real_found_and_right(self, predicted, wanted, missed):
        found = tracks(*(standing(0.0, frames) for frames in predicted))
        score = score_links(found, tracks(standing(0.0, range(7))), tolerance=1.0, max_missed_frames=missed)
        assert figures(score.gap_links) == wanted

    def test_the_truths_own_gaps_are_real(self):
        life = tracks(standing(0.0, (0, 1, 5, 6)))
        assert figures(score_links(life, life, tolerance=1.0).gap_links) == (1, 1, 1)

    def test_to_another_particle_is_wrong(self):
        truth = tracks(standing(0.0, range(3)), standing(9.0, range(3)))
        crossed = tracks({0: 0.0, 2: 9.0}, {0: 9.0, 2: 0.0})
        assert figures(score_links(crossed, truth, tolerance=1.0).gap_links) == (2, 2, 0)

    def test_with_links_of_one_step_they_make_the_links_that_any_gap_is_allowed_in(self):
        simulated = simulate(SimulationSettings(particles=60, frames=12, missed=0.2, seed=5))
        found = simulated.detections.table.assign(track_id=simulated.detections.table["true_id"])
        found = Tracks(found[found["true_id"] >= 0].reset_index(drop=True), simulated.detections.calibration)
        steps, all_of_them = (score_links(found, simulated.truth, max_missed_frames=k) for k in (0, 99))
        gaps = figures(steps.gap_links)
        assert gaps[1] > 10
        assert figures(all_of_them.links) == tuple(np.add(figures(steps.links), gaps))
        assert steps.gap_links.f1 == 1.0
