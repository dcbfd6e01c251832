"""Kernels that run a whole search in one launch: how they are launched, and what they report."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..device import cuda
from .graph import IntArray

THREADS_OF_A_BLOCK = 1024
MOST_LEVELS = cuda.declared("cardinality/search.cu", "MOST_LEVELS")
"""Levels of one launch whose sizes are recorded."""


def launch(kernel: Any, *arguments: Any) -> None:
    """Launch a kernel on the largest grid whose blocks all run at once."""
    kernel((cuda.resident_blocks(kernel, THREADS_OF_A_BLOCK),), (THREADS_OF_A_BLOCK,), arguments)


def phases_of(names: tuple[str, ...], numbers: IntArray, n_rows: int, sizes: IntArray) -> list[dict[str, Any]]:
    """One dict a phase or round: its numbers by name, and its part of the sizes of levels."""
    rows = numbers.reshape(-1, len(names))[:n_rows]
    ends = np.cumsum(rows[:, names.index("levels")])
    frontiers = np.split(sizes, ends)[:n_rows]
    return [
        {**dict(zip(names, row.tolist(), strict=True)), "frontiers": part.tolist()}
        for row, part in zip(rows, frontiers, strict=True)
    ]
