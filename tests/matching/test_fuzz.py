"""Differential fuzzing against rational arithmetic: no answer that calls itself optimal is dearer than the optimum.

Ten thousand problems in the ordinary run, a third of each kind; `AUCTRACK_FUZZ=10000` before `pytest` and this file's
name: as many of each.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from auctrack.matching import Assignment, Certificate, Problem, solve, verify
from auctrack.matching.certificate import above_least, exact_optimum, refine
from auctrack.matching.certificate import certify as certifying
from auctrack.matching.certificate.certify import certify
from auctrack.matching.problem.convert import as_sparse
from auctrack.matching.problem.costs import pair_costs

from .cases import ON_CPU
from .exact import excess, paid

SEEDS = int(os.environ.get("AUCTRACK_FUZZ", "3400"))
PER_TEST = 100
FIRST_SEEDS = range(0, SEEDS, PER_TEST)
OF_LARGE = 40_000_000
"""From here on seeds are those of problems that are taken for large: no problem is counted twice."""
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


def _dearer(stated: list[tuple[np.ndarray, Any]], answer: Assignment) -> list[int]:
    """Return the blocks whose edges are dearer than the optimum by more than a proven answer may be."""
    return [
        b
        for b, (block, (cost, unmatched)) in enumerate(zip(answer.blocks(), stated, strict=True))
        if excess(cost, _sides(unmatched), block.col_of_row) > SHARE
    ]


def _sides(unmatched: Any) -> tuple[Any, Any] | None:
    return None if unmatched is None else unmatched if isinstance(unmatched, tuple) else (unmatched, unmatched)


def _assert_not_fooled(problem: Problem, stated: list[tuple[np.ndarray, Any]], answer: Assignment) -> bool:
    """Hold an answer to what it claims; return whether it is called optimal."""
    proven = verify(problem, answer)
    assert proven.is_optimal or not answer.is_optimal, proven.faults
    assert not proven.is_optimal or not _dearer(stated, answer)
    return answer.is_optimal


def _forged(problem: Problem, answer: Assignment, rng: np.random.Generator) -> Assignment:
    """Return other edges with duals moved by a large number, which call themselves optimal."""
    col_of_row = answer.col_of_row.copy()
    of_pairs = np.flatnonzero(col_of_row[: int(problem.row_offsets[1])] >= 0)
    col_of_row[of_pairs] = col_of_row[np.roll(of_pairs, 1)]
    v = answer.col_duals + rng.choice([-1.0, 1.0]) * 10.0 ** rng.integers(0, 20)
    return replace(certify(problem, col_of_row, v, solver="forged"), is_optimal=True)


@pytest.mark.parametrize("first", FIRST_SEEDS)
def test_no_answer_that_is_called_optimal_is_dearer_than_the_optimum(first: int) -> None:
    seeds = range(first, min(first + PER_TEST, SEEDS))
    assert sum(map(_called_optimal, seeds)) >= 0.94 * len(seeds)  # one in 300 is left unproven


@pytest.mark.parametrize("first", FIRST_SEEDS)
def test_nor_of_large_problems(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """These are proven first by the pairs that may decide, and never in integers."""
    _take_for_large(monkeypatch)
    seeds = range(first, min(first + PER_TEST, SEEDS))
    assert sum(_called_optimal(OF_LARGE + seed) for seed in seeds) >= 0.94 * len(seeds)


@pytest.mark.parametrize("first", FIRST_SEEDS)
def test_nor_of_large_point_sets(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor where two columns are exchanged: a limit of 0 makes all of them large."""
    _take_point_sets_for_large(monkeypatch)
    seeds = range(first, min(first + PER_TEST, SEEDS))
    assert sum(map(_points_called_optimal, seeds)) >= 0.9 * len(seeds)


