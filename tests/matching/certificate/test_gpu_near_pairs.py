"""The edges that may decide a doubt: the same on a GPU as on the CPU, and all it fetches. Its kernel on the host."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from auctrack.matching import Problem, solve
from auctrack.matching.certificate import gpu_certificate
from auctrack.matching.certificate.gpu_certificate import certified
from auctrack.matching.certificate.gpu_near_pairs import near_pairs
from auctrack.matching.certificate.near_pairs import near_pairs as near_pairs_on_host
from auctrack.matching.problem.gpu_graph import CostGraph, DeviceSolution

from ..auction.on_host import CUPY, be_the_device

pytestmark = pytest.mark.kernels


@pytest.fixture(autouse=True)
def host(monkeypatch: pytest.MonkeyPatch) -> None:
    be_the_device(monkeypatch)


RNG = np.random.default_rng(0)
COST = np.where(RNG.random((40, 70)) < 0.9, RNG.random((40, 70)), np.inf)
PROBLEMS = {
    "dense": Problem.dense(COST),
    "float32": Problem.dense(COST.astype(np.float32)),
    "masked": Problem.dense(np.where(np.isfinite(COST), COST, 0.5), forbidden=COST > 0.8),
    "unmatched cost": Problem.dense(COST, unmatched_cost=0.05),
    "sparse": Problem.sparse(csr_array(np.where(COST < 0.5, COST, 0.0))),
}


def _on_device(problem: Problem) -> Problem:
    arrays = {name: getattr(problem, name) for name in ("data", "forbidden", "indptr", "indices")}
    return replace(problem, **{name: CUPY.asarray(array) for name, array in arrays.items() if array is not None})


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize("within", [0.0, 1e-3, 0.1])
def test_they_are_the_edges_that_the_cpu_finds(problem: Problem, within: float) -> None:
    answer = solve(problem, device="cpu")
    duals = answer.row_duals, answer.col_duals
    expected = near_pairs_on_host(problem, *duals, within)
    found = near_pairs(CostGraph.of(CUPY, problem), _on_device(problem), *map(CUPY.asarray, duals), within)
    assert expected is not None
    assert found is not None
    assert len(expected.data) < problem.n_edges
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_more_than_are_few_are_not_fetched() -> None:
    problem = Problem.dense(np.ones((40, 70)))
    duals = np.ones(40), np.zeros(70)
    assert near_pairs_on_host(problem, *duals, 0.0) is None
    assert near_pairs(CostGraph.of(CUPY, problem), _on_device(problem), *map(CUPY.asarray, duals), 0.0) is None


def test_a_large_matrix_in_doubt_is_proven_by_few_of_its_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    """One edge is a millionth of a millionth of the others, and the rest of the matrix is not fetched."""
    cost = 1.0 + RNG.random((300, 300))
    cost[0, 0] = 1e-12
    problem = Problem.dense(cost)
    best = solve(problem, device="cpu")

    fetched: list[int] = []

    def unasked(*_: object, **__: object) -> None:
        raise AssertionError("the whole matrix was fetched")

    def watched(*given: Any) -> Problem | None:
        found = near_pairs(*given)
        fetched.append(0 if found is None else found.n_edges)
        return found

    monkeypatch.setattr(gpu_certificate, "host_certify", unasked)
    monkeypatch.setattr(gpu_certificate, "near_pairs", watched)
    monkeypatch.setattr(Problem, "is_on_device", True)
    cols, rows, v = map(CUPY.asarray, (best.col_of_row, best.row_of_col, best.col_duals))
    on_device = _on_device(problem)
    answer = certified(
        CostGraph.of(CUPY, on_device),
        on_device,
        DeviceSolution(v, cols, rows),
        solver="",
        device="cuda",
        stats={},
    )
    assert answer.is_optimal
    assert answer.gap <= 1e-9 * 1e-12
    assert 300 <= fetched[0] < 1000
