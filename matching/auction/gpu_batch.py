"""Batches on the GPU that do not go as one graph: which blocks go together, and their answers put in place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..certificate.assignment import Assignment
from ..certificate.not_converged import NotConverged
from ..device import cuda
from ..errors import Infeasible
from ..problem import Problem
from ..problem.selection import chosen, members


def is_tall(problem: Problem) -> np.ndarray:
    """Which blocks must match all columns and have more rows: methods that search from rows need them transposed."""
    return (np.diff(problem.row_offsets) > np.diff(problem.col_offsets)) & (not problem.has_unmatched_cost)


def groups_of_blocks(problem: Problem, *, one_shape: bool) -> list[np.ndarray]:
    """Return the blocks that go as one graph each: the tall apart from the wide; `one_shape`: each shape apart."""
    if problem.n_blocks == 1:
        return [np.zeros(1, np.int64)]
    rows, cols = np.diff(problem.row_offsets), np.diff(problem.col_offsets)
    if one_shape:
        _, group = np.unique(np.stack([rows, cols]), axis=1, return_inverse=True)
    else:
        tall = is_tall(problem)
        group = (tall & (rows < cols).any()).astype(np.int64)
    return [np.flatnonzero(group == k) for k in range(int(group.max()) + 1)]


def solve_groups(
    problem: Problem, groups: list[np.ndarray], begin: Callable[[Problem], Callable[[], Assignment]]
) -> Assignment:
    """Solve each group as a batch of its own, and put its answers in their places; counts add up.

    `begin` refuses what cannot be matched and returns what solves the rest: no group is solved before all have begun.
    Raises `NotConverged` with all answers if it is raised for some.
    """
    answers: list[Assignment] = []
    unfinished = ""
    for solve in [_begun(problem, group, begin) for group in groups]:
        try:
            answers.append(solve())
        except NotConverged as error:
            if error.assignment is None:
                raise
            answers.append(error.assignment)
            unfinished = str(error)
    answer = _in_their_places(problem, groups, answers)
    if unfinished:
        raise NotConverged(unfinished, assignment=answer)
    return answer


def _in_their_places(problem: Problem, groups: list[np.ndarray], answers: list[Assignment]) -> Assignment:
    stats: dict[str, Any] = {}
    for answer in answers:
        for name, count in answer.stats.items():
            stats[name] = stats.get(name, 0) + count
    numbers = {name: _of_blocks(groups, [getattr(answer, name) for answer in answers]) for name in ("cost", "gap")}
    rows, cols = (_places(groups, offsets) for offsets in (problem.row_offsets, problem.col_offsets))
    sides = {"col_of_row": rows, "row_of_col": cols, "row_duals": rows, "col_duals": cols}
    arrays = {name: _ordered([getattr(answer, name) for answer in answers], place) for name, place in sides.items()}
    return replace(
        answers[0],
        **numbers,
        **arrays,
        is_optimal=all(answer.is_optimal for answer in answers),
        stats=stats,
        row_offsets=problem.row_offsets,
        col_offsets=problem.col_offsets,
    )


def _begun(
    problem: Problem, group: np.ndarray, begin: Callable[[Problem], Callable[[], Assignment]]
) -> Callable[[], Assignment]:
    try:
        return begin(chosen(problem, group))
    except Infeasible as error:
        raise error.in_block(int(group[error.block])) from None


def _of_blocks(groups: list[np.ndarray], values: list[Any]) -> np.ndarray:
    """Return one number a block from those of each group."""
    flat = np.concatenate([np.atleast_1d(value) for value in values])
    return flat[np.argsort(np.concatenate(groups))]


def _ordered(parts: list[Any], place: np.ndarray) -> Any:
    """Return entry `place[i]` of the parts laid one after the other as entry i, where the parts lie."""
    together = np.concatenate(parts)
    return together[cuda.cupy().asarray(place) if cuda.is_device_array(together) else place]


def _places(groups: list[np.ndarray], offsets: np.ndarray) -> np.ndarray:
    """Return where each member of the batch is when the groups lie one after the other."""
    in_groups, _ = members(offsets, np.concatenate(groups))
    place = np.empty_like(in_groups)
    place[in_groups] = np.arange(len(in_groups))
    return place
