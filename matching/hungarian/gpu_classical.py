"""The classical variant on one GPU, whole in one launch (`hungarian/classical.cu`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..certificate.not_converged import NO_BLOCKS, NotConverged
from ..device import cuda
from ..device.arrays import any_true
from ..device.structs import struct
from ..errors import InvalidProblem
from ..paths.gpu_dense import DeviceCosts, DeviceState
from ..paths.state import FREE

_FILE = "hungarian/classical.cu"
THREADS, LEAST_CAPACITY, ZEROS = (cuda.declared(_FILE, name) for name in ("THREADS", "LEAST_CAPACITY", "ZEROS"))
"""Cheap pairs that a row's list holds, and pairs of zero slack that a row keeps, at least."""
PAIRS_KEPT, SHARE_KEPT, MOST_KEPT = 1 << 22, 8, 1 << 25
"""Of either kind, of all rows together, or one of so many of a large matrix: in dense clusters a row has many pairs
within reach. A gradient of density, 10,000 rows whose prices an auction has settled, takes 0.9 s with 1,678 pairs a
row, 4.3 with 419; of 5,000 rows two densities take no less with four times as many."""
MOST_ROWS, MOST_LEVELS = (1 << cuda.declared(_FILE, f"{name}_BITS") for name in ("ROW", "LEVEL"))
"""What fits into the word by which a column is claimed."""

_LIST_THREADS = 256
_NOTHING = np.uint64(2**64 - 1)
_SECTOR_BYTES = cuda.declared(_FILE, "SECTOR_BYTES")
"""Of a row or a column of the kernel."""
COUNTS = struct(_FILE, "Counts")


def match_by_dual_phases(
    costs: DeviceCosts, state: DeviceState, free_rows: Any, *, most_updates: int | None = None, few_left: int = 0
) -> tuple[int, dict[str, Any]]:
    """Match the given rows, and all others where they are; as `gpu_forest.match_by_forests`.

    Raises
    ------
    NotConverged
        If more than `few_left` rows are left after `most_updates` changes of the duals.
    """
    lists = listed_rows(costs, state.v)
    limits = most_updates or 0, few_left
    infeasible_row, counts = match_listed(costs, state, free_rows, *lists, limits=limits)
    if infeasible_row < 0 and most_updates is not None and any_true(state.col_of_row == FREE):
        raise given_up_after(most_updates)
    return infeasible_row, counts


def given_up_after(most_updates: int, blocks: np.ndarray = NO_BLOCKS) -> NotConverged:
    """Return the error of a matrix, or of these of some solved at once, for which the limit did not suffice."""
    return NotConverged(
        f"most_updates={most_updates} dual updates did not suffice; raise it, or set it to None for no limit.",
        blocks=blocks,
    )


def listed_rows(costs: DeviceCosts, v: Any) -> tuple[Any, Any, Any]:
    """Return the rows, of which only what concerns their lists is written, and the columns and costs of the lists."""
    lists = room_for_lists(costs, costs.cost.shape[0])
    list_rows(costs, v, *lists)
    return lists


def room_for_lists(costs: DeviceCosts, n_rows: int) -> tuple[Any, Any, Any]:
    """Return room for `n_rows` rows, and for the columns and costs of their lists."""
    cp, m = costs.cp, costs.cost.shape[1]
    needed = bytes_of(n_rows, m, costs.cost.itemsize)
    cuda.require_memory(needed, f"the classical Hungarian method beside {n_rows} x {m} costs")
    shape = n_rows, pairs_of_a_row(LEAST_CAPACITY, n_rows, m)
    return cp.empty((n_rows, _SECTOR_BYTES), cp.uint8), cp.empty(shape, cp.int32), cp.empty(shape, costs.cost.dtype)


