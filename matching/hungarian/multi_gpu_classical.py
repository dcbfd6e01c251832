"""The classical variant on several GPUs: each lists the cheap pairs of its rows, one searches among all the lists.

The lists take the passes over the whole matrix, and all devices make them at once, in the memory of the first one
(section 5 of the paper: partial adjacency lists, gathered at the root). The search that follows looks at lists, and at
a whole row only where a list is too short: the first device reads it out of the memory of the device that has it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..device import cuda
from ..paths.gpu_dense import DeviceCosts, DeviceState
from ..paths.state import FREE
from ..problem import INT_LIMIT
from ..problem.gpu_graph import bounds_on_device
from .gpu_classical import list_rows, match_listed, room_for_lists
from .shards import Shards


def match_by_dual_phases(shards: Shards, state: DeviceState) -> tuple[int, DeviceState, dict[str, Any]]:
    """Match by dual phases of one search each; as `multi_gpu.Method` says."""
    cuda.open_peers(tuple(dict.fromkeys(part.cost.device.id for part in shards.parts)))
    parts = shards.each(_without_mask)
    root = parts[0]
    with root.device:
        lists = room_for_lists(root, shards.outline.n_rows)
        root.synchronize()  # what lay there before is done with: other devices write there now

    def list_own(_: DeviceCosts, part: DeviceCosts, v: Any, own: slice) -> None:
        list_rows(part, v, *(array[own] for array in lists))

    shards.each(list_own, parts, shards.copies(state.v), shards.slices())
    shards.each(lambda part: part.synchronize())
    with root.device:
        there = DeviceState(*(root.cp.array(array) for array in vars(state).values()))
        free = root.cp.flatnonzero(there.col_of_row == FREE).astype(np.int32)
        infeasible_row, counts = match_listed(
            _whole(shards, root), there, free, *lists, origins=_origins(shards, parts)
        )
        return infeasible_row, DeviceState(*(cuda.to_host(array) for array in vars(there).values())), counts


def _without_mask(part: DeviceCosts) -> DeviceCosts:
    """Write forbidden pairs into the costs: the rows of all devices share one pointer, and masks would need another."""
    if part.forbidden is None:
        return part
    cp = part.cp
    if part.cost.dtype.kind == "i":
        cost = cp.where(part.forbidden, np.int64(INT_LIMIT), part.cost.astype(np.int64))
    else:
        cost = cp.where(part.forbidden, part.cost.dtype.type(np.inf), part.cost)
    return replace(part, cost=cost, forbidden=None)


def _whole(shards: Shards, root: DeviceCosts) -> DeviceCosts:
    """Return all costs as kernels on the first device take them: where its own begin, and the sizes of the whole."""
    cp = root.cp
    cost = cp.ndarray(shards.outline.shape, root.cost.dtype, memptr=root.cost.data, strides=(0, 0))
    row_bound, col_bound = bounds_on_device(cp, shards.outline)
    return replace(root, cost=cost, forbidden=None, row_bound=row_bound, col_bound=col_bound)


def _origins(shards: Shards, parts: list[DeviceCosts]) -> Any:
    """Return how far from the first device's costs those of each row begin, in costs, int64 (rows,)."""
    root, m = parts[0], shards.outline.n_cols
    begins = [(part.cost.data.ptr - root.cost.data.ptr) // root.cost.itemsize for part in parts]
    rows = [begin + m * np.arange(len(part.cost)) for begin, part in zip(begins, parts, strict=True)]
    return root.cp.asarray(np.concatenate(rows))
