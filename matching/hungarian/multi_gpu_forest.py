"""The alternating-tree variant on several GPUs, whole, in one launch a device (`paths/matrix_forest.cu`, RANKS).

Every device has some of the columns and writes what it finds into the memory of all others; no host and no collective
is in between. The levels, the ties and the answer are those of one GPU, and of the CPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..device import cuda
from ..errors import InvalidProblem
from ..paths import gpu_forest
from ..paths.gpu_dense import DeviceCosts, DeviceState
from ..paths.gpu_forest import COUNTS, LEAST_COLUMNS, MOST_GROUPS, NO_SINK, THREADS, stats_of
from ..paths.state import FREE
from .shards import Shards, on_host

_FILE, _NAME = "paths/matrix_forest.cu", "hungarian_forest"
_MESSAGE_WORDS, _LISTED = (cuda.declared(_FILE, name) for name in ("MESSAGE_WORDS", "LISTED"))


@dataclass(frozen=True)
class Rank:
    """What one device has, in the order of the kernel's struct of that name; None where it has none."""

    cost: Any
    forbidden: Any
    row_bound: Any
    v: Any
    r: Any
    col_of_row: Any
    row_of_col: Any
    free_rows: Any
    unassigned_key: Any
    unassigned_root: Any
    pred: Any
    best: Any
    message_slots: Any
    lists: Any
    arrived: Any
    counts: Any
    first_col: int
    n_cols: int

    def words(self) -> np.ndarray:
        """Return the kernel's struct, int64 (17,)."""
        *arrays, first_col, n_cols = vars(self).values()
        sizes = np.array([first_col, n_cols], np.int32).view(np.int64)
        return np.concatenate([[0 if array is None else array.data.ptr for array in arrays], sizes])


def match_by_forests(shards: Shards, state: DeviceState) -> tuple[int, DeviceState, dict[str, Any]]:
    """Match by trees that grow over the columns of all devices; as `multi_gpu.Method` says."""
    if len(shards.parts) == 1:
        return _on_one_device(shards.parts[0], state)
    numbers = tuple(part.cost.device.id for part in shards.parts)
    on_one = len(set(numbers)) == 1  # as in tests: all ranks in one launch
    if not on_one:
        cuda.open_peers(numbers)
    groups, blocks = _shape(shards, len(numbers) if on_one else 1)
    free = np.flatnonzero(state.col_of_row == FREE).astype(np.int32)
    bounded = bool((shards.outline.dual_bounds()[0] < shards.none).any())
    ranks = shards.each(
        lambda part, own: _rank(part, own, state, free, bounded, blocks * len(numbers) * THREADS * groups),
        shards.slices(),
    )
    tables = shards.copies(np.concatenate([rank.words() for rank in ranks]))
    shards.each(lambda part: part.synchronize())  # no message slot is cleared any more

    def launch(part: DeviceCosts, first_rank: int, table: Any) -> None:
        if on_one and first_rank > 0:
            return
        sizes = np.int32(shards.outline.n_rows), np.int32(shards.outline.n_cols)
        grid = (blocks * (len(numbers) if on_one else 1),)
        _kernel(part, len(numbers), groups)(grid, (THREADS,), (*sizes, np.int32(first_rank), np.int32(blocks), table))

    shards.each(launch, range(len(numbers)), tables)
    shards.each(lambda part: part.synchronize())  # all memory is used until the last one is done
    done = cuda.to_host(ranks[0].counts).view(COUNTS)[0]
    v = on_host(shards, [rank.v for rank in ranks], 1)
    rest = (cuda.to_host(array) for array in (ranks[0].col_of_row, ranks[0].row_of_col))
    return int(done["infeasible_row"]), DeviceState(cuda.to_host(ranks[0].r), v, *rest), stats_of(done)


def _on_one_device(part: DeviceCosts, state: DeviceState) -> tuple[int, DeviceState, dict[str, Any]]:
    with part.device:
        there = DeviceState(*(part.cp.array(array) for array in vars(state).values()))
        free = part.cp.flatnonzero(there.col_of_row == FREE).astype(np.int32)
        infeasible_row, counts = gpu_forest.match_by_forests(part, there, free)
        return infeasible_row, DeviceState(*(cuda.to_host(array) for array in vars(there).values())), counts


def _rank(part: DeviceCosts, own: slice, state: DeviceState, free: np.ndarray, bounded: bool, entries: int) -> Rank:
    """Allocate and fill what one device has; `entries` is how many rows its message slots have room for."""
    cp, n, m = part.cp, len(state.r), len(state.v)
    free_rows = cp.empty(2 * n, cp.int32)
    free_rows[: len(free)] = cp.asarray(free)
    counts = np.zeros(1, COUNTS)
    counts["free"][0, 0], counts["infeasible_row"] = len(free), -1
    return Rank(
        cost=part.cost,
        forbidden=part.forbidden,
        row_bound=part.row_bound if bounded else None,
        v=cp.array(state.v[own]),
        r=cp.array(state.r),
        col_of_row=cp.array(state.col_of_row),
        row_of_col=cp.array(state.row_of_col),
        free_rows=free_rows,
        unassigned_key=cp.empty(n if bounded else 1, part.price_dtype),
        unassigned_root=cp.empty(n if bounded else 1, cp.int32),
        pred=cp.empty((m, 2), cp.int32),
        best=cp.full(n, NO_SINK, cp.int32),
        message_slots=cp.zeros(2 * _MESSAGE_WORDS * entries // THREADS, cp.uint64),
        lists=cp.zeros(2 * _LISTED * entries, cp.uint64),
        arrived=cp.zeros(32, cp.uint32),
        counts=cp.asarray(counts.view(np.uint8)),
        first_col=own.start,
        n_cols=own.stop - own.start,
    )


def _kernel(part: DeviceCosts, ranks: int, groups: int) -> Any:
    return part.kernel(_FILE, _NAME, f"-DRANKS={ranks}", f"-DGROUPS={groups}", cooperative=True)


def _shape(shards: Shards, ranks_on_device: int) -> tuple[int, int]:
    """Return how many columns a thread has, and how many blocks a rank: all ranks' are at most a block's threads."""
    ranks, widest = len(shards.parts), max(part.cost.shape[1] for part in shards.parts)
    most = 0
    for groups in range(1, MOST_GROUPS + 1):
        resident = min(shards.each(lambda part, g=groups: cuda.resident_blocks(_kernel(part, ranks, g), THREADS)))
        blocks = max(1, min(resident // ranks_on_device, THREADS // ranks, -(-widest // LEAST_COLUMNS)))
        most = blocks * groups * THREADS
        if widest <= most:
            return groups, blocks
    raise InvalidProblem(
        f"cost has {shards.outline.n_cols} columns; {ranks} of these devices can look after {ranks * most}. "
        "Use more of them, or variant='paper'.",
        argument="cost",
    )
