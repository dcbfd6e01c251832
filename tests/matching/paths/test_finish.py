"""The exact finish, step by step: what it releases, settles and gives up, and what it leaves of it all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auctrack.matching.paths.finish import (
    NO_LIMIT,
    TOO_HARD,
    are_too_few,
    finish_rows,
    match_rows,
    release_slack,
    settle_unassigned_columns,
    take_prices,
    unassign,
    would_exceed,
)
from auctrack.matching.paths.shortest_paths import State, start
from auctrack.matching.tolerance import REMATCH_ULPS, SLACK_ULPS

FREE = np.inf


def _graph(cost: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    cost = np.asarray(cost)
    allowed = cost < FREE
    indptr = np.append(0, np.cumsum(allowed.sum(axis=1)))
    return indptr, np.nonzero(allowed)[1].astype(np.int32), cost[allowed]


def _state(v: Any, col_of_row: Any, row_bound: float = FREE) -> State:
    state = start(np.full(len(col_of_row), row_bound), np.asarray(v, float))
    state.col_of_row[:] = col_of_row
    for i, j in enumerate(col_of_row):
        if j >= 0:
            state.row_of_col[j] = i
    return state


def test_prices_are_rounded_to_the_nearest_where_costs_are_whole_numbers():
    auction = _state([1.6, -1.6, 9.0], [-1])
    whole = start(np.array([9]), np.zeros(3, np.int64))
    take_prices(np.array([0]), np.array([0, 2]), np.array([0, 1], np.int32), auction, whole)
    assert whole.v.tolist() == [2, -2, 0], "those of columns without an edge stay"
    real = _state(np.zeros(3), [-1, -1])
    take_prices(np.array([1]), np.array([0, 3, 6]), None, auction, real)
    assert real.v.tolist() == [1.6, -1.6, 9.0]


def test_unassigned_rows_leave_their_columns_free():
    state = _state(np.zeros(3), [0, 2, -1])
    unassign(np.array([0, 2]), state)
    assert state.col_of_row.tolist() == [-1, 2, -1]
    assert state.row_of_col.tolist() == [-1, -1, 1]


LARGE = 1e16  # 4 ulp of it are 8
SLACK_FROM = {
    "its own cost": ([[LARGE + 2, FREE]], [0.0, 0.0], LARGE),
    "its own dual": ([[2.0, FREE]], [-LARGE, 0.0], LARGE - 2),
    "the best cost": ([[1.5, LARGE]], [0.0, LARGE], FREE),
    "the best dual": ([[1.5, LARGE + 2]], [0.0, LARGE + 2], FREE),
}
"""Costs, duals and bound of a row that has column 0, and what is so large that its rounding is all of the slack."""


@pytest.mark.parametrize("case", SLACK_FROM)
def test_slack_that_rounding_explains_releases_no_row(case):
    cost, v, bound = SLACK_FROM[case]
    state = _state(v, [0], bound)
    assert len(release_slack(np.array([0]), *_graph(cost), state, SLACK_ULPS)) == 0
    assert state.col_of_row.tolist() == [0]
    assert state.matched_cost.tolist() == [cost[0][0]]


@pytest.mark.parametrize("slack", [16.0, 1e-9])
def test_slack_beyond_rounding_releases_a_row(slack):
    scale = LARGE if slack > 1 else 1.0
    state = _state(np.zeros(2), [0])
    assert release_slack(np.array([0]), *_graph([[scale + slack, scale]]), state, SLACK_ULPS).tolist() == [0]
    assert state.col_of_row.tolist() == [-1]
    assert state.row_of_col.tolist() == [-1, -1]


def test_as_much_slack_as_is_allowed_releases_no_row():
    for slack, waiting in ((16.0, []), (40.0, [0])):  # of 8 ulp, 32
        state = _state(np.zeros(2), [0])
        assert (
            release_slack(np.array([0]), *_graph([[LARGE / 2 + slack, LARGE / 2]]), state, REMATCH_ULPS).tolist()
            == waiting
        )


def test_whole_numbers_have_no_rounding():
    state = start(np.array([2**62]), np.zeros(2, np.int64))
    state.col_of_row[0], state.row_of_col[0] = 0, 0
    graph = np.array([0, 2]), np.array([0, 1], np.int32), np.array([10**15 + 1, 10**15])
    assert release_slack(np.array([0]), *graph, state, SLACK_ULPS).tolist() == [0]


def test_unmatched_rows_wait_for_a_column_below_their_bound_or_if_they_must_have_one():
    cost = [[5.0, 7.0], [4.0, 7.0], [FREE, FREE]]
    for bound, waiting in ((5.0, [1]), (FREE, [0, 1, 2])):
        state = _state(np.zeros(2), [-1, -1, -1], bound)
        assert release_slack(np.arange(3), *_graph(cost), state, SLACK_ULPS).tolist() == waiting


@pytest.mark.parametrize("row", [0, 1])
def test_a_row_that_cannot_be_matched_is_named(row):
    cost = np.full((2, 2), 1.0)
    cost[row] = FREE
    for finish, ulps in ((match_rows, ()), (finish_rows, (SLACK_ULPS,))):
        state, counts = _state(np.zeros(2), [-1, -1]), np.zeros(3, np.int64)
        assert finish(np.arange(2), *_graph(cost), state, counts, NO_LIMIT, *ulps) == row


def _is_optimal(cost: np.ndarray, state: State, col_bound: np.ndarray) -> bool:
    """Complementary slackness, in eighths: exact."""
    r = np.minimum((cost - state.v).min(axis=1), state.row_bound)
    pays = np.where(state.col_of_row < 0, state.row_bound, cost[np.arange(len(cost)), state.col_of_row])
    own = np.where(state.col_of_row < 0, 0.0, state.v[state.col_of_row])
    at_bound = (state.row_of_col >= 0) | (state.v == col_bound)
    return bool((pays - own == r).all() and at_bound.all() and (state.v <= col_bound).all())


@pytest.mark.parametrize("seed", range(40))
def test_columns_below_their_bound_are_raised_to_it_or_matched(seed):
    """Where rows are optimal beside duals that prices of unassigned columns have left too low."""
    rng = np.random.default_rng(seed)
    n, m = 5, 7
    cost, bound = rng.integers(0, 40, (n, m)) / 8, float(rng.integers(1, 40)) / 8
    col_bound = np.full(m, float(rng.integers(0, 24)) / 8)
    state, counts = start(np.full(n, bound), np.minimum(rng.integers(-24, 8, m) / 8, col_bound)), np.zeros(3, np.int64)
    assert match_rows(np.arange(n), *_graph(cost), state, counts, NO_LIMIT) == -1
    below = int(((state.row_of_col < 0) & (state.v < col_bound)).sum())
    assert settle_unassigned_columns(*_graph(cost), state, col_bound, counts) == below
    assert _is_optimal(cost, state, col_bound)
    rows = np.flatnonzero(state.col_of_row >= 0)
    np.testing.assert_array_equal(state.matched_cost[rows], cost[rows, state.col_of_row[rows]])
    assert settle_unassigned_columns(*_graph(cost), state, col_bound, counts) == 0, "those at their bound are settled"


def test_paths_are_as_long_as_columns_are_few():
    """With k columns left a path takes as 1 / k: of 1000 rows the last 100 take more than twice what all others do."""
    first, rest = (sum(1 / k for k in range(*ends)) for ends in ((101, 1001), (1, 101)))
    needed = 100 * rest / first
    assert not would_exceed(1.1 * needed, 100, 900, 1000)
    assert would_exceed(0.85 * needed, 100, 900, 1000)
    assert are_too_few(160, 100, 900, 1000)
    assert not are_too_few(160, 20, 900, 1000), "an eighth of what is allowed says too little"


def _scans(most: int | None = None, before: int = 0) -> tuple[int, int]:
    """What comes of 200 rows whose costs are inner products, by paths that grow, and how many rows these scan.

    `before` of them other rows have scanned.
    """
    rng = np.random.default_rng(0)
    cost = np.add.outer(rng.random(200), rng.random(200)) ** 2
    state, counts = _state(np.zeros(200), [-1] * 200), np.array([0, 0, before])
    outcome = match_rows(np.arange(200), *_graph(cost), state, counts, NO_LIMIT if most is None else most)
    return outcome, int(counts[2]) - before


def test_rows_that_paths_are_far_from_are_given_up_long_before_the_limit():
    outcome, needed = _scans()
    assert outcome == -1
    assert _scans(8 * needed) == (-1, needed)
    assert _scans(8 * needed, before=9 * needed) == (-1, needed)
    for most, spent in ((needed, needed // 4), (7 * needed // 10, needed // 10)):  # what is spent already counts
        outcome, scans = _scans(most)
        assert outcome == TOO_HARD
        assert scans < spent
