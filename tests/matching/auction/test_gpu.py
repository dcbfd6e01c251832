"""The auction on a GPU: every named hard case, the sizes at which its parts take over, and what its options promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array, eye_array, random_array

from auctrack.matching import Infeasible, InvalidProblem, NotConverged, Problem, solve, verify
from auctrack.matching.auction import Auction
from auctrack.matching.device import cuda
from auctrack.matching.errors import DeviceMemoryExceeded
from auctrack.matching.presolve.groups import by_shape
from auctrack.matching.problem.gpu_graph import CostGraph

from ..cases import CASES, assert_solves
from .on_gpu import assert_optimal
from .short_problems import SHORT, assert_refused, reaches_too_little

pytestmark = pytest.mark.gpu


def dense_gate(n: int, degree: int, seed: int = 3) -> Problem:
    """Sparse problem of n rows and columns with `degree` random pairs a row and an unmatched cost."""
    rng = np.random.default_rng(seed)
    indices = np.sort(rng.integers(0, n // degree, (n, degree)) * degree + np.arange(degree), axis=1).reshape(-1)
    costs = rng.random(n * degree).astype(np.float32)
    return Problem.sparse((np.arange(n + 1) * degree, indices, costs), shape=(n, n), unmatched_cost=0.3)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_named_case(case: Any) -> None:
    assert_solves(case, Auction(), "cuda")


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1100, 1100), (1100, 1160), (1160, 1100)], ids=str)
def test_large_matrix_goes_through_its_cheapest_pairs(dtype: Any, shape: tuple[int, int]) -> None:
    cost = np.random.default_rng(1).integers(0, 100_000, shape).astype(dtype)
    answer = assert_optimal(Problem.dense(cost))
    assert answer.cost == cost[linear_sum_assignment(cost)].sum(dtype=np.float64)
    assert answer.stats["pricing_rounds"] >= 1


def test_large_matrix_with_unmatched_cost() -> None:
    rng = np.random.default_rng(2)
    problem = Problem.dense(rng.random((1100, 1300)), unmatched_cost=(rng.random(1100) / 500, rng.random(1300) / 500))
    answer = assert_optimal(problem)
    assert 0 < answer.n_matched < 1100


def test_matrix_whose_cheapest_pairs_cannot_be_matched_whole() -> None:
    """Every row likes the same few columns: the graph of cheapest pairs has no full matching, the matrix has."""
    n = 1100
    cost = np.add.outer(np.zeros(n), np.arange(n, dtype=np.float64)) + np.random.default_rng(4).random((n, n)) * 1e-3
    assert assert_optimal(Problem.dense(cost)).n_matched == n


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(300, 330), (330, 300), (1100, 1300)], ids=str)
def test_clustered_matrix_of_unequal_sides_is_matched_by_trees(dtype: Any, shape: tuple[int, int]) -> None:
    cost = clustered_costs(shape).astype(dtype)
    answer = assert_optimal(Problem.dense(cost))
    assert answer.cost == cost[linear_sum_assignment(cost)].sum(dtype=np.float64)
    assert answer.stats["dual_phases"] > 0


@pytest.mark.parametrize("shape", [(330, 300), (1100, 1300)], ids=str)
def test_so_is_one_whose_rows_and_columns_have_unmatched_costs(shape: tuple[int, int]) -> None:
    cost, unmatched_cost = (
        clustered_costs(shape).astype(np.float32),
        (np.linspace(9e3, 9e4, shape[0]), np.zeros(shape[1])),
    )
    answer = assert_optimal(Problem.dense(cost, unmatched_cost=unmatched_cost))
    assert 0 < answer.n_matched < min(shape)
    assert answer.stats["dual_phases"] > 0


def clustered_costs(shape: tuple[int, int]) -> np.ndarray:
    """Return distances of points in a box to clusters in it, whole numbers up to 140,000."""
    rng = np.random.default_rng(7)
    rows, centres = rng.random((shape[0], 3)), rng.random((6, 3))
    columns = centres[rng.integers(6, size=shape[1])] + rng.normal(0, 0.02, (shape[1], 3))
    return np.rint(80_000 * np.linalg.norm(rows[:, None] - columns, axis=2))


def test_equal_costs() -> None:
    assert assert_optimal(Problem.dense(np.ones((1200, 1200), np.int32))).cost == 1200


def test_batch_of_matrices_goes_as_one_graph() -> None:
    costs = np.random.default_rng(5).integers(0, 1000, (90, 60, 60)).astype(np.float32)
    answer = assert_optimal(Problem.dense(costs))
    assert answer.cost.tolist() == [cost[linear_sum_assignment(cost)].sum(dtype=np.float64) for cost in costs]


def test_batch_of_tall_and_wide_matrices() -> None:
    rng = np.random.default_rng(6)
    shapes = [(5, 9), (9, 5), (7, 7)]
    blocks = [rng.integers(0, 50, shape) for shape in shapes]
    answer = assert_optimal(Problem.batch([Problem.dense(block) for block in blocks]))
    assert answer.cost.tolist() == [block[linear_sum_assignment(block)].sum() for block in blocks]


def test_large_sparse_graph_that_must_be_matched_whole() -> None:
    n, rng = 20_000, np.random.default_rng(7)
    indices = (np.arange(n)[:, None] + np.array([0, 1, 7, 100, 5000])) % n
    graph = csr_array((rng.random(5 * n) + 0.01, indices.reshape(-1), np.arange(n + 1) * 5), shape=(n, n))
    graph.sort_indices()
    assert assert_optimal(Problem.sparse(graph)).n_matched == n


def test_large_gate() -> None:
    assert_optimal(dense_gate(100_000, 8))


@pytest.mark.parametrize("size", [1e16, 1e30])
@pytest.mark.parametrize("is_on_device", [False, True])
def test_sentinels_hide_no_digits_of_the_other_rows(size: float, is_on_device: bool) -> None:
    cost = np.random.default_rng(0).random((500, 500))
    cost[:3] = size
    given = cuda.cupy().asarray(cost) if is_on_device else cost
    answer = solve(Problem.dense(given), Auction(), "cuda")
    assert answer.is_optimal
    assert cuda.is_device_array(answer.col_of_row) == is_on_device
    assert verify(cost, answer.on_host())
    right = linear_sum_assignment(cost[3:])[1]
    others = answer.on_host().col_of_row[3:]
    assert cost[np.arange(3, 500), others].sum() == pytest.approx(cost[np.arange(3, 500), right].sum())


@pytest.mark.parametrize(
    "problem",
    [
        dense_gate(20_000, 6),
        Problem.dense(np.random.default_rng(8).integers(0, 40, (1500, 1500))),
        Problem.dense(np.random.default_rng(9).random((200, 230), dtype=np.float32)),
        Problem.dense(np.random.default_rng(27).integers(0, 500, (80, 60, 60))),
        Problem.points(*np.random.default_rng(28).random((2, 3000, 3))),
        Problem.points(*np.split(np.random.default_rng(29).random((4500, 2)), [2600])),
        Problem.batch([Problem.points(*np.random.default_rng(k).random((2, 40 + k, 3))) for k in range(30)]),
    ],
    ids=["gate", "ties", "wide", "batch of matrices", "independent points", "tall points", "batch of points"],
)
def test_same_answer_on_every_run(problem: Problem) -> None:
    first = solve(problem, "auction", "cuda")
    for _ in range(3):
        again = solve(problem, "auction", "cuda")
        np.testing.assert_array_equal(again.col_of_row, first.col_of_row)
        np.testing.assert_array_equal(again.col_duals, first.col_duals)
        np.testing.assert_array_equal(again.cost, first.cost)


def test_infeasible_graph_names_a_hall_violator() -> None:
    graph = csr_array((np.ones(5), ([0, 1, 2, 3, 3], [0, 0, 1, 2, 3])), shape=(4, 4))
    with pytest.raises(Infeasible) as caught:
        solve(graph, "auction", "cuda")
    assert set(caught.value.rows) == {0, 1}
    assert set(caught.value.columns) == {0}


@pytest.fixture
def no_bids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no kernel of bids or searches run."""
    kernel = CostGraph.kernel

    def asked(graph: CostGraph, file: str, name: str, **options: bool) -> Any:
        if file not in ("auction/allowed.cu", "auction/greedy.cu"):
            pytest.fail(f"{name} ran")
        return kernel(graph, file, name, **options)

    monkeypatch.setattr(CostGraph, "kernel", asked)


