"""The auction with ε-scaling on the CPU: the exact finish, the traps of unequal sides, its options and its budget."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auctrack.matching import (
    JV,
    Assignment,
    Auction,
    DeviceUnavailable,
    Infeasible,
    InvalidProblem,
    NotConverged,
    Problem,
    solve,
    verify,
)
from auctrack.matching.points.box_tree import build_tree, nearest
from auctrack.matching.points.hilbert import hilbert_orders
from auctrack.matching.problem.convert import as_dense
from auctrack.plugins.bench.assignment.hostile_costs import city_blocks, one_far_point, photographs

from ...refusals import refused
from ..cases import SMALL_COSTS

SPARSE_JV = JV(form="sparse")


def neighbour_graph(n: int, m: int, k: int = 12, seed: int = 0) -> Problem:
    """Independent points, each row's nearest columns and a column of its own rank: hard enough that phases must run."""
    rng = np.random.default_rng(seed)
    x, y = rng.random((n, 3)), rng.random((m, 3))
    row_order, col_order = hilbert_orders(x, y)
    x, y = x[row_order], y[col_order]
    near, _ = nearest(build_tree(y), build_tree(x).points, k, n)
    columns = [np.unique(np.append(near[i], i * m // n)) for i in range(n)]
    indptr = np.concatenate([[0], np.cumsum([len(c) for c in columns])])
    indices = np.concatenate(columns)
    rows = np.repeat(np.arange(n), np.diff(indptr))
    return Problem.sparse((indptr, indices, np.linalg.norm(x[rows] - y[indices], axis=1)), shape=(n, m))


def assert_same_optimum(problem: Problem, solver: Any, reference: str | JV = SPARSE_JV) -> Assignment:
    answer = solve(problem, solver)
    certificate = verify(problem, answer)
    assert certificate.faults == ()
    assert certificate.is_optimal
    assert answer.is_optimal
    np.testing.assert_allclose(answer.cost, solve(problem, reference).cost, rtol=1e-12)
    return answer


@pytest.mark.parametrize("as_graph", [False, True])
def test_exchanges_that_differ_by_rounding_alone_are_settled_by_bids(as_graph: bool) -> None:
    """By city block a path goes through half of the rows before its end is nearer than all other columns."""
    costs = city_blocks(600, 1)
    full = np.arange(0, 600**2 + 1, 600), np.tile(np.arange(600), 600), costs.ravel()
    answer = assert_same_optimum(
        Problem.sparse(full, shape=(600, 600)) if as_graph else Problem.dense(costs), Auction()
    )
    assert answer.stats["rows_scanned"] < 40 * 600  # 155 a row, were paths to finish after six phases


def test_a_budget_of_bids_counts_those_of_finer_phases() -> None:
    costs = city_blocks(600, 1)
    bids = solve(costs, Auction()).stats["bids"] / 600
    with pytest.raises(NotConverged, match="max_bids"):
        solve(costs, Auction(max_bids=round(bids / 2)))
    assert_same_optimum(Problem.dense(costs), Auction(max_bids=round(bids * 2)))


@pytest.mark.parametrize("seed", range(3))
def test_a_first_phase_that_takes_many_bids_gives_way_to_a_coarser_one(seed: int):
    """Many pixels are alike: a first ε of what a row's cheapest pairs differ by took 107 to 127 bids a row in all."""
    costs = photographs(800, seed)
    answer = assert_same_optimum(Problem.dense(costs), Auction(), JV())
    assert answer.stats["bids"] < 95 * len(costs)


@pytest.mark.parametrize(("n", "m"), [(600, 600), (600, 640), (640, 600)])
def test_scaled_phases_end_at_the_optimum_of_unequal_sides_too(n: int, m: int):
    problem = neighbour_graph(n, m) if n <= m else Problem.sparse(_turned(neighbour_graph(m, n)), shape=(n, m))
    answer = assert_same_optimum(problem, Auction())
    assert answer.stats["bids"] > 2 * min(n, m)


def test_phases_run_only_where_bids_without_an_increment_leave_much():
    hard = neighbour_graph(600, 600)
    x = np.random.default_rng(0).random((600, 3))
    row_order, _ = hilbert_orders(x, x)
    x = x[row_order]
    near, _ = nearest(build_tree(x + 0.005), build_tree(x).points, 12, 600)
    rows, cols = np.repeat(np.arange(600), 12), np.sort(near, axis=1).reshape(-1)
    cost = np.linalg.norm(x[rows] - x[cols] - 0.005, axis=1)
    easy = Problem.sparse((np.arange(601) * 12, cols, cost), shape=(600, 600))
    assert solve(easy, Auction()).stats["bids"] <= 7 * 600
    assert solve(hard, Auction()).stats["bids"] > 7 * 600


@pytest.mark.parametrize("side", ["row", "column"])
def test_one_far_point_raises_no_prices_but_its_own(side: str):
    cost = one_far_point(600, 0)
    answer = solve(cost if side == "column" else cost.T.copy(), Auction(max_bids=60), "cpu")
    assert answer.is_optimal
    assert answer.cost == pytest.approx(solve(cost, "jv", "cpu").cost, rel=1e-12)


def test_many_more_columns_than_rows_are_bid_for_from_the_bound():
    answer = assert_same_optimum(neighbour_graph(500, 900), Auction())
    assert answer.stats.get("unassigned_columns", 0) == 0


def _turned(problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    from auctrack.matching.problem.convert import transposed

    turned = transposed(problem)
    assert turned.indptr is not None
    assert turned.indices is not None
    return turned.indptr, turned.indices, turned.data


def test_columns_that_scaled_phases_leave_unassigned_end_at_their_bound():
    problem = neighbour_graph(2000, 2020)
    answer = solve(problem, Auction())
    unassigned = answer.row_of_col < 0
    assert answer.stats["unassigned_columns"] > 0
    assert unassigned.sum() == 20
    assert (answer.col_duals[unassigned] == 0).all()
    assert (answer.col_duals <= 0).all()


def test_unassigned_rows_and_columns_pay_their_unmatched_cost():
    problem = neighbour_graph(400, 450)
    rng = np.random.default_rng(1)
    unmatched = rng.uniform(0.02, 0.1, 400), rng.uniform(0.02, 0.1, 450)
    bounded = Problem.sparse(
        (problem.indptr, problem.indices, problem.data), shape=(400, 450), unmatched_cost=unmatched
    )
    answer = assert_same_optimum(bounded, Auction())
    np.testing.assert_allclose(answer.row_duals[answer.col_of_row < 0], unmatched[0][answer.col_of_row < 0])
    np.testing.assert_allclose(answer.col_duals[answer.row_of_col < 0], unmatched[1][answer.row_of_col < 0])


def test_integer_costs_are_proven_with_gap_zero_after_phases_in_floats():
    problem = neighbour_graph(600, 600)
    whole = Problem.sparse(
        (problem.indptr, problem.indices, np.rint(problem.data * 1e7).astype(np.int64)), shape=(600, 600)
    )
    answer = assert_same_optimum(whole, Auction())
    assert answer.gap == 0
    assert answer.row_duals.dtype == np.int64


def test_blocks_of_a_batch_keep_schedules_of_their_own():
    fine = neighbour_graph(300, 300)
    coarse = Problem.sparse((fine.indptr, fine.indices, fine.data * 2.0**40), shape=(300, 300))
    together = solve(Problem.batch([fine, coarse]), Auction())
    assert together.is_optimal
    assert together.cost[1] == together.cost[0] * 2.0**40
    assert together.cost[0] == solve(fine, Auction()).cost


@pytest.mark.parametrize("offset", [1e4, 1e7])
def test_prices_do_not_stall_where_one_ulp_is_as_large_as_the_differences(offset: float):
    cost = (np.random.default_rng(0).random((60, 60)) + offset).astype(np.float32)
    answer = assert_same_optimum(Problem.dense(cost), Auction(), "jv")
    assert answer.stats["bids"] < 400 * 6 * 60


def test_a_float64_offset_that_swallows_the_differences_ends_too():
    cost = np.random.default_rng(0).integers(0, 3, (40, 40)) + 2.0**52
    assert_same_optimum(Problem.dense(cost), Auction(), "jv")


@pytest.mark.parametrize("eps", [0.1, 0.01, 1e-3])
def test_eps_bounds_the_gap_that_the_result_states(eps: float):
    problem = neighbour_graph(300, 300)
    answer = solve(problem, Auction(eps=eps))
    assert verify(problem, answer).is_valid
    assert not answer.is_optimal
    assert 0 < answer.gap <= 300 * eps * (1 + 1e-9)
    assert answer.cost - answer.gap <= solve(problem, SPARSE_JV).cost <= answer.cost


@pytest.mark.parametrize(("n", "m"), [(80, 100), (100, 80)])
def test_eps_keeps_its_word_for_unequal_sides_and_unmatched_costs(n: int, m: int):
    cost = np.random.default_rng(2).random((n, m))
    for problem in (
        Problem.dense(cost),
        Problem.dense(cost, unmatched_cost=0.02),
        Problem.dense((cost * 100).astype(int)),
    ):
        answer = solve(problem, Auction(eps=1e-3))
        rounding = 2 * n if problem.is_integer else 0
        assert verify(problem, answer).is_valid
        assert answer.gap <= (n + m) * 1e-3 + rounding


@pytest.mark.parametrize("options", [{"eps": 100.0}, {"eps": 100.0, "variant": "paper"}, {"variant": "paper"}], ids=str)
@pytest.mark.parametrize("cost", SMALL_COSTS.values(), ids=SMALL_COSTS)
def test_an_increment_far_above_the_costs_leaves_duals_that_prove_the_stated_gap(
    cost: np.ndarray, options: dict[str, Any]
):
    answer = solve(cost, Auction(**options))
    assert verify(cost, answer).is_valid
    assert answer.gap <= len(cost) * ((cost.max() or 100.0) + 1)


def test_eps_below_the_resolution_of_the_prices_is_refused():
    with refused(InvalidProblem, argument="eps", match="1e-10"):
        solve(np.array([[1e8, 2e8], [3e8, 5e8]]), Auction(eps=1e-10))


def test_a_spent_budget_carries_what_is_known():
    problem = neighbour_graph(300, 300)
    with pytest.raises(NotConverged, match="max_bids=1 ") as caught:
        solve(problem, Auction(max_bids=1))
    known = caught.value.assignment
    assert known is not None
    assert 0 < known.n_matched < 300
    assert known.gap == np.inf
    assert not known.is_optimal
    duals = known.row_duals.sum() + known.col_duals.sum()
    assert duals <= solve(problem, SPARSE_JV).cost
    assert known.stats["bids"] <= 300


def test_a_spent_budget_has_a_finite_gap_where_rows_may_stay_unassigned():
    graph = neighbour_graph(300, 300)
    problem = Problem.sparse((graph.indptr, graph.indices, graph.data), shape=(300, 300), unmatched_cost=0.3)
    with pytest.raises(NotConverged) as caught:
        solve(problem, Auction(max_bids=1, eps=1e-4))
    known = caught.value.assignment
    assert known is not None
    assert verify(problem, known).is_valid
    assert not known.is_optimal
    optimum = solve(problem, SPARSE_JV).cost
    assert 0 < known.cost - optimum <= known.gap < np.inf


def test_a_spent_budget_leaves_complete_blocks_their_gap():
    easy = Problem.sparse((np.arange(41), np.arange(40), np.ones(40)), shape=(40, 40))
    with pytest.raises(NotConverged) as caught:
        solve(Problem.batch([easy, neighbour_graph(300, 300)]), Auction(max_bids=1))
    known = caught.value.assignment
    assert known is not None
    assert not known.is_optimal
    assert known.gap[0] < 1
    assert known.gap[1] == np.inf


def test_a_budget_that_suffices_changes_nothing():
    problem = neighbour_graph(200, 200)
    assert solve(problem, Auction(max_bids=10_000)).cost == pytest.approx(solve(problem, Auction()).cost, rel=1e-12)


@pytest.mark.parametrize("options", [{}, {"eps": 0.01}, {"variant": "paper"}])
@pytest.mark.parametrize("integer", [False, True])
def test_infeasible_ends_with_a_hall_violator(options: dict[str, Any], integer: bool):
    forbidden = np.zeros((50, 50), bool)
    forbidden[:5, 4:] = True
    cost = np.random.default_rng(0).integers(0, 100, (50, 50))
    problem = Problem.dense(cost if integer else cost * 1.0, forbidden=forbidden)
    with pytest.raises(Infeasible) as caught:
        solve(problem, Auction(**options))
    reached = np.flatnonzero((~forbidden[list(caught.value.rows)]).any(axis=0))
    assert len(reached) < len(caught.value.rows)


def _few_shared(problem: Problem, rows: int) -> Problem:
    """Take pairs away so that the first `rows` rows have one column fewer than they are."""
    assert problem.indptr is not None
    assert problem.indices is not None
    row = np.repeat(np.arange(problem.n_rows), np.diff(problem.indptr))
    few = np.unique(problem.indices[row < rows])[: rows - 1]
    kept = (row >= rows) | np.isin(problem.indices, few)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row[kept], minlength=problem.n_rows))])
    return Problem.sparse((indptr, problem.indices[kept], problem.data[kept]), shape=problem.shape)


