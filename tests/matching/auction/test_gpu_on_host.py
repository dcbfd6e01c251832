"""The GPU's auction run on the host by its own kernels, small: every way that a problem may take, proven optimal."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from scipy.sparse import csr_array

from auctrack.matching import (
    Assignment,
    Auction,
    DeviceMemoryExceeded,
    Infeasible,
    NotConverged,
    Problem,
    solve,
    solving,
    verify,
)
from auctrack.matching.auction import gpu_dense, gpu_matrix, gpu_points, gpu_scaling
from auctrack.matching.auction.gpu_bids import bid
from auctrack.matching.auction.gpu_dense import cheapest_of_rows
from auctrack.matching.auction.gpu_scaling import increments
from auctrack.matching.auction.matrix_instead import MATRIX_READS, most_reads
from auctrack.matching.auction.scaling import PHASES
from auctrack.matching.certificate import gpu_certificate, refine
from auctrack.matching.certificate.gpu_certificate import certified
from auctrack.matching.device import cuda
from auctrack.matching.hungarian.gpu_classical import match_by_dual_phases
from auctrack.matching.paths import gpu_forest, gpu_trees
from auctrack.matching.paths.gpu_paths import grow_forest
from auctrack.matching.problem.convert import as_dense
from auctrack.matching.problem.gpu_graph import CostGraph, DeviceSolution, starting_duals

from ..cases import SMALL_COSTS, nearly_tied
from .conftest import THREADS
from .on_host import CUPY, draw_turns

pytestmark = [pytest.mark.kernels, pytest.mark.usefixtures("host")]

RNG = np.random.default_rng(0)


def _points(*sizes: tuple[int, int], **options: Any) -> Problem:
    return Problem.batch([Problem.points(RNG.random((n, 3)), RNG.random((m, 3)), **options) for n, m in sizes])


def _gate(n: int, m: int) -> csr_array:
    costs = RNG.random((n, m)) * (RNG.random((n, m)) < 0.1)
    costs[np.arange(n), RNG.permutation(m)[:n]] = 1.5
    return csr_array(costs)


PROBLEMS = {
    "points": _points((60, 60)),
    "points, wide": _points((40, 60)),
    "points, tall, squared": _points((60, 59), metric="squared"),
    "points, unmatched cost": _points((50, 60), unmatched_cost=0.1),
    "points in blocks": _points((20, 20), (7, 9), (1, 1), (70, 70), (3, 8)),
    "sparse": Problem.sparse(_gate(60, 60)),
    "sparse, tall": Problem.sparse(_gate(50, 60).T),
    "sparse, unmatched cost": Problem.sparse(_gate(60, 60), unmatched_cost=0.3),
    "dense, integer": Problem.dense(RNG.integers(0, 300, (50, 50))),
    "dense, wide": Problem.dense(RNG.random((40, 50), dtype=np.float32)),
    "dense, unmatched cost": Problem.dense(RNG.integers(0, 90, (40, 44)), unmatched_cost=40),
    "dense, some forbidden": Problem.dense(RNG.random((40, 50)), forbidden=RNG.random((40, 50)) < 0.6),
    "dense, tied but for rounding": as_dense(Problem.points(*nearly_tied(64, n=20, axes=2), metric="squared")),
    "dense, tied but for rounding, unmatched cost": as_dense(
        Problem.points(*nearly_tied(66, n=20, axes=2), unmatched_cost=0.1)
    ),
    "matrices": Problem.dense(RNG.integers(0, 90, (2, 10, 12))),
    "matrices, tall, unmatched cost": Problem.dense(RNG.random((2, 12, 10)), unmatched_cost=0.05),
}


def solved(problem: Problem, **options: Any) -> Assignment:
    answer = solve(problem, Auction(**options), "cuda")
    assert verify(problem, answer).is_optimal
    return answer


@pytest.mark.parametrize("kind", PROBLEMS)
def test_the_optimum_is_found_and_proven(kind: str) -> None:
    np.testing.assert_allclose(solved(PROBLEMS[kind]).cost, solve(PROBLEMS[kind], device="cpu").cost, rtol=1e-12)


@pytest.mark.parametrize("kind", ["sparse", "sparse, tall", "sparse, unmatched cost"])
def test_the_hungarian_method_on_sparse_costs_finds_and_proves_the_optimum(kind: str) -> None:
    answer = solve(PROBLEMS[kind], "hungarian-tree", "cuda")
    assert verify(PROBLEMS[kind], answer).is_optimal
    np.testing.assert_allclose(answer.cost, solve(PROBLEMS[kind], device="cpu").cost, rtol=1e-12)
    assert answer.stats["levels"] >= answer.stats["searches"] >= 1


def test_the_hungarian_method_names_what_cannot_be_matched_whole() -> None:
    costs = csr_array(([1.0, 2.0, 3.0, 4.0], ([0, 1, 2, 2], [0, 0, 1, 2])), shape=(3, 3))
    with pytest.raises(Infeasible) as caught:
        solve(Problem.sparse(costs), "hungarian-tree", "cuda")
    assert set(caught.value.rows) == {0, 1}


@pytest.mark.parametrize("kind", ["sparse, unmatched cost", "sparse, tall", "dense, integer"])
def test_the_answer_does_not_depend_on_whose_turn_it_is(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several blocks in each kernel, one may be far ahead of another, or stop before any word that others change."""
    monkeypatch.setattr(gpu_trees, "THREADS", THREADS)
    expected = solved(PROBLEMS[kind])
    for seed in (1, 2):
        draw_turns(monkeypatch, seed)
        answer = solved(PROBLEMS[kind])
        np.testing.assert_array_equal(answer.col_of_row, expected.col_of_row)
        np.testing.assert_array_equal(answer.col_duals, expected.col_duals)