@pytest.mark.usefixtures("no_bids")
@pytest.mark.parametrize("kind", SHORT)
@pytest.mark.parametrize("options", [{}, {"eps": 0.5}], ids=str)
def test_no_bid_is_made_for_what_cannot_be_matched(kind: str, options: dict[str, Any]) -> None:
    assert_refused(kind, lambda problem: solve(problem, Auction(**options), "cuda"))


@pytest.mark.usefixtures("no_bids")
@pytest.mark.parametrize("kind", [kind for kind, (problem, _) in SHORT.items() if len(by_shape(problem)) == 1])
def test_no_bid_of_the_paper_is_made_for_matrices_of_one_shape_of_which_one_cannot_be_matched(kind: str) -> None:
    assert_refused(kind, lambda problem: solve(problem, Auction(variant="paper"), "cuda"))


@pytest.mark.parametrize("kind", SHORT)
def test_the_auction_of_the_paper_refuses_what_cannot_be_matched(kind: str) -> None:
    assert_refused(kind, lambda problem: solve(problem, Auction(variant="paper"), "cuda"))


@pytest.mark.usefixtures("no_bids")
@pytest.mark.parametrize("n_cols", [6000, 6100, 9000])
def test_no_bid_is_made_for_a_large_gate_with_a_dense_cluster(n_cols: int) -> None:
    """Twelve rows share eleven columns, which bids would reach long after the others are content."""
    n, rng = 6000, np.random.default_rng(20)
    indices = (np.arange(n)[:, None] + np.array([0, 1, 7, 100, 2000])) % n_cols
    indices[:12] = np.sort(rng.permuted(np.tile(np.arange(11) * 5, (12, 1)), axis=1)[:, :5], axis=1)
    graph = csr_array((rng.random(5 * n) + 0.01, indices.reshape(-1), np.arange(n + 1) * 5), shape=(n, n_cols))
    graph.sort_indices()
    for problem, side in ((graph, "rows"), (graph.T, "columns")):
        if side == "columns" and n_cols == n:
            continue
        with pytest.raises(Infeasible) as caught:
            solve(problem, "auction", "cuda")
        assert caught.value.side == side
        assert reaches_too_little(Problem.of(problem), 0, caught.value.rows, caught.value.columns)


