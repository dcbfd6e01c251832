"""Batches of small dense problems on one GPU: those of one shape are solved at once, each by a block of threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..certificate.gpu_certificate import MatchedOnDevice
from ..device import cuda
from ..device.structs import struct
from ..errors import Infeasible
from ..paths.gpu_dense import DeviceCosts, DeviceState, violator_of
from ..paths.gpu_settling import Last, state_after_release, until_proven
from ..paths.state import FREE
from ..problem import Problem
from ..problem.gpu_graph import DeviceSolution, bounds_on_device
from .gpu_classical import (
    COUNTS,
    LEAST_CAPACITY,
    ZEROS,
    bytes_of,
    given_up_after,
    pairs_of_a_row,
    room_for_sinks,
    stats_of,
)

MOST_SIDE = 2048
"""Longest side of a problem that one block of threads solves; larger ones are worth the whole device, one by one."""
ROW_ROOM, COLUMN_ROOM, FIXED_ROOM = 60, 40, 8192
"""Bytes of a block's shared memory that each row and column of its problem takes, and the rest."""

THREADS = 256

_PLACE = struct("hungarian/classical_batch.cu", "Place")


def fits_a_block(shape: tuple[int, int]) -> bool:
    """Whether a block of threads of the current device takes a problem of these rows and columns."""
    room = cuda.cupy().cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"] - FIXED_ROOM
    return min(shape) > 0 and max(shape) <= MOST_SIDE and _shared_bytes(shape) <= room


def _shared_bytes(shape: tuple[int, int]) -> int:
    """Return what the problem takes of a block's shared memory, as it is or transposed."""
    return max(ROW_ROOM * n + COLUMN_ROOM * m for n, m in (shape, shape[::-1]))


@dataclass(frozen=True)
class Batch:
    """Problems of one shape in device memory, one below the other.

    Attributes
    ----------
    costs : DeviceCosts
        Of (problems · rows, columns); `col_bound` is (problems · columns,).
    state : DeviceState
        Columns counted within their problem.
    bounded : bool
        Some row may stay unassigned.
    """

    costs: DeviceCosts
    state: DeviceState
    n: int
    bounded: bool

    @classmethod
    def of(cls, cp: Any, form: Problem) -> Batch:
        """Copy what is not on the device yet; nothing is matched."""
        n, m = form.n_rows // form.n_blocks, form.n_cols // form.n_blocks
        item = form.data.itemsize
        copies = 0 if form.is_on_device else len(form.data) * (item + 1)
        needed = copies + bytes_of(form.n_rows, m, item) + 80 * form.n_cols
        cuda.require_memory(needed + 2**22, f"{form.n_blocks} problems of {n} x {m} costs")
        forbidden = None if form.forbidden is None else cp.asarray(form.forbidden).reshape(-1, m)
        costs = DeviceCosts(cp, cp.asarray(form.data).reshape(-1, m), forbidden, *bounds_on_device(cp, form))
        r, v = (cp.empty(k, costs.dual_dtype) for k in form.shape)
        state = DeviceState(r, v, *(cp.full(k, FREE, cp.int32) for k in form.shape))
        return cls(costs, state, form.n_blocks, form.has_unmatched_cost)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of one problem."""
        return len(self.state.r) // self.n, self.costs.cost.shape[1]

    @property
    def is_bounded(self) -> bool:
        """Some row or column may stay unassigned."""
        n, m = self.shape
        return self.bounded or n < m

    def common_arguments(self, *, again: bool) -> tuple[Any, tuple[Any, ...]]:
        """Return the places of the problems, and what both kernels take from the bounds of rows on."""
        n, m = self.shape
        costs, state, number = self.costs, self.state, np.arange(self.n)
        places = np.zeros(self.n, _PLACE)
        places["n_rows"], places["n_cols"] = n, m
        places["first_row"], places["first_col"], places["first_cost"] = number * n, number * m, number * n * m
        row_bound = costs.row_bound if self.bounded else np.intp(0)
        matched = state.v, state.r, state.col_of_row, state.row_of_col
        return costs.cp.asarray(places.view(np.uint8)), (
            *(row_bound, costs.col_bound, np.int32(again)),
            *matched,
        )

    def matching(self) -> DeviceSolution:
        """Return what is matched, with rows and columns counted over all problems."""
        cp, state = self.costs.cp, self.state
        first_col, first_row = self._firsts()
        col_of_row = cp.where(state.col_of_row < 0, FREE, state.col_of_row + first_col)
        row_of_col = cp.where(state.row_of_col < 0, FREE, state.row_of_col + first_row)
        return DeviceSolution(state.v, col_of_row, row_of_col)

    def go_on_from(self, state: DeviceState) -> None:
        """Take over a state with rows and columns counted over all problems."""
        cp = self.costs.cp
        first_col, first_row = self._firsts()
        self.state.r, self.state.v = state.r, state.v
        self.state.col_of_row = cp.where(state.col_of_row < 0, state.col_of_row, state.col_of_row - first_col)
        self.state.row_of_col = cp.where(state.row_of_col < 0, FREE, state.row_of_col - first_row)

    def _firsts(self) -> tuple[Any, Any]:
        """Return the first column of each row's problem, int32 (rows,), and the first row of each column's."""
        cp, (n, m) = self.costs.cp, self.shape
        number = cp.arange(self.n, dtype=cp.int32)
        return cp.repeat(number * np.int32(m), n), cp.repeat(number * np.int32(n), m)


Match = Callable[[Batch, bool], tuple[Any, dict[str, Any]]]
"""Matches all problems, or only those left unassigned; returns each one's infeasible row or -1, and counts."""


