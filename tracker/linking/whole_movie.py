"""The answer: one exact assignment for the whole movie, links over all numbers of frames side by side."""

from __future__ import annotations

import numpy as np

from ...matching.assignment import Assignment
from ...matching.problem import Problem
from ...matching.solving import solve
from .graph import Graph


def assignment(graph: Graph, weight: np.ndarray, solver: str = "auto", device: str = "auto") -> tuple[Problem, Assignment]:
    """Solve the movie: every detection followed by at most one and following at most one, the sum of weights largest."""
    worth = weight > 0
    indptr = np.concatenate([[0], np.cumsum(worth)])[graph.indptr]
    problem = Problem.sparse((indptr, graph.head[worth], -weight[worth]), unmatched_cost=0.0, shape=(graph.n, graph.n))
    return problem, solve(problem, solver, device)
