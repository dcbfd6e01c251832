"""The handover: any prices may begin a Hungarian method, and the answer is the exact optimum."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from auctrack.matching import Auction, HungarianClassical, HungarianTree, InvalidProblem, Problem, solve, verify

from ..cases import CASES, Case, assert_solves

METHODS: dict[str, Callable[..., Any]] = {
    "tree": HungarianTree,
    "tree-sequential": lambda start: HungarianTree("sequential", start=start),
    "classical": HungarianClassical,
    "classical-paper": lambda start: HungarianClassical("paper", start=start),
}
ON_GPU = [name for name in METHODS if name != "tree-sequential"]
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def _problem(kind: str, n: int, m: int, unmatched_cost: float | None, dtype: Any) -> Problem:
    rng = np.random.default_rng(n + m)
    cost = (rng.random((n, m)) * 100).astype(dtype)
    if kind == "dense":
        return Problem.dense(cost, unmatched_cost=unmatched_cost)
    allowed = rng.random((n, m)) < (1 if unmatched_cost is None else 0.2)
    indptr = np.concatenate([[0], np.cumsum(allowed.sum(axis=1))])
    graph = (indptr, np.nonzero(allowed)[1], cost[allowed])
    return Problem.sparse(graph, shape=(n, m), unmatched_cost=unmatched_cost)


PROBLEMS = {
    f"{kind} {n}x{m}, u {u}, {np.dtype(dtype)}": _problem(kind, n, m, u, dtype)
    for kind in ("dense", "sparse")
    for n, m in ((40, 40), (30, 45), (45, 30))
    for u in (None, 20)
    for dtype in (np.int64, np.float64)
}
OPTIMA = functools.cache(lambda name: solve(PROBLEMS[name], "jv" if "dense" in name else "sparse-jv", "cpu"))
"""Found by another method."""


def starts(problem: Problem, optimal: np.ndarray) -> dict[str, np.ndarray]:
    """Return prices of every kind."""
    rng = np.random.default_rng(0)
    return {
        "zero": np.zeros(problem.n_cols),
        "optimal": optimal,
        "shifted": optimal + 1000,
        "turned over": -3 * optimal,
        "random": rng.normal(0, 200, problem.n_cols),
        "huge": rng.normal(0, 1e30, problem.n_cols),
        "whole numbers": rng.integers(-50, 50, problem.n_cols),
    }


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("method", METHODS)
def test_every_start_gives_the_optimum(method: str, name: str, device: str):
    if device == "cuda" and method not in ON_GPU:
        pytest.skip("sequential runs on the CPU")
    problem = PROBLEMS[name]
    optimum = OPTIMA(name)
    for start in starts(problem, optimum.col_duals).values():
        answer = solve(problem, METHODS[method](start=start), device)
        assert verify(problem, answer)
        np.testing.assert_allclose(answer.cost, optimum.cost, rtol=1e-12)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("case", CASES[::5], ids=str)
def test_a_random_start_changes_no_named_case(case: Case, device: str):
    start = np.random.default_rng(1).normal(0, 10, case.problem.n_cols)
    assert_solves(case, HungarianTree(start=start), device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("solver", [HungarianTree, HungarianClassical])
@pytest.mark.parametrize(("scale", "dtype", "eps"), [(1, np.float64, 0.01), (1000, np.int64, 50)])
def test_a_hungarian_method_finishes_an_auction(scale: int, dtype: Any, eps: float, solver: Any, device: str):
    problem = Problem.dense((np.random.default_rng(2).random((150, 150)) * scale).astype(dtype))
    coarse = solve(problem, Auction(eps=eps), device)
    assert not coarse.is_optimal
    answer = solve(problem, solver(start=coarse), device)
    assert answer.is_optimal
    assert verify(problem, answer)
    assert answer.cost <= coarse.cost <= answer.cost + 150 * (eps + 1)


def test_optimal_prices_leave_less_to_do():
    problem = Problem.dense(np.random.default_rng(3).integers(0, 3000, (300, 300)))
    first = solve(problem, HungarianTree(), "cpu")
    again = solve(problem, HungarianTree(start=first), "cpu")
    assert again.stats["dual_updates"] == 0 < first.stats["dual_updates"]


def test_blocks_of_a_batch_take_their_own_prices():
    blocks = [PROBLEMS[f"dense {shape}, u None, int64"] for shape in ("40x40", "30x45", "45x30")]
    batch = Problem.batch(blocks)
    start = np.concatenate([solve(block, "jv", "cpu").col_duals for block in blocks])
    answer = solve(batch, HungarianTree(start=start), "cpu")
    assert verify(batch, answer)
    np.testing.assert_array_equal(answer.cost, [solve(block, "jv", "cpu").cost for block in blocks])


@pytest.mark.parametrize("solver", [HungarianTree, HungarianClassical])
@pytest.mark.parametrize(
    ("start", "said"),
    [
        ([0.0, np.nan], "finite"),
        ([np.inf, 0.0], "finite"),
        ([0.0], "each of the 2 columns"),
        ([[0.0, 1.0]], "each of the 2 columns"),
        (["a", "b"], "real number"),
        ([[0.0], [1.0, 2.0]], "start needs an array"),
    ],
)
def test_a_start_that_is_none_is_refused(solver: Any, start: Any, said: str):
    with pytest.raises(InvalidProblem, match=said):
        solve([[1.0, 2.0], [3.0, 4.0]], solver(start=start), "cpu")


@pytest.mark.parametrize("solver", [HungarianTree, HungarianClassical])
@pytest.mark.parametrize(
    ("start", "scale"),
    [
        (np.array([-1, 100, 3], np.int8), 1000),
        (np.array([1, 100, 3], np.uint8), 1000),
        (np.array([-1, 1e38, 3], np.float32), 1e300),
        (np.array([-1, 2, 3], np.float16), 1e5),
    ],
    ids=lambda part: str(getattr(part, "dtype", part)),
)
def test_a_start_of_a_small_type_serves_beside_large_costs(solver: Any, start: np.ndarray, scale: float):
    problem = Problem.dense(np.array([[1, 2, 3], [2, 4, 6], [3, 6, 9]]) * scale)
    assert verify(problem, solve(problem, solver(start=start), "cpu"))