@pytest.mark.usefixtures("no_bids")
@pytest.mark.parametrize("share", [0.005, 0.1, 0.5, 0.99])
@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_no_bid_is_made_for_a_large_matrix_with_a_dense_cluster(share: float, dtype: Any) -> None:
    """Forty rows share thirty-nine columns."""
    rng = np.random.default_rng(21)
    allowed = rng.random((1500, 1500)) < share
    np.fill_diagonal(allowed, val=True)
    allowed[:40, 39:] = False
    for n in (1500, 200):
        problem = Problem.dense(rng.integers(0, 99, (n, n)).astype(dtype), forbidden=~allowed[:n, :n])
        with pytest.raises(Infeasible) as caught:
            solve(problem, "auction", "cuda")
        assert reaches_too_little(problem, 0, caught.value.rows, caught.value.columns)
        assert set(caught.value.rows) <= set(range(40))


@pytest.mark.parametrize("share", [0.004, 0.02, 0.5, 0.99])
@pytest.mark.parametrize("shape", [(1500, 1500), (1300, 1500), (1500, 1300)], ids=str)
def test_matrix_with_forbidden_pairs(share: float, shape: tuple[int, int]) -> None:
    """Few pairs of a row, a sample of them, or counting tell that all can be matched."""
    rng = np.random.default_rng(30)
    allowed = rng.random(shape) < share
    allowed[np.arange(min(shape)), rng.permutation(min(shape))] = True
    cost = np.where(allowed, rng.integers(1, 1000, shape), np.inf)
    answer = assert_optimal(Problem.dense(cost))
    assert answer.cost == cost[linear_sum_assignment(cost)].sum()
    assert answer.stats["feasibility_s"] > 0


def test_nothing_is_asked_where_nothing_can_be_missing() -> None:
    rng = np.random.default_rng(31)
    for problem in (
        Problem.dense(rng.integers(0, 99, (50, 50))),
        Problem.points(*rng.random((2, 50, 3))),
        dense_gate(1000, 5),
    ):
        assert "feasibility_s" not in assert_optimal(problem).stats


@pytest.mark.parametrize("integer", [True, False])
def test_eps_bounds_the_gap(integer: bool) -> None:
    rng = np.random.default_rng(10)
    cost = rng.integers(0, 1000, (80, 80)) if integer else rng.random((80, 80)) * 1000
    answer = solve(cost, Auction(eps=2.0), "cuda")
    certificate = verify(cost, answer)
    assert certificate.is_valid
    assert 0 <= certificate.gap <= (2.0 + integer) * 80
    best = cost[linear_sum_assignment(cost)].sum()
    assert best <= answer.cost <= best + certificate.gap + 1e-9


def test_eps_lost_in_rounding_is_refused() -> None:
    with pytest.raises(InvalidProblem, match="eps"):
        solve(np.array([[1e9, 2e9], [3e9, 1e9]]), Auction(eps=1e-9), "cuda")


