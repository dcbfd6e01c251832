"""Some blocks of a batch as a batch of their own: for what solves them apart from the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..device import cuda
from . import device_problem
from .batching import taken_apart
from .problem import Problem


def chosen(problem: Problem, blocks: Sequence[int] | np.ndarray) -> Problem:
    """Return some blocks of a batch as a batch, in the order given; those that stand side by side as views.

    All at once, as there may be thousands; for sparse costs that takes an index an edge for a while.
    """
    blocks = np.asarray(blocks)
    if len(blocks) == problem.n_blocks == 1:
        return problem
    if len(blocks) and (np.diff(blocks) == 1).all():
        return taken_apart(problem, int(blocks[0]), int(blocks[-1]) + 1)
    rows, row_offsets = members(problem.row_offsets, blocks)
    cols, col_offsets = members(problem.col_offsets, blocks)
    there = device_problem.moved if problem.is_on_device else np.asarray

    def of(side: np.ndarray, *arrays: np.ndarray | None) -> list[Any]:
        if all(array is None for array in arrays):
            return list(arrays)
        place = there(side)
        return [None if array is None else array[place] for array in arrays]

    x, row_unmatched = of(rows, problem.x, problem.row_unmatched)
    y, col_unmatched = of(cols, problem.y, problem.col_unmatched)
    own: dict[str, Any] = {"row_unmatched": row_unmatched, "col_unmatched": col_unmatched, "x": x, "y": y}
    if problem.indptr is not None:
        indptr = cuda.to_host(problem.indptr)
        edges, _ = members(indptr[problem.row_offsets], blocks)
        own["data"], own["indices"] = of(edges, problem.data, problem.indices)
        own["indptr"] = there(np.concatenate([[0], np.cumsum(np.diff(indptr)[rows])]).astype(np.int64))
    elif problem.kind == "dense":
        runs = [slice(*problem.dense_offsets[b : b + 2].tolist()) for b in blocks]  # an index an entry would be larger
        own["data"] = np.concatenate([problem.data[run] for run in runs])
        if problem.forbidden is not None:
            own["forbidden"] = np.concatenate([problem.forbidden[run] for run in runs])
    return replace(problem, row_offsets=row_offsets, col_offsets=col_offsets, **own)


def members(offsets: np.ndarray, blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the members of the given blocks, one block after the other, and where each of these then begins."""
    sizes = np.diff(offsets)[blocks]
    begins = np.concatenate([[0], np.cumsum(sizes)])
    return np.arange(begins[-1]) + np.repeat(offsets[blocks] - begins[:-1], sizes), begins