def list_rows(costs: DeviceCosts, v: Any, *lists: Any) -> None:
    """Write the lists of these rows into what `room_for_lists` returned or a part of it, perhaps on another device."""
    n, warps = costs.cost.shape[0], _LIST_THREADS // 32
    listing = costs.kernel("hungarian/lists.cu", "hungarian_list_rows")
    rows, cols, list_costs = (np.intp(array.data.ptr) for array in lists)
    capacity = np.int32(lists[1].shape[1])
    listing((-(-n // warps),), (_LIST_THREADS,), (*costs.sizes, *costs.pairs, v, rows, capacity, cols, list_costs))


def match_listed(
    costs: DeviceCosts,
    state: DeviceState,
    free_rows: Any,
    rows: Any,
    list_cols: Any,
    list_costs: Any,
    *,
    origins: Any = None,
    limits: tuple[int, int] = (0, 0),
) -> tuple[int, dict[str, Any]]:
    """As `match_by_dual_phases`, with lists as `listed_rows` returns them.

    `limits` are `most_updates`, 0 for none, and `few_left`.
    `origins`, int64 (rows,), says where the costs of each row begin, counted in costs from the first of `costs.cost`:
    rows may lie on other devices.
    """
    cp, (n, m) = costs.cp, costs.cost.shape
    if n >= MOST_ROWS or min(n, m) >= MOST_LEVELS:
        raise InvalidProblem(
            f"cost has {n} x {m} pairs; this kernel takes up to {MOST_ROWS - 1} rows, and up to {MOST_LEVELS - 1} rows "
            "or columns of the fewer. Use device='cpu'.",
            argument="cost",
        )
    columns = cp.empty(m * _SECTOR_BYTES, cp.uint8)
    kernel = costs.kernel(_FILE, "hungarian_classical", cooperative=True)
    blocks = min(cuda.resident_blocks(kernel, THREADS), max(1, n // 32))
    bounded = any_true(costs.row_bound < costs.none)
    is_bounded = bounded or any_true(costs.col_bound < costs.none)
    most_zeros = pairs_of_a_row(ZEROS, n, m)
    both_free = cp.empty((2, n), cp.int32)
    both_free[0, : len(free_rows)] = free_rows
    counts = np.zeros(1, COUNTS)
    counts["free_rows"][0, 0], counts["infeasible_row"] = len(free_rows), -1
    counts["most_updates"], counts["few_left"] = limits
    on_device = cp.asarray(counts.view(np.uint8))
    kernel(
        (blocks,),
        (THREADS,),
        (
            *(*costs.sizes, *costs.pairs, np.intp(0) if origins is None else origins),
            *(costs.row_bound if bounded else np.intp(0), np.int32(is_bounded)),
            *(state.v, state.r, state.col_of_row, state.row_of_col, rows, columns),
            *(np.int32(list_cols.shape[1]), list_cols, list_costs),
            *(cp.empty((n, most_zeros), cp.int32), cp.empty(n, cp.int32), np.int32(most_zeros), cp.zeros(n, cp.int32)),
            *(cp.empty(n, costs.dual_dtype), cp.full(m, _NOTHING), cp.empty((m, 2), cp.int32)),
            *(cp.full(n, _NOTHING), cp.empty(n, cp.int32)),
            *(cp.empty((2, max(n, m), 2), cp.int32), both_free),
            *(room_for_sinks(costs, most_zeros) if is_bounded else (np.intp(0),) * 4),
            on_device,
        ),
    )
    done = on_device.get().view(COUNTS)[0]
    return int(done["infeasible_row"]), stats_of(done[None])


def pairs_of_a_row(least: int, n_rows: int, n_cols: int) -> int:
    """Return how many pairs each of `n_rows` > 0 rows has room for: all in a small problem, `least` in a large one."""
    kept = max(PAIRS_KEPT, min(n_rows * n_cols // SHARE_KEPT, MOST_KEPT))
    return max(least, min(n_cols, kept // n_rows))


def bytes_of(n_rows: int, n_cols: int, cost_bytes: int) -> int:
    """Return how many bytes the method takes beside the costs, at most."""
    listed, zeros = (pairs_of_a_row(least, n_rows, n_cols) for least in (LEAST_CAPACITY, ZEROS))
    return n_rows * ((4 + cost_bytes) * listed + 12 * zeros + 140) + 80 * n_cols


def room_for_sinks(costs: DeviceCosts, most_zeros: int) -> tuple[Any, Any, Any, Any]:
    """Return room for the distances of columns and rows to their nearest sinks, for slacks, and for rows in trees."""
    cp, n, m = costs.cp, len(costs.row_bound), len(costs.col_bound)
    dists = cp.zeros(m, cp.uint64), cp.zeros(n, cp.uint64)
    return *dists, cp.empty((n, most_zeros), costs.dual_dtype), cp.empty(n, cp.int32)


def stats_of(done: Any) -> dict[str, Any]:
    """Return the kernel's counts by name and the seconds of its phases, `COUNTS` (problems,).

    Counts add up; seconds are those of the slowest problem, as they go on side by side.
    """
    progress = done["progress"]
    names = ("phases", "rounds", "levels", "dual_updates", "rows_scanned")
    times = {"search_s": "search_ns", "compaction_s": "compaction_ns", "augment_s": "augment_ns"}
    return {
        "searches": int(progress["dual_phases"].sum()),
        **{name: int(progress[name].sum()) for name in names},
        **{name: progress[key].max() / 1e9 for name, key in {**times, "dual_update_s": "update_ns"}.items()},
    }