def match_by_dual_phases(
    batch: Batch, again: bool, *, most_updates: int | None = None, few_left: int = 0
) -> tuple[Any, dict[str, Any]]:
    """Match by the classical variant in dual phases (`hungarian/classical_batch.cu`).

    Raises
    ------
    NotConverged
        If some problems have more than `few_left` rows left after `most_updates` changes of their duals; says which.
    """
    costs, cp = batch.costs, batch.costs.cp
    rows, side, room = len(batch.state.r), max(batch.shape), _shared_bytes(batch.shape)
    capacity = pairs_of_a_row(LEAST_CAPACITY, rows, batch.shape[1])
    most_zeros = pairs_of_a_row(ZEROS, rows, batch.shape[1])
    counts = np.zeros(batch.n, COUNTS)
    counts["infeasible_row"] = -1
    counts["most_updates"], counts["few_left"] = most_updates or 0, few_left
    on_device = cp.asarray(counts.view(np.uint8))
    kernel = costs.kernel("hungarian/classical_batch.cu", "hungarian_classical_batch", f"-DTHREADS={THREADS}")
    kernel.max_dynamic_shared_size_bytes = room
    places, rest = batch.common_arguments(again=again)
    kernel(
        (batch.n,),
        (THREADS,),
        (
            *(places, np.int32(side), *costs.pairs, *rest),
            *(np.int32(capacity), cp.empty((rows, capacity), cp.int32), cp.empty((rows, capacity), costs.cost.dtype)),
            *(cp.empty((rows, most_zeros), cp.int32), np.int32(most_zeros), cp.empty(rows, costs.dual_dtype)),
            *(cp.empty((batch.n, 2, side, 2), cp.int32), cp.empty(2 * rows, cp.int32)),
            *(room_for_sinks(costs, most_zeros) if batch.is_bounded else (np.intp(0),) * 4),
            on_device,
        ),
        shared_mem=room,
    )
    done = on_device.get().view(COUNTS)
    if most_updates is not None and (done["infeasible_row"] < 0).all():
        left = np.flatnonzero(batch.state.col_of_row == FREE)
        if len(left):
            raise given_up_after(most_updates, np.unique(cuda.to_host(left) // (rows // batch.n)))
    return done["infeasible_row"], stats_of(done)


def match_batch(cp: Any, form: Problem, match: Match) -> MatchedOnDevice:
    """Match dense problems of one shape, whose rows are the shorter side or which have an `unmatched_cost`.

    Raises
    ------
    Infeasible
        Some problem has no assignment; says which.
    """
    batch = Batch.of(cp, form)
    graph = batch.costs.graph_of(form)

    def match_all(last: Last) -> tuple[DeviceSolution, dict[str, Any]]:
        if last is not None:
            batch.go_on_from(state_after_release(graph, *last)[0])
        infeasible_row, counts = match(batch, last is not None)
        if (infeasible_row >= 0).any():
            b = int(np.argmax(infeasible_row >= 0))
            raise _infeasible(form, b, int(infeasible_row[b]), batch)
        return batch.matching(), counts

    return until_proven(form, graph, match_all)


def _infeasible(form: Problem, b: int, row: int, batch: Batch) -> Infeasible:
    n, m = batch.shape
    state = batch.state
    rows, cols = slice(b * n, (b + 1) * n), slice(b * m, (b + 1) * m)
    its = DeviceState(state.r[rows], state.v[cols], state.col_of_row[rows], state.row_of_col[cols])
    return violator_of(DeviceCosts.of(batch.costs.cp, form.block(b)), row, its).in_block(b)
