"""What dear edges cannot bear is a problem of its own, with all that belongs to it."""

from __future__ import annotations

import numpy as np

from auctrack.matching import Problem
from auctrack.matching.certificate.certify import inverse
from auctrack.matching.certificate.cheap_edges import cheap_edges
from auctrack.matching.problem.costs import best_row_duals

CHEAP = 1e-12


def _part(matched: list[int], x: list[float], y: list[float], v: list[float], unmatched_cost: float | None = None):
    problem = Problem.points(np.array(x)[:, None], np.array(y)[:, None], unmatched_cost=unmatched_cost)
    col_of_row, duals = np.array(matched, np.int32), np.array(v)
    r, _ = best_row_duals(problem, duals)
    return cheap_edges(problem, col_of_row, inverse(problem, col_of_row), r, duals)


def test_edges_that_cost_enough_are_left_out() -> None:
    part = _part([0, 1], [0.0, 5.0], [0.5, 5.5], [0.2, 0.2])
    assert part.problem.shape == (0, 0)


def test_two_cheap_edges_beside_dear_ones_are_the_part() -> None:
    """The duals near 1 leave 2e-16 open; edges of 1e-12 bear a thousandth of a millionth of their own cost."""
    part = _part([0, 1, 2], [0.0, 3.0, 6.0], [3.0, 3.0 + CHEAP, 6.0 + CHEAP], [1.0, 1.0, 1.0])
    assert part.problem.shape == (2, 2)
    np.testing.assert_array_equal(part.problem.cost_matrix[[0, 1], [0, 1]], [3.0 + CHEAP - 3.0, 6.0 + CHEAP - 6.0])
    assert part.problem.cost_matrix[0, 1] > 2
    np.testing.assert_array_equal(part.col_of_row, [0, 1])
    np.testing.assert_array_equal(part.row_of_col, [0, 1])
    np.testing.assert_array_equal(part.v, [1.0, 1.0])


def test_an_edge_that_bears_its_own_slack_but_not_that_of_the_cheap_is_among_them() -> None:
    cheapest = [_part([0, 1], [0.0, 3.0], [own, 3.0 + CHEAP], [0.4, 0.4]) for own in (2.6e-7, 1.0)]
    assert [part.problem.shape for part in cheapest] == [(2, 2), (1, 1)]


def test_cheap_members_that_are_unassigned_come_with_their_unmatched_costs() -> None:
    """A free column exceeds no share, and bears nothing."""
    problem = Problem.points([[0.0], [9.0]], [[0.5], [20.0], [30.0]], unmatched_cost=([1.0, 1e-9], [1.0, 0.0, 0.0]))
    col_of_row, v = np.array([0, -1], np.int32), np.array([0.3, -1e-12, 0.0])
    r, _ = best_row_duals(problem, v)
    part = cheap_edges(problem, col_of_row, inverse(problem, col_of_row), r, v)
    np.testing.assert_array_equal(part.problem.cost_matrix, [[11.0, 21.0]])
    np.testing.assert_array_equal(part.problem.row_unmatched, [1e-9])
    np.testing.assert_array_equal(part.problem.col_unmatched, [0.0, 0.0])
    np.testing.assert_array_equal(part.col_of_row, [-1])
    np.testing.assert_array_equal(part.row_of_col, [-1, -1])
