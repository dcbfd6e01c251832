"""Batches of tall and wide blocks: each is solved from its shorter side, and answers come back in their places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from auctrack.matching import JV, Assignment, Auction, Infeasible, NotConverged, Problem, solve, verify
from auctrack.matching.presolve.groups import by_orientation, by_shape, from_shorter_side, one_by_one, solve_in_groups
from auctrack.matching.problem.convert import transposed
from auctrack.matching.tolerance import EPS

SHAPES = [(4, 7), (7, 4), (5, 5), (6, 2), (1, 3), (3, 1)]
FORMS = ["dense", "masked", "sparse", "points"]


def _block(form: str, shape: tuple[int, int], rng: np.random.Generator) -> Problem:
    if form == "points":
        return Problem.points(rng.random((shape[0], 2)), rng.random((shape[1], 2)))
    cost = rng.integers(0, 50, shape)
    if form == "dense":
        return Problem.dense(cost)
    forbidden = rng.random(shape) < 0.3
    k = np.arange(max(shape))
    forbidden[k % shape[0], k % shape[1]] = False
    if form == "masked":
        return Problem.dense(cost, forbidden=forbidden)
    rows, cols = np.nonzero(~forbidden)
    indptr = np.searchsorted(rows, np.arange(shape[0] + 1))
    return Problem.sparse((indptr, cols, cost[rows, cols]), shape=shape)


def _blocks(form: str, shapes: list[tuple[int, int]] = SHAPES) -> list[Problem]:
    rng = np.random.default_rng(1)
    return [_block(form, shape, rng) for shape in shapes]


@pytest.mark.parametrize("solver", ["auction", JV(form="sparse"), "hungarian-tree"], ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_tall_and_wide_blocks_keep_their_places(form: str, solver: str) -> None:
    blocks = _blocks(form)
    batch = Problem.batch(blocks)
    together = solve(batch, solver, "cpu")
    assert verify(batch, together).is_optimal
    np.testing.assert_allclose(together.cost, [solve(block, "jv", "cpu").cost for block in blocks], rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shapes", [SHAPES, [(3, 5), (3, 5)]], ids=["mixed", "alike"])
def test_a_transposed_batch_is_its_blocks_transposed(form: str, shapes: list[tuple[int, int]]) -> None:
    blocks = _blocks(form, shapes)
    turned = transposed(Problem.batch(blocks))
    alone = Problem.batch([transposed(block) for block in blocks])
    for name in ("row_offsets", "col_offsets", "data", "forbidden", "indptr", "indices", "x", "y"):
        np.testing.assert_array_equal(getattr(turned, name), getattr(alone, name))
    for block, back in zip(blocks, transposed(turned).blocks(), strict=True):
        np.testing.assert_array_equal(block.data, back.data)


@pytest.mark.parametrize("options", [{}, {"variant": "paper"}], ids=["default", "paper"])
@pytest.mark.parametrize("form", ["masked", "sparse"])
@pytest.mark.parametrize(("shape", "side"), [((3, 5), "rows"), ((5, 3), "columns")])
@pytest.mark.parametrize("at", [0, 2, 6])
def test_the_block_that_cannot_be_matched_is_named(
    form: str, shape: tuple[int, int], side: str, at: int, options: dict[str, Any]
) -> None:
    forbidden = np.zeros(shape, bool)
    (forbidden if side == "rows" else forbidden.T)[1] = True
    if form == "masked":
        broken = Problem.dense(np.ones(shape, int), forbidden=forbidden)
    else:
        rows, cols = np.nonzero(~forbidden)
        indptr = np.searchsorted(rows, np.arange(shape[0] + 1))
        broken = Problem.sparse((indptr, cols, np.ones(len(cols), int)), shape=shape)
    blocks = _blocks(form)
    blocks.insert(at, broken)
    with pytest.raises(Infeasible, match=rf"^Block {at}: {side[:-1]} 1 ") as caught:
        solve(Problem.batch(blocks), "auction", "cpu", **options)
    error = caught.value
    assert (error.block, error.side) == (at, side)
    members, partners = (error.rows, error.columns) if side == "rows" else (error.columns, error.rows)
    assert (members, partners) == ((1,), ())


UNEVEN = [(4, 7), (7, 4), (5, 5), (6, 2), (1, 3), (3, 1), (4, 7)]


def _batch(shapes: list[tuple[int, int]] = UNEVEN) -> Problem:
    rng = np.random.default_rng(0)
    return Problem.batch([Problem.dense(rng.integers(0, 90, shape)) for shape in shapes])


def test_tall_blocks_go_apart_from_wide_ones() -> None:
    assert [group.tolist() for group in by_orientation(_batch())] == [[0, 2, 4, 6], [1, 3, 5]]


@pytest.mark.parametrize("shapes", [[(4, 7), (5, 5)], [(7, 4), (5, 2)], [(3, 3)]], ids=str)
def test_blocks_that_can_be_one_graph_are(shapes: list[tuple[int, int]]) -> None:
    assert len(by_orientation(_batch(shapes))) == 1


@pytest.mark.parametrize("solver", ["auction", "jv", "hungarian-tree"])
def test_a_square_block_has_the_answer_it_has_alone_beside_a_tall_one(solver: str) -> None:
    """Integers from 0 to 2 tie: from the other side another of the cheapest matchings would be found."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        square = Problem.dense(rng.integers(0, 3, (5, 5)))
        beside = next(solve(Problem.batch([square, Problem.dense([[1], [2]])]), solver, "cpu").blocks())
        np.testing.assert_array_equal(beside.col_of_row, solve(square, solver, "cpu").col_of_row)


