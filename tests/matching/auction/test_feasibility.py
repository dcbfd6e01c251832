"""What is asked before the first bid: whether all can be matched. Counting, and the GPU's kernels run on the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from auctrack.matching import Auction, Problem, solve
from auctrack.matching.auction import cpu, gpu, gpu_feasibility
from auctrack.matching.auction.gpu_feasibility import are_enough, find_fault, match_greedily
from auctrack.matching.problem.gpu_graph import CostGraph

from .on_host import CUPY
from .short_problems import SHORT, assert_refused, reaches_too_little


def _is_whole(allowed: np.ndarray) -> bool:
    return bool((maximum_bipartite_matching(csr_array(allowed), "column") >= 0).all())


@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (5, 6), (5, 9), (7, 7)], ids=str)
def test_counts_prove_nothing_that_is_not_so(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    proven = 0
    for _ in range(400):
        allowed = rng.random(shape) < rng.random()
        allowed[rng.random(shape[0]) < 0.2] = False
        allowed[: rng.integers(shape[0] + 1), rng.integers(shape[1]) :] |= rng.random() < 0.5
        if are_enough(np, allowed.sum(axis=1)[None], allowed.sum(axis=0)[None]):
            assert _is_whole(allowed)
            proven += 1
    assert proven > 40


@pytest.mark.parametrize(("share", "shape"), [(0.6, (400, 400)), (0.99, (400, 400)), (0.5, (300, 400))])
def test_counts_prove_that_most_pairs_are_enough(share: float, shape: tuple[int, int]) -> None:
    allowed = np.random.default_rng(1).random((3, *shape)) < share
    assert are_enough(np, allowed.sum(axis=2), allowed.sum(axis=1))


def test_counts_that_decide_and_counts_that_do_not() -> None:
    def enough(allowed: np.ndarray) -> bool:
        return are_enough(np, allowed.sum(axis=1)[None], allowed.sum(axis=0)[None])

    n = 8
    allowed = np.ones((n, n), int)
    allowed[0, 1:] = 0  # a row with one column, which all others can leave to it
    assert enough(allowed)
    allowed[1, 1:] = 0  # and another
    assert not enough(allowed)
    assert enough(np.kron(np.eye(2, dtype=int), np.ones((n // 2, n // 2), int)))  # half of all pairs, everywhere
    assert not enough(np.kron(np.eye(4, dtype=int), np.ones((n // 4, n // 4), int)))  # a quarter: who knows


def test_counts_of_one_matrix_of_a_batch_do_not_speak_for_another() -> None:
    allowed = np.ones((3, 5, 6), int)
    allowed[1, :2, 1:] = 0
    assert not are_enough(np, allowed.sum(axis=2), allowed.sum(axis=1))
    assert are_enough(np, allowed[[0, 2]].sum(axis=2), allowed[[0, 2]].sum(axis=1))


@pytest.mark.kernels
@pytest.mark.usefixtures("host")
def test_greedy_start_gives_each_column_to_the_cheapest_that_asks() -> None:
    rng = np.random.default_rng(2)
    cost = (rng.integers(1, 30, (70, 80)) - 10) * (rng.random((70, 80)) < 0.1)
    col_of_row, n_free = match_greedily(CostGraph.of(CUPY, Problem.sparse(csr_array(cost.astype(np.int32)))))
    expected = np.full(70, -1)
    for _ in range(gpu_feasibility.GREEDY_ROUNDS):
        asks = [
            min((cost[i, j], i, j) for j in wanted)
            for i in np.flatnonzero(expected < 0)
            if (wanted := np.setdiff1d(np.flatnonzero(cost[i]), expected)).size
        ]
        for _, i, j in sorted(asks, key=lambda ask: ask[:2], reverse=True):  # the last to come stays
            expected[expected == j] = -1
            expected[i] = j
    np.testing.assert_array_equal(col_of_row, expected)
    assert n_free == (expected < 0).sum() > 0


@pytest.mark.kernels
@pytest.mark.usefixtures("host")
@pytest.mark.parametrize("share", [0.12, 0.45, 0.9])
@pytest.mark.parametrize("shape", [(1, 45, 45), (1, 40, 45), (4, 20, 20)], ids=str)
def test_what_can_be_matched_is_told_from_what_cannot(share: float, shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(3)
    for _ in range(4):
        allowed = rng.random(shape) < share
        problem = Problem.dense(np.where(allowed, 1.0, np.inf))
        fault = find_fault(CostGraph.of(CUPY, problem), problem.row_offsets, problem.col_offsets)
        whole = [_is_whole(block) for block in allowed]
        assert (fault is None) == all(whole)
        if fault is not None:
            assert fault.block == whole.index(False)
            assert reaches_too_little(problem, fault.block, fault.rows, fault.columns)


def count_calls(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[Any]:
    """Return a list that grows by one with every call of a function."""
    calls: list[Any] = []
    function = getattr(module, name)

    def counted(*arguments: Any) -> Any:
        calls.append(arguments)
        return function(*arguments)

    monkeypatch.setattr(module, name, counted)
    return calls


@pytest.mark.kernels
@pytest.mark.usefixtures("host")
@pytest.mark.parametrize("kind", SHORT)
@pytest.mark.parametrize("options", [{}, {"variant": "paper"}], ids=str)
def test_no_bid_is_made_for_a_block_that_cannot_be_matched(
    kind: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    bids = count_calls(monkeypatch, gpu, "_bid")
    assert_refused(kind, lambda problem: solve(problem, Auction(**options), "cuda"))
    assert len(bids) <= SHORT[kind][1]  # for the blocks before it


@pytest.mark.parametrize("kind", SHORT)
def test_no_bid_is_made_for_it_on_a_cpu_either(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bids = count_calls(monkeypatch, cpu, "match_by_auction")
    assert_refused(kind, lambda problem: solve(problem, "auction", "cpu"))
    assert len(bids) <= SHORT[kind][1]


@pytest.mark.parametrize("kind", SHORT)
@pytest.mark.parametrize("options", [{}, {"eps": 0.5}, {"variant": "paper"}], ids=str)
def test_the_cpu_names_what_cannot_be_matched(kind: str, options: dict[str, Any]) -> None:
    assert_refused(kind, lambda problem: solve(problem, Auction(**options), "cpu"))
