"""Costs too many for the host: made on a GPU, solved there, and checked there, a stripe of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...matching import cuda
from ...matching.assignment import Assignment
from ...matching.problem import Problem
from .harness import Facts, WrongAnswer
from .lap_instances import uniform_block
from .solver_variants import plain_numbers

STRIPE = 2**26
"""Costs of a stripe."""
ROUNDING = 1e-12
"""Of float64 duals, as a part of the total cost: whole numbers up to 10⁸ differ by more."""


@dataclass(frozen=True)
class GeneratedCosts:
    """`uniform_costs` in a range, which come to be on a GPU when they are asked for."""

    n: int
    cost_range: str
    seed: int
    gpu: str

    @cached_property
    def problem(self) -> Problem:
        """The costs, float32 on the GPU."""
        with cuda.using(self.gpu) as cp:
            cuda.require_memory(4 * self.n**2, f"costs of {self.n:,} × {self.n:,}")
            return generated_problem(cp, self.n, self.cost_range, self.seed)

    def checked(self, answer: Assignment) -> Facts:
        """Return what `checked_in_stripes` does, on the GPU."""
        with cuda.using(self.gpu) as cp:
            return checked_in_stripes(cp, self.problem, answer)


def generated_problem(xp: Any, n: int, cost_range: str, seed: int) -> Problem:
    """Return `uniform_costs` as float32, in the memory of `xp`, NumPy or CuPy on its current device."""
    costs = xp.empty((n, n), xp.float32)
    for rows in _stripes(n):
        costs[rows.start : rows.stop] = uniform_block(xp, n, cost_range, seed, rows, range(n))
    return Problem.dense(costs)


def checked_in_stripes(xp: Any, problem: Problem, answer: Assignment) -> Facts:
    """Return what is known of an assignment of a square matrix whose certificate was recomputed where the costs lie.

    Raises
    ------
    WrongAnswer
        If two rows share a column, a reduced cost is negative, or the duals do not add up to the cost.
    """
    n, columns = problem.n_rows, xp.asarray(answer.col_of_row)
    matrix = problem.data.reshape(n, n)
    if not (xp.sort(columns) == xp.arange(n)).all():
        raise WrongAnswer("not every row has a column of its own")
    r, v = (xp.asarray(duals, xp.float64) for duals in (answer.row_duals, answer.col_duals))
    cost, least = 0.0, 0.0
    for rows in _stripes(n):
        costs = matrix[rows.start : rows.stop]
        cost += float(costs[xp.arange(len(rows)), columns[rows.start : rows.stop]].sum(dtype=xp.float64))
        least = min(least, float((costs - r[rows.start : rows.stop, None] - v).min()))
    gap = cost - float(r.sum() + v.sum())
    if least < -ROUNDING * cost or abs(gap) > ROUNDING * cost:
        raise WrongAnswer(f"not proven optimal: least reduced cost {least}, gap {gap} at cost {cost}")
    return {
        "cost": cost,
        "gap": abs(gap),
        "least_reduced_cost": least,
        "solver": answer.solver,
        **plain_numbers(answer.stats),
    }


def _stripes(n: int) -> Iterator[range]:
    """Yield the rows of each stripe."""
    height = max(STRIPE // n, 1)
    for first in range(0, n, height):
        yield range(first, min(first + height, n))
