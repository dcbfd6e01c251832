"""A matching barely above what every answer pays is told from others on a GPU as on the CPU; its kernel on the host."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from auctrack.matching import Assignment, Problem, solve
from auctrack.matching.certificate import gpu_above_least, gpu_certificate
from auctrack.matching.certificate.above_least import barely_above_least as barely_above_least_on_host
from auctrack.matching.certificate.certify import certify
from auctrack.matching.certificate.gpu_above_least import barely_above_least
from auctrack.matching.certificate.gpu_certificate import certified
from auctrack.matching.problem.gpu_graph import CostGraph, DeviceSolution
from auctrack.matching.tolerance import SHARE

from ..auction.on_host import CUPY, be_the_device

pytestmark = pytest.mark.kernels


@pytest.fixture(autouse=True)
def host(monkeypatch: pytest.MonkeyPatch) -> None:
    be_the_device(monkeypatch)


def _costs(seed: int) -> np.ndarray:
    """Return costs that tie, up to their last digit."""
    rng = np.random.default_rng(seed)
    return rng.choice([0.1, 0.3, 0.7], (12, 15)) * (1 + 2.0**-52 * rng.integers(0, 2, (12, 15)))


COSTS = [_costs(seed) for seed in range(6)]
PROBLEMS = {
    "dense": Problem.dense(COSTS[0]),
    "unmatched cost": Problem.dense(COSTS[0], unmatched_cost=0.3),
    "sparse": Problem.sparse(csr_array(COSTS[0])),
    "batch": Problem.dense(np.stack(COSTS)),
    "unmatched cost batch": Problem.dense(np.stack(COSTS), unmatched_cost=1e3),
    "sparse batch": Problem.batch([Problem.sparse(csr_array(cost), unmatched_cost=1.0) for cost in COSTS]),
}


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize("first", [1, 5, 1024])
def test_it_tells_what_the_cpu_tells(problem: Problem, step: int, first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the cheapest matching, and of one in which each row has its neighbour's column, for gaps of all sizes."""
    for name, value in {"FIRST_ROWS": first, "FIRST_OF_BLOCK": first, "MORE": 2}.items():
        monkeypatch.setattr(gpu_above_least, name, value)
    answer = solve(problem, device="cpu")
    own = np.concatenate([np.roll(block.col_of_row, step) for block in answer.blocks()])
    first = np.repeat(problem.col_offsets[:-1], problem.n_rows_of_block)
    col_of_row = np.where(own < 0, -1, own + first).astype(np.int32)
    graph = CostGraph.of(CUPY, problem)
    no_rows = CUPY.asarray(np.full(problem.n_cols, -1, np.int32))
    matching = DeviceSolution(graph.col_bound, CUPY.asarray(col_of_row), no_rows)
    told = []
    for gap in 10.0 ** np.arange(-30.0, 3.0):
        gaps = np.full(problem.n_blocks, gap)
        told.append(barely_above_least(graph, matching, problem.row_offsets, gaps))
        np.testing.assert_array_equal(told[-1], barely_above_least_on_host(problem, own, answer.row_of_col, gaps))
    assert step == 0 or np.any(told)
    assert not np.all(told)


def test_no_more_rows_are_looked_at_than_have_to_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every fourth of 200 rows has a cheaper spare column: the first 8 pay too little, the first 32 enough, or none."""
    n, looked = 200, []
    above = gpu_above_least._above

    def counted(graph: CostGraph, matching: DeviceSolution, row_offsets: np.ndarray, ends: np.ndarray) -> np.ndarray:
        looked.append(int(ends[0]))
        return above(graph, matching, row_offsets, ends)

    for name, value in {"FIRST_ROWS": 8, "MORE": 4, "_above": counted}.items():
        monkeypatch.setattr(gpu_above_least, name, value)
    rows = np.arange(n)
    cost = np.concatenate([np.full(n, 0.5), np.where(rows % 4 == 0, 0.25, 0.75)])
    problem = Problem.sparse(csr_array((cost, (np.tile(rows, 2), np.arange(2 * n)))))
    graph = CostGraph.of(CUPY, problem)
    partners = CUPY.asarray(rows.astype(np.int32))
    matching = DeviceSolution(graph.col_bound, partners, partners)
    paid_by_eight = 2 * 0.25
    assert not barely_above_least(graph, matching, problem.row_offsets, np.array([2 * SHARE * paid_by_eight]))
    assert looked == [8, 32]
    assert barely_above_least(graph, matching, problem.row_offsets, np.array([SHARE * n]))
    assert looked[2:] == [8, 32, 128, n]


def _edge_dearer_in_its_last_digit() -> tuple[Problem, np.ndarray]:
    """Return a problem, and a matching that one exchange makes cheaper by one ulp."""
    cost = np.full((110, 110), 1.9)
    np.fill_diagonal(cost, 0.1)
    cost[0, 1] = cost[1, 0] = 0.1
    cost[0, 0] = np.nextafter(0.1, 1)
    return Problem.dense(cost, unmatched_cost=1.0), np.arange(110, dtype=np.int32)


def test_an_edge_dearer_in_its_last_digit_is_not_called_optimal() -> None:
    problem, dearer = _edge_dearer_in_its_last_digit()
    graph = CostGraph.of(CUPY, problem)
    matching = DeviceSolution(CUPY.asarray(np.zeros(110)), CUPY.asarray(dearer), CUPY.asarray(dearer))
    answer = certified(graph, problem, matching, solver="", device="cuda", stats={})
    assert not answer.is_optimal
    assert answer.gap < SHARE * answer.cost


def test_of_a_batch_only_the_blocks_in_doubt_are_proven_on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, dearer = _edge_dearer_in_its_last_digit()
    plain = Problem.dense(np.random.default_rng(0).random((110, 110)), unmatched_cost=1.0)
    best = solve(plain, device="cpu")
    batch = Problem.batch([plain, problem])
    fetched: list[tuple[int, int]] = []

    def watched(on_host: Problem, *arrays: np.ndarray, solver: str) -> Assignment:
        fetched.append(on_host.shape)
        return certify(on_host, *arrays, solver=solver)

    monkeypatch.setattr(gpu_certificate, "host_certify", watched)
    cols = np.concatenate([best.col_of_row, dearer + 110]).astype(np.int32)
    rows = np.concatenate([best.row_of_col, dearer + 110]).astype(np.int32)
    v = CUPY.asarray(np.concatenate([best.col_duals, np.zeros(110)]))
    matching = DeviceSolution(v, CUPY.asarray(cols), CUPY.asarray(rows))
    answer = certified(CostGraph.of(CUPY, batch), batch, matching, solver="", device="cuda", stats={})
    assert fetched == [problem.shape]
    assert not answer.is_optimal
