"""Duals as pairs of floats, over few pairs and one cost for all others, are those of exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from auctrack.matching.certificate import exact_gap, other_pairs
from auctrack.matching.tolerance import EPS

N, M = 6, 7
OTHERS = 1.125
ULPS = 2.0**-57
"""Of the first floats, eighths up to 1, which tie: the second ones decide."""
LOST = Fraction(1, 2**90)


def _pair(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.integers(-8, 1, size) / 8, rng.integers(-1000, 1000, size) / 1000 * ULPS


def _exact(high: np.ndarray, low: np.ndarray) -> list[Fraction]:
    return [Fraction(float(a)) + Fraction(float(b)) for a, b in zip(high, low, strict=True)]


def _duals(rng: np.random.Generator) -> tuple[exact_gap.Duals, list[Fraction], list[Fraction]]:
    r, v = _pair(rng, N), _pair(rng, M)
    return exact_gap.Duals(*r, *v), _exact(*r), _exact(*v)


def _edges(cost: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The pairs below the cost of all others."""
    is_cheap = cost < OTHERS
    indptr = np.append(0, np.cumsum(is_cheap.sum(axis=1)))
    return indptr, np.zeros(N, np.int64), np.nonzero(is_cheap)[1].astype(np.int32), cost[is_cheap]


@pytest.mark.parametrize("others", [OTHERS, np.inf])
@pytest.mark.parametrize("of_rows", [True, False])
@pytest.mark.parametrize("reduced_costs", ["eighths", "rounding"])
@pytest.mark.parametrize("seed", range(30))
def test_best_duals(seed, reduced_costs, of_rows, others):
    rng = np.random.default_rng(seed)
    base, *_ = _duals(rng)
    other = _pair(rng, M if of_rows else N)
    cost = rng.integers(0, 9, (N, M)) / 8
    if reduced_costs == "rounding":  # and what is computed in floats is off by far more
        near, far = rng.random(N if of_rows else M) / 2, 1e3 * rng.random(M if of_rows else N)
        other = rng.random(len(far)) / 2 - far, other[1]
        base = base._replace(r=near if of_rows else far, v=far if of_rows else near)
        cost = near[:, None] + (far + other[0]) if of_rows else (far + other[0])[:, None] + near
    cost = np.where(rng.random((N, M)) < 0.3, cost, OTHERS)
    sides = _exact(base.r, base.r_low), _exact(base.v, base.v_low)
    own_base, other_base, costs = (*sides, cost) if of_rows else (*sides[::-1], cost.T)
    bound = np.where(rng.random(len(own_base)) < 0.5, rng.integers(0, 9, len(own_base)) / 8, np.inf)
    high, low = exact_gap._best_duals(*_edges(cost), others, of_rows, base, bound, *other)
    above = [a + b for a, b in zip(other_base, _exact(*other), strict=True)]
    for k, own in enumerate(own_base):
        left = [Fraction(c) - own - a for c, a in zip(costs[k], above, strict=True) if c < OTHERS or others < np.inf]
        least = [*left, Fraction(bound[k]) - own] if bound[k] < np.inf else left
        if least:
            assert abs(Fraction(high[k]) + Fraction(low[k]) - min(least)) <= LOST
        else:
            assert high[k] == np.inf


@pytest.mark.parametrize("seed", range(30))
def test_columns_are_lowered_to_what_the_row_that_is_left_most_leaves(seed):
    rng = np.random.default_rng(seed)
    base, _, v = _duals(rng)
    col_of_row = np.where(rng.random(N) < 0.7, rng.permutation(M)[:N], -1)
    pays = rng.integers(0, 9, N) / 8
    above = _pair(rng, M)
    before = _exact(*above)
    total = [a + b for a, b in zip(v, before, strict=True)]
    most = max(Fraction(p) - (total[j] if j >= 0 else 0) for p, j in zip(pays, col_of_row, strict=True))
    wanted = [min(now, Fraction(OTHERS) - own - most) for now, own in zip(before, v, strict=True)]
    lowered = other_pairs.lower_columns(OTHERS, col_of_row, pays, base, *above)
    assert lowered == (wanted != before)
    assert all(abs(found - exact) <= LOST for found, exact in zip(_exact(*above), wanted, strict=True))


@pytest.mark.parametrize("seed", range(60))
def test_who_has_a_pair_within_the_gap(seed):
    rng = np.random.default_rng(seed)
    (base, *of_base), (duals, *of_duals) = _duals(rng), _duals(rng)
    r, v = ([a + b for a, b in zip(*sides, strict=True)] for sides in zip(of_base, of_duals, strict=True))
    least = Fraction(OTHERS) - max(r) - max(v)
    cost = OTHERS - float(least)  # so that the pair of the best duals has next to no reduced cost
    gap = rng.integers(-2, 3) * ULPS
    is_within = [[Fraction(cost) - a - b <= Fraction(gap) for b in v] for a in r]
    found = other_pairs.are_within(cost, base, duals, gap)
    assert found.tolist() == [*map(any, is_within), *map(any, zip(*is_within, strict=True))]