def test_each_shape_apart_where_matrices_must_be_alike() -> None:
    assert sorted(group.tolist() for group in by_shape(_batch())) == [[0, 6], [1], [2], [3], [4], [5]]


def test_blocks_of_a_shape_that_is_too_large_go_one_by_one() -> None:
    groups = by_shape(_batch(), lambda shape: max(shape) < 7)
    assert sorted(group.tolist() for group in groups) == [[0], [1], [2], [3], [4], [5], [6]]


def test_each_shape_is_asked_about_once() -> None:
    asked: list[tuple[int, int]] = []

    def together(shape: tuple[int, int]) -> bool:
        asked.append(shape)
        return True

    by_shape(_batch([(3, 4), (3, 4), (2, 2), (3, 4)]), together)
    assert sorted(asked) == [(2, 2), (3, 4)]


@pytest.mark.parametrize("grouped", [by_orientation, by_shape, one_by_one])
def test_answers_of_groups_are_put_in_their_places(grouped: Callable[[Problem], list[np.ndarray]]) -> None:
    problem = _batch()
    answer = solve_in_groups(problem, grouped(problem), lambda part: solve(part, "jv", "cpu"))
    assert verify(problem, answer).is_optimal
    np.testing.assert_array_equal(answer.cost, solve(problem, "jv", "cpu").cost)


def test_the_block_of_the_batch_is_named_not_that_of_the_group() -> None:
    blocks = [Problem.dense(block.cost_matrix * 1.0) for block in _batch([(4, 7), (7, 4), (5, 3)]).blocks()]
    blocks[2] = Problem.dense(np.full((5, 3), np.inf))
    problem = Problem.batch(blocks)
    with pytest.raises(Infeasible, match=r"^Block 2: ") as caught:
        solve_in_groups(problem, by_orientation(problem), lambda part: solve(part, "auction", "cpu"))
    assert caught.value.block == 2


def test_what_is_known_of_all_groups_is_carried() -> None:
    rng = np.random.default_rng(1)
    problem = Problem.batch([Problem.dense(rng.random(shape)) for shape in ((90, 100), (100, 90), (4, 5))])

    def within_budget(part: Problem) -> Assignment:
        return solve(part, Auction(max_bids=1, eps=1e-4), "cpu")

    with pytest.raises(NotConverged) as caught:
        solve_in_groups(problem, by_orientation(problem), within_budget)
    known = caught.value.assignment
    assert known is not None
    assert not known.is_optimal
    assert known.n_blocks == 3
    assert np.isinf(known.gap[:2]).all()
    assert (known.row_offsets.tolist(), known.col_offsets.tolist()) == ([0, 90, 190, 194], [0, 100, 190, 195])


@pytest.mark.parametrize(("share", "is_proven_anew"), [(0.0, True), (0.5, True), (0.98, True), (1.0, False)])
def test_a_gap_below_what_float_duals_lose_is_proven_once_more(share: float, is_proven_anew: bool) -> None:
    """Only pairs of floats prove so little, and with sides exchanged the duals at hand are but the first of these."""
    gaps: list[float] = []

    def in_pairs_of_floats(turned: Problem) -> Assignment:
        answer = solve(turned, "jv", "cpu")
        gaps.append(share * 2 * EPS * float(abs(answer.row_duals).sum()))
        return replace(answer, gap=gaps[0])

    problem = Problem.dense(np.random.default_rng(4).random((60, 40)))
    answer = from_shorter_side(problem, in_pairs_of_floats)
    assert (answer.gap != gaps[0]) == is_proven_anew
    assert answer.is_optimal
    assert verify(problem, answer)
