"""Small dense problems of one shape by alternating trees on one GPU, each by a block of threads (`tree_batch.cu`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..device.structs import struct
from .gpu_batch import Batch

THREADS = (128, 256, 512)
"""Threads of a block; each has two columns, or more where there are many."""

_FILE = "hungarian/tree_batch.cu"
_COUNTS = struct(_FILE, "TreeCounts")


def match_by_trees(batch: Batch, again: bool) -> tuple[Any, dict[str, Any]]:
    """Match by the alternating-tree variant (`tree_batch.cu`)."""
    costs, cp = batch.costs, batch.costs.cp
    rows, cols, m = len(batch.state.r), len(batch.state.v), batch.shape[1]
    threads = next((t for t in THREADS if m <= 2 * t), THREADS[-1])
    options = f"-DTHREADS={threads}", f"-DGROUPS={1 << (-(-m // threads) - 1).bit_length()}"
    counts = np.zeros(batch.n, _COUNTS)
    counts["infeasible_row"] = -1
    on_device = cp.asarray(counts.view(np.uint8))
    places, rest = batch.common_arguments(again=again)
    costs.kernel(_FILE, "hungarian_tree_batch", *options)(
        (batch.n,),
        (threads,),
        (
            *(places, *costs.pairs, *rest, cp.empty(rows if batch.bounded else 1, costs.dual_dtype)),
            *(cp.empty(cols, cp.int32), cp.empty(rows, cp.int32), cp.empty(rows, cp.int32)),
            *(cp.empty(2 * rows, cp.int32), cp.empty(rows, cp.int32), on_device),
        ),
    )
    done = on_device.get().view(_COUNTS)
    return done["infeasible_row"], {name: int(done[name].sum()) for name in (_COUNTS.names or ())[1:]}
