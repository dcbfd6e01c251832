"""The solvers that others use, what they take, and whether their answers are the proven optimum."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from ....matching.cardinality import BipartiteGraph, verify_matching
from ....matching.cardinality.matching import Matching, check_matching
from ....matching.problem import Problem
from ....matching.solving import solve
from ..measure.harness import Facts, WrongAnswer
from .solver_variants import checked


def not_installed(module: str, distribution: str | None = None) -> str | None:
    """Say that a peer is not installed; None if it is."""
    if find_spec(module) is not None:
        return None
    return f"{distribution or module} is not installed (pip install {distribution or module})"


@dataclass(frozen=True)
class DenseInput:
    """Costs (n, n), int32 or real."""

    costs: np.ndarray

    @cached_property
    def problem(self) -> Problem:
        """The costs as our solvers take them."""
        return Problem.dense(self.costs)

    @cached_property
    def optimum(self) -> float:
        """The proven least cost."""
        return _proven_least(self.problem)


@dataclass(frozen=True)
class GatedInput:
    """Candidate links with an unmatched cost."""

    problem: Problem

    @cached_property
    def optimum(self) -> float:
        """The proven least cost."""
        return _proven_least(self.problem)

    @cached_property
    def square(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same problem without an unmatched cost: CSR (indptr, indices, data) of the square matrix of n + m rows.

        Row i may take a column of its own at the unmatched cost, and so may column j a row; where both of a pair are
        unassigned, their substitutes go together at no cost.
        """
        from scipy.sparse import block_array, csr_array, diags_array

        problem = self.problem
        n, m = problem.shape
        assert problem.indptr is not None
        assert problem.indices is not None
        links = csr_array((problem.data.astype(np.float64) + 1, problem.indices, problem.indptr), shape=(n, m))
        substitutes = csr_array((np.ones(links.nnz), links.indices, links.indptr), shape=(n, m)).T
        assert problem.row_unmatched is not None
        assert problem.col_unmatched is not None
        unassigned = diags_array(problem.row_unmatched + 1), diags_array(problem.col_unmatched + 1)
        # Everything is 1 dearer than it is: SciPy's solver drops costs of zero.
        full = csr_array(block_array([[links, unassigned[0]], [unassigned[1], substitutes]]))
        full.sort_indices()
        return full.indptr, full.indices, full.data

    def cost_of(self, square_cost: float) -> float:
        """Return the cost of a full matching of `square` without the ones that were added."""
        return square_cost - sum(self.problem.shape)


def _proven_least(problem: Problem) -> float:
    return float(checked(problem, solve(problem, device="cpu"))["cost"])


def scipy_dense(costs: np.ndarray) -> np.ndarray:
    """Return the column of each row."""
    from scipy.optimize import linear_sum_assignment

    return linear_sum_assignment(costs)[1]


def lapx_dense(costs: np.ndarray) -> np.ndarray:
    """Return the column of each row."""
    return _lapx().lapjv(costs, return_cost=False)[0]


def emd_dense(costs: np.ndarray) -> np.ndarray:
    """Return the column of each row: the transport plan of POT between equal weights, a permutation."""
    weights = np.ones(len(costs))
    return import_module("ot").emd(weights, weights, costs, numItermax=10**9).argmax(axis=1)


def _lapx() -> Any:
    """Return the peer, installed or not: to a type checker, "import lap" would be our own lap.py."""
    return import_module("lap")


def check_dense(given: DenseInput, columns: np.ndarray, *, tolerance: float = 1e-9) -> Facts:
    """Hold the columns of the rows against the proven optimum; real costs may miss it by this part of it."""
    n = len(given.costs)
    if len(np.unique(columns)) != n:
        raise WrongAnswer("two rows share a column")
    cost = given.costs[np.arange(n), columns].sum(dtype=np.float64).item()
    allowed = 0.0 if given.costs.dtype.kind == "i" else tolerance * abs(given.optimum)
    if abs(cost - given.optimum) > allowed:
        raise WrongAnswer(f"cost {cost!r} where {given.optimum!r} is the proven optimum")
    return {"cost": cost}


Square = tuple[np.ndarray, np.ndarray, np.ndarray]
"""`GatedInput.square`."""


def lapmod(square: Square) -> np.ndarray:
    """Match by lapx; return the column of each row."""
    indptr, indices, data = square
    return _lapx().lapmod(len(indptr) - 1, data, indptr, indices)[1]


def scipy_sparse(square: Square) -> np.ndarray:
    """Match by SciPy; return the column of each row."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    indptr, indices, data = square
    return min_weight_full_bipartite_matching(csr_array((data, indices, indptr)))[1]


def check_gated(given: GatedInput, columns: np.ndarray) -> Facts:
    """Hold the columns of the rows of `GatedInput.square` against the proven optimum of the gate."""
    from scipy.sparse import csr_array

    indptr, indices, data = given.square
    costs = np.asarray(csr_array((data, indices, indptr))[np.arange(len(columns)), columns]).ravel()
    if len(np.unique(columns)) != sum(given.problem.shape):
        raise WrongAnswer("two rows share a column")
    if not costs.all():
        raise WrongAnswer("a row has a column outside the gate")
    cost = given.cost_of(costs.sum())
    if abs(cost - given.optimum) > 1e-9 * costs.sum():
        raise WrongAnswer(f"cost {cost!r} where {given.optimum!r} is the proven optimum")
    return {"cost": cost}


def scipy_graph(given: BipartiteGraph) -> Any:
    """Return the graph as SciPy takes it."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(given.n_edges, np.int8), given.indices, given.indptr), shape=given.shape)


def scipy_matching(graph: Any) -> np.ndarray:
    """Return the column of each row, -1 for none."""
    from scipy.sparse.csgraph import maximum_bipartite_matching

    return maximum_bipartite_matching(graph, perm_type="column")


def check_columns(given: BipartiteGraph, columns: np.ndarray) -> Facts:
    """Check a matching by its own cover, which proves that it is maximum."""
    rows = np.flatnonzero(columns >= 0)
    row_of_col = np.full(given.n_columns, -1, np.int32)
    row_of_col[columns[rows]] = rows
    check_matching(given, columns, row_of_col)
    return {"size": verify_matching(given, Matching(given, columns, row_of_col, "SciPy", "none", "cpu", {}))}
