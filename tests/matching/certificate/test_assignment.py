"""An answer taken apart, exchanged or negated still is one, with its proof."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from auctrack.matching import InvalidProblem, Problem, solve, verify
from auctrack.matching.problem.convert import transposed


def _batch() -> tuple[list[np.ndarray], Problem]:
    rng = np.random.default_rng(0)
    costs = [rng.random(shape) for shape in ((3, 5), (5, 2), (4, 4))]
    return costs, Problem.batch([Problem.dense(cost, unmatched_cost=0.3) for cost in costs])


def test_a_block_is_the_answer_to_its_matrix():
    costs, batch = _batch()
    answer = solve(batch, "jv", "cpu")
    for b, (cost, block) in enumerate(zip(costs, answer.blocks(), strict=True)):
        assert block.n_blocks == 1
        assert verify(batch.block(b), block).is_optimal
        assert cost[block.edges()].sum() + 0.3 * (sum(cost.shape) - 2 * block.n_matched) == pytest.approx(block.cost)
    assert sum(block.n_matched for block in answer.blocks()) == answer.n_matched
    rows, cols = answer.edges()
    of_blocks = [block.edges() for block in answer.blocks()]
    first_rows, first_cols = (0, 3, 8), (0, 5, 7)
    assert rows.tolist() == [row + first for (own, _), first in zip(of_blocks, first_rows, strict=True) for row in own]
    assert cols.tolist() == [col + first for (_, own), first in zip(of_blocks, first_cols, strict=True) for col in own]


@pytest.mark.parametrize("b", [-1, 3])
def test_a_block_that_is_not_there_is_refused(b):
    with pytest.raises(InvalidProblem):
        solve(_batch()[1], "jv", "cpu").block(b)
    with pytest.raises(InvalidProblem):
        solve(np.eye(2), "jv", "cpu").block(min(b, 1))


def test_rows_and_columns_exchanged_and_signs_turned():
    costs, batch = _batch()
    answer = solve(batch, "jv", "cpu")
    assert verify(transposed(batch), answer.transposed()).is_optimal
    edges = zip(*answer.transposed().edges()[::-1], strict=True)
    assert sorted(edges) == list(zip(*answer.edges(), strict=True))
    least = solve(costs[2], "jv", "cpu")
    greatest = least.negated()
    assert greatest.maximize
    assert (-costs[2] - greatest.row_duals[:, None] - greatest.col_duals).max() <= 1e-15
    assert greatest.row_duals.sum() + greatest.col_duals.sum() == pytest.approx(greatest.cost)
    assert verify(-costs[2], greatest).is_optimal
    assert not greatest.negated().maximize
    assert verify(costs[2], greatest.negated()).is_optimal


def test_what_it_says_of_itself():
    answer = solve(_batch()[1], "jv", "cpu")
    assert answer.with_stats(rounds=1).with_stats(rounds=2).stats["rounds"] == 2
    told = repr(replace(answer, is_optimal=False, cost=np.array([1.0, 2.0, 4.0]), gap=np.array([0.0, 0.5, 0.25])))
    assert f"{answer.n_matched} matched" in told
    assert "cost 7.0" in told
    assert "gap 0.5" in told
