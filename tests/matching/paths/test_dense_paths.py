"""Rows longer than a block of columns: what is vectorised must agree with what is plain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from auctrack.matching import JV, Infeasible, Problem, solve, verify
from auctrack.matching.jit.row_scan import BLOCK, cheapest_column, least_rank, rank
from auctrack.matching.paths.dense_paths import _column_at

NUMBERS = st.one_of(
    st.floats(allow_nan=False, width=64), st.sampled_from([0.0, -0.0, np.inf, -np.inf, 5e-324, -5e-324, 1e308, -1e308])
)


@settings(deadline=None, max_examples=200, derandomize=True)
@given(NUMBERS, NUMBERS)
def test_ranks_compare_as_their_floats_do(a: float, b: float):
    assert (rank(a) < rank(b)) == (a < b or (a == b == 0 and np.signbit(a) and not np.signbit(b)))


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
@pytest.mark.parametrize("m", [1, 7, 8, 9, 40])
def test_a_search_goes_on_from_the_first_unassigned_of_the_nearest_columns_or_the_first(dtype: Any, m: int):
    rng = np.random.default_rng(m)
    for nearest in (0, 1, 2, 3) * 25:
        key, row_of_col = rng.integers(0, 3, m).astype(dtype), rng.integers(-1, 6, m).astype(np.int32)
        near = np.flatnonzero(key == nearest)
        unassigned = near[row_of_col[near] < 0]
        assert _column_at(dtype(nearest), key, row_of_col) == [*unassigned, *near, -1][0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize("m", [1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
def test_cheapest_column_is_the_first_of_the_least(dtype: Any, m: int):
    rng = np.random.default_rng(m)
    row = rng.integers(-20, 20, m).astype(dtype)
    v = rng.integers(-5, 5, m).astype(np.int64 if np.dtype(dtype).kind == "i" else np.float64)
    value = row - v
    assert cheapest_column(row, v, value.max() + 1) == np.argmin(value)
    assert cheapest_column(row, v, value.min()) == -1
    assert least_rank(row, v) == rank(value.min())


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize(("n", "m"), [(2 * BLOCK, 2 * BLOCK), (BLOCK + 3, 2 * BLOCK + 5), (2 * BLOCK, BLOCK)])
@pytest.mark.parametrize("largest", [3, 1000, 10**6])
def test_optimum_of_wide_matrices(dtype: Any, n: int, m: int, largest: int):
    cost = np.random.default_rng(largest).integers(-largest, largest, (n, m)).astype(dtype)
    answer = solve(cost, "jv")
    assert verify(cost, answer)
    assert answer.cost == cost.astype(np.float64)[linear_sum_assignment(cost)].sum()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize(("n", "m"), [(260, 260), (260, 270), (270, 260)])
@pytest.mark.parametrize("unmatched_cost", [None, 1])
def test_costs_that_tie_are_matched_without_a_search_for_distances(dtype: Any, n: int, m: int, unmatched_cost: int):
    cost = np.random.default_rng(n + m).integers(0, 20, (n, m)).astype(dtype)
    problem = Problem.dense(cost, unmatched_cost=unmatched_cost)
    answer = solve(problem, "jv")
    assert verify(problem, answer)
    assert answer.cost == abs(n - m) * (unmatched_cost or 0)
    assert answer.stats["shortest_paths"] <= max(n - m, 0)  # one for each row beyond the columns


def test_wars_over_few_columns_end_in_paths():
    rng = np.random.default_rng(4)
    n = 500
    x = rng.random((n, 3))
    y = rng.permutation(x + 0.3 * n ** (-1 / 3) * rng.standard_normal((n, 3)))
    cost = cdist(x, y)
    answer = solve(cost, "jv")
    assert verify(cost, answer)
    assert answer.stats["bids"] < 2 * n  # 5.6 n where chains have no end
    assert 0 < answer.stats["shortest_paths"] < n / 20


def test_rows_without_a_pair_stay_so_where_others_tie():
    cost = np.random.default_rng(5).integers(0, 10, (2 * BLOCK, 2 * BLOCK)).astype(np.float64)
    cost[7] = np.inf
    with pytest.raises(Infeasible) as caught:
        solve(cost, "jv")
    assert list(caught.value.rows) == [7]


@pytest.mark.parametrize("unmatched_cost", [-0.2, 0.0, 0.01, 0.4])
def test_the_unmatched_cost_in_wide_matrices(unmatched_cost: float):
    cost = np.random.default_rng(0).random((BLOCK + 9, 2 * BLOCK)) - 0.3
    problem = Problem.dense(cost, unmatched_cost=unmatched_cost)
    answer = solve(problem, "jv")
    assert verify(problem, answer)
    assert answer.cost == pytest.approx(solve(problem, JV(form="sparse")).cost, rel=1e-12)


def test_infinite_costs_are_not_matched():
    rng = np.random.default_rng(1)
    cost = np.where(rng.random((2 * BLOCK, 2 * BLOCK)) < 0.95, np.inf, rng.random((2 * BLOCK, 2 * BLOCK)))
    np.fill_diagonal(cost, 1.0)
    answer = solve(cost, "jv")
    assert verify(cost, answer)
    assert answer.cost == pytest.approx(cost[linear_sum_assignment(cost)].sum(), rel=1e-12)


def test_infeasible_wide_matrices_name_a_hall_violator():
    cost = np.random.default_rng(2).random((2 * BLOCK, 2 * BLOCK))
    cost[:40, 39:] = np.inf
    with pytest.raises(Infeasible) as caught:
        solve(cost, "jv")
    rows = list(caught.value.rows)
    assert np.isfinite(cost[rows]).any(axis=0).sum() < len(rows)
