"""`verify` catches every wrong answer: each test takes a right assignment and breaks one thing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from auctrack.matching import Assignment, InvalidProblem, Problem, solve, verify
from auctrack.matching.certificate import exact_optimum, verification
from auctrack.matching.certificate.certify import Slackness, certify, settled

COST = np.random.default_rng(0).integers(1, 100, (6, 8))


def _cases() -> dict[str, Problem]:
    rng = np.random.default_rng(1)
    x, y = rng.random((6, 3)), rng.random((8, 3))
    return {
        "integers": Problem.dense(COST),
        "integers-u": Problem.dense(COST, unmatched_cost=6),
        "reals": Problem.dense(COST / 7),
        "reals-u": Problem.dense(COST / 7, unmatched_cost=1.1),
        "square": Problem.dense(COST[:, :6]),
        "square-reals": Problem.dense(COST[:, :6] / 7),
        "sparse": Problem.sparse((np.arange(7) * 8, np.tile(np.arange(8), 6), COST.ravel()), shape=(6, 8)),
        "points": Problem.points(x, y),
        "points-u": Problem.points(x, y, unmatched_cost=0.25),
        "batch": Problem.batch([Problem.dense(COST), Problem.dense(COST.T), Problem.dense(COST[:, :6])]),
    }


PROBLEMS = _cases()


@pytest.fixture(params=PROBLEMS, name="problem")
def _problem(request: pytest.FixtureRequest) -> Problem:
    return PROBLEMS[request.param]


@pytest.fixture(name="answer")
def _answer(problem: Problem) -> Assignment:
    return solve(problem, device="cpu")


def _changed(array: np.ndarray, at: int, to: Any) -> np.ndarray:
    array = array.copy()
    array[at] = to
    return array


def _relinked(problem: Problem, col_of_row: np.ndarray, answer: Assignment) -> Assignment:
    """Return an honest assignment of other edges: inverse, cost and gap are theirs, the duals those of `answer`."""
    honest = certify(problem, col_of_row.astype(np.int32), answer.col_duals, solver="test")
    return replace(honest, row_duals=answer.row_duals, col_duals=answer.col_duals)


def _assert_wrong(problem: Problem, answer: Assignment, fault: str) -> None:
    certificate = verify(problem, answer)
    assert not certificate
    assert not certificate.is_valid
    assert not certificate.is_optimal
    assert any(fault in said for said in certificate.faults), certificate.faults


def test_a_right_answer_is_proven(problem: Problem, answer: Assignment):
    certificate = verify(problem, answer)
    assert certificate
    assert certificate.is_valid
    assert certificate.faults == ()
    np.testing.assert_array_equal(certificate.cost, answer.cost)
    assert np.ndim(certificate.cost) == np.ndim(answer.cost)
    assert np.ndim(certificate.gap) == np.ndim(answer.gap)


def test_blocks_that_grow_wider_have_no_columns_in_common():
    problem = Problem.batch([Problem.dense(COST[:2, :2]), Problem.dense(COST[:5, :5])])
    assert verify(problem, solve(problem, device="cpu"))


def test_a_dual_is_held_to_the_rounding_of_the_largest_term_of_its_pair():
    """1e8 + 0.1 - 1e8 is rounded by some 1e-8: a dual of 0.1 may be off by that, not by ten million times as much."""
    problem = Problem.dense([[1e8 + 0.1]])
    answer = certify(problem, np.zeros(1, np.int32), np.array([1e8]), solver="test")
    assert verify(problem, replace(answer, row_duals=answer.row_duals + 1e-7))
    assert not verify(problem, replace(answer, row_duals=answer.row_duals + 0.1))


@pytest.mark.parametrize("blocks", [1, 5000])
def test_a_certificate_is_one_line_however_many_blocks_it_is_of(blocks):
    problem = Problem.batch(np.ones((blocks, 2, 2)))
    right = solve(problem)
    assert repr(verify(problem, right)) == f"<Certificate optimal, cost {2.0 * blocks}, gap 0.0>"
    wrong = verify(problem, replace(right, cost=right.cost + 1))
    assert repr(wrong).startswith("<Certificate invalid: ")


def test_plain_arrays_are_verified_as_they_are_solved():
    assert verify(COST, solve(COST))


def test_a_wrong_cost_is_caught(problem: Problem, answer: Assignment):
    for wrong in (answer.cost + 1, answer.cost * 0, answer.cost * np.nan):
        _assert_wrong(problem, replace(answer, cost=wrong), "stated cost")


def test_an_integer_cost_is_wrong_by_one_however_large():
    cost = np.full((2, 2), 2**58)
    answer = solve(cost)
    _assert_wrong(Problem.dense(cost), replace(answer, cost=answer.cost + 1), "stated cost")


def test_a_gap_that_is_too_small_is_caught():
    problem = Problem.dense(COST)
    worse = _relinked(problem, np.roll(solve(problem).col_of_row, 1), solve(problem))
    assert worse.gap > 0
    assert verify(problem, worse).is_valid
    assert not verify(problem, worse)
    _assert_wrong(problem, replace(worse, gap=0), "stated gap")
    _assert_wrong(problem, replace(worse, is_optimal=True), "is_optimal")


@pytest.mark.parametrize("part", [1e-3, 1e-9])
def test_a_gap_is_stated_to_its_last_digits(part):
    problem = Problem.dense(COST / 7)
    worse = _relinked(problem, np.roll(solve(problem).col_of_row, 1), solve(problem))
    assert verify(problem, worse).is_valid
    _assert_wrong(problem, replace(worse, gap=worse.gap * (1 - part)), "stated gap")


def test_the_gap_of_a_pair_left_unassigned_is_that_of_its_stated_unmatched_costs():
    """At lower ones, of which the same complete matching is the cheapest, it would be some 20: none for this one."""
    problem = Problem.dense(np.random.default_rng(4).random((6, 6)), unmatched_cost=1e25)
    right = solve(problem)
    apart = certify(problem, _changed(right.col_of_row, 0, -1), right.col_duals, solver="")
    assert apart.gap > 1e25
    assert verify(problem, apart).is_valid
    _assert_wrong(problem, replace(apart, gap=1e3), "stated gap")


@pytest.mark.parametrize("wrong", [0, 1])
def test_every_small_block_is_solved_once_more(wrong: int):
    """Beside an edge of 1e12 that nobody takes, duals moved by eighty times as much hide an exchange of two."""
    costs = np.random.default_rng(5).random((2, 9, 9))
    costs[:, 0, 8] = 1e12
    _assert_exchange_is_refused(Problem.batch(costs), wrong, 8e13)


@pytest.mark.parametrize("wrong", [0, 1])
def test_every_large_block_in_doubt_is_proven_once_more(wrong: int, monkeypatch: pytest.MonkeyPatch):
    """At lower unmatched costs, where what is looked at first leaves a doubt of both."""

    def doubting(*known: Any) -> Slackness:
        return settled(*known)._replace(in_doubt=np.ones(2, bool), proves=False)

    monkeypatch.setattr(exact_optimum, "MOST_PAIRS", 0)
    monkeypatch.setattr(verification, "settled", doubting)
    blocks = [Problem.dense(cost, unmatched_cost=1e25) for cost in np.random.default_rng(5).random((2, 9, 9))]
    _assert_exchange_is_refused(Problem.batch(blocks), wrong, 1e25)


def _assert_exchange_is_refused(problem: Problem, wrong: int, moved: float) -> None:
    right = solve(problem, "jv", "cpu")
    assert verify(problem, right)
    partners = right.col_of_row.reshape(2, 9).copy()
    partners[wrong, :2] = partners[wrong, 1::-1]
    forged = certify(problem, partners.ravel(), right.col_duals + moved, solver="")
    block, rows = problem.block(wrong), np.arange(9)
    other, own = (block.cost_matrix[rows, each.block(wrong).col_of_row] for each in (forged, right))
    assert other.sum() > own.sum() + 0.01
    certificate = verify(problem, forged)
    assert certificate.is_valid
    assert not certificate.is_optimal
    _assert_wrong(problem, replace(forged, is_optimal=True), "is_optimal is stated")


def test_duals_above_their_bounds_are_lowered_when_a_matching_is_certified():
    problem = PROBLEMS["reals-u"]
    right = solve(problem)
    answer = certify(problem, right.col_of_row, right.col_duals + 2.0, solver="")
    assert (answer.col_duals <= 1.1).all()
    assert verify(problem, answer).is_valid


def test_one_gap_that_is_too_small_among_others_is_caught():
    block = Problem.dense(COST[:, :6] / 7)
    right = solve(block)
    partners = np.concatenate([right.col_of_row, np.roll(right.col_of_row, 1)])
    answer = certify(Problem.batch([block, block]), partners, np.tile(right.col_duals, 2), solver="")
    assert answer.gap[1] > answer.gap[0]
    assert verify(Problem.batch([block, block]), answer).is_valid
    assert not verify(Problem.batch([block, block]), replace(answer, gap=answer.gap[[0, 0]])).is_valid


def test_a_dearer_matching_is_never_proven_optimal(problem: Problem, answer: Assignment):
    """Swap the columns of two matched rows of one block; the cost rises as no optimum here is tied."""
    rows, _ = answer.edges()
    inside = rows[rows < problem.row_offsets[1]]
    swapped = answer.col_of_row.copy()
    swapped[inside[:2]] = swapped[inside[1::-1]]
    worse = _relinked(problem, swapped, answer)
    certificate = verify(problem, worse)
    assert certificate.is_valid
    assert not certificate.is_optimal
    assert np.sum(certificate.cost) > np.sum(answer.cost)
    assert np.sum(certificate.gap) == pytest.approx(np.sum(certificate.cost) - np.sum(answer.cost))


def test_an_unassigned_pair_that_should_be_matched_is_never_proven_optimal():
    for name in ("integers-u", "reals-u", "points-u"):
        problem = PROBLEMS[name]
        answer = solve(problem)
        assert answer.n_matched
        apart = _changed(answer.col_of_row, int(answer.edges()[0][0]), -1)
        assert not verify(problem, _relinked(problem, apart, answer))


def test_duals_that_are_too_high_are_caught(problem: Problem, answer: Assignment):
    for k in range(problem.n_rows):
        raised = _changed(answer.row_duals, k, answer.row_duals[k] + 1)
        _assert_wrong(problem, replace(answer, row_duals=raised), "")
    for k in range(problem.n_cols):
        raised = _changed(answer.col_duals, k, answer.col_duals[k] + 1)
        _assert_wrong(problem, replace(answer, col_duals=raised), "")


def test_duals_that_are_too_low_prove_nothing(problem: Problem, answer: Assignment):
    lowered = _changed(answer.row_duals, 0, answer.row_duals[0] - 1)
    certificate = verify(problem, replace(answer, row_duals=lowered, is_optimal=False, gap=answer.gap + 1))
    assert certificate.is_valid
    assert not certificate.is_optimal


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_duals_that_are_no_numbers_are_caught(value: float):
    problem = PROBLEMS["square-reals"]
    answer = solve(problem)
    _assert_wrong(problem, replace(answer, row_duals=_changed(answer.row_duals, 0, value)), "finite")
    _assert_wrong(problem, replace(answer, col_duals=np.full(6, value)), "finite")


@pytest.mark.parametrize("shift", [1e12, 1e20, 1e300])
def test_duals_whose_rounding_swallows_the_costs_prove_nothing(shift: float):
    problem = PROBLEMS["square-reals"]
    right = solve(problem)
    wrong = _relinked(problem, np.roll(right.col_of_row, 1), right)
    huge = replace(
        wrong, row_duals=right.row_duals + shift, col_duals=right.col_duals - shift, gap=0.0, is_optimal=True
    )
    _assert_wrong(problem, huge, "more than these costs can need")


def test_shared_columns_are_caught(problem: Problem, answer: Assignment):
    rows, _ = answer.edges()
    shared = _changed(answer.col_of_row, int(rows[0]), answer.col_of_row[rows[1]])
    _assert_wrong(problem, replace(answer, col_of_row=shared), "share a column")


def test_columns_out_of_range_are_caught(problem: Problem, answer: Assignment):
    for column in (10**6, -2):
        wrong = _changed(answer.col_of_row, 0, column)
        _assert_wrong(problem, replace(answer, col_of_row=wrong), "out of its block's range")


def test_an_inverse_that_is_none_is_caught(problem: Problem, answer: Assignment):
    _, cols = answer.edges()
    for wrong in (-1, answer.row_of_col[cols[0]] + 1):
        broken = _changed(answer.row_of_col, int(cols[0]), wrong)
        _assert_wrong(problem, replace(answer, row_of_col=broken), "not the inverse")


def test_a_missing_matched_edge_is_caught_where_all_must_be_matched():
    for name in ("integers", "reals", "square", "sparse", "points", "batch"):
        problem = PROBLEMS[name]
        answer = solve(problem)
        row = int(answer.edges()[0][0])
        column = int(answer.col_of_row[row])
        broken = replace(
            answer, col_of_row=_changed(answer.col_of_row, row, -1), row_of_col=_changed(answer.row_of_col, column, -1)
        )
        _assert_wrong(problem, broken, "unassigned although")


@pytest.mark.parametrize("shape", [(3, 3), (3, 5), (5, 3)], ids=str)
@pytest.mark.parametrize("cost", [0, 0.0, 2, 2.5])
def test_an_incomplete_matching_is_never_certified_as_optimal(shape: tuple[int, int], cost: float):
    problem = Problem.dense(np.full(shape, cost))
    one_matched = np.full(shape[0], -1, np.int32)
    one_matched[0] = 0
    answer = certify(problem, one_matched, np.zeros(shape[1]), solver="")
    assert not answer.is_optimal
    assert answer.gap == np.inf
    assert answer.row_duals.sum() + answer.col_duals.sum() <= solve(problem).cost


@pytest.mark.parametrize("form", ["inf", "mask", "sparse"])
def test_a_forbidden_pair_is_caught(form: str):
    allowed = ~np.eye(3, dtype=bool)
    cost = np.arange(9).reshape(3, 3)
    if form == "inf":
        problem = Problem.dense(np.where(allowed, cost, np.inf))
    elif form == "mask":
        problem = Problem.dense(cost, forbidden=~allowed)
    else:
        problem = Problem.sparse((np.array([0, 2, 4, 6]), np.nonzero(allowed)[1], cost[allowed]), shape=(3, 3))
    answer = solve(problem)
    diagonal = np.arange(3, dtype=np.int32)
    _assert_wrong(problem, replace(answer, col_of_row=diagonal, row_of_col=diagonal), "forbidden")


@pytest.mark.parametrize("name", ["col_of_row", "row_of_col", "row_duals", "col_duals"])
def test_arrays_of_a_wrong_length_are_refused(problem: Problem, answer: Assignment, name: str):
    for wrong in (getattr(answer, name)[:-1], np.concatenate([getattr(answer, name), [0]])):
        with pytest.raises(InvalidProblem, match=r"^assignment "):
            verify(problem, replace(answer, **{name: wrong}))


OF_NO_ANSWER = {
    "no array": {"col_of_row": None},
    "a list": {"row_of_col": [0, 1]},
    "columns that are no whole numbers": {"col_of_row": np.zeros(2)},
    "a table of columns": {"col_of_row": np.zeros((2, 2), np.int32)},
    "no duals": {"row_duals": None},
    "duals in words": {"col_duals": np.array(["0", "1"])},
    "no cost": {"cost": None},
    "a gap in words": {"gap": "none"},
}


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("changed", OF_NO_ANSWER)
def test_what_solve_never_returns_is_refused_by_name(changed: str, maximize: bool):
    answer = replace(solve(COST, maximize=maximize), **OF_NO_ANSWER[changed])
    with pytest.raises(InvalidProblem, match=f"^assignment needs {next(iter(OF_NO_ANSWER[changed]))} as"):
        verify(COST, answer)


def test_duals_of_another_arithmetic_are_refused():
    answer = solve(COST)
    with pytest.raises(InvalidProblem, match="int64"):
        verify(COST, replace(answer, row_duals=answer.row_duals.astype(float)))


def test_costs_of_another_number_of_blocks_are_caught():
    problem = PROBLEMS["batch"]
    answer = solve(problem)
    _assert_wrong(problem, replace(answer, cost=answer.cost[:2]), "3 blocks")
    _assert_wrong(problem, replace(answer, cost=answer.cost[0]), "3 blocks")


def test_another_problems_answer_is_not_taken():
    rng = np.random.default_rng(3)
    one, two = rng.random((9, 9)), rng.random((9, 9))
    assert not verify(two, solve(one))
