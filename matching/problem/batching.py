"""Independent problems laid side by side as one, and a block of such a batch as a problem of its own.

`Problem.batch` and `Problem.block` come here, where the types of problems are stated. Nothing is copied that can be a
view, on a GPU neither, but where blocks are gathered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..device import cuda
from ..errors import InvalidProblem
from . import device_problem
from .host_problem import largest_size, refuse_beyond


def laid_together(parts: Sequence[Any]) -> Any:
    """Return independent problems as one; see `Problem.batch`."""
    _refuse_unlike(parts)
    first = parts[0]
    indptr = _stacked(parts, "indptr") if first.indptr is not None else None
    if first.is_on_device and indptr is not None:
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


def _refuse_unlike(parts: Sequence[Any]) -> None:
    """Refuse what cannot lie side by side, and integers that would lose digits beside real costs."""
    if not parts:
        raise InvalidProblem("batch needs at least one problem; got none.", argument="problems")
    alike = {(part.kind, part.metric, part.row_unmatched is None, part.is_on_device) for part in parts}
    if len(alike) > 1:
        raise InvalidProblem(
            "batch needs problems of one kind and metric, all with or all without unmatched_cost, all on the host or "
            "all on one GPU; these differ. Solve them separately.",
            argument="problems",
        )
    axes = {part.x.shape[1] for part in parts if part.x is not None}
    if len(axes) > 1:
        raise InvalidProblem(
            f"batch needs point sets with the same number of axes; got {sorted(axes)}. Add columns of zeros to the "
            "others, which changes no distance.",
            argument="problems",
        )
    if len({part.is_integer for part in parts}) > 1:
        for part in parts:
            if part.is_integer:
                largest = (device_problem.largest_size if part.is_on_device else largest_size)(part.data)
                refuse_beyond(largest, 2**53, "integer costs beside real ones in a batch (solved in float64)")


def _has(problem: Any, name: str) -> bool:
    return getattr(problem, name) is not None


def _stacked(parts: Sequence[Any], name: str) -> np.ndarray:
    """Return offsets of all parts as one array, int64."""
    counts = [np.diff(cuda.to_host(getattr(part, name))) for part in parts]
    return np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64)


def _masks(parts: Sequence[Any]) -> np.ndarray | None:
    """Return the forbidden pairs of all parts, None where no part has any."""
    if all(part.forbidden is None for part in parts):
        return None
    return np.concatenate(
        [np.zeros_like(part.data, dtype=bool) if part.forbidden is None else part.forbidden for part in parts]
    )


def taken_apart(problem: Any, first: int, end: int) -> Any:
    """Return blocks `first` to `end` of a batch; see `Problem.block`."""
    row_offsets, col_offsets = (side[first : end + 1] for side in (problem.row_offsets, problem.col_offsets))
    r0, r1, c0, c1 = (int(offsets[k]) for offsets in (row_offsets, col_offsets) for k in (0, -1))
    own: dict[str, Any] = {
        "row_offsets": row_offsets - r0,
        "col_offsets": col_offsets - c0,
        "row_unmatched": None if problem.row_unmatched is None else problem.row_unmatched[r0:r1],
        "col_unmatched": None if problem.col_unmatched is None else problem.col_unmatched[c0:c1],
    }
    if problem.x is not None and problem.y is not None:
        return replace(problem, **own, x=problem.x[r0:r1], y=problem.y[c0:c1])
    if problem.indptr is not None and problem.indices is not None:
        e0, e1 = int(problem.indptr[r0]), int(problem.indptr[r1])
        indptr = problem.indptr[r0 : r1 + 1] - e0
        return replace(problem, **own, data=problem.data[e0:e1], indptr=indptr, indices=problem.indices[e0:e1])
    e0, e1 = (int(problem.dense_offsets[k]) for k in (first, end))
    mask = None if problem.forbidden is None else problem.forbidden[e0:e1]
    return replace(problem, **own, data=problem.data[e0:e1], forbidden=mask)