@pytest.mark.parametrize("seed", range(20))
def test_which_edges_are_within_the_gap(seed):
    """Nothing but the second floats is left of reduced costs, and they decide."""
    rng = np.random.default_rng(seed)
    (base, *of_base), (duals, *of_duals) = _duals(rng), _duals(rng)
    r, v = ([a + b for a, b in zip(*sides, strict=True)] for sides in zip(of_base, of_duals, strict=True))
    cost, gap = np.add.outer(base.r + duals.r, base.v + duals.v), rng.integers(-2, 3, N) * ULPS
    edges = np.arange(N + 1) * M, np.zeros(N, np.int64), None, cost.reshape(-1)
    indptr, near = exact_gap._pairs_within(*edges, base, duals, gap)
    for i in range(N):
        is_within = [Fraction(cost[i, j]) - r[i] - v[j] <= Fraction(gap[i]) for j in range(M)]
        assert near[indptr[i] : indptr[i + 1]].tolist() == np.flatnonzero(is_within).tolist()


@pytest.mark.parametrize("seed", range(30))
def test_no_slack_is_less_than_that_of_exact_fractions_but_for_its_own_rounding(seed):
    rng = np.random.default_rng(seed)
    (base, *of_base), (duals, *of_duals) = _duals(rng), _duals(rng)
    r, v = ([a + b for a, b in zip(*sides, strict=True)] for sides in zip(of_base, of_duals, strict=True))
    col_of_row = np.where(rng.random(N) < 0.7, rng.permutation(M)[:N], -1)
    row_of_col = np.full(M, -1)
    row_of_col[col_of_row[col_of_row >= 0]] = np.flatnonzero(col_of_row >= 0)
    col_unmatched = base.v + duals.v  # so that second floats are all that is left
    pays = base.r + duals.r + np.where(col_of_row < 0, 0.0, col_unmatched[col_of_row])
    exact = [
        *(Fraction(p) - a - (v[j] if j >= 0 else 0) for p, a, j in zip(pays, r, col_of_row, strict=True)),
        *(Fraction(u) - b if i < 0 else Fraction(0) for u, b, i in zip(col_unmatched, v, row_of_col, strict=True)),
    ]
    found = exact_gap._slacks(pays, col_unmatched, col_of_row, row_of_col, base, duals)
    for slack, own in zip(found, exact, strict=True):
        assert -EPS / 2 * abs(own) <= Fraction(slack) - own <= 32 * EPS * ULPS


@pytest.mark.parametrize("seed", range(30))
def test_what_rounding_takes_from_slacks_that_cancel_is_added(seed):
    """Duals are as near to what is paid as pairs of floats can be, so that all of the slack is their rounding."""
    rng = np.random.default_rng(seed)
    small = (rng.random(k) * 2.0**-8 for k in (N, M))  # of more digits than what is paid
    base = exact_gap.Duals(next(small), rng.normal(size=N) * ULPS, next(small), rng.normal(size=M) * ULPS)
    pays, col_unmatched = rng.random(N), rng.random(M)
    col_of_row = np.where(np.arange(N) < N // 2, rng.permutation(M)[:N], -1)
    row_of_col = np.full(M, -1)
    row_of_col[col_of_row[: N // 2]] = np.arange(N // 2)
    of_rows, of_cols = _exact(base.r, base.r_low), _exact(base.v, base.v_low)
    v, v_low, left_to_cols = _nearest([Fraction(u) - b for u, b in zip(col_unmatched, of_cols, strict=True)])
    own = [of_cols[j] + Fraction(v[j]) + Fraction(v_low[j]) if j >= 0 else 0 for j in col_of_row]
    r, r_low, left_to_rows = _nearest([Fraction(p) - b - a for p, b, a in zip(pays, of_rows, own, strict=True)])
    found = exact_gap._slacks(pays, col_unmatched, col_of_row, row_of_col, base, exact_gap.Duals(r, r_low, v, v_low))
    exact = [*left_to_rows, *(0 if i >= 0 else left for i, left in zip(row_of_col, left_to_cols, strict=True))]
    for slack, least in zip(found, exact, strict=True):
        assert least <= Fraction(slack) <= least + Fraction(EPS**2 * 16)


def _nearest(values: list[Fraction]) -> tuple[np.ndarray, np.ndarray, list[Fraction]]:
    """Numbers as pairs of floats, and what these leave of them."""
    high = np.array([float(value) for value in values])
    low = np.array([float(value - Fraction(part)) for value, part in zip(values, high, strict=True)])
    return high, low, [value - found for value, found in zip(values, _exact(high, low), strict=True)]


@pytest.mark.parametrize("seed", range(30))
def test_columns_are_lowered_until_no_row_would_pay_less_elsewhere(seed):
    """Eighths tie; what the second floats hold, far below the digits of the first ones, decides."""
    rng = np.random.default_rng(seed)
    r, v, above = ((rng.integers(-8, 1, k) / 8, rng.integers(-8, 9, k) * 2.0**-88) for k in (N, M, M))
    base, cost = exact_gap.Duals(*r, *v), rng.integers(0, 9, (N, M)) / 8
    rows, cols = linear_sum_assignment(cost)
    edges = np.arange(N + 1) * M, np.zeros(N, np.int64), None, cost.reshape(-1)
    ended = exact_gap._lower_until_rows_pay_least(
        *edges, cols, cost[rows, cols], base, *above, np.array([0, N]), np.array([50])
    )
    assert ended.all()
    duals = [b + own for b, own in zip(_exact(*v), _exact(*above), strict=True)]
    for i, j in zip(rows, cols, strict=True):
        left = [Fraction(c) - dual for c, dual in zip(cost[i], duals, strict=True)]
        assert left[j] - min(left) <= LOST
