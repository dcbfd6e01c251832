"""The gap without rounding: of a matrix that is mostly one cost by few of its pairs, of a batch all at once."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.matching import Problem, solve, verify
from auctrack.matching.certificate import certify, exact_gap
from auctrack.matching.certificate.exact_optimum import is_cheapest
from auctrack.matching.problem import cheaper_pairs
from auctrack.matching.problem.convert import as_sparse


def _mostly_one_cost(rng: np.random.Generator) -> Problem:
    """Costs of a few decades, ties among them, below one that most pairs have; with unmatched costs or without."""
    n, m = rng.integers(2, 12, 2)
    highest = 10.0 ** rng.integers(-3, 22)
    cost = np.full((n, m), highest)
    lower = rng.random((n, m)) * 10.0 ** rng.integers(-8, 3, size=(n, m) if rng.random() < 0.5 else 1)
    lower = np.round(lower * 4) / 4 if rng.random() < 0.3 else lower
    is_cheap = (rng.random((n, m)) < 0.8 * rng.random()) & (lower < highest)
    cost[is_cheap] = lower[is_cheap]
    if rng.random() < 0.2:
        cost[rng.random(cost.shape) < 0.2] *= -rng.random()
    u = [rng.random(k) * 10.0 ** rng.integers(-2, 20) for k in (n, m)]
    return Problem.dense(cost, unmatched_cost=(u[0], u[1])) if rng.random() < 0.4 else Problem.dense(cost)


def _answer(rng: np.random.Generator, problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The optimum or an exchange beside it, and its duals or some that are off in their last digits."""
    answer = solve(problem, "jv", device="cpu")
    col_of_row, v = answer.col_of_row.copy(), answer.col_duals
    if rng.random() < 0.5:
        pair = rng.integers(0, problem.n_rows, 2)
        col_of_row[pair] = col_of_row[pair[::-1]]
    if rng.random() < 0.5:
        off = rng.normal(size=len(v)) * 10.0 ** rng.integers(-18, -8) * abs(problem.data).max()
        v = np.minimum(v + off, problem.dual_bounds()[1])
    row_of_col = np.full(len(v), -1, np.int32)
    row_of_col[col_of_row[col_of_row >= 0]] = np.flatnonzero(col_of_row >= 0)
    return col_of_row, row_of_col, v


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_few_pairs_prove_the_gap_of_all(first, monkeypatch):
    monkeypatch.setattr(cheaper_pairs, "FEWEST", 2)
    monkeypatch.setattr(cheaper_pairs, "SEEN", 1)
    monkeypatch.setattr(cheaper_pairs, "MOST_CHEAP", 0.7)
    n_few = n_proven = 0
    for seed in range(first, first + 100):
        rng = np.random.default_rng(seed)
        problem = _mostly_one_cost(rng)
        found = _answer(rng, problem)
        n_few += cheaper_pairs.cheaper_pairs(problem) is not None
        gap, is_proven = exact_gap.exact_gap(problem, *found)
        with monkeypatch.context() as all_pairs:
            all_pairs.setattr(exact_gap, "cheaper_pairs", lambda _: None)
            gap_of_all, is_proven_by_all = exact_gap.exact_gap(problem, *found)
        assert gap == pytest.approx(gap_of_all, rel=1e-14)
        assert is_proven == is_proven_by_all
        assert not is_proven or is_cheapest(problem, found[0], found[2])
        n_proven += is_proven
    assert n_few > 50
    assert 20 < n_proven < 100


@pytest.mark.parametrize("seed", range(60))
def test_other_pairs_connect_the_groups_that_all_pairs_connect(seed, monkeypatch):
    monkeypatch.setattr(cheaper_pairs, "FEWEST", 2)
    monkeypatch.setattr(cheaper_pairs, "SEEN", 1)
    monkeypatch.setattr(cheaper_pairs, "MOST_CHEAP", 0.7)
    rng = np.random.default_rng(seed)
    n, m = rng.integers(8, 12, 2)
    cost = np.where(rng.random((n, m)) < 0.03, rng.random((n, m)), 1.0)
    r, v = rng.integers(-4, 1, n) / 8, rng.integers(-4, 1, m) / 8
    duals, nothing = exact_gap.Duals(r, 0 * r, v, 0 * v), exact_gap.Duals(*np.zeros((2, n)), *np.zeros((2, m)))
    gap, first = np.full(n, rng.integers(0, 12) / 8 + cost.min() - 1), np.zeros(n, np.int64)
    few = cheaper_pairs.cheaper_pairs(Problem.dense(cost))
    assert few is not None
    of_few = exact_gap._groups(few[0], first, *few[1:], nothing, duals, gap)
    of_all = exact_gap._groups(np.arange(n + 1) * m, first, None, cost.reshape(-1), np.inf, nothing, duals, gap)
    np.testing.assert_array_equal(of_few[:, None] == of_few, of_all[:, None] == of_all)


