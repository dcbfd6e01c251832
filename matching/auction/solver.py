"""Solver `auction`: on which device it runs."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..certificate.matched import SolverMatching
from ..presolve.groups import by_orientation, by_shape
from ..problem import Problem
from .cpu import match_on_cpu, small_apart
from .options import AuctionOptions


class Auction(AuctionOptions):
    """The auction algorithm with ε-scaling, finished exactly by shortest augmenting paths from its prices.

    Exact by default: integer costs with gap 0, real costs in float64 within 64 ulp term by term. Dense and sparse
    costs, and point sets matrix-free in O(n) memory; unequal sides, `unmatched_cost` and batches included. Point sets
    in which neighbours say little, as of very different extent, get their matrix up to 1 GiB (GPU: 4), since that is
    faster (`matrix_instead`); the result's stats say "matrix". On a CPU sets of fewer than 128 points a side are
    matched on all their pairs, 4 million at a time.

    Attributes
    ----------
    eps : float, optional
        Stop at this bid increment, in the unit of the cost, and skip the exact finish: each matched edge is then within
        `eps` of its row's best, so that `gap` is at most `eps` a row (integer duals are rounded down, for up to 1
        more). The result says what was proven. More than the largest cost counts as that. Default: exact.
    variant : {"default", "paper"}
        "paper": the loop of Vasconcelos & Rosenhahn step by step: all unassigned rows bid at once (Jacobi), the highest
        bid wins, one fixed increment, no scaling, no finish. The paper names no increment; ours, unless `eps` is given,
        is 1 / (rows + 1) for integer costs (which makes it exact) and a tenth of the largest cost difference divided by
        the rows for real ones. The paper has matrices only: with sparse costs a row bids on its edges, point sets
        become a matrix (of 8 GiB at most).
    convergence : {"counter", "reduction"}
        variant="paper": its two tests, a counter of the assigned that grows when a free object takes its first bid, or
        counting a boolean stream.
    max_bids : int, optional
        Budget of bids per row, on average over a component; when it runs out `NotConverged` carries the matched edges
        made so far and the duals; the gap is infinite where a row that must be matched has no column yet.
    matrix : bool or "only"
        Whether point sets whose neighbours say little get the matrix of all their costs, where it is small enough; else
        `NotConverged` is raised there, for another solver to take over. "only": sets without `unmatched_cost` get it at
        once, whatever its size, and are matched as it would be; a matrix whose sides differ by up to 15 % is made
        square; and a GPU bids for all its pairs at once, without a look at the cheapest first.
    """

    devices: ClassVar[tuple[str, ...]] = ("cpu", "cuda")

    def groups(self, problem: Problem, device: str) -> list[np.ndarray]:
        """Return the blocks that go together: of one orientation, on a CPU small point sets apart from larger ones.

        The paper's matrices on a GPU are of one shape.
        """
        if device == "cpu":
            return [part for group in by_orientation(problem) for part in small_apart(problem, group)]
        return by_orientation(problem) if self.variant == "default" else by_shape(problem)

    def match(self, problem: Problem, device: str = "cpu") -> SolverMatching:
        """Match a problem whose shorter side is its rows, or which has an `unmatched_cost`.

        Raises
        ------
        Infeasible
            With a Hall violator, when a row cannot be matched and there is no `unmatched_cost`. Found before the first
            bid for the blocks that go together (`groups`), by a cardinality matching where nothing cheaper decides it.
        NotConverged
            When a matrix is called for and `matrix` is False.
        InvalidProblem
            When `eps` is below what float64 resolves beside costs of this size.
        DeviceMemoryExceeded
            Before memory is taken on a GPU.
        """
        if device == "cpu":
            return match_on_cpu(problem, self)
        from .gpu import match_on_gpu

        return match_on_gpu(problem, self)
