"""Costs too many for the host: made on GPUs, solved there, and checked there, made once more a stripe at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ....matching.certificate.assignment import Assignment
from ....matching.device import cuda
from ....matching.hungarian.shards import even_split
from ....matching.presolve.sharded import ShardedCosts
from ....matching.problem import Problem
from ..measure.harness import Facts, WrongAnswer
from ..measure.memory import give_unused_back
from .lap_instances import uniform_block
from .solver_variants import plain_numbers

STRIPE = 2**26
"""Costs of a stripe."""
ROUNDING = 1e-12
"""Of float64 duals, as a part of the total cost: whole numbers up to 10⁸ differ by more."""


@dataclass(frozen=True)
class GeneratedCosts:
    """`uniform_costs` of n rows and columns in a range, float32; no host ever holds them."""

    n: int
    cost_range: str
    seed: int

    @property
    def n_bytes(self) -> int:
        """Of all costs."""
        return 4 * self.n**2

    def on(self, gpus: Sequence[str], axis: int = 0) -> Problem | ShardedCosts:
        """Make them on these GPUs, rows (axis 0) or columns (1) split evenly; on one GPU they are a plain problem.

        Raises
        ------
        DeviceMemoryExceeded
            If a GPU has no room for its part.
        """
        parts: list[Any] = []
        for gpu, (first, end) in zip(gpus, pairwise(even_split(self.n, len(gpus))), strict=True):
            sides = [range(self.n), range(self.n)]
            sides[axis] = range(first, end)
            give_unused_back(gpu)
            with cuda.using(gpu) as cp:
                part = f"{len(sides[0]):,} × {len(sides[1]):,} of {self.n:,} × {self.n:,} costs, on {gpu},"
                cuda.require_memory(4 * len(sides[0]) * len(sides[1]), part)
                parts.append(self.block(cp, *sides))
            give_unused_back(gpu)
        return Problem.dense(parts[0]) if len(parts) == 1 else ShardedCosts.of(parts, axis=axis)

    def block(self, xp: Any, rows: range, cols: range) -> Any:
        """Return a part of the costs, in the memory of `xp`, NumPy or CuPy on its current device."""
        costs = xp.empty((len(rows), len(cols)), xp.float32)
        for stripe in _stripes(rows, len(cols)):
            at = slice(stripe.start - rows.start, stripe.stop - rows.start)
            costs[at] = uniform_block(xp, self.n, self.cost_range, self.seed, stripe, cols)
        return costs

    def checked(self, answer: Assignment, gpus: Sequence[str]) -> Facts:
        """Return what is known of an answer whose certificate was recomputed over all pairs, on these GPUs.

        Raises
        ------
        WrongAnswer
            If two rows share a column, a reduced cost is negative, or the duals do not add up to the cost.
        """
        in_use = [_bytes_in_use(gpu) for gpu in gpus]
        return {**self.checked_in_stripes(cuda.cupy(), answer, [cuda.using(gpu) for gpu in gpus]), "gpu_bytes": in_use}

    def checked_in_stripes(self, xp: Any, answer: Assignment, places: Sequence[AbstractContextManager[Any]]) -> Facts:
        """Return what `checked` does but for the memory; the places take turns, and none waits for another."""
        columns, r, v = map(cuda.to_host, (answer.col_of_row, answer.row_duals, answer.col_duals))
        if not np.array_equal(np.sort(columns), np.arange(self.n)):
            raise WrongAnswer("not every row has a column of its own")
        sums: list[tuple[Any, Any]] = []
        for place, (first, end) in zip(places, pairwise(even_split(self.n, len(places))), strict=True):
            with place:
                sums.append(self._sums(xp, range(first, end), columns, r, v))
        cost, least = sum(float(cost) for cost, _ in sums), min(float(least) for _, least in sums)
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

    def _sums(self, xp: Any, rows: range, columns: np.ndarray, r: np.ndarray, v: np.ndarray) -> tuple[Any, Any]:
        """Return what some rows' links cost, and their least reduced cost; nothing waits for the device here."""
        columns, r, v = xp.asarray(columns), xp.asarray(r, xp.float64), xp.asarray(v, xp.float64)
        cost, least = xp.zeros(()), xp.zeros(())
        for stripe in _stripes(rows, self.n):
            own = slice(stripe.start, stripe.stop)
            costs = uniform_block(xp, self.n, self.cost_range, self.seed, stripe, range(self.n)).astype(xp.float64)
            cost += costs[xp.arange(len(stripe)), columns[own]].sum()
            costs -= r[own, None]
            costs -= v
            least = xp.minimum(least, costs.min())
        return cost, least


def _stripes(rows: range, width: int) -> Iterator[range]:
    """Split rows of so many costs."""
    height = max(STRIPE // width, 1)
    for first in range(rows.start, rows.stop, height):
        yield range(first, min(first + height, rows.stop))


def _bytes_in_use(gpu: str) -> int:
    """Return what is taken of a GPU's memory, by whomever: costs, a solver's arrays, which the pool keeps, contexts."""
    with cuda.using(gpu) as cp:
        free, total = cp.cuda.runtime.memGetInfo()
        return int(total - free)