@pytest.mark.parametrize("fuzzed", ["small", "large", "point sets"])
def test_a_wrong_answer_whose_certificate_is_believed_is_found(fuzzed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """This file's own test: of answers that pay a millionth more than the optimum each is an error."""
    if fuzzed != "small":
        (_take_for_large if fuzzed == "large" else _take_point_sets_for_large)(monkeypatch)
    state, hold = (_large_points, _points_called_optimal) if fuzzed == "point sets" else (_stated, _called_optimal)
    wrong = 0
    for seed in range(60):
        problem, stated = state(seed)
        right = solve(problem, "jv", "cpu")
        proof, answer = verify(problem, right), replace(right, col_of_row=_exchanged(right, seed))
        if proof and _pays_a_millionth_more(stated[0], *(next(each.blocks()) for each in (answer, right))):
            wrong += 1
            _assert_found(hold, seed, answer, proof, monkeypatch)
    assert wrong > 20


def _assert_found(
    hold: Callable[[int], bool], seed: int, answer: Assignment, proof: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as lying:
        lying.setitem(globals(), "solve", lambda *_: answer)
        lying.setitem(globals(), "verify", lambda *_: proof)
        with pytest.raises(AssertionError):
            hold(seed)


def _pays_a_millionth_more(stated: tuple[np.ndarray, Any], answer: Assignment, right: Assignment) -> bool:
    """Tell of two answers that leave the same members unassigned."""
    cost, sides = stated[0], _sides(stated[1])
    rows = np.flatnonzero(answer.col_of_row >= 0)
    if not np.isfinite(cost[rows, answer.col_of_row[rows]]).all():
        return False
    more = paid(cost, answer.col_of_row, sides) - paid(cost, right.col_of_row, sides)
    return more * 10**6 > paid(abs(cost), answer.col_of_row, sides)


def _take_for_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certifying, "FEW_PAIRS", 0)
    monkeypatch.setattr(exact_optimum, "MOST_PAIRS", 0)


def _take_point_sets_for_large(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (above_least, certifying, exact_optimum, refine):
        monkeypatch.setattr(module, "MOST_PAIRS", 0)


def _called_optimal(seed: int) -> bool:
    """Hold a problem's answer and a forged one to what they claim; return whether the answer is called optimal."""
    problem, stated = _stated(seed)
    answer = solve(problem, "auto" if seed % 2 else ON_CPU[seed // 2 % len(ON_CPU)], "cpu")
    called = _assert_not_fooled(problem, stated, answer)
    forged = _forged(problem, answer, np.random.default_rng(seed))
    if np.isfinite(np.atleast_1d(forged.cost)).all():
        _assert_forged_is_refused(problem, stated, forged)
    return called


def _points_called_optimal(seed: int) -> bool:
    """Do the same with two point sets, and with two edges exchanged; return whether `verify` calls them optimal."""
    problem, stated = _large_points(seed)
    answer = solve(problem, "auto" if seed % 2 else "jv", "cpu")
    assert not answer.is_optimal or not _dearer(stated, answer)
    other = certify(problem, _exchanged(answer, seed), answer.col_duals, solver="")
    assert not other.is_optimal or not _dearer(stated, other)
    _assert_forged_is_refused(problem, stated, replace(other, is_optimal=True))
    return verify(problem, answer).is_optimal


def _exchanged(answer: Assignment, seed: int) -> np.ndarray:
    """Return an answer's edges but for two rows of its first block, which have each other's column."""
    col_of_row = answer.col_of_row.copy()
    first = col_of_row[: int(answer.row_offsets[1])]
    matched = np.random.default_rng(seed).permutation(np.flatnonzero(first >= 0))[:2]
    first[matched] = first[matched[::-1]]
    return col_of_row


@pytest.mark.parametrize("seed", [125, 853])
def test_unmatched_costs_far_above_all_others_take_no_proof_away_that_holds_without_rounding(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Duals for lower unmatched costs may be rounded by more than the gap, computed exactly at those stated."""
    _take_point_sets_for_large(monkeypatch)
    problem, stated = _large_points(seed)
    answer = solve(problem, "auto", "cpu")
    assert answer.is_optimal
    assert verify(problem, answer)
    assert not _dearer(stated, answer)


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
            _take_for_large(monkeypatch)
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
    assert _dearer(stated, forged) == [0]
    assert not verify(problem, forged)
    assert verify(problem, solve(problem, "auto", "cpu"))


def _assert_forged_is_refused(problem: Problem, stated: list[tuple[np.ndarray, Any]], forged: Assignment) -> None:
    assert not verify(problem, forged) or not _dearer(stated, forged)
