"""Batches of tall and wide blocks: each is solved from its shorter side, and answers come back in their places."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auctrack.matching import Infeasible, Problem, solve, verify
from auctrack.matching.problem.convert import transposed

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


@pytest.mark.parametrize("solver", ["auction", "sparse-jv", "hungarian-tree"])
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
