"""The matrix of all costs between point sets, made in device memory for methods that want one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..device import cuda
from .problem import Problem


def dense_on_device(cp: Any, problem: Problem) -> Problem:
    """Return point sets without an `unmatched_cost` as dense float64 costs on the current device.

    Differences first, axes summed in order, each step rounded: the costs are those of `costs.pair_cost` to the bit.

    Raises
    ------
    DeviceMemoryExceeded
        Before memory is taken.
    """
    sizes = np.diff(problem.row_offsets) * np.diff(problem.col_offsets)
    n_bytes = 8 * (int(sizes.sum()) + 2 * int(sizes.max(initial=0)))
    cuda.require_memory(n_bytes, f"the matrix of {problem.n_rows} x {problem.n_cols} points")
    data = cp.empty(int(sizes.sum()), np.float64)
    first = 0
    for size, block in zip(sizes.tolist(), problem.blocks(), strict=True):
        data[first : first + size] = _costs(cp, block).reshape(-1)
        first += size
    return replace(problem, kind="dense", data=data, x=None, y=None)


def _costs(cp: Any, block: Problem) -> Any:
    """Return the costs of one block, float64 (rows, columns)."""
    x, y = cp.asarray(block.x), cp.asarray(block.y)
    total = cp.zeros(block.shape, np.float64)
    for axis in range(x.shape[1]):
        step = x[:, axis, None] - y[None, :, axis]
        step *= step
        total += step
    return total if block.metric == "squared" else cp.sqrt(total, out=total)
