"""What must hold of every answer to every problem, whatever its costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auctrack.matching import Assignment, Infeasible, Problem, solve, verify
from auctrack.matching.solvers import Solver

from .cases import JV_FORMS

thorough = settings(deadline=None, derandomize=True, max_examples=30)


@st.composite
def problems(
    draw: st.DrawFn, has_unmatched_cost: bool | None = None, integer: bool | None = None
) -> tuple[np.ndarray, Any, Any]:
    """Draw (cost with forbidden pairs as +inf or a large cost, unmatched costs of rows, unmatched costs of columns)."""
    n, m = draw(st.integers(0, 7)), draw(st.integers(0, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spread = draw(st.sampled_from([2, 10, 1000]))
    whole = draw(st.booleans()) if integer is None else integer
    cost = rng.integers(-spread, spread, (n, m))
    unmatched = rng.integers(-2, spread, n), rng.integers(-2, spread, m)
    if not whole:
        cost = np.where(rng.random((n, m)) < draw(st.sampled_from([0.0, 0.4])), np.inf, cost * rng.random((n, m)))
        unmatched = unmatched[0] * rng.random(n), unmatched[1] * rng.random(m)
    if not (draw(st.booleans()) if has_unmatched_cost is None else has_unmatched_cost):
        return cost, None, None
    return cost, *unmatched


def _problem(cost: np.ndarray, row_u: Any = None, col_u: Any = None) -> Problem:
    return Problem.dense(cost, unmatched_cost=None if row_u is None else (row_u, col_u))


def _sparse(cost: np.ndarray, row_u: Any = None, col_u: Any = None) -> Problem:
    allowed = cost < np.inf
    indptr = np.concatenate([[0], np.cumsum(allowed.sum(axis=1))])
    unmatched = None if row_u is None else (row_u, col_u)
    graph = (indptr, np.nonzero(allowed)[1], cost[allowed])
    return Problem.sparse(graph, shape=cost.shape, unmatched_cost=unmatched)


def _solved(problem: Problem, solver: str | Solver) -> Assignment | None:
    """Return the answer, or None where there is none."""
    try:
        return solve(problem, solver, "cpu")
    except Infeasible:
        return None


def _assert_same_cost(a: Assignment | None, b: Assignment | None, shift: float = 0) -> None:
    assert (a is None) == (b is None)
    if a is not None and b is not None:
        np.testing.assert_allclose(np.asarray(a.cost) + shift, b.cost, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("solver", JV_FORMS, ids=str)
@given(drawn=problems(), seed=st.integers(0, 1000))
@thorough
def test_permuting_rows_and_columns_keeps_the_cost(solver: str | Solver, drawn: tuple, seed: int):
    cost, row_u, col_u = drawn
    rng = np.random.default_rng(seed)
    p, q = rng.permutation(cost.shape[0]), rng.permutation(cost.shape[1])
    permuted = cost[p][:, q], None if row_u is None else row_u[p], None if col_u is None else col_u[q]
    _assert_same_cost(_solved(_problem(*drawn), solver), _solved(_problem(*permuted), solver))


@pytest.mark.parametrize("solver", JV_FORMS, ids=str)
@given(drawn=problems(has_unmatched_cost=False), shift=st.sampled_from([-1000, -1, 3, 10**6]), data=st.data())
@thorough
def test_shifting_a_member_of_the_shorter_side_shifts_the_cost(
    solver: str | Solver, drawn: tuple, shift: int, data: st.DataObject
):
    cost = drawn[0] if drawn[0].shape[0] <= drawn[0].shape[1] else drawn[0].T
    if not cost.shape[0]:
        return
    shifted = cost.copy()
    shifted[data.draw(st.integers(0, cost.shape[0] - 1))] += shift
    for turn in (np.asarray, np.transpose):
        before, after = _solved(_problem(turn(cost)), solver), _solved(_problem(turn(shifted)), solver)
        _assert_same_cost(before, after, shift)


@pytest.mark.parametrize("solver", JV_FORMS, ids=str)
@given(drawn=problems(integer=False), power=st.sampled_from([-600, -52, -1, 1, 60, 600]))
@thorough
def test_scaling_by_a_power_of_two_changes_only_the_scale(solver: str | Solver, drawn: tuple, power: int):
    scale = 2.0**power
    scaled = tuple(None if part is None else part * scale for part in drawn)
    before, after = _solved(_problem(*drawn), solver), _solved(_problem(*scaled), solver)
    assert (before is None) == (after is None)
    if before is None or after is None:
        return
    assert before.cost * scale == after.cost
    assert before.gap * scale == after.gap
    np.testing.assert_array_equal(before.col_of_row, after.col_of_row)
    np.testing.assert_array_equal(before.row_duals * scale, after.row_duals)
    np.testing.assert_array_equal(before.col_duals * scale, after.col_duals)


@pytest.mark.parametrize("solver", JV_FORMS, ids=str)
@given(drawn=problems())
@thorough
def test_transposing_swaps_the_sides(solver: str | Solver, drawn: tuple):
    cost, row_u, col_u = drawn
    answer, turned = _solved(_problem(*drawn), solver), _solved(_problem(cost.T, col_u, row_u), solver)
    _assert_same_cost(answer, turned)
    if turned is not None:
        assert turned.col_of_row.shape == (cost.shape[1],)
        assert verify(_problem(cost.T, col_u, row_u), turned)


@given(drawn=problems())
@thorough
def test_forms_and_solvers_agree(drawn: tuple):
    answers = [_solved(form(*drawn), solver) for form in (_problem, _sparse) for solver in JV_FORMS]
    for other in answers[1:]:
        _assert_same_cost(answers[0], other)


@given(
    seed=st.integers(0, 1000),
    d=st.integers(1, 3),
    metric=st.sampled_from(["distance", "squared"]),
    has_unmatched_cost=st.booleans(),
)
@thorough
def test_points_agree_with_the_matrix_of_their_costs(seed: int, d: int, metric: Any, has_unmatched_cost: bool):
    rng = np.random.default_rng(seed)
    x, y = rng.random((rng.integers(0, 12), d)), rng.random((rng.integers(0, 12), d))
    difference = x[:, None] - y[None]
    squares = np.zeros((len(x), len(y)))
    for axis in range(d):
        squares += difference[..., axis] ** 2
    cost = squares if metric == "squared" else np.sqrt(squares)
    u = rng.random() / 3 if has_unmatched_cost else None
    for solver in JV_FORMS:
        answer = solve(Problem.points(x, y, unmatched_cost=u, metric=metric), solver)
        matrix = solve(Problem.dense(cost, unmatched_cost=u), solver)
        np.testing.assert_allclose(answer.cost, matrix.cost, rtol=1e-13)
        assert verify(Problem.dense(cost, unmatched_cost=u), answer)


@pytest.mark.parametrize("form", [_problem, _sparse])
@pytest.mark.parametrize("solver", JV_FORMS, ids=str)
@given(data=st.data())
@thorough
def test_a_batch_is_its_blocks(solver: str | Solver, form: Any, data: st.DataObject):
    has_unmatched_cost, integer = data.draw(st.booleans()), data.draw(st.booleans())
    drawn = data.draw(st.lists(problems(has_unmatched_cost, integer), min_size=1, max_size=5))
    blocks = [form(*block) for block in drawn]
    alone = [_solved(block, solver) for block in blocks]
    if None in alone:
        with pytest.raises(Infeasible) as caught:
            solve(Problem.batch(blocks), solver)
        assert alone[caught.value.block] is None
        return
    together = solve(Problem.batch(blocks), solver)
    assert verify(Problem.batch(blocks), together)
    for one, block in zip(alone, together.blocks(), strict=True):
        assert one is not None
        np.testing.assert_array_equal(one.col_of_row, block.col_of_row)
        np.testing.assert_array_equal(one.row_of_col, block.row_of_col)
        assert one.cost == block.cost
        assert one.gap == block.gap


@pytest.mark.parametrize("solver", JV_FORMS, ids=str)
@given(drawn=problems(has_unmatched_cost=True))
@thorough
def test_no_matched_edge_is_dearer_than_leaving_both_unassigned(solver: str | Solver, drawn: tuple):
    cost, row_u, col_u = drawn
    rows, cols = solve(_problem(*drawn), solver).edges()
    assert (cost[rows, cols] <= row_u[rows] + col_u[cols] + 1e-12 * abs(cost[rows, cols])).all()


@pytest.mark.parametrize("solver", JV_FORMS, ids=str)
@given(drawn=problems(integer=True))
@thorough
def test_complementary_slackness_is_exact_for_integers(solver: str | Solver, drawn: tuple):
    cost, row_u, col_u = drawn
    answer = solve(_problem(*drawn), solver)
    r, v = answer.row_duals, answer.col_duals
    slack = cost - r[:, None] - v[None, :]
    assert (slack >= 0).all()
    rows, cols = answer.edges()
    assert (slack[rows, cols] == 0).all()
    n, m = cost.shape
    row_u = (0 if n > m else r) if row_u is None else row_u
    col_u = (0 if m > n else v) if col_u is None else col_u
    assert (r <= row_u).all()
    assert (v <= col_u).all()
    assert ((r == row_u) | (answer.col_of_row >= 0)).all()
    assert ((v == col_u) | (answer.row_of_col >= 0)).all()
    assert answer.cost == r.sum() + v.sum()


@pytest.mark.parametrize("solver", ["auction", "hungarian-classical", "hungarian-tree", *JV_FORMS], ids=str)
@pytest.mark.parametrize("has_unmatched_cost", [True, False])
def test_thousands_of_small_problems_full_of_ties_are_proven(solver: str | Solver, has_unmatched_cost: bool):
    """What goes wrong in one of a thousand small problems shows here."""
    rng = np.random.default_rng(1)
    blocks, n, m = 5000, 4, 3
    unmatched = (rng.integers(0, 8, blocks * n), rng.integers(0, 8, blocks * m)) if has_unmatched_cost else None
    problem = Problem.dense(4 * rng.integers(0, 3, (blocks, n, m)), unmatched_cost=unmatched)
    answer = solve(problem, solver, "cpu")
    assert not np.flatnonzero(answer.gap).tolist()
    assert verify(problem, answer)


@pytest.mark.parametrize("solver", JV_FORMS, ids=str)
@given(seed=st.integers(0, 1000), has_unmatched_cost=st.booleans())
@thorough
def test_the_same_input_gives_the_same_answer(solver: str | Solver, seed: int, has_unmatched_cost: bool):
    cost = np.random.default_rng(seed).integers(0, 4, (30, 30))
    problem = Problem.dense(cost, unmatched_cost=1 if has_unmatched_cost else None)
    one, two = solve(problem, solver), solve(problem, solver)
    np.testing.assert_array_equal(one.col_of_row, two.col_of_row)
    np.testing.assert_array_equal(one.col_duals, two.col_duals)


def test_the_answer_does_not_depend_on_the_number_of_threads():
    import numba

    rng = np.random.default_rng(0)
    allowed = rng.random((3000, 3000)) < 1.2 / 3000
    cost = np.where(allowed, rng.integers(0, 3, allowed.shape), np.inf)
    problem = _sparse(cost, np.full(3000, 2.0), np.full(3000, 2.0))
    threads = numba.get_num_threads()
    answers = []
    try:
        for k in (1, threads):
            numba.set_num_threads(k)
            answers.append(solve(problem, JV_FORMS[1]))
    finally:
        numba.set_num_threads(threads)
    np.testing.assert_array_equal(answers[0].col_of_row, answers[1].col_of_row)
    np.testing.assert_array_equal(answers[0].col_duals, answers[1].col_duals)