@pytest.mark.parametrize("kind", ["sparse", "dense, integer"])
def test_forests_match_the_rows_that_few_bids_leave_whosever_turn_it_is(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = _matched_by_forests(PROBLEMS[kind])
    assert expected.cost == pytest.approx(solve(PROBLEMS[kind], device="cpu").cost, rel=1e-12)
    for seed in (1, 2):
        draw_turns(monkeypatch, seed)
        answer = _matched_by_forests(PROBLEMS[kind])
        np.testing.assert_array_equal(answer.col_of_row, expected.col_of_row)
        np.testing.assert_array_equal(answer.col_duals, expected.col_duals)


def _matched_by_forests(problem: Problem) -> Assignment:
    graph = CostGraph.of(CUPY, problem)
    matching = DeviceSolution.start(graph, starting_duals(graph))
    left = bid(graph, matching, most_rounds=2)
    assert len(left) > 1
    infeasible_row, left = grow_forest(graph, matching, left)
    assert (infeasible_row, len(left)) == (-1, 0)
    return certified(graph, problem, matching, solver="auction", device="cuda", stats={})


@pytest.mark.parametrize("kind", ["dense, integer", "matrices, tall, unmatched cost"])
def test_matrices_go_through_their_cheapest_pairs(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_dense, "SMALLEST_SIDE", 1)
    monkeypatch.setattr(gpu_dense, "CHEAPEST", 4)
    assert solved(PROBLEMS[kind]).stats["pricing_rounds"] >= 1


@pytest.mark.parametrize("kind", ["dense, integer", "dense, some forbidden", "dense, tied but for rounding"])
def test_matrices_of_which_cheapest_pairs_say_little_are_solved_in_phases(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_dense, "SMALLEST_SIDE", 1)
    monkeypatch.setattr(gpu_dense, "PHASE_ROUNDS", 1)
    monkeypatch.setattr(gpu_scaling, "FEW_UNASSIGNED", 2.0)
    assert solved(PROBLEMS[kind]).stats["whole_matrix"] == 1


@pytest.mark.parametrize(
    "kind", ["dense, wide", "dense, unmatched cost", "dense, tied but for rounding, unmatched cost"]
)
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_rows_of_a_matrix_whose_paths_are_long_are_matched_by_the_hungarian_method(
    kind: str, seed: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    _let_trees_grow_in_matrices(monkeypatch)
    problem = PROBLEMS[kind]
    expected = solved(problem)
    if seed is not None:
        draw_turns(monkeypatch, seed)
    answer = solved(problem)
    assert min(answer.stats["bids"], answer.stats["dual_phases"]) > 0
    np.testing.assert_allclose(answer.cost, solve(problem, device="cpu").cost, rtol=1e-12)
    np.testing.assert_array_equal(answer.col_of_row, expected.col_of_row)
    np.testing.assert_array_equal(answer.col_duals, expected.col_duals)


def test_unassigned_columns_of_a_matrix_are_settled_by_trees_with_the_sides_exchanged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _let_trees_grow_in_matrices(monkeypatch)
    monkeypatch.setattr(gpu_scaling, "FEW_UNASSIGNED", 2.0)
    stats = solved(PROBLEMS["dense, wide"]).stats
    assert min(stats["unassigned_columns"], stats["dual_phases"]) > 0


@pytest.mark.parametrize("kind", ["matrices", "matrices, tall, unmatched cost"])
def test_rows_of_several_matrices_are_matched_by_a_search_each(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _let_trees_grow_in_matrices(monkeypatch)
    assert "dual_phases" not in solved(PROBLEMS[kind]).stats


def test_rows_that_the_hungarian_method_scans_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    _let_trees_grow_in_matrices(monkeypatch)
    monkeypatch.setattr(gpu_scaling, "LONGEST_PATH", 0)
    problem = PROBLEMS["dense, wide"]
    done = []
    monkeypatch.setattr(
        gpu_scaling, "match_by_dual_phases", lambda *given: done.append(match_by_dual_phases(*given)) or done[-1]
    )
    scanned = solved(problem).stats["rows_scanned"]
    assert scanned >= sum(counts["rows_scanned"] for _, counts in done) > 0


def test_a_budget_is_one_of_all_bids_on_the_graphs_of_a_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_dense, "SMALLEST_SIDE", 1)
    monkeypatch.setattr(gpu_dense, "CHEAPEST", 1)
    monkeypatch.setattr(gpu_scaling, "LEFT_TO_PATHS", 0)
    with pytest.raises(NotConverged) as caught:
        solved(PROBLEMS["dense, unmatched cost"], max_bids=3)
    known = caught.value.assignment
    assert known is not None
    assert known.n_matched > 0
    assert known.stats["bids"] < (3 + 1) * len(known.col_of_row)
    assert 0 < known.gap < np.inf


def test_the_matrix_takes_over_from_cheapest_pairs_that_are_read_too_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_dense, "SMALLEST_SIDE", 1)
    monkeypatch.setattr(gpu_dense, "CHEAPEST", 1)
    often = solved(PROBLEMS["dense, unmatched cost"]).stats
    assert (often["pricing_rounds"] > 1, "whole_matrix" in often) == (True, False)
    monkeypatch.setattr(gpu_dense, "MATRIX_READS", 0)
    seldom = solved(PROBLEMS["dense, unmatched cost"]).stats
    assert (seldom["pricing_rounds"], seldom["whole_matrix"]) == (1, 1)


def _let_trees_grow_in_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few rounds of bids end it, a path of one row be a long one, and trees have several blocks."""
    monkeypatch.setattr(gpu_scaling, "LEFT_TO_PATHS", 0)
    monkeypatch.setattr(gpu_scaling, "FINAL_ROUNDS", 4)
    monkeypatch.setattr(gpu_scaling, "LONGEST_PATH", 1)
    monkeypatch.setattr(gpu_forest, "LEAST_COLUMNS", 16)


def test_phases_of_a_matrix_have_its_own_scale() -> None:
    """Integers so small beside the number of columns that the increments of its cheapest pairs would be below 1."""
    costs = np.random.default_rng(3).choice(4, (90, 90), p=[0.03, 0.32, 0.33, 0.32])
    graph = CostGraph.of(CUPY, Problem.dense(costs))
    assert increments(graph) == []
    assert gpu_dense._prices_of_phases(graph).spent.bids >= 90


def test_points_whose_neighbours_say_little_get_their_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_points, "search_free", lambda *_: gpu_points.TOO_HARD)
    assert solved(PROBLEMS["points"]).stats["matrix"] == 1


@pytest.mark.parametrize("kind", ["points", "points, wide", "points, tall, squared", "points in blocks"])
def test_points_get_their_matrix_at_once_where_the_caller_wants_that(kind: str) -> None:
    answer = solved(PROBLEMS[kind], matrix="only")
    assert answer.stats["matrix"] == 1
    assert answer.cost == pytest.approx(solve(PROBLEMS[kind], device="cpu").cost, rel=1e-12)


UNEQUAL = {
    "reals": Problem.dense(RNG.random((40, 50))),
    "far from zero": Problem.dense(1e6 + RNG.random((30, 31))),
    "whole numbers that tie": Problem.dense(RNG.integers(-9, 9, (40, 55))),
    "some forbidden": PROBLEMS["dense, some forbidden"],
    "all tied": Problem.dense(np.ones((20, 30))),
    "tall": Problem.dense(RNG.random((33, 30))),
    "blocks of two densities": Problem.dense(np.abs(RNG.random((40, 1)) - RNG.random(44) ** 2)),
    "too unequal to be made square": Problem.dense(RNG.random((20, 50))),
}


@pytest.mark.parametrize("kind", UNEQUAL)
def test_a_matrix_of_unequal_sides_is_bid_for_as_a_whole_where_the_caller_wants_that(kind: str) -> None:
    answer = solved(UNEQUAL[kind], matrix="only")
    assert answer.stats["whole_matrix"] == 1
    assert answer.cost == pytest.approx(solve(UNEQUAL[kind], device="cpu").cost, rel=1e-12)


def test_columns_that_the_rows_added_to_a_matrix_hold_are_at_their_bound() -> None:
    answer = solved(UNEQUAL["reals"], matrix="only")
    assert answer.col_duals.max() == 0
    assert (answer.col_duals[answer.row_of_col < 0] == 0).all()
    assert "unassigned_columns" not in answer.stats


def test_points_with_an_unmatched_cost_get_no_matrix_though_the_caller_wants_one() -> None:
    assert "matrix" not in solved(PROBLEMS["points, unmatched cost"], matrix="only").stats


def test_a_phase_of_a_matrix_that_does_not_end_soon_is_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_dense, "SMALLEST_SIDE", 1)
    monkeypatch.setattr(gpu_dense, "PHASE_ROUNDS", 1)
    problem, phases = Problem.dense(np.random.default_rng(1).random((50, 50))), []
    monkeypatch.setattr(gpu_dense, "bid", lambda *given, **how: phases.append(how["eps"]) or bid(*given, **how))
    for rounds, expected in [(gpu_dense.MATRIX_ROUNDS, PHASES), (1, 1)]:
        monkeypatch.setattr(gpu_dense, "MATRIX_ROUNDS", rounds)
        phases.clear()
        assert solved(problem).stats["whole_matrix"] == 1
        assert len(phases) == expected


def test_free_memory_decides_whether_there_is_an_answer_but_not_which(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: int, purpose: str) -> None:
        if purpose.startswith("the matrix"):
            raise DeviceMemoryExceeded(purpose)

    monkeypatch.setattr(cuda, "require_memory", refuse)
    monkeypatch.setattr(gpu_points, "search_free", lambda *_: gpu_points.TOO_HARD)
    assert most_reads(PROBLEMS["points"], gpu_matrix.MATRIX_BYTES) == MATRIX_READS * 60 * 60
    with pytest.raises(DeviceMemoryExceeded):
        solved(PROBLEMS["points"])


@pytest.mark.parametrize("unmatched_cost", [0.5, None])
def test_rows_that_later_pairs_contradict_are_matched_anew(
    unmatched_cost: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_points, "most_reads", lambda *_: np.inf)  # no matrix
    rng = np.random.default_rng(0)
    x, y = rng.random((60, 3)) * [1, 1, 0.1], rng.normal(0.5, 0.1, (72, 3))
    problem = Problem.points(x, y, unmatched_cost=unmatched_cost)
    answer = solved(problem)
    assert answer.stats["pairs_added"] > 0
    assert answer.cost == pytest.approx(solve(problem, device="cpu").cost, rel=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.int32])
@pytest.mark.parametrize("width", [3, 40, 256, 700])
def test_cheapest_of_rows(dtype: Any, width: int) -> None:
    """Every 256th pair of a row is a thread's: of the threads' least costs, the wanted, or the largest there is."""
    costs = np.random.default_rng(1).integers(-50, 1000, (5, width)).astype(dtype)
    forbidden = np.random.default_rng(2).random((5, width)) < 0.3
    forbidden[0] = True
    graph = CostGraph.of(CUPY, Problem.dense(costs, forbidden=forbidden))
    padded = np.full((5, -(-width // 256) * 256), np.inf)
    padded[:, :width] = np.where(forbidden, np.inf, costs)
    least = np.sort(padded.reshape(5, -1, 256).min(axis=1), axis=1)
    for rank in (1, 8, 16):
        expected = [
            row[min(rank, np.isfinite(row).sum()) - 1] if np.isfinite(row).any() else graph.none for row in least
        ]
        np.testing.assert_array_equal(cheapest_of_rows(graph, rank), expected)


@pytest.mark.parametrize("cost", SMALL_COSTS.values(), ids=SMALL_COSTS)
@pytest.mark.parametrize("variant", ["default", "paper"])
def test_an_increment_far_above_the_costs_leaves_duals_that_prove_the_stated_gap(
    cost: np.ndarray, variant: Literal["default", "paper"]
) -> None:
    answer = solve(Problem.dense(cost), Auction(eps=100.0, variant=variant), "cuda")
    assert verify(cost, answer).is_valid


@pytest.mark.parametrize("can_be_fetched", [True, False])
def test_sentinels_do_not_hide_wrong_edges(can_be_fetched: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too large to be fetched where its digits decide is not called optimal."""
    cost = np.random.default_rng(0).random((40, 40))
    cost[:3] = 1e16
    problem, wrong = Problem.dense(cost), np.roll(np.arange(40, dtype=np.int32), 1)
    if not can_be_fetched:
        monkeypatch.setattr(gpu_certificate, "MOST_FETCHED", 0)
        monkeypatch.setattr(refine, "MOST_FETCHED", 0)
        monkeypatch.setattr(solving, "solved_above_least", lambda *_: None)  # which fetches it, too
    graph = CostGraph.of(CUPY, problem)
    matching = DeviceSolution(CUPY.asarray(np.full(40, 1e16)), CUPY.asarray(wrong), CUPY.asarray(np.argsort(wrong)))
    assert not certified(graph, problem, matching, solver="", device="cuda", stats={}).is_optimal
    answer = solve(problem, Auction(), "cuda")
    right = solve(problem, "jv", "cpu")
    assert answer.is_optimal == can_be_fetched
    if can_be_fetched:
        np.testing.assert_array_equal(answer.col_of_row[3:], right.col_of_row[3:])