@pytest.mark.parametrize("seed", range(40))
def test_blocks_of_a_batch_have_the_gaps_that_they_have_alone(seed):
    rng = np.random.default_rng(seed)
    parts = [_mostly_one_cost(rng) for _ in range(8)]
    parts = [part for part in parts if part.has_unmatched_cost == parts[0].has_unmatched_cost]
    answers = [_answer(rng, part) for part in parts]
    batch, whole = Problem.batch(parts), [np.concatenate(each) for each in zip(*answers, strict=True)]
    alone = [exact_gap.exact_gap(*pair) for pair in ((part, *own) for part, own in zip(parts, answers, strict=True))]
    for form in (batch, as_sparse(batch)):
        gap, is_proven = exact_gap.exact_gaps(form, *whole)
        np.testing.assert_allclose(gap, [each for each, _ in alone], rtol=1e-14)
        np.testing.assert_array_equal(is_proven, [each for _, each in alone])


@pytest.mark.parametrize("kind", ["a row of sentinels", "two cheap pairs a row", "half sentinels", "shapes differ"])
@pytest.mark.parametrize("sentinel", [1e6, 1e20])
def test_batches_beside_sentinels_are_proven_as_their_blocks_are(kind, sentinel):
    rng = np.random.default_rng(2)
    costs = []
    for _ in range(60):
        cost = rng.random((20, 20) if kind != "shapes differ" else rng.integers(3, 20, 2))
        if kind == "two cheap pairs a row":
            is_cheap = np.zeros(cost.shape, bool)
            is_cheap[np.repeat(np.arange(20), 2), rng.integers(0, 20, 40)] = True
        else:
            is_cheap = rng.random(cost.shape) < 0.5
        if kind in ("a row of sentinels", "shapes differ"):
            is_cheap[:] = True
            is_cheap[0] = False
        costs.append(np.where(is_cheap, cost, sentinel))
    batch = solve(Problem.batch(costs), device="cpu")
    assert batch.is_optimal
    assert verify(Problem.batch(costs), batch).is_valid
    for cost, block in zip(costs, batch.blocks(), strict=True):
        assert is_cheapest(Problem.dense(cost), block.col_of_row, block.col_duals)


@pytest.mark.parametrize("sentinel", [1e6, 1e13, 1e20])
def test_verify_proves_what_pays_a_sentinel(sentinel):
    rng = np.random.default_rng(3)
    cost = np.full((400, 400), sentinel)
    cost[np.repeat(np.arange(400), 2), rng.integers(0, 400, 800)] = rng.random(800)
    answer = solve(cost, device="cpu")
    assert answer.is_optimal
    assert verify(cost, answer)


@pytest.mark.parametrize("sentinel", [1e9, 1e20])
@pytest.mark.parametrize("n", [7, 20, 60])
def test_the_gap_beside_sentinels_that_nobody_pays_is_what_was_proven(sentinel, n):
    """Column duals that have come by sentinels leave a share of these: up to all that is paid."""
    rng = np.random.default_rng(0)
    costs = [np.where(rng.random((n, n)) < 1 - 3 / n, sentinel, rng.random((n, n))) for _ in range(50)]
    for cost in costs:
        cost[np.arange(n), rng.permutation(n)] = rng.random(n)
    answer = solve(Problem.batch(costs), device="cpu")
    assert answer.is_optimal
    assert verify(Problem.batch(costs), answer)
    assert (answer.gap >= 0).all()
    assert (answer.gap <= 1e-9 * answer.cost).all()


