"""Arrays that are on a GPU already: validated there, solved there, and answered there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.sparse import random_array

from auctrack.matching import InvalidProblem, Problem, solve, verify
from auctrack.matching.auction import Auction

pytestmark = pytest.mark.gpu


@pytest.fixture
def cp() -> Any:
    return pytest.importorskip("cupy")


def assert_answered_on_device(cp: Any, problem: Problem, on_host: Problem, solver: Any = None) -> Any:
    """Solve; the answer must lie on the GPU, be proven for the problem as stated on the host, and cost the same."""
    answer = solve(problem, solver or Auction())
    for array in (answer.col_of_row, answer.row_of_col, answer.row_duals, answer.col_duals):
        assert isinstance(array, cp.ndarray)
    assert verify(problem, answer)
    assert verify(on_host, answer.on_host())
    reference = solve(on_host, "auction", "cuda")
    np.testing.assert_allclose(answer.cost, reference.cost, rtol=1e-12)
    np.testing.assert_array_equal(answer.on_host().col_of_row, reference.col_of_row)
    return answer


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64, np.float16, np.uint8])
def test_dense(cp: Any, dtype: Any) -> None:
    cost = np.random.default_rng(1).integers(0, 200, (30, 40)).astype(dtype)
    problem = Problem.dense(cp.asarray(cost))
    assert problem.is_on_device
    assert assert_answered_on_device(cp, problem, Problem.dense(cost)).cost == cost[linear_sum_assignment(cost)].sum(
        dtype=float
    )


def test_dense_with_forbidden_pairs_and_unmatched_cost(cp: Any) -> None:
    rng = np.random.default_rng(2)
    cost, mask = rng.integers(0, 100, (25, 20)), rng.random((25, 20)) < 0.6
    for u in (7, 7.5, (rng.integers(1, 9, 25), rng.integers(1, 9, 20))):
        moved = tuple(map(cp.asarray, u)) if isinstance(u, tuple) else u
        problem = Problem.dense(cp.asarray(cost), forbidden=cp.asarray(mask), unmatched_cost=moved)
        assert_answered_on_device(cp, problem, Problem.dense(cost, forbidden=mask, unmatched_cost=u))


def test_plain_array_and_tall_matrix(cp: Any) -> None:
    cost = np.random.default_rng(3).random((50, 20))
    answer = solve(cp.asarray(cost), "auction")
    assert isinstance(answer.col_of_row, cp.ndarray)
    assert verify(cost, answer)


def test_batch(cp: Any) -> None:
    costs = np.random.default_rng(4).random((6, 9, 9), dtype=np.float32)
    assert_answered_on_device(cp, Problem.dense(cp.asarray(costs)), Problem.dense(costs))


def test_batch_of_problems_that_are_there(cp: Any) -> None:
    rng = np.random.default_rng(8)
    graphs = [random_array((n, n + 3), density=0.5, rng=rng, format="csr") for n in (8, 12)]
    moved = [
        Problem.sparse(tuple(map(cp.asarray, (g.indptr, g.indices, g.data))), shape=g.shape, unmatched_cost=0.3)
        for g in graphs
    ]
    on_host = Problem.batch([Problem.sparse(g, unmatched_cost=0.3) for g in graphs])
    assert_answered_on_device(cp, Problem.batch(moved), on_host)


def test_sparse_matrix(cp: Any) -> None:
    from cupyx.scipy.sparse import csr_matrix

    graph = random_array((60, 70), density=0.2, rng=5, format="csr")
    indptr, indices, data = map(cp.asarray, (graph.indptr, graph.indices, graph.data))
    on_host = Problem.sparse(graph, unmatched_cost=0.4)
    assert_answered_on_device(cp, Problem.sparse((indptr, indices, data), shape=(60, 70), unmatched_cost=0.4), on_host)
    matrix = csr_matrix((data, indices, indptr), shape=(60, 70))
    assert_answered_on_device(cp, Problem.sparse(matrix, unmatched_cost=0.4), on_host)


def test_unsorted_edges_are_sorted(cp: Any) -> None:
    parts = np.array([0, 2, 4]), np.array([1, 0, 1, 0]), np.array([5, 1, 2, 9])
    problem = Problem.sparse(tuple(map(cp.asarray, parts)), shape=(2, 2))
    assert_answered_on_device(cp, problem, Problem.sparse(parts, shape=(2, 2)))


@pytest.mark.parametrize("metric", ["distance", "squared"])
def test_points(cp: Any, metric: Any) -> None:
    rng = np.random.default_rng(6)
    x, y = rng.random((300, 3)), rng.random((320, 3))
    problem = Problem.points(cp.asarray(x), cp.asarray(y), metric=metric)
    assert_answered_on_device(cp, problem, Problem.points(x, y, metric=metric))


def test_batch_of_tall_and_wide_points(cp: Any) -> None:
    rng = np.random.default_rng(9)
    sets = [(rng.random((n, 3)), rng.random((m, 3))) for n, m in ((9, 12), (12, 9), (40, 40))]
    moved = [Problem.points(*map(cp.asarray, pair)) for pair in sets]
    assert_answered_on_device(cp, Problem.batch(moved), Problem.batch([Problem.points(*pair) for pair in sets]))


@pytest.mark.parametrize("options", [{"variant": "paper"}, {"eps": 0.01}], ids=str)
def test_what_stops_at_its_increment_moves_nothing_to_the_host(
    cp: Any, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stay(_: Problem) -> None:
        pytest.fail("the problem was moved")

    cost = np.random.default_rng(10).random((60, 60))
    problem = Problem.dense(cp.asarray(cost))
    with monkeypatch.context() as patched:
        patched.setattr(Problem, "on_host", stay)
        answer = solve(problem, Auction(**options))
    assert isinstance(answer.col_of_row, cp.ndarray)
    assert verify(cost, answer.on_host()).is_valid


def test_solver_of_the_cpu_hands_arrays_back_to_the_device(cp: Any) -> None:
    cost = np.random.default_rng(7).random((12, 12))
    answer = solve(cp.asarray(cost), "jv")
    assert answer.device == "cpu"
    assert isinstance(answer.col_of_row, cp.ndarray)
    assert verify(cost, answer)


def test_faults_are_refused_as_on_the_host(cp: Any) -> None:
    nan, minus = np.ones((3, 3)), np.ones((3, 3))
    nan[1, 2], minus[0, 1] = np.nan, -np.inf
    for bad in (nan, minus):
        with pytest.raises(InvalidProblem, match="cost"):
            Problem.dense(cp.asarray(bad))
    with pytest.raises(InvalidProblem, match="within"):
        Problem.dense(cp.asarray([[2**61, 0], [0, 2**61]]))
    with pytest.raises(InvalidProblem, match="forbidden"):
        Problem.dense(cp.ones((2, 2)), forbidden=cp.zeros((2, 3), bool))
    with pytest.raises(InvalidProblem, match="one GPU"):
        Problem.dense(cp.ones((2, 2)), forbidden=np.zeros((2, 2), bool))
    for indices, data, what in (
        ([0, 0], [1, 2], "twice"),
        ([0, 5], [1, 2], "column"),
        ([0, 1], [1.0, np.nan], "finite"),
    ):
        with pytest.raises(InvalidProblem, match=what):
            Problem.sparse((cp.asarray([0, 2]), cp.asarray(indices), cp.asarray(data)), shape=(1, 2))
    with pytest.raises(InvalidProblem, match="indptr"):
        Problem.sparse((cp.asarray([0, 3]), cp.asarray([0, 1]), cp.ones(2)), shape=(1, 2))
    with pytest.raises(InvalidProblem, match="coordinates"):
        Problem.points(cp.asarray([[np.nan, 0.0]]), cp.zeros((1, 2)))
