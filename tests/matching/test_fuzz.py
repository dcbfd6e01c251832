"""Differential fuzzing against rational arithmetic: no answer that calls itself optimal is dearer than the optimum.

A few hundred problems in the ordinary run; `AUCTRACK_FUZZ=10000 pytest tests/matching/test_fuzz.py` takes more of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from auctrack.matching import Assignment, Problem, solve, verify
from auctrack.matching.certificate import above_least, exact_optimum, refine
from auctrack.matching.certificate import certify as certifying
from auctrack.matching.certificate.certify import certify
from auctrack.matching.problem.convert import as_sparse
from auctrack.matching.problem.costs import pair_costs

from .cases import ON_CPU
from .exact import optimum, paid

SEEDS = int(os.environ.get("AUCTRACK_FUZZ", "300"))
PER_TEST = 50
SHARE = Fraction(1, 10**9)


def _decades(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    rows, cols = (10.0 ** rng.uniform(-15, 15, size) for size in (n, m))
    return rng.random((n, m)) * np.outer(rows, cols)


def _scattered(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    return 10.0 ** rng.uniform(-30, 30, (n, m))


def _sentinels(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    cost = rng.random((n, m))
    size = 10.0 ** rng.integers(6, 25)
    cost[: rng.integers(0, n), :] = size
    cost[:, : rng.integers(0, m)] = size
    cost[rng.random((n, m)) < 0.2] = size
    return cost


def _tied(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    return rng.integers(0, 4, (n, m)) * 0.1 + rng.choice([0.0, 1e-16, 1e-12]) * rng.random((n, m))


def _shifted(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    return rng.random((n, m)) - 0.5 + 10.0 ** rng.integers(-3, 12)


def _holes(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    cost = rng.random((n, m)) * 10.0 ** rng.integers(-20, 20)
    cost[rng.random((n, m)) < 0.5] = np.inf
    np.fill_diagonal(cost, 10.0 ** rng.integers(-20, 20))
    return cost


FAMILIES: tuple[Callable[[np.random.Generator, int, int], np.ndarray], ...] = (
    _decades,
    _scattered,
    _sentinels,
    _tied,
    _shifted,
    _holes,
)


def _points(rng: np.random.Generator, n: int, m: int, unmatched: Any, metric: Any) -> tuple[Problem, np.ndarray]:
    """Return two point sets, some with far points, and their costs."""
    x, y = (rng.random((size, 2)) for size in (n, m))
    x[: rng.integers(0, 2)] *= 10.0 ** rng.integers(0, 9)
    return Problem.points(x, y, metric=metric, unmatched_cost=unmatched), pair_costs(x, y, metric)


def _two_planes(rng: np.random.Generator, size: int, side: int, scale: float) -> np.ndarray:
    """Costs are a little above 1, which every answer pays."""
    return np.hstack([np.full((size, 1), float(side)), scale * rng.random((size, 2))])


def _line(rng: np.random.Generator, size: int, side: int, scale: float) -> np.ndarray:
    del side
    return rng.random((size, 1)) * np.where(rng.random((size, 1)) < 0.5, scale, 1.0)


def _many_scales(rng: np.random.Generator, size: int, side: int, scale: float) -> np.ndarray:
    del side
    return rng.random((size, 2)) * scale ** rng.random((size, 1))


def _lattice(rng: np.random.Generator, size: int, side: int, scale: float) -> np.ndarray:
    return rng.integers(0, 3, (size, 2)) * 0.1 + side * scale**2 * rng.random((size, 2))


def _large_points(seed: int) -> tuple[Problem, list[tuple[np.ndarray, Any]]]:
    """Return two point sets, to be taken for large, their costs and unmatched costs; some differ by rounding."""
    rng = np.random.default_rng(seed)
    n, m = (int(k) for k in rng.integers(1, 14, 2))
    m = n if rng.random() < 0.5 else m
    made, scale = (_two_planes, _line, _many_scales, _lattice)[rng.integers(0, 4)], 10.0 ** -rng.integers(3, 13)
    x, y = made(rng, n, 0, scale), made(rng, m, 1, scale)
    unmatched_cost = 10.0 ** rng.integers(-4, 12)
    unmatched = (
        unmatched_cost * (1 + 1e-15 * rng.integers(0, 8, n)),
        unmatched_cost * (1 + 1e-15 * rng.integers(0, 8, m)),
    )
    unmatched = (None, None, unmatched_cost, unmatched)[rng.integers(0, 4)]
    metric = ("distance", "squared")[rng.integers(0, 2)]
    return Problem.points(x, y, metric=metric, unmatched_cost=unmatched), [(pair_costs(x, y, metric), unmatched)]


def _unmatched_costs(rng: np.random.Generator, n: int, m: int) -> Any:
    kind = rng.integers(0, 4)
    scale = 10.0 ** (rng.integers(-3, 4) if rng.random() < 0.7 else rng.integers(-20, 31))
    return (None, None, scale, (scale * rng.random(n), scale * rng.random(m)))[kind]


def _stated(seed: int) -> tuple[Problem, list[tuple[np.ndarray, Any]]]:
    """Return a problem, and the costs and unmatched costs of each of its blocks."""
    rng = np.random.default_rng(seed)
    blocks, stated = int(rng.choice([1, 1, 1, 3])), []
    family, form = int(rng.integers(0, len(FAMILIES) + 2)), int(rng.integers(0, 2))
    has_unmatched_cost = rng.random() < 0.4
    for _ in range(blocks):
        n, m = (int(k) for k in rng.integers(1, 14, 2))
        unmatched = _unmatched_costs(rng, n, m) if has_unmatched_cost else None
        unmatched = 1.0 if has_unmatched_cost and unmatched is None else unmatched
        if family >= len(FAMILIES):
            problem, cost = _points(rng, n, m, unmatched, ("distance", "squared")[form])
        else:
            cost = FAMILIES[family](rng, n, m)
            problem = Problem.dense(cost, unmatched_cost=unmatched)
            problem = as_sparse(problem) if form else problem
        stated.append((problem, cost, unmatched))
    parts = [problem for problem, _, _ in stated]
    return parts[0] if blocks == 1 else Problem.batch(parts), [(cost, unmatched) for _, cost, unmatched in stated]


def _sides(unmatched: Any) -> tuple[Any, Any] | None:
    return None if unmatched is None else unmatched if isinstance(unmatched, tuple) else (unmatched, unmatched)


def _excess(cost: np.ndarray, unmatched: Any, col_of_row: np.ndarray) -> Fraction:
    """Return how much dearer than the optimum matched edges are, over what not every answer pays."""
    sides = _sides(unmatched)
    matched, least = paid(cost, col_of_row, sides), optimum(cost, sides)
    if matched == least:
        return Fraction(0)
    return (matched - least) / max(_own(cost, sides, col_of_row, matched), Fraction(1, 10**400))


def _own(cost: np.ndarray, sides: tuple[Any, Any] | None, col_of_row: np.ndarray, matched: Fraction) -> Fraction:
    """Return what is paid above the rows' least, the unmatched cost of every column taken as paid; no more than that.

    Where unmatched costs differ by more than all costs, what nobody pays is no measure of what is paid.
    """
    sizes = paid(
        abs(cost), col_of_row, None if sides is None else (abs(np.asarray(sides[0])), abs(np.asarray(sides[1])))
    )
    return min(sizes, _above_least(cost, sides, matched))


def _above_least(cost: np.ndarray, sides: tuple[Any, Any] | None, matched: Fraction) -> Fraction:
    if sides is None:
        short = cost if cost.shape[0] <= cost.shape[1] else cost.T
        return matched - sum((Fraction(float(row.min())) for row in short), Fraction(0))
    rows, cols = ([Fraction(float(p)) for p in np.broadcast_to(s, k)] for s, k in zip(sides, cost.shape, strict=True))
    forced = sum(cols, Fraction(0))
    for row, unmatched_cost in zip(cost, rows, strict=True):
        forced += min([unmatched_cost, *(Fraction(c) - cols[j] for j, c in enumerate(row.tolist()) if c < np.inf)])
    return matched - forced


def _assert_not_fooled(problem: Problem, stated: list[tuple[np.ndarray, Any]], answer: Assignment) -> bool:
    """Hold an answer to what it claims; return whether it is called optimal."""
    proven = verify(problem, answer)
    assert proven.is_optimal or not answer.is_optimal, proven.faults
    if proven.is_optimal:
        for block, (cost, unmatched) in zip(answer.blocks(), stated, strict=True):
            assert _excess(cost, unmatched, block.col_of_row) <= SHARE
    return answer.is_optimal


def _forged(problem: Problem, answer: Assignment, rng: np.random.Generator) -> Assignment:
    """Return other edges with duals moved by a large number, which call themselves optimal."""
    col_of_row = answer.col_of_row.copy()
    of_pairs = np.flatnonzero(col_of_row[: int(problem.row_offsets[1])] >= 0)
    col_of_row[of_pairs] = col_of_row[np.roll(of_pairs, 1)]
    v = answer.col_duals + rng.choice([-1.0, 1.0]) * 10.0 ** rng.integers(0, 20)
    return replace(certify(problem, col_of_row, v, solver="forged"), is_optimal=True)


@pytest.mark.parametrize("is_large", [False, True])
@pytest.mark.parametrize("first", range(0, SEEDS, PER_TEST))
def test_no_answer_that_is_called_optimal_is_dearer_than_the_optimum(
    first: int, is_large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor of large problems: first by the pairs that may decide, and never in integers."""
    if is_large:
        monkeypatch.setattr(certifying, "FEW_PAIRS", 0)
        monkeypatch.setattr(exact_optimum, "MOST_PAIRS", 0)
    called = 0
    for seed in range(first, min(first + PER_TEST, SEEDS)):
        problem, stated = _stated(seed)
        solver = "auto" if seed % 2 else ON_CPU[seed // 2 % len(ON_CPU)]
        answer = solve(problem, solver, "cpu")
        called += _assert_not_fooled(problem, stated, answer)
        forged = _forged(problem, answer, np.random.default_rng(seed))
        if np.isfinite(np.atleast_1d(forged.cost)).all():
            _assert_forged_is_refused(problem, stated, forged)
    assert called >= 0.94 * min(PER_TEST, SEEDS - first)  # one in 300 is left unproven


@pytest.mark.parametrize("first", range(0, SEEDS, PER_TEST))
def test_no_large_point_sets_are_called_optimal_that_are_not(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor where two columns are exchanged: a limit of 0 makes all of them large."""
    for module in (above_least, certifying, exact_optimum, refine):
        monkeypatch.setattr(module, "MOST_PAIRS", 0)
    called = 0
    for seed in range(first, min(first + PER_TEST, SEEDS)):
        problem, [(cost, unmatched)] = _large_points(seed)
        answer = solve(problem, "auto" if seed % 2 else "jv", "cpu")
        assert not answer.is_optimal or _excess(cost, unmatched, answer.col_of_row) <= SHARE
        called += verify(problem, answer).is_optimal
        exchanged = answer.col_of_row.copy()
        matched = np.random.default_rng(seed).permutation(np.flatnonzero(exchanged >= 0))[:2]
        exchanged[matched] = exchanged[matched[::-1]]
        other = certify(problem, exchanged, answer.col_duals, solver="")
        assert not other.is_optimal or _excess(cost, unmatched, exchanged) <= SHARE
        _assert_forged_is_refused(problem, [(cost, unmatched)], replace(other, is_optimal=True))
    assert called >= 0.9 * min(PER_TEST, SEEDS - first)


@pytest.mark.parametrize("seed", [125, 853])
def test_unmatched_costs_far_above_all_others_take_no_proof_away_that_holds_without_rounding(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Duals for lower unmatched costs may be rounded by more than the gap, computed exactly at those stated."""
    for module in (above_least, certifying, exact_optimum, refine):
        monkeypatch.setattr(module, "MOST_PAIRS", 0)
    problem, [(cost, unmatched)] = _large_points(seed)
    answer = solve(problem, "auto", "cpu")
    assert answer.is_optimal
    assert verify(problem, answer)
    assert _excess(cost, unmatched, answer.col_of_row) <= SHARE


@pytest.mark.parametrize("seed", [5_002_812, 5_008_300])
def test_a_gap_proven_at_lower_unmatched_costs_is_no_fault_where_the_stated_ones_hide_it(seed: int) -> None:
    problem, stated = _stated(seed)
    assert _assert_not_fooled(problem, stated, solve(problem, "hungarian-classical", "cpu"))


def test_one_ulp_of_a_matched_edge_counts_where_all_others_are_nearly_free() -> None:
    problem, stated = _stated(6_009_443)
    assert _assert_not_fooled(problem, stated, solve(problem, "auto", "cpu"))


@pytest.mark.parametrize("is_small", [True, False])
def test_the_last_digit_of_an_edge_counts_beside_an_unmatched_cost(
    is_small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two edges that differ by 6e-17, beside an unmatched cost of 1, where every answer pays 0.1 at least.

    An unmatched cost of 1 makes one number of both; where the dearer is matched, no proof is left.
    """
    if not is_small:
        monkeypatch.setattr(exact_optimum, "MOST_PAIRS", 0)
    problem, stated = _stated(7_028_965)
    answer = solve(problem, "auto", "cpu")
    assert answer.is_optimal
    assert _assert_not_fooled(problem, stated, answer)
    (cost, _), block, dearer = stated[2], problem.block(2), 2
    assert 0 < cost[0, dearer] - cost.min() < 1e-16
    *_, own = answer.blocks()
    forged = certify(block, np.array([dearer], np.int32), own.col_duals, solver="forged")
    assert not forged.is_optimal
    assert not verify(block, replace(forged, is_optimal=True))


@pytest.mark.parametrize("seed", [8_001_234, 8_005_992, 8_006_189, 8_008_022])
def test_what_was_proven_from_columns_is_proven_from_rows_too(seed: int) -> None:
    """Batches of tall and square blocks, whose duals leave 64 ulp of slack once their sides are as stated."""
    problem, stated = _stated(seed)
    solver = "auto" if seed % 2 else ON_CPU[seed // 2 % len(ON_CPU)]
    assert _assert_not_fooled(problem, stated, solve(problem, solver, "cpu"))


@pytest.mark.parametrize("solver", ON_CPU, ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_unmatched_costs_that_differ_by_more_than_all_that_is_paid_hide_no_wrong_edge(
    seed: int, solver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Costs of sixty decades, unmatched costs of sixteen: nobody pays the latter, and they set the duals."""
    for is_large in (False, True):
        if is_large:
            monkeypatch.setattr(certifying, "FEW_PAIRS", 0)
            monkeypatch.setattr(exact_optimum, "MOST_PAIRS", 0)
        rng = np.random.default_rng(seed)
        n, called = 7, 0
        for _ in range(12):
            cost = _scattered(rng, n, n)
            unmatched = tuple(10.0 ** (rng.uniform(0, 25) + rng.uniform(-8, 8, n)) for _ in range(2))
            problem, stated = Problem.dense(cost, unmatched_cost=unmatched), [(cost, unmatched)]
            answer = solve(problem, solver, "cpu")
            called += _assert_not_fooled(problem, stated, answer)
            _assert_forged_is_refused(problem, stated, _forged(problem, answer, rng))
        assert called >= (2 if is_large else 8)


@pytest.mark.parametrize("is_small", [True, False])
def test_an_unmatched_cost_far_above_all_others_hides_no_wrong_edge(
    is_small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor where a problem counts as too large to be checked once more in whole numbers."""
    if not is_small:
        monkeypatch.setattr(exact_optimum, "MOST_PAIRS", 0)
    seed = 6_004_289
    problem, stated = _stated(seed)
    forged = _forged(problem, solve(problem, "auto", "cpu"), np.random.default_rng(seed))
    (cost, unmatched), *_ = stated
    assert _excess(cost, unmatched, forged.col_of_row) > SHARE
    assert not verify(problem, forged)
    assert verify(problem, solve(problem, "auto", "cpu"))


def _assert_forged_is_refused(problem: Problem, stated: list[tuple[np.ndarray, Any]], forged: Assignment) -> None:
    if verify(problem, forged):
        for block, (cost, unmatched) in zip(forged.blocks(), stated, strict=True):
            assert _excess(cost, unmatched, block.col_of_row) <= SHARE