def _gap_of(cost, col_of_row, v, **unmatched) -> tuple[float, bool]:
    """Of a complete matching of a square matrix."""
    partners = np.asarray(col_of_row, np.int32)
    return exact_gap.exact_gap(Problem.dense(cost, **unmatched), partners, np.argsort(partners), np.asarray(v, float))


RIVALS = np.array([[0.0, 1.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
"""Two rows for one column: one of them pays 1 above its least, which no dual that needs no solve foresees."""


def test_the_gap_is_held_to_what_is_paid_above_the_least_whatever_every_answer_pays():
    cost = 1e6 + RIVALS
    cost[0, 2] += 1e-7
    gap, is_proven = _gap_of(cost, [2, 0, 1], [-1.0, 0.0, 0.0])
    assert gap == pytest.approx(1e-7, rel=1e-3)
    assert not is_proven  # though it is within 1e-9 of 3e6
    assert _gap_of(cost, [0, 2, 1], [-1.0, 0.0, 0.0]) == (0.0, True)


def test_a_dear_group_hides_no_gap_that_is_too_much_for_all_groups_together():
    """Rows 0 and 1 should be exchanged: 1e-5 is little beside their 1e4, not beside as many of the cheapest. What row 3
    pays above its least allows it, and lets pairs of floats lose a hundredth of it."""
    cost = np.full((5, 5), 1e15)
    cost[:2, :2] = [[1e4, 1e4 + 1], [1e4, 1e4 + 1 + 1e-5]]
    cost[2:4, 2:4] = [1, 1e12]
    cost[4, 3:] = 1e12
    gap, is_proven = _gap_of(cost, range(5), cost.min(axis=0))
    assert gap == pytest.approx(1e-5)
    assert not is_proven


def test_duals_are_lowered_as_often_as_there_are_rows():
    """Each row takes from the column of the row before it: what the last leaves reaches the first after all others."""
    n = 120
    cost = np.where(np.eye(n, k=-1) == 1, 0.0, np.where(np.eye(n) == 1, 1.0, 1e3))
    assert _gap_of(cost, range(n), np.zeros(n)) == (0.0, True)


def test_what_all_column_duals_have_in_common_takes_no_digits():
    cost = RIVALS + np.random.default_rng(0).random((3, 3)) / 8
    gap, is_proven = _gap_of(cost, solve(cost, device="cpu").col_of_row, np.full(3, 1e28))
    assert is_proven
    assert gap < 1e-30


def test_duals_begin_at_what_unassigned_members_would_pay_where_those_at_hand_are_far_off():
    cost = RIVALS + np.random.default_rng(0).random((3, 3)) / 8
    gap, is_proven = _gap_of(cost, solve(cost, device="cpu").col_of_row, [-1e20, -1e19, -7e18], unmatched_cost=5.0)
    assert is_proven
    assert gap < 1e-28


def test_rows_that_pay_their_least_need_no_duals():
    cost = np.random.default_rng(0).random((4, 4)) + 1 - np.eye(4)
    assert _gap_of(cost, range(4), [1 / 3, 1e20 / 3, 0.1, -1e9 / 7]) == (0.0, True)
    assert _gap_of(cost, range(4), [1 / 3, 1e20 / 3, 0.1, -1e9 / 7], unmatched_cost=9.0) == (0.0, True)


def test_columns_that_pay_their_least_need_no_duals_where_they_are_fewer():
    cost = np.random.default_rng(0).random((5, 3)) + 1 - np.eye(5, 3)
    partners = np.array([0, 1, 2, -1, -1], np.int32)
    found = exact_gap.exact_gap(Problem.dense(cost), partners, partners[:3], np.array([1 / 3, 1e20 / 3, 0.1]))
    assert found == (0.0, True)


def test_whole_numbers_leave_no_gap(monkeypatch):
    """Where nothing but they may decide; duals in floats leave more than all that the cheap pairs cost."""
    monkeypatch.setattr(certify, "exact_gaps", lambda problem, *_: (np.ones(problem.n_blocks), np.zeros(1, np.bool_)))
    cost = np.array([[1e20, 1e20, 1e20], [1e20, 0.1, 0.2], [1e20, 0.2, 0.1]])
    answer = certify.certify(
        Problem.dense(cost), np.arange(3, dtype=np.int32), np.array([0.0, -1e20, -1e20]), solver=""
    )
    assert answer.is_optimal
    assert answer.gap == 0
    assert verify(cost, answer)
