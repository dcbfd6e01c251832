"""What SciPy, lapx and POT make of any problem of ours: each block a full matrix, or a graph where it is sparse."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from ....matching.errors import InvalidProblem
from ....matching.problem import Problem
from ....matching.problem.convert import as_dense
from ..measure.harness import Facts, WrongAnswer
from .instance import Instance
from .peer_solvers import emd_dense
from .solver_variants import checked

MOST_PAIRS = 2**27
"""Pairs of point sets above which no peer gets their matrix, of a GiB."""

Costs = Any
"""A matrix, or a `scipy.sparse.csr_array`."""


def peer_inputs(given: Instance) -> list[Costs]:
    """Return each block as peers take it.

    Two members that stay unassigned pay the sum of their unmatched costs, as an edge of that cost would. So of equal
    sides the matrix of the lower of both costs is the same problem, without unmatched costs.
    """
    problem = given.problem
    if problem.kind == "sparse":
        assert problem.indptr is not None
        assert problem.indices is not None
        return [csr_array((problem.data.astype(float), problem.indices, problem.indptr), shape=problem.shape)]
    return [_matrix(block) for block in problem.blocks()]


def _matrix(block: Problem) -> np.ndarray:
    if block.n_edges > MOST_PAIRS:
        raise InvalidProblem(f"a peer would need a matrix of {8 * block.n_edges / 2**30:.1f} GiB")
    costs = as_dense(block).cost_matrix
    if block.row_unmatched is None or block.col_unmatched is None:
        return costs
    return np.minimum(costs, block.row_unmatched[:, None] + block.col_unmatched)


def each(solve: Callable[[Costs], np.ndarray]) -> Callable[[list[Costs]], list[np.ndarray]]:
    """Return the solver of a list of costs, one after the other: the column of each row."""
    return lambda blocks: [solve(costs) for costs in blocks]


def scipy(costs: Costs) -> np.ndarray:
    """Match by SciPy's solver of matrices, or of graphs."""
    if isinstance(costs, np.ndarray):
        return linear_sum_assignment(costs)[1]
    return min_weight_full_bipartite_matching(costs)[1]


def lapx(costs: Costs) -> np.ndarray:
    """Match by lapx, `lapjv` or `lapmod`."""
    lap = import_module("lap")  # "import lap" would be our own lap.py to a type checker
    if isinstance(costs, np.ndarray):
        return lap.lapjv(costs, extend_cost=costs.shape[0] != costs.shape[1], return_cost=False)[0]
    return lap.lapmod(costs.shape[0], costs.data, costs.indptr, costs.indices, return_cost=False)[0]


def emd(costs: Costs) -> np.ndarray:
    """Match by POT: its transport plan between equal weights."""
    if not isinstance(costs, np.ndarray) or costs.shape[0] != costs.shape[1]:
        raise InvalidProblem("POT's emd takes full matrices of equal sides")
    return emd_dense(costs)


def check_peer(given: Instance, columns: list[np.ndarray]) -> Facts:
    """Hold what the peers' links cost against our proven optimum; it may be missed by 1e-9 of what the links cost."""
    from ....matching.solving import solve

    best = solve(given.problem, device="cpu")
    checked(given.problem, best)
    total = 0.0
    for costs, cols, least in zip(peer_inputs(given), columns, np.atleast_1d(best.cost), strict=True):
        if len(np.unique(cols)) != len(cols):
            raise WrongAnswer("two rows share a column")
        paid = np.asarray(costs[np.arange(len(cols)), cols], float).ravel()
        if abs(paid.sum() - least) > 1e-9 * abs(paid).sum():
            raise WrongAnswer(f"cost {paid.sum()!r} where {least!r} is the proven optimum")
        total += float(paid.sum())
    return {"cost": total}
