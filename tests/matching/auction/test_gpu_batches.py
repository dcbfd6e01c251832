"""What batches on the GPU need of the host: blocks that go together, slots of their points, answers in their places."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from auctrack.matching import Assignment, Auction, Infeasible, NotConverged, Problem, solve, verify
from auctrack.matching.auction.gpu_batch import groups_of_blocks, solve_groups
from auctrack.matching.points.gpu_tree import FAN, MOST_ROOTS, layout

SHAPES = [(4, 7), (7, 4), (5, 5), (6, 2), (1, 3), (3, 1), (4, 7)]


def _batch(shapes: list[tuple[int, int]] = SHAPES) -> Problem:
    rng = np.random.default_rng(0)
    return Problem.batch([Problem.dense(rng.integers(0, 90, shape)) for shape in shapes])


def test_tall_blocks_go_apart_from_wide_ones() -> None:
    groups = groups_of_blocks(_batch(), one_shape=False)
    assert [group.tolist() for group in groups] == [[0, 2, 4, 6], [1, 3, 5]]


@pytest.mark.parametrize("shapes", [[(4, 7), (5, 5)], [(7, 4), (5, 5)], [(3, 3)]], ids=str)
def test_blocks_that_can_be_one_graph_are(shapes: list[tuple[int, int]]) -> None:
    assert len(groups_of_blocks(_batch(shapes), one_shape=False)) == 1


def test_each_shape_apart_where_matrices_must_be_alike() -> None:
    groups = groups_of_blocks(_batch(), one_shape=True)
    assert sorted(group.tolist() for group in groups) == [[0, 6], [1], [2], [3], [4], [5]]


@pytest.mark.parametrize("one_shape", [False, True])
def test_answers_of_groups_are_put_in_their_places(one_shape: bool) -> None:
    problem = _batch()
    groups = groups_of_blocks(problem, one_shape=one_shape)
    answer = solve_groups(problem, groups, lambda part: partial(solve, part, "jv", "cpu"))
    assert verify(problem, answer).is_optimal
    np.testing.assert_array_equal(answer.cost, solve(problem, "jv", "cpu").cost)


def test_the_block_of_the_batch_is_named_not_that_of_the_group() -> None:
    shapes = [(4, 7), (7, 4), (5, 3)]
    blocks = list(_batch(shapes).blocks())
    blocks[2] = Problem.dense(np.full((5, 3), np.inf))
    blocks[:2] = [Problem.dense(block.cost_matrix * 1.0) for block in blocks[:2]]
    problem = Problem.batch(blocks)
    groups = groups_of_blocks(problem, one_shape=False)

    def begin(part: Problem) -> Callable[[], Assignment]:
        answer = solve(part, "auction", "cpu")
        return lambda: answer

    with pytest.raises(Infeasible, match=r"^Block 2: ") as caught:
        solve_groups(problem, groups, begin)
    assert caught.value.block == 2


def test_what_is_known_of_all_groups_is_carried() -> None:
    rng = np.random.default_rng(1)
    problem = Problem.batch([Problem.dense(rng.random(shape)) for shape in ((90, 100), (100, 90), (4, 5))])

    def within_budget(part: Problem) -> Assignment:
        return solve(part, Auction(max_bids=1, eps=1e-4), "cpu")

    with pytest.raises(NotConverged) as caught:
        solve_groups(problem, groups_of_blocks(problem, one_shape=False), lambda part: partial(within_budget, part))
    known = caught.value.assignment
    assert known is not None
    assert not known.is_optimal
    assert known.n_blocks == 3
    assert np.isinf(known.gap[:2]).all()


@pytest.mark.parametrize("largest", [1, 8, 9, 64, 65, 513, 5000])
def test_blocks_of_points_share_no_node_below_their_roots(largest: int) -> None:
    sizes = np.random.default_rng(largest).integers(0, largest + 1, 40)
    sizes[:2] = largest, 0
    blocks, slots = layout(sizes)
    level, first_root, end_root, first_slot, end_slot = blocks.astype(np.int64).T
    span = FAN ** (level + 1)
    np.testing.assert_array_equal(end_slot - first_slot, sizes)
    np.testing.assert_array_equal(first_root * span, first_slot)
    assert (end_root * span >= end_slot).all()
    assert (end_root - first_root <= MOST_ROOTS).all()
    assert slots == end_slot.max() <= 2 * sizes.sum() + FAN * len(sizes)
    in_order = np.argsort(first_slot + (sizes == 0) * slots, kind="stable")[: np.count_nonzero(sizes)]
    assert ((end_root[in_order] * span[in_order])[:-1] <= first_slot[in_order][1:]).all()
