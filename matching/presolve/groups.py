"""A batch solved in groups of blocks: those that a method takes together, each from the shorter side, joined again.

Where the shorter side must be matched whole, methods that search from rows need it as rows: blocks that are taller than
wide are transposed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..certificate.assignment import Assignment
from ..certificate.certify import block_of, complementary_slackness, recertified
from ..certificate.not_converged import NotConverged
from ..certificate.refine import refined
from ..device import cuda
from ..errors import Infeasible
from ..jit.threads import side_by_side
from ..problem import Problem
from ..problem.convert import transposed
from ..problem.selection import chosen, members
from ..tolerance import EPS

Solve = Callable[[Problem], Assignment]
"""Solves blocks none of which must match more rows than it has columns."""


def is_tall(problem: Problem) -> np.ndarray:
    """Which blocks must match all columns and have more rows, bool (blocks,)."""
    return (problem.n_rows_of_block > problem.n_cols_of_block) & (not problem.has_unmatched_cost)


def by_orientation(problem: Problem) -> list[np.ndarray]:
    """Return all blocks in one group, or the tall ones after the others where there are both.

    A square block beside tall ones is not transposed with them: its answer is the one that it has by itself.
    """
    tall = is_tall(problem)
    if not tall.any() or tall.all():
        return [np.arange(problem.n_blocks)]
    return [np.flatnonzero(~tall), np.flatnonzero(tall)]


def by_shape(problem: Problem, together: Callable[[tuple[int, int]], bool] = lambda _: True) -> list[np.ndarray]:
    """Return the blocks of each shape in a group; those of a shape that cannot go `together` one by one.

    Each shape is asked about once: the answer may take a GPU's driver 2 µs.
    """
    groups: dict[Any, list[int]] = {}
    shapes = list(zip(problem.n_rows_of_block.tolist(), problem.n_cols_of_block.tolist(), strict=True))
    joined = {shape: together(shape) for shape in set(shapes)}
    for b, shape in enumerate(shapes):
        groups.setdefault(shape if joined[shape] else b, []).append(b)
    return list(map(np.array, groups.values()))


def one_by_one(problem: Problem) -> list[np.ndarray]:
    """Return each block as a group of its own."""
    return list(np.arange(problem.n_blocks)[:, None])


def large_ones_apart(is_large: np.ndarray) -> list[np.ndarray]:
    """Return each large block by itself, and all others between two of these as a group."""
    return np.split(np.arange(len(is_large)), np.flatnonzero(is_large[1:] | is_large[:-1]) + 1)


def solve_in_groups(problem: Problem, groups: Sequence[np.ndarray], solve: Solve) -> Assignment:
    """Solve each group as a batch of its own, from its shorter side, and put the answers in their places.

    Parameters
    ----------
    problem : Problem
    groups : sequence of int array (k,)
        Blocks; those of a group are all tall or square, or all wide or square.
    solve : callable

    Raises
    ------
    Infeasible
        As `solve` does, with block and sides named as in `problem`.
    NotConverged
        If `solve` raises it for some groups: with all answers, or at once where there is none.
    """
    return solve_apart(problem, groups, partial(from_shorter_side, solve=solve))


def solve_apart(problem: Problem, groups: Sequence[np.ndarray], solve: Solve, *, threads: bool = False) -> Assignment:
    """Solve each group of blocks as a problem of its own, as stated, and put the answers in their places.

    As `solve_in_groups`, for a `solve` that takes all blocks; with `threads` several groups at a time. One group is all
    of them in order.
    """
    if len(groups) == 1:
        return solve(problem)

    def answer_to(group: np.ndarray) -> tuple[Assignment, str]:
        try:
            return solve(chosen(problem, group)), ""
        except Infeasible as error:
            raise error.in_block(int(group[error.block])) from None
        except NotConverged as error:
            if error.assignment is None:
                raise
            return error.assignment, str(error)

    found = side_by_side(answer_to, groups) if threads else list(map(answer_to, groups))
    answer = _joined(problem, groups, [each for each, _ in found])
    unfinished = next((reason for _, reason in reversed(found) if reason), "")
    if unfinished:
        raise NotConverged(unfinished, assignment=answer)
    return answer


def from_shorter_side(problem: Problem, solve: Solve) -> Assignment:
    """Solve one block, or blocks that are all tall or square or all wide or square; raises as `solve_in_groups`."""
    if problem.has_unmatched_cost or problem.n_rows <= problem.n_cols:
        return solve(problem)
    try:
        return as_stated(problem, solve(transposed(problem)).transposed())
    except Infeasible as error:
        raise error.of_columns() from None
    except NotConverged as error:
        raise error.restated(Assignment.transposed) from None


def as_stated(problem: Problem, answer: Assignment) -> Assignment:
    """Prove an answer once more with its sides as stated, where it was proven by pairs of floats.

    Its column duals are then the first of such pairs. The gap of float duals is at least what their rounding may lose.
    So is an answer whose duals, as rounded for the other side, leave slack: it is proven again.
    """
    if problem.is_integer or problem.is_on_device:
        return answer
    block = block_of(problem.col_offsets, np.arange(problem.n_cols))
    lost = 2 * EPS * np.bincount(block, abs(answer.col_duals), problem.n_blocks)
    matched, duals = (answer.col_of_row, answer.row_of_col), (answer.row_duals, answer.col_duals)
    sums = complementary_slackness(problem, *matched, *duals, np.zeros(problem.n_rows))
    if sums.has_zero_slack.all() and not (np.atleast_1d(answer.gap) < 0.99 * lost).any():
        return answer
    stated = recertified(problem, answer, answer.col_duals)
    return refined(problem, stated) if answer.is_optimal else stated


def _joined(problem: Problem, groups: Sequence[np.ndarray], answers: Sequence[Assignment]) -> Assignment:
    """Return the answers to groups of blocks as one, each block in its place; counts add up, names stand in a row."""
    order = np.concatenate(groups)
    stats: dict[str, Any] = {}
    for name in dict.fromkeys(name for answer in answers for name in answer.stats):
        said = [answer.stats[name] for answer in answers if name in answer.stats]
        stats[name] = _listed(said, "; ") if isinstance(said[0], str) else sum(said)

    def of_blocks(name: str) -> np.ndarray:
        return np.concatenate([np.atleast_1d(getattr(answer, name)) for answer in answers])[_places_of(order)]

    rows, cols = (_places_of(members(offsets, order)[0]) for offsets in (problem.row_offsets, problem.col_offsets))
    sides = {"col_of_row": rows, "row_of_col": cols, "row_duals": rows, "col_duals": cols}
    return replace(
        answers[0],
        **{name: _placed([getattr(answer, name) for answer in answers], place) for name, place in sides.items()},
        cost=of_blocks("cost"),
        gap=of_blocks("gap"),
        is_optimal=all(answer.is_optimal for answer in answers),
        solver=_listed([name for answer in answers for name in answer.solver.split(",")], ","),
        device=_listed([answer.device for answer in answers], ","),
        stats=stats,
        row_offsets=problem.row_offsets,
        col_offsets=problem.col_offsets,
    )


def _listed(names: Sequence[str], mark: str) -> str:
    """Return the names that differ, in their order."""
    return mark.join(dict.fromkeys(names))


def _places_of(order: np.ndarray) -> np.ndarray:
    """Return where each member stands in an order of all of them."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places


def _placed(parts: Sequence[Any], place: np.ndarray) -> Any:
    """Return entry `place[i]` of the parts laid one after the other as entry i, where the parts lie."""
    together = np.concatenate(parts)
    return together[cuda.cupy().asarray(place) if cuda.is_device_array(together) else place]
