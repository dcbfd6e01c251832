"""What rounding and scaled phases leave on a GPU: unassigned columns below their bound, matched edges with slack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..certificate.gpu_certificate import DeviceSlackness, MatchedOnDevice, certify, proven
from ..problem import Problem
from ..problem.gpu_graph import CostGraph, DeviceSolution
from .gpu_dense import DeviceState
from .state import FREE, UNASSIGNED

REFINEMENTS = 8
"""Times that the rows are matched again whose edges rounding left slack, at most."""

Last = tuple[DeviceSolution, DeviceSlackness] | None
"""What was matched last, and what it proves; None before the first time."""


def until_proven(
    form: Problem,
    graph: CostGraph,
    match: Callable[[Last], tuple[DeviceSolution, Mapping[str, Any]]],
    stats: Mapping[str, Any] | None = None,
) -> MatchedOnDevice:
    """Match, and match again the rows whose edges rounding left slack, until the duals prove the matching.

    `match` matches all rows, or those `released` after the last time; it returns the matching and counts, to which
    `stats` are added.
    """
    total: Counter[str] = Counter(stats or {})
    last: Last = None
    times = 0
    while True:
        matching, counts = match(last)
        total.update(counts)
        proof = proven(graph, matching)
        if form.is_integer or not int(proof.n_slack[0]) or times == REFINEMENTS:
            return MatchedOnDevice(form, graph, matching, {**total, "refinements": times}, proof=proof)
        last = matching, proof
        times += 1


def settle_unassigned_columns(
    graph: CostGraph, matching: DeviceSolution, match: Callable[[CostGraph, DeviceSolution, Any], Any]
) -> int:
    """Match the unassigned columns that are below their bound, or raise them to it; return how many there were.

    A shortest path that starts in such a column raises its dual until it is matched, or it or another column reaches
    its bound (as `finish.settle_unassigned_columns` on the CPU).

    Parameters
    ----------
    graph, matching
        The matching is updated in place; matched edges have zero slack, unassigned rows are at their bound.
    match : callable
        Matches the given rows of the transposed graph.
    """
    cp = graph.cp
    below = (matching.row_of_col < 0) & (matching.v < graph.col_bound) & (graph.col_bound < graph.none)
    columns = cp.flatnonzero(below).astype(np.int32)
    if len(columns) == 0:
        return 0
    by_columns = graph.transposed()
    duals = certify(graph, matching, matching.v).row_duals
    seen_from_columns = DeviceSolution(duals, matching.row_of_col, matching.col_of_row, matching.spent, matching.counts)
    match(by_columns, seen_from_columns, columns)
    matching.is_searched |= seen_from_columns.is_searched
    v = certify(by_columns, seen_from_columns, seen_from_columns.v).row_duals
    matching.v = cp.where(matching.row_of_col < 0, graph.col_bound, v)  # which rounding may keep from them by an ulp
    return len(columns)


def released(graph: CostGraph, matching: DeviceSolution, proof: DeviceSlackness) -> Any:
    """Unassign the rows whose matched edges rounding left slack; return all rows that are to be matched again."""
    matching.unmatch(graph.cp.flatnonzero(proof.has_slack))
    return graph.cp.flatnonzero((matching.col_of_row < 0) & (proof.row_duals < graph.row_bound)).astype(np.int32)


def state_after_release(graph: CostGraph, matching: DeviceSolution, proof: DeviceSlackness) -> tuple[DeviceState, Any]:
    """Return the state from which the `released` rows are matched, and these; other edges have no slack then."""
    free, cp = released(graph, matching, proof), graph.cp
    cols, paid = matching.col_of_row, proof.terms[0][: graph.n_rows]
    r = cp.where(cols >= 0, paid - matching.v[cp.maximum(cols, 0)], proof.row_duals)
    col_of_row = cp.where(cols < 0, np.int32(UNASSIGNED), cols)
    col_of_row[free] = FREE
    return DeviceState(r, matching.v, col_of_row, matching.row_of_col), free
