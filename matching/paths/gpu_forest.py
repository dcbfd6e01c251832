"""The alternating-tree variant on one GPU, whole in one launch (`paths/matrix_forest.cu`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..device import cuda
from ..device.arrays import any_true
from ..device.structs import struct
from ..errors import InvalidProblem
from .gpu_dense import DeviceCosts, DeviceState

THREADS = cuda.declared("paths/matrix_forest.cu", "THREADS")
MOST_BLOCKS = 256
MOST_GROUPS = 3
"""Columns that one thread handles."""
LEAST_COLUMNS = 96
"""Columns of a block: with fewer, more blocks exchange words in every step (u10, n = 5,000: 30.4 ms with 32,
26.5 here)."""
NO_SINK = cuda.declared("paths/matrix_forest.cu", "NO_SINK")
COUNTS = struct("paths/matrix_forest.cu", "Counts")


def columns_held(multiprocessors: int) -> int:
    """Return how many columns so many multiprocessors can handle at least."""
    return min(multiprocessors, MOST_BLOCKS) * THREADS * MOST_GROUPS


def match_by_forests(costs: DeviceCosts, state: DeviceState, free_rows: Any) -> tuple[int, dict[str, Any]]:
    """Match the given rows, and all others where they are.

    Parameters
    ----------
    costs : DeviceCosts
    state : DeviceState
        Updated; reduced, with matched edges of zero slack, and what else is unassigned at its bound. Rows left
        unassigned are `UNASSIGNED`.
    free_rows : cupy.ndarray of int32 (k,)

    Returns
    -------
    infeasible_row : int
        -1, or a row that must be matched and cannot be.
    counts : dict
        As the CPU's, and the seconds of the searches and of what follows them.
    """
    cp, (n, m) = costs.cp, costs.cost.shape
    groups, blocks = _shape(costs)
    kernel = costs.kernel("paths/matrix_forest.cu", "hungarian_forest", f"-DGROUPS={groups}", cooperative=True)
    bounded = any_true(costs.row_bound < costs.none)
    lists_of_free = cp.empty(2 * n, cp.int32)
    lists_of_free[: len(free_rows)] = free_rows
    counts = np.zeros(1, COUNTS)
    counts["free"][0, 0], counts["infeasible_row"] = len(free_rows), -1
    on_device = cp.asarray(counts.view(np.uint8))
    kernel(
        (blocks,),
        (THREADS,),
        (
            *(*costs.sizes, *costs.pairs, costs.row_bound if bounded else np.intp(0), state.v, state.r),
            *(state.col_of_row, state.row_of_col, cp.empty((m, 2), cp.int32), cp.full(n, NO_SINK, cp.int32)),
            *(lists_of_free, cp.empty(n if bounded else 1, costs.dual_dtype), cp.empty(n if bounded else 1, cp.int32)),
            *(cp.zeros(12 * blocks, cp.uint64), cp.zeros(8 * blocks * THREADS * groups, cp.uint64), on_device),
        ),
    )
    done = on_device.get().view(COUNTS)[0]
    return int(done["infeasible_row"]), stats_of(done)


def stats_of(done: Any) -> dict[str, Any]:
    """Return the kernel's counts by name, and the seconds of the searches and of what follows them."""
    names = ("searches", "rows_scanned", "dual_updates", "levels")
    stats: dict[str, Any] = {name: int(done[name]) for name in names}
    seconds = {"grow_s": done["search_ns"] / 1e9, "augment_s": done["augment_ns"] / 1e9}
    return {**stats, **seconds}


def _shape(costs: DeviceCosts) -> tuple[int, int]:
    """Return how many columns a thread has, and how many blocks there are: all that fit, of `LEAST_COLUMNS` or more."""
    m = costs.cost.shape[1]
    most = 0
    for groups in range(1, MOST_GROUPS + 1):
        kernel = costs.kernel("paths/matrix_forest.cu", "hungarian_forest", f"-DGROUPS={groups}", cooperative=True)
        blocks = max(1, min(cuda.resident_blocks(kernel, THREADS), MOST_BLOCKS, -(-m // LEAST_COLUMNS)))
        most = blocks * groups * THREADS
        if m <= most:
            return groups, blocks
    raise InvalidProblem(
        f"cost has {m} columns; this device can handle at most {most}. Use device='cpu'.", argument="cost"
    )
