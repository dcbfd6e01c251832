"""Small blocks go through a loop of their own: the same optimum and proof as larger ones, at every side and type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from auctrack.matching import JV, Infeasible, Problem, solve, verify
from auctrack.matching.certificate.matched import Matched
from auctrack.matching.jit.eight import LANES
from auctrack.matching.jv import blocks
from auctrack.matching.jv.small_blocks import WIDEST, _begin, _two_least
from auctrack.matching.problem import INT_LIMIT

COSTS = {
    "reals": lambda rng, n, m: rng.random((n, m)),
    "single precision": lambda rng, n, m: rng.random((n, m), dtype=np.float32),
    "ties": lambda rng, n, m: rng.integers(0, 4, (n, m)),
    "below 0": lambda rng, n, m: rng.integers(-1000, 1000, (n, m)).astype(np.int32),
    "inner products": lambda rng, n, m: rng.normal(size=(n, 3)) @ rng.normal(size=(3, m)),
    "holes": lambda rng, n, m: np.where((rng.random((n, m)) < 0.8) & (np.eye(n, m) == 0), np.inf, rng.random((n, m))),
}


@pytest.mark.parametrize("kind", COSTS)
def test_blocks_of_every_side_are_matched_and_proven_as_one_batch(kind: str) -> None:
    rng = np.random.default_rng(0)
    sides = [(n, m) for n, m in rng.integers(1, WIDEST + 1, (60, 2)).tolist() if n <= m]
    costs = [COSTS[kind](rng, n, m) for n, m in [(1, 1), (WIDEST, WIDEST), (0, 5), *sides]]
    problem = Problem.batch(costs)
    answer = solve(problem, "jv", "cpu")
    assert answer.is_optimal
    assert verify(problem, answer)
    for cost, found in zip(costs, answer.cost, strict=True):
        assert found == pytest.approx(cost[linear_sum_assignment(cost)].sum(dtype=float), rel=1e-6)


def test_beyond_the_widest_and_with_a_limit_the_answer_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = np.random.default_rng(1).random((20, 30, 30))
    small = solve(Problem.dense(costs), "jv", "cpu")
    limited = solve(Problem.dense(costs), JV(most_scans=1000), "cpu")
    monkeypatch.setattr(blocks, "WIDEST", 0)
    for other in (limited, solve(Problem.dense(costs), "jv", "cpu")):
        np.testing.assert_array_equal(small.col_of_row, other.col_of_row)
        assert small.cost == pytest.approx(other.cost, rel=1e-14)


@pytest.mark.parametrize("columns", [[], [3], [3, 4]])
@pytest.mark.parametrize(("n_blocks", "failing"), [(4, 2), (3 * LANES, LANES + 5)])
def test_the_block_and_the_rows_that_cannot_be_matched_are_named(
    columns: list[int], n_blocks: int, failing: int
) -> None:
    costs = np.random.default_rng(2).random((n_blocks, 9, 9))
    rows = list(range(len(columns) + 1))
    costs[failing][np.ix_(rows, np.setdiff1d(np.arange(9), columns))] = np.inf
    with pytest.raises(Infeasible) as caught:
        solve(Problem.dense(costs), "jv", "cpu")
    assert (caught.value.block, caught.value.rows, caught.value.columns) == (failing, tuple(rows), tuple(columns))


@pytest.mark.parametrize("shapes", [1, 5])
def test_threads_share_a_batch_and_change_nothing(monkeypatch: pytest.MonkeyPatch, shapes: int) -> None:
    problem = Problem.batch([np.random.default_rng(k).random((3, 3 + k % shapes)) for k in range(500)])
    alone = solve(problem, "jv", "cpu")
    monkeypatch.setattr(blocks, "SMALL_PAIRS_OF_A_RUN", 50)
    shared = solve(problem, "jv", "cpu")
    np.testing.assert_array_equal(alone.col_of_row, shared.col_of_row)
    np.testing.assert_array_equal(alone.cost, shared.cost)
    np.testing.assert_array_equal(alone.gap, shared.gap)


@pytest.mark.parametrize("data", [np.float64, np.int32])
def test_eight_at_a_time_the_two_best_columns_are_those_of_a_stable_sort(data: type) -> None:
    rng = np.random.default_rng(3)
    is_float = np.issubdtype(data, np.floating)
    none = np.inf if is_float else np.int64(INT_LIMIT)
    for m in range(1, WIDEST + 1):
        cost = rng.integers(-9, 9, 2 * m + LANES).astype(data)  # what follows the row is below its own costs
        cost[m:] -= 100
        if is_float:
            cost[1:m][rng.random(m - 1) < rng.random()] = np.inf
        v = np.empty(WIDEST, np.float64 if is_float else np.int64)
        _begin(cost, none, 1, m, v)
        v[:m] = rng.integers(-4, 4, m)
        values = cost[:m] - v[:m]
        order = np.argsort(values, kind="stable")
        second = values[order[1]] if m > 1 else none
        assert _two_least(cost, 0, m, v, none) == (values[order[0]], second, order[0])


@pytest.mark.parametrize("kind", [*COSTS, "sentinels"])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 3), (4, 9), (8, 8), (9, 17), (20, 20), (WIDEST - 1, WIDEST)])
def test_side_by_side_each_block_is_matched_and_proven_as_it_is_alone(kind: str, n: int, m: int) -> None:
    def sentinels(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
        return np.where(rng.random((n, m)) < 0.4, 1e16, rng.random((n, m)))

    rng = np.random.default_rng(5)
    _assert_as_alone([(COSTS | {"sentinels": sentinels})[kind](rng, n, m) for _ in range(2 * LANES + 3)])


def test_eight_alike_are_found_between_others() -> None:
    rng = np.random.default_rng(6)
    alike, narrower, square = [(3, 5)], [(3, 4)], [(5, 5)]
    shapes = [(2, 5), (4, 4), *alike * 9, *narrower, *alike * 7, (3, 3), *narrower * 8, (2, 4), *square * 17, (2, 5)]
    _assert_as_alone([rng.random(shape) for shape in shapes])


def _assert_as_alone(costs: list[np.ndarray]) -> None:
    """Hold what is found of a batch, proof included, against what is found of each block alone, to the last bit."""
    found = JV().match(Problem.batch(costs))
    alone = [JV().match(Problem.dense(cost)) for cost in costs]
    np.testing.assert_array_equal(found.col_of_row, np.concatenate([one.col_of_row for one in alone]))
    np.testing.assert_array_equal(found.col_duals, np.concatenate([one.col_duals for one in alone]))
    for name in ("row_of_col", "r"):
        np.testing.assert_array_equal(_term(found, name), np.concatenate([_term(one, name) for one in alone]))
    for name in ("cost", "gap", "size", "rounding", "has_zero_slack", "in_doubt"):
        np.testing.assert_array_equal(_sum(found, name), np.concatenate([_sum(one, name) for one in alone]))
    assert _sum(found, "proves") == all(_sum(one, "proves") for one in alone)
    for name in ("bids", "shortest_paths", "rows_scanned"):
        assert found.stats[name] == sum(one.stats[name] for one in alone)


def _term(found: Matched, name: str) -> Any:
    assert found.terms is not None
    return getattr(found.terms, name)


def _sum(found: Matched, name: str) -> Any:
    return getattr(_term(found, "sums"), name)


def test_the_greatest_integers_hide_what_follows_a_row() -> None:
    largest = INT_LIMIT // 20
    costs = np.random.default_rng(4).choice([-largest, largest], (30, 5, 7))
    answer = solve(Problem.dense(costs), "jv", "cpu")
    assert verify(Problem.dense(costs), answer)
    for cost, found in zip(costs, answer.cost, strict=True):
        rows, cols = linear_sum_assignment(np.sign(cost))
        assert found == np.sign(cost)[rows, cols].sum() * largest
