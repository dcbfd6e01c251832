"""The certificate of an assignment, computed in device memory; as `certificate.certify` on the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..device import cuda
from ..problem import Problem
from ..problem.gpu_graph import DeviceGraph, Prices
from .assignment import Assignment
from .certify import MOST_PAIRS, incomplete_blocks
from .certify import certify as host_certify
from .exact_gap import SHARE

THREADS = 256
LEAST_OF_A_PART, MOST_PARTS = 512, 2048
"""Rows and columns whose terms a warp adds up, and the most warps: more would leave the host too many sums."""


class Slackness(NamedTuple):
    """What column duals prove about a matching, on the device.

    Attributes
    ----------
    row_duals : (rows,)
        The best that go with the column duals.
    terms : (2, rows + columns)
        All terms of cost and of gap.
    loose : int32 (1,)
        Terms of the gap that are more than rounding, as `certificate.ULPS` has it.
    frayed : bool (rows,)
        Rows whose link has come loose by a quarter of that, so that it is time to tighten it. Every search rounds the
        prices that it changes once more, and hundreds of searches add up.
    """

    row_duals: Any
    terms: Any
    loose: Any
    frayed: Any


def certify(graph: DeviceGraph, prices: Prices, v: Any) -> Slackness:
    """Return what column duals `v` prove about the matching of `prices`."""
    cp, n, m = graph.cp, graph.n_rows, graph.n_cols
    r = cp.empty(n, graph.price_dtype)
    terms = cp.empty((2, n + m), graph.price_dtype)
    loose, frayed = cp.zeros(1, cp.int32), cp.empty(n, bool)
    kernel = graph.kernel("certificate/certify.cu", "auction_certify", lanes=True)
    blocks = min(1 << 16, max(1, -(-max(n * graph.lanes, m) // THREADS)))
    kernel(
        (blocks,),
        (THREADS,),
        (
            *(np.int32(n), np.int32(m), *graph.edges(), graph.row_bound, graph.col_bound, v),
            *(prices.col_of_row, prices.row_of_col, r, terms[0], terms[1], loose, frayed),
            np.int32(graph.has_unmatched_cost),
        ),
    )
    return Slackness(r, terms, loose, frayed)


def certified(
    graph: DeviceGraph, problem: Problem, prices: Prices, *, solver: str, device: str, stats: Mapping[str, Any]
) -> Assignment:
    """Return the assignment with feasible duals and its gap, on the device; as `certificate.certify` on the CPU."""
    cp = graph.cp
    v = cp.minimum(prices.v, graph.col_bound)
    r, terms, loose, _ = certify(graph, prices, v)
    has_zero_slack = not int(loose.get()[0])
    if problem.n_blocks == 1:
        parts = max(1, min(-(-(graph.n_rows + graph.n_cols) // LEAST_OF_A_PART), MOST_PARTS))
        cost, gap = _sums_of_blocks(graph, parts, np.intp(0), np.intp(0), terms).sum(axis=1).tolist()
    else:
        offsets = cp.asarray(problem.row_offsets), cp.asarray(problem.col_offsets)
        cost, gap = _sums_of_blocks(graph, problem.n_blocks, *offsets, terms)
    if has_zero_slack and not problem.is_integer:
        gap, in_doubt = _with_rounding(problem, r, terms, gap)
        if in_doubt and problem.n_edges <= MOST_PAIRS:
            local = local_partners(graph, prices.col_of_row, problem.row_offsets, problem.col_offsets)
            found = cuda.to_host(local), cuda.to_host(v)
            return host_certify(problem.on_host(), *found, solver=solver, device=device, stats=stats).on_device()
        has_zero_slack = not in_doubt
    elif not has_zero_slack:
        incomplete = incomplete_blocks(problem, prices.col_of_row.get())
        gap = np.where(incomplete, np.inf, gap) if problem.n_blocks > 1 else np.inf if incomplete[0] else gap
    return Assignment(
        local_partners(graph, prices.col_of_row, problem.row_offsets, problem.col_offsets),
        local_partners(graph, prices.row_of_col, problem.col_offsets, problem.row_offsets),
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


def _with_rounding(problem: Problem, r: Any, terms: Any, gap: Any) -> tuple[Any, bool]:
    """Return the gap with what rounding may have kept from it, and whether a block is in doubt.

    As on the CPU (`certificate.Slackness`); but beyond `MOST_PAIRS` pairs, which would be too many to fetch, the gap of
    a block is held to all that its links and lone cost.
    """
    rows, cols = problem.row_offsets, problem.col_offsets
    paid, duals = abs(cuda.to_host(terms[0])), abs(cuda.to_host(r))
    blocks = np.arange(problem.n_blocks)
    block = np.concatenate([np.repeat(blocks, np.diff(rows)), np.repeat(blocks, np.diff(cols))])
    gap = np.atleast_1d(gap) + 2 * np.finfo(np.float64).eps * np.bincount(block[: len(duals)], duals, len(blocks))
    if problem.n_edges > MOST_PAIRS:
        own = np.bincount(block, paid, len(blocks))
    else:
        positive = paid > 0
        least = np.full(len(blocks), np.inf)
        np.minimum.at(least, block[positive], paid[positive])
        own = np.where(least < np.inf, least, 0.0) * np.bincount(block[positive], minlength=len(blocks))
    in_doubt = bool((gap > SHARE * own).any())
    return gap if problem.n_blocks > 1 else gap[0].item(), in_doubt


def _sums_of_blocks(graph: DeviceGraph, blocks: int, row_offsets: Any, col_offsets: Any, terms: Any) -> np.ndarray:
    """Return cost and gap of each block, (2, blocks), from the terms of rows and columns.

    Without offsets (a null pointer) they are cut into as many parts.
    """
    sums = graph.cp.empty((2, blocks), graph.price_dtype)
    sizes = np.int32(blocks), np.int32(graph.n_rows), np.int32(graph.n_cols)
    kernel = graph.kernel("certificate/blocks.cu", "auction_block_sums")
    kernel((-(-2 * 32 * blocks // THREADS),), (THREADS,), (*sizes, row_offsets, col_offsets, terms, sums))
    return sums.get()


def local_partners(graph: DeviceGraph, partner: Any, own_offsets: np.ndarray, other_offsets: np.ndarray) -> Any:
    """Count partners within their block; offsets are those of `Problem`, of the members and of their partners."""
    if len(own_offsets) == 2 or len(partner) == 0:
        return partner
    cp, local = graph.cp, graph.cp.empty_like(partner)
    sizes = np.int32(len(partner)), np.int32(len(own_offsets) - 1)
    arguments = (*sizes, cp.asarray(own_offsets), cp.asarray(other_offsets), partner, local)
    kernel = graph.kernel("certificate/blocks.cu", "auction_local_partners")
    kernel((-(-len(partner) // THREADS),), (THREADS,), arguments)
    return local
