"""The pairs of a problem that matter for one assignment, where all of them are too many to write out."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from ....matching.certificate.assignment import Assignment
from ....matching.problem import Problem
from ....matching.problem.convert import as_sparse
from ....matching.problem.costs import edge_costs

MOST_PAIRS = 4_000_000
"""Pairs of one block that are written out: those of 2,000 particles a frame."""
NEAREST = 32
"""Partners of each row and each column that are kept where there are more."""


def with_near_pairs(problem: Problem, answer: Assignment) -> Problem:
    """Return a problem with its pairs as edges, of large blocks only the cheapest of each member, and the links.

    Parameters
    ----------
    problem : Problem
        Of any kind.
    answer : Assignment
        Optimal; it is optimal for the problem that is returned too.
    """
    if problem.kind == "sparse" or problem.n_edges <= MOST_PAIRS:
        return as_sparse(problem)
    return Problem.batch([_thinned(*parts) for parts in zip(problem.blocks(), answer.blocks(), strict=True)])


def _thinned(block: Problem, answer: Assignment) -> Problem:
    """Return one block with the nearest pairs of points, or those of least reduced cost in a matrix."""
    links = answer.edges()
    if block.kind == "points":
        pairs = [_nearest(block.x, block.y), _nearest(block.y, block.x)[::-1]]
    else:
        slack = block.cost_matrix - answer.row_duals[:, None] - answer.col_duals
        pairs = [_least(slack), _least(slack.T)[::-1]]
    keys = np.unique(np.concatenate([rows * block.n_cols + cols for rows, cols in (*pairs, links)]))
    rows, cols = keys // block.n_cols, keys % block.n_cols
    costs = edge_costs(block, rows, np.zeros_like(rows), cols)
    allowed = np.isfinite(costs)
    indptr = np.searchsorted(rows[allowed], np.arange(block.n_rows + 1))
    unmatched_costs = None if block.row_unmatched is None else (block.row_unmatched, block.col_unmatched)
    edges = (indptr, cols[allowed].astype(np.int32), costs[allowed])
    return Problem.sparse(edges, shape=block.shape, unmatched_cost=unmatched_costs)


def _nearest(x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    found: Any = cKDTree(y).query(x, k=min(NEAREST, len(y)))
    return _as_pairs(np.reshape(found[1], (len(x), -1)))


def _least(slack: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    k = min(NEAREST, slack.shape[1]) - 1
    return _as_pairs(np.argpartition(slack, k, axis=1)[:, : k + 1])


def _as_pairs(partners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.repeat(np.arange(len(partners)), partners.shape[1]), partners.ravel().astype(np.int64)
