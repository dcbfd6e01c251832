"""Above percolation one component holds nearly every row: work must stay bounded, and nothing may recurse or raise.

Work is counted, not timed: each bid and each row that a shortest path scans reads one row's edges.
"""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.matching import Infeasible, Problem, solve, verify
from auctrack.matching.points.grid import pairs_within
from auctrack.matching.problem.components import components

ROWS = 20_000
DEGREE = 29
BIDS_PER_ROW = 7
SCANS_PER_ROW_UNMATCHED = 50
"""Measured 24 at an unmatched cost of 3 spacings, 0 at 1 spacing and below, and no more at 4 times the rows."""
SCANS_PER_ROW = 300
"""Measured 151 where all rows must be matched; it grows with the rows (90 at 10,000, 247 at 40,000)."""


def _gated(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the CSR graph of two sets of uniform points in the unit box, gated at `DEGREE` neighbours on average."""
    rng = np.random.default_rng(seed)
    x, y = rng.random((ROWS, 3)), rng.random((ROWS, 3))
    return pairs_within(x, y, (DEGREE / ROWS * 3 / (4 * np.pi)) ** (1 / 3))


def _assert_one_giant_component(indptr: np.ndarray, indices: np.ndarray) -> None:
    row_label, _ = components(indptr, indices, ROWS)
    assert np.bincount(row_label).max() > 0.99 * ROWS


@pytest.mark.parametrize("spacings", [0.45, 1.0, 3.0])
def test_one_giant_component_with_an_unmatched_cost_takes_work_linear_in_rows(spacings: float):
    indptr, indices, cost = _gated(0)
    _assert_one_giant_component(indptr, indices)
    u = spacings * 0.554 * ROWS ** (-1 / 3)
    problem = Problem.sparse((indptr, indices, cost), shape=(ROWS, ROWS), unmatched_cost=u)
    answer = solve(problem, "jv")
    assert verify(problem, answer)
    assert answer.stats["bids"] <= BIDS_PER_ROW * ROWS
    assert answer.stats["rows_scanned"] <= SCANS_PER_ROW_UNMATCHED * ROWS


def test_matching_every_row_of_one_giant_component_takes_bounded_work():
    indptr, indices, cost = _gated(0)
    problem = Problem.sparse((indptr, indices, cost), shape=(ROWS, ROWS))
    answer = solve(problem, "jv")
    assert verify(problem, answer)
    assert answer.n_matched == ROWS
    assert answer.stats["bids"] <= BIDS_PER_ROW * ROWS
    assert answer.stats["rows_scanned"] <= SCANS_PER_ROW * ROWS


def _chain(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row i reaches column i for nothing and column i + 1 at 1; the last row, n, reaches column 0 alone."""
    indptr = np.append(np.arange(n + 1) * 2, 2 * n + 1)
    indices = np.append(np.stack([np.arange(n), np.arange(n) + 1], axis=1).ravel(), 0)
    return indptr, indices, np.append(np.tile([0, 1], n), 0)


def test_one_path_through_a_hundred_thousand_rows_takes_linear_work():
    n = 100_000
    problem = Problem.sparse(_chain(n), shape=(n + 1, n + 1))
    answer = solve(problem, "jv")
    assert answer.cost == n
    assert verify(problem, answer)
    assert answer.stats["bids"] + answer.stats["rows_scanned"] <= 4 * n


def test_a_hall_violator_of_a_hundred_thousand_rows_is_named():
    n = 100_000
    indptr, indices, cost = _chain(n)
    shortened = indptr - (np.arange(n + 2) >= n)
    kept = np.arange(len(indices)) != 2 * n - 1
    with pytest.raises(Infeasible) as caught:
        solve(Problem.sparse((shortened, indices[kept], cost[kept]), shape=(n + 1, n + 1)), "jv")
    assert (len(caught.value.rows), len(caught.value.columns)) == (n + 1, n)
