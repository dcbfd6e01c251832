"""Independent problems laid side by side as one, and a block of such a batch as a problem of its own.

`Problem.batch` and `Problem.block` come here, and what solves some blocks apart from the others. Nothing is copied that
can be a view, on a GPU neither, but where blocks are gathered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..device import cuda
from ..errors import InvalidProblem
from . import device_problem
from .host_problem import largest_size, refuse_beyond

if TYPE_CHECKING:
    from .problem import Problem


def laid_together(parts: Sequence[Problem]) -> Problem:
    """Return independent problems as one; see `Problem.batch`."""
    _refuse_unlike(parts)
    first = parts[0]
    indptr = _stacked(parts, "indptr") if first.indptr is not None else None
    if first.is_on_device:
        indptr = device_problem.moved(indptr)
    names = ("indices", "x", "y", "row_unmatched", "col_unmatched")
    return replace(
        first,
        row_offsets=_stacked(parts, "row_offsets"),
        col_offsets=_stacked(parts, "col_offsets"),
        data=np.concatenate([part.data for part in parts]),
        forbidden=_masks(parts),
        indptr=indptr,
        allows_all=all(part.allows_all for part in parts),
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in names if _has(first, name)},
    )


def _refuse_unlike(parts: Sequence[Problem]) -> None:
    """Refuse what cannot lie side by side, and integers that would lose digits beside real costs."""
    if not parts:
        raise InvalidProblem("batch needs at least one problem; got none.")
    alike = {(part.kind, part.metric, part.row_unmatched is None, part.is_on_device) for part in parts}
    if len(alike) > 1:
        raise InvalidProblem(
            "batch needs problems of one kind and metric, all with or all without unmatched_cost, all on the host or "
            "all on one GPU; these differ. Solve them apart."
        )
    if len({part.is_integer for part in parts}) > 1:
        for part in parts:
            if part.is_integer and not part.is_on_device:
                refuse_beyond(
                    largest_size(part.data), 2**53, "integer costs beside real ones in a batch (solved in float64)"
                )


def _has(problem: Problem, name: str) -> bool:
    return getattr(problem, name) is not None


def _stacked(parts: Sequence[Problem], name: str) -> np.ndarray:
    """Return offsets of all parts as one array, int64."""
    counts = [np.diff(cuda.to_host(getattr(part, name))) for part in parts]
    return np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64)


def _masks(parts: Sequence[Problem]) -> np.ndarray | None:
    """Return the forbidden pairs of all parts, None where no part has any."""
    if all(part.forbidden is None for part in parts):
        return None
    return np.concatenate(
        [np.zeros_like(part.data, dtype=bool) if part.forbidden is None else part.forbidden for part in parts]
    )


def taken_apart(problem: Problem, b: int) -> Problem:
    """Return block `b` of a batch; see `Problem.block`."""
    r0, r1 = (int(k) for k in problem.row_offsets[b : b + 2])
    c0, c1 = (int(k) for k in problem.col_offsets[b : b + 2])
    own: dict[str, Any] = {
        "row_offsets": np.array([0, r1 - r0], np.int64),
        "col_offsets": np.array([0, c1 - c0], np.int64),
        "row_unmatched": None if problem.row_unmatched is None else problem.row_unmatched[r0:r1],
        "col_unmatched": None if problem.col_unmatched is None else problem.col_unmatched[c0:c1],
    }
    if problem.x is not None and problem.y is not None:
        return replace(problem, **own, x=problem.x[r0:r1], y=problem.y[c0:c1])
    if problem.indptr is not None and problem.indices is not None:
        e0, e1 = int(problem.indptr[r0]), int(problem.indptr[r1])
        indptr = problem.indptr[r0 : r1 + 1] - e0
        return replace(problem, **own, data=problem.data[e0:e1], indptr=indptr, indices=problem.indices[e0:e1])
    e0, e1 = (int(k) for k in problem.dense_offsets[b : b + 2])
    mask = None if problem.forbidden is None else problem.forbidden[e0:e1]
    return replace(problem, **own, data=problem.data[e0:e1], forbidden=mask)


def chosen(problem: Problem, blocks: Sequence[int] | np.ndarray) -> Problem:
    """Return some blocks of a batch as a batch, in the order given.

    All at once, as there may be thousands; for sparse costs that takes an index an edge for a while.
    """
    blocks = np.asarray(blocks)
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