@pytest.mark.parametrize("options", [{}, {"eps": 0.01}, {"max_bids": 100}, {"variant": "paper"}], ids=str)
@pytest.mark.parametrize("n_cols", [600, 640, 900])
def test_infeasible_is_found_before_any_bid(
    options: dict[str, Any], n_cols: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_bid(*_: Any) -> None:
        pytest.fail("bidding began")

    for kernel in ("auction.phases._try_parts", "auction.phases._solve_parts", "papers.vasconcelos_2009.cpu._auction"):
        monkeypatch.setattr(f"auctrack.matching.{kernel}", no_bid)
    problem = _few_shared(neighbour_graph(600, n_cols), 40)
    with pytest.raises(Infeasible):
        solve(as_dense(problem), Auction(**options))
    with pytest.raises(Infeasible) as caught:
        solve(problem, Auction(**options))
    rows = caught.value.rows
    assert problem.indptr is not None
    assert problem.indices is not None
    reached = np.concatenate([problem.indices[problem.indptr[i] : problem.indptr[i + 1]] for i in rows])
    assert set(caught.value.columns) == set(reached.tolist())
    assert len(caught.value.columns) < len(rows)


def test_same_input_same_answer():
    problem = neighbour_graph(500, 520)
    first, second = (solve(problem, Auction()) for _ in range(2))
    np.testing.assert_array_equal(first.col_of_row, second.col_of_row)
    np.testing.assert_array_equal(first.col_duals, second.col_duals)


def test_scaling_costs_by_a_power_of_two_changes_nothing():
    problem = neighbour_graph(400, 400)
    scaled = Problem.sparse((problem.indptr, problem.indices, problem.data * 2.0**-30), shape=(400, 400))
    np.testing.assert_array_equal(solve(problem, Auction()).col_of_row, solve(scaled, Auction()).col_of_row)


@pytest.mark.parametrize(
    "options",
    [
        {"variant": "english"},
        {"convergence": "never"},
        {"eps": 0.0},
        {"eps": float("nan")},
        {"eps": "0.1"},
        {"max_bids": 0},
        {"max_bids": 1.5},
        {"max_bids": "many"},
        {"max_bids": 2**62},
    ],
)
def test_options_are_checked_when_stated(options: dict[str, Any]):
    with refused(InvalidProblem, argument=next(iter(options))):
        Auction(**options)


def test_cuda_without_a_gpu_says_so():
    from auctrack.matching.device import cuda

    if cuda.is_available():
        pytest.skip("a CUDA device is present")
    with pytest.raises(DeviceUnavailable):
        solve(np.eye(3), Auction(), "cuda")
