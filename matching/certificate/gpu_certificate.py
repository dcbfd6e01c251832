"""The certificate of an assignment, computed in device memory; as `certificate.certify` on the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..device import cuda
from ..problem import Problem
from ..problem.gpu_graph import CostGraph, DeviceSolution
from ..tolerance import EPS, SHARE
from .assignment import Assignment
from .certify import FEW_PAIRS, MOST_FETCHED, incomplete_blocks, within
from .certify import certify as host_certify
from .exact_gap import exact_gap
from .gpu_above_least import barely_above_least
from .gpu_near_pairs import near_pairs

THREADS = 256
LEAST_OF_A_PART, MOST_PARTS = 512, 2048
"""Rows and columns whose terms a warp adds up, and the most warps: more would leave the host too many sums."""


class DeviceSlackness(NamedTuple):
    """What column duals prove about a matching, on the device.

    Attributes
    ----------
    row_duals : (rows,)
        The best that go with the column duals.
    terms : (2, rows + columns)
        All terms of cost and of gap.
    n_slack : int32 (1,)
        Terms of the gap that are more than rounding, as `tolerance.ULPS` has it.
    has_slack : bool (rows,)
        Rows whose matched edge has slack beyond a quarter of that, and is to be matched again: every search rounds the
        duals that it changes once more, and hundreds of searches add up.
    """

    row_duals: Any
    terms: Any
    n_slack: Any
    has_slack: Any


def certify(graph: CostGraph, matching: DeviceSolution, v: Any) -> DeviceSlackness:
    """Return what column duals `v` prove about a matching."""
    cp, n, m = graph.cp, graph.n_rows, graph.n_cols
    r = cp.empty(n, graph.dual_dtype)
    terms = cp.empty((2, n + m), graph.dual_dtype)
    n_slack, has_slack = cp.zeros(1, cp.int32), cp.empty(n, bool)
    kernel = graph.kernel("certificate/certify.cu", "auction_certify", lanes=True)
    blocks = min(1 << 16, max(1, -(-max(n * graph.lanes, m) // THREADS)))
    kernel(
        (blocks,),
        (THREADS,),
        (
            *(np.int32(n), np.int32(m), *graph.edges(), graph.row_bound, graph.col_bound, v),
            *(matching.col_of_row, matching.row_of_col, r, terms[0], terms[1], n_slack, has_slack),
            np.int32(graph.has_unmatched_cost),
        ),
    )
    return DeviceSlackness(r, terms, n_slack, has_slack)


class MatchedOnDevice(NamedTuple):
    """A matching and column duals beside the costs on the current GPU (see `matched.SolverMatching`).

    Attributes
    ----------
    form : Problem
    graph : CostGraph
        What carries the certificate of `form`.
    matching : DeviceSolution
    stats, unfinished, is_refinable
        As in `SolverMatching`.
    proof : DeviceSlackness or None
        What `proven` says of the duals, where it has been asked for.
    """

    form: Problem
    graph: CostGraph
    matching: DeviceSolution
    stats: dict[str, Any]
    unfinished: str = ""
    is_refinable: bool = True
    proof: DeviceSlackness | None = None

    def certified(self, problem: Problem, *, solver: str, device: str, stats: Mapping[str, Any]) -> Assignment:  # noqa: ARG002
        """As `gpu_certificate.certified`."""
        known = self.graph, self.form, self.matching
        return certified(*known, solver=solver, device=device, stats=stats, proof=self.proof)


def proven(graph: CostGraph, matching: DeviceSolution) -> DeviceSlackness:
    """Return what the duals prove, those above their bound lowered to it."""
    return certify(graph, matching, graph.cp.minimum(matching.v, graph.col_bound))


def certified(
    graph: CostGraph,
    problem: Problem,
    matching: DeviceSolution,
    *,
    solver: str,
    device: str,
    stats: Mapping[str, Any],
    proof: DeviceSlackness | None = None,
) -> Assignment:
    """Return the assignment with feasible duals and its gap, on the device; as `certificate.certify` on the CPU."""
    v = graph.cp.minimum(matching.v, graph.col_bound)
    r, terms, n_slack, _ = certify(graph, matching, v) if proof is None else proof
    has_zero_slack = not int(n_slack.get()[0])
    sums = _sums_of_blocks(graph, problem, r, terms)
    cost, gap = sums.cost, sums.gap
    col_of_row = local_partners(graph, matching.col_of_row, problem.row_offsets, problem.col_offsets)
    if has_zero_slack and not problem.is_integer:
        gap, in_doubt = _with_rounding(sums)
        in_doubt |= barely_above_least(graph, matching, problem.row_offsets, gap)
        has_zero_slack = _is_proven_by_few(graph, problem, matching, (r, v), gap, in_doubt) or _settled(
            problem, col_of_row, v, gap, in_doubt
        )
    elif not has_zero_slack:
        incomplete = incomplete_blocks(problem, matching.col_of_row.get())
        gap = np.where(incomplete, np.inf, gap) if incomplete.any() else gap
    if problem.n_blocks == 1:
        cost, gap = cost[0].item(), gap[0].item()
    return Assignment(
        col_of_row,
        local_partners(graph, matching.row_of_col, problem.col_offsets, problem.row_offsets),
        cost,
        r,
        v,
        gap,
        has_zero_slack,
        solver,
        device,
        stats,
        problem.row_offsets,
        problem.col_offsets,
    )


class _Sums(NamedTuple):
    """What each block's terms add up to, on the host, (blocks,).

    Attributes
    ----------
    cost, gap
    duals
        Sizes of the row duals.
    least, positive
        The least size of the cost's terms above 0 (no bound where there is none), and how many are.
    """

    cost: np.ndarray
    gap: np.ndarray
    duals: np.ndarray
    least: np.ndarray
    positive: np.ndarray


def _with_rounding(sums: _Sums) -> tuple[np.ndarray, np.ndarray]:
    """Return the gap with what rounding may have kept from it, and the blocks in doubt; as on the CPU."""
    gap = sums.gap + 2 * EPS * sums.duals
    exchangeable = np.where(sums.positive > 0, sums.least, 0.0) * sums.positive
    return gap, gap > SHARE * exchangeable


def _is_proven_by_few(
    graph: CostGraph,
    problem: Problem,
    matching: DeviceSolution,
    duals: tuple[Any, Any],
    gap: np.ndarray,
    in_doubt: np.ndarray,
) -> bool:
    """Prove a large block in doubt by the edges that may decide, and write its gap; whether they do."""
    is_large = problem.n_blocks == 1 and problem.kind != "points" and problem.n_edges > FEW_PAIRS
    if not (is_large and problem.is_on_device and in_doubt.any()):
        return False
    near = near_pairs(graph, problem, *duals, within(float(gap[0]), *duals))
    if near is None:
        return False
    gap[0], is_proven = exact_gap(near, *map(cuda.to_host, (matching.col_of_row, matching.row_of_col, duals[1])))
    return is_proven


def _settled(problem: Problem, col_of_row: Any, v: Any, gap: np.ndarray, in_doubt: np.ndarray) -> bool:
    """Prove the blocks in doubt on the host, and write their gaps; return whether all blocks are proven then."""
    doubtful = np.flatnonzero(in_doubt)
    blocks = [problem.block(b) for b in doubtful.tolist()]
    if problem.kind != "points" and sum(block.n_edges for block in blocks) > MOST_FETCHED:
        return False
    if not blocks:
        return True
    found = (
        np.concatenate([cuda.to_host(side[offsets[b] : offsets[b + 1]]) for b in doubtful])
        for side, offsets in ((col_of_row, problem.row_offsets), (v, problem.col_offsets))
    )
    on_host = [block.on_host() for block in blocks]
    known = host_certify(on_host[0] if len(on_host) == 1 else Problem.batch(on_host), *found, solver="")
    gap[doubtful] = known.gap
    return known.is_optimal


def _sums_of_blocks(graph: CostGraph, problem: Problem, row_duals: Any, terms: Any) -> _Sums:
    """Add up the terms of rows and columns; those of one block in parts, whose sums are added here."""
    cp, single = graph.cp, problem.n_blocks == 1
    parts = max(1, min(-(-(graph.n_rows + graph.n_cols) // LEAST_OF_A_PART), MOST_PARTS))
    blocks = parts if single else problem.n_blocks
    sums = cp.empty((5, blocks), graph.dual_dtype)
    sizes = np.int32(blocks), np.int32(graph.n_rows), np.int32(graph.n_cols)
    offsets = (np.intp(0), np.intp(0)) if single else map(cp.asarray, (problem.row_offsets, problem.col_offsets))
    kernel = graph.kernel("certificate/blocks.cu", "auction_block_sums")
    kernel((-(-2 * 32 * blocks // THREADS),), (THREADS,), (*sizes, *offsets, terms, row_duals, sums))
    found = _Sums(*sums.get())
    if not single:
        return found
    least = found.least.min(keepdims=True)
    return _Sums(*(line.sum(keepdims=True) for line in found))._replace(least=least)


def local_partners(graph: CostGraph, partner: Any, own_offsets: np.ndarray, other_offsets: np.ndarray) -> Any:
    """Count partners within their block; offsets are those of `Problem`, of the members and of their partners."""
    if len(own_offsets) == 2 or len(partner) == 0:
        return partner
    cp, local = graph.cp, graph.cp.empty_like(partner)
    sizes = np.int32(len(partner)), np.int32(len(own_offsets) - 1)
    arguments = (*sizes, cp.asarray(own_offsets), cp.asarray(other_offsets), partner, local)
    kernel = graph.kernel("certificate/blocks.cu", "auction_local_partners")
    kernel((-(-len(partner) // THREADS),), (THREADS,), arguments)
    return local
