"""The steps of `paths/trees.cu` in plain Python: the same phases, rounds and ties, one thread.

It stands in for the GPU in the ordinary test run, where it must solve every hard case, and beside it on a GPU, where
matched edges and duals must be the same to the bit, but for problems that must be matched whole: a GPU matches these by
forests.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from auctrack.matching import Problem
from auctrack.matching.certificate.certify import certify
from auctrack.matching.certificate.hall import infeasible
from auctrack.matching.certificate.matched import Matched
from auctrack.matching.paths.gpu_settling import REFINEMENTS
from auctrack.matching.problem import INT_LIMIT
from auctrack.matching.problem.convert import as_sparse
from auctrack.matching.problem.flat_graph import global_columns, local_columns
from auctrack.matching.tolerance import EPS, REMATCH_ULPS


def match_as_the_gpu_does(problem: Problem) -> Matched:
    """Match any problem whose rows are the shorter side."""
    problem = as_sparse(problem)
    twin = Twin.of(problem)
    infeasible_row = twin.match(list(range(problem.n_rows)))
    for _ in range(REFINEMENTS):
        if infeasible_row >= 0 or certify(problem, *twin.answer(problem), solver="twin").is_optimal:
            break
        twin.match(twin.released())
    if infeasible_row >= 0:
        graph = problem.indptr, global_columns(problem), None
        raise infeasible(problem, infeasible_row, *graph, np.array(twin.col_of_row), np.array(twin.row_of_col))
    return Matched(problem, *twin.answer(problem), twin.counts, is_refinable=False)


@dataclass
class Phase:
    """What grows in one phase: the trees' columns, and the rows that are expanded."""

    roots: list[int]
    dist: dict[int, Any] = field(default_factory=dict)
    parent: dict[int, int] = field(default_factory=dict)
    spread: dict[int, Any] = field(default_factory=dict)
    dual: dict[int, Any] = field(default_factory=dict)
    limit: dict[int, Any] = field(default_factory=dict)
    root: dict[int, int] = field(default_factory=dict)
    delta: dict[int, Any] = field(default_factory=dict)