def test_budget_ends_in_not_converged_with_what_is_known() -> None:
    cost = np.random.default_rng(11).random((1500, 1500))
    with pytest.raises(NotConverged) as caught:
        solve(cost, Auction(max_bids=1), "cuda")
    assert caught.value.assignment is not None
    assert caught.value.assignment.n_matched < 1500


def test_budget_of_a_batch_of_points_carries_every_block() -> None:
    rng = np.random.default_rng(26)
    blocks = [Problem.points(rng.random((n, 3)), rng.random((m, 3))) for n, m in ((900, 950), (950, 900), (3, 3))]
    with pytest.raises(NotConverged) as caught:
        solve(Problem.batch(blocks), Auction(max_bids=1), "cuda")
    known = caught.value.assignment
    assert known is not None
    assert known.n_blocks == 3
    assert not known.is_optimal
    assert np.isinf(known.gap).any()


def test_budget_of_rows_with_an_unmatched_cost_leaves_a_finite_gap() -> None:
    problem = dense_gate(20_000, 6)
    with pytest.raises(NotConverged) as caught:
        solve(problem, Auction(max_bids=1), "cuda")
    known = caught.value.assignment
    assert known is not None
    assert verify(problem, known).is_valid
    assert 0 < known.gap < np.inf


def test_budget_of_points_proves_no_more_than_it_may() -> None:
    rng = np.random.default_rng(19)
    problem = Problem.points(rng.random((2000, 3)), rng.random((2000, 3)))
    with pytest.raises(NotConverged) as caught:
        solve(problem, Auction(max_bids=1), "cuda")
    best = caught.value.assignment
    assert best is not None
    lower_bound = best.row_duals.sum() + best.col_duals.sum()
    assert lower_bound <= solve(problem, "auction", "cuda").cost * (1 + 1e-12)


@pytest.mark.parametrize("convergence", ["counter", "reduction"])
@pytest.mark.parametrize("shape", [(40, 40), (30, 50), (50, 30)], ids=str)
def test_paper_mode_is_exact_for_integers(convergence: str, shape: tuple[int, int]) -> None:
    cost = np.random.default_rng(12).integers(0, 60, shape)
    answer = solve(cost, Auction(variant="paper", convergence=convergence), "cuda")
    assert answer.cost == cost[linear_sum_assignment(cost)].sum()
    assert answer.stats["rounds"] > 0


def test_paper_mode_agrees_with_its_cpu_form() -> None:
    cost = np.random.default_rng(13).random((60, 60))
    options = Auction(variant="paper")
    on_gpu, on_cpu = solve(cost, options, "cuda"), solve(cost, options, "cpu")
    np.testing.assert_array_equal(on_gpu.col_of_row, on_cpu.col_of_row)


def test_paper_mode_bids_on_edges_alone_where_costs_are_sparse() -> None:
    rng = np.random.default_rng(25)
    graph = random_array((80, 90), density=0.3, rng=rng, format="csr") + eye_array(80, 90, format="csr") * 2
    options = Auction(variant="paper")
    on_gpu, on_cpu = solve(graph, options, "cuda"), solve(graph, options, "cpu")
    assert verify(graph, on_gpu).is_valid
    np.testing.assert_array_equal(on_gpu.col_of_row, on_cpu.col_of_row)


def test_paper_mode_lets_rows_stay_unassigned() -> None:
    cost = np.random.default_rng(14).random((40, 40))
    problem = Problem.dense(cost, unmatched_cost=0.02)
    answer = solve(problem, Auction(variant="paper", eps=1e-6), "cuda")
    assert verify(problem, answer).is_valid
    assert answer.gap <= 40 * 1e-6
    assert answer.n_matched < 40


def test_callers_device_and_stream_are_left_as_they_were() -> None:
    cp = pytest.importorskip("cupy")
    before = cp.cuda.Device().id
    with cp.cuda.Stream(non_blocking=True) as stream:
        assert_optimal(Problem.dense(np.random.default_rng(15).random((50, 50))))
        assert cp.cuda.get_current_stream() == stream
    assert cp.cuda.Device().id == before


def test_memory_is_checked_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    cp = pytest.importorskip("cupy")
    monkeypatch.setattr(cp.cuda.runtime, "memGetInfo", lambda: (1000, 2000))
    empty = cp.cuda.MemoryPool()  # the default one may hold pieces between arrays of other tests
    monkeypatch.setattr(cp, "get_default_memory_pool", lambda: empty)
    with pytest.raises(DeviceMemoryExceeded, match="GiB"):
        solve(np.ones((400, 400)), "auction", "cuda")