@dataclass
class Twin:
    """A sparse problem whose rows are its shorter side, its duals and its matching."""

    edges: list[list[tuple[int, Any]]]
    row_bound: list[Any]
    none: Any
    v: list[Any]
    col_of_row: list[int]
    row_of_col: list[int]
    counts: dict[str, int]

    @classmethod
    def of(cls, problem: Problem) -> Twin:
        """Reduce the problem, rows first (Algorithm 1)."""
        assert problem.indptr is not None
        n, m = problem.shape
        row_bound, col_bound = (bound.tolist() for bound in problem.dual_bounds())
        none = INT_LIMIT if problem.is_integer else np.inf
        pairs = list(zip(global_columns(problem).tolist(), problem.data.tolist(), strict=True))
        edges = [pairs[problem.indptr[i] : problem.indptr[i + 1]] for i in range(n)]
        v = [bound if bound < none else 0 for bound in col_bound]
        counts = {"searches": 0, "levels": 0, "sweeps": 0}
        twin = cls(edges, row_bound, none, v, [-1] * n, [-1] * m, counts)
        twin._reduce_columns(col_bound)
        return twin

    def _reduce_columns(self, col_bound: list[Any]) -> None:
        least = [self.none] * len(self.v)
        for i, row in enumerate(self.edges):
            dual = self._dual(i)
            for j, cost in row:
                least[j] = min(least[j], cost - dual)
        self.v = [
            raised if bound >= self.none and raised < self.none else v
            for v, bound, raised in zip(self.v, col_bound, least, strict=True)
        ]

    def _dual(self, i: int) -> Any:
        return min([self.row_bound[i], *(cost - self.v[j] for j, cost in self.edges[i])])

    def answer(self, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
        """Return the local column of each row, and the column duals."""
        return local_columns(problem, np.array(self.col_of_row, np.int32)), np.array(self.v, problem.dual_dtype)

    def released(self) -> list[int]:
        """Take the columns of rows whose matched edges rounding left slack; return the rows."""
        with_slack: list[int] = []
        for i, row in enumerate(self.edges):
            dual = self._dual(i)
            for j, cost in row:
                rounding = REMATCH_ULPS * EPS * max(map(abs, (cost, self.v[j], dual)))
                if j == self.col_of_row[i] and cost - self.v[j] - dual > rounding:
                    with_slack.append(i)
        for i in with_slack:
            self.row_of_col[self.col_of_row[i]] = self.col_of_row[i] = -1
        return with_slack

    def match(self, free: list[int]) -> int:
        """Match the given rows; return -1, or a row that must be matched and cannot be."""
        while free:
            phase = self._grow(free)
            self._settle(phase)
            infeasible_row = [i for i in free if phase.delta[i] >= self.none]
            if infeasible_row:
                return min(infeasible_row)
            free = self._update(phase)
            self.counts["searches"] += 1
        return -1

    def _grow(self, free: list[int]) -> Phase:
        phase = Phase(free, limit=dict.fromkeys(free, self.none))
        queue: list[tuple[int, Any]] = [(i, 0) for i in free]
        label: dict[int, int] = {}
        while queue:
            label = {
                i: i if self.col_of_row[i] < 0 else label.get(phase.parent[self.col_of_row[i]], -1) for i, _ in queue
            }
            queue = [(i, base) for i, base in queue if self.col_of_row[i] < 0 or base < phase.limit[label[i]]]
            queue = self._claim(phase, queue, label, self._relax(phase, queue))
            self.counts["levels"] += 1
        return phase

    def _relax(self, phase: Phase, queue: list[tuple[int, Any]]) -> set[int]:
        """Lower the distances of the queued rows' columns; return the columns."""
        lowered: set[int] = set()
        for i, base in queue:
            phase.dual[i] = self._dual(i)
            phase.spread[self.col_of_row[i]] = base
            for j, cost in self.edges[i]:
                through = base + (cost - self.v[j] - phase.dual[i])
                if through < phase.dist.get(j, self.none):
                    phase.dist[j] = through
                    lowered.add(j)
        return lowered

    def _claim(
        self, phase: Phase, queue: list[tuple[int, Any]], label: dict[int, int], lowered: set[int]
    ) -> list[tuple[int, Any]]:
        """Give every lowered column its parent, the smallest row that explains it; return the next queue."""
        claimed: dict[int, int] = {}
        for i, base in queue:
            root = label[i]
            phase.limit[root] = min(phase.limit[root], self._unassigned_key(phase, i, base))
            for j, cost in self.edges[i]:
                if j not in lowered or base + (cost - self.v[j] - phase.dual[i]) != phase.dist[j]:
                    continue
                claimed[j] = min(claimed.get(j, i), i)
                if self.row_of_col[j] < 0:
                    phase.limit[root] = min(phase.limit[root], phase.dist[j])
        phase.parent |= claimed
        return [(self.row_of_col[j], phase.dist[j]) for j in claimed if self.row_of_col[j] >= 0]

    def _unassigned_key(self, phase: Phase, i: int, base: Any) -> Any:
        bound = self.row_bound[i]
        return base + (bound - phase.dual[i]) if bound < self.none else self.none

    def _members(self, phase: Phase) -> list[tuple[int, int, int, Any]]:
        """Return (row, column, root, Δ of entry) of all rows in trees."""
        rows: list[tuple[int, int, int, Any]] = [(i, -1, i, 0) for i in phase.roots]
        return rows + [
            (self.row_of_col[j], j, phase.root[j], dist) for j, dist in phase.dist.items() if self.row_of_col[j] >= 0
        ]

    def _is_expanded(self, phase: Phase, j: int) -> bool:
        return j < 0 or (j in phase.spread and phase.spread[j] == phase.dist[j])

    def _settle(self, phase: Phase) -> None:
        """Find the roots, and the largest Δ of every tree that is feasible."""
        for j in phase.dist:
            root = phase.parent[j]
            while self.col_of_row[root] >= 0:
                root = phase.parent[self.col_of_row[root]]
            phase.root[j] = root
        phase.delta = dict.fromkeys(phase.roots, self.none)
        members = self._members(phase)
        sinks = [(phase.root[j], dist) for j, dist in phase.dist.items() if self.row_of_col[j] < 0]
        sinks += [
            (root, self._unassigned_key(phase, i, base) if self._is_expanded(phase, j) else base)
            for i, j, root, base in members
        ]
        for root, dist in sinks:
            phase.delta[root] = min(phase.delta[root], dist)
        changed = True
        while changed:
            changed = sum(self._hold_back(phase, *member) for member in members) > 0
            self.counts["sweeps"] += 1

    def _hold_back(self, phase: Phase, i: int, _: int, root: int, base: Any) -> bool:
        before = phase.delta[root]
        if base >= before:
            return False
        for j, cost in self.edges[i]:
            most = base + (cost - self.v[j] - phase.dual[i])
            if j in phase.dist:
                other = phase.delta[phase.root[j]]
                if phase.root[j] == root or other >= self.none:
                    continue
                most = max(most + max(other - phase.dist[j], 0), other)
            phase.delta[root] = min(phase.delta[root], most)
        return phase.delta[root] < before

    def _update(self, phase: Phase) -> list[int]:
        """Lower the duals of columns and carry a path of each tree out; return the rows that are still free."""
        m = len(self.v)
        sink: dict[int, int] = {}
        for j, dist in phase.dist.items():
            root = phase.root[j]
            if self.row_of_col[j] < 0 and dist == phase.delta[root]:
                sink[root] = min(sink.get(root, j), j)
        for i, j, root, base in self._members(phase):
            if self._is_expanded(phase, j) and self._unassigned_key(phase, i, base) == phase.delta[root]:
                sink[root] = min(sink.get(root, m + i), m + i)
        for j, dist in phase.dist.items():
            change = dist - phase.delta[phase.root[j]]
            if change < 0:
                self.v[j] += change
        for root, last in sink.items():
            self._augment(phase, root, last)
        return [i for i in phase.roots if i not in sink]

    def _augment(self, phase: Phase, root: int, sink: int) -> None:
        j = sink
        if sink >= len(self.v):
            j = self.col_of_row[sink - len(self.v)]
            self.col_of_row[sink - len(self.v)] = -1
        while j >= 0:
            i = phase.parent[j]
            before = self.col_of_row[i]
            self.col_of_row[i], self.row_of_col[j] = j, i
            j = -1 if i == root else before
