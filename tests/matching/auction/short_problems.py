"""Problems in which not all of the shorter side can be matched, of every kind that can be so."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import csr_array

from auctrack.matching import Infeasible, Problem


def _costs(seed: int, shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 90, shape)


def _few_shared(shape: tuple[int, int], share: float, few: int = 7) -> np.ndarray:
    """Pairs allowed at random, and `few` rows, far apart, that share one column less."""
    allowed = np.random.default_rng(1).random(shape) < share
    np.fill_diagonal(allowed, True)
    cluster = np.arange(few) * 5 + 2
    allowed[cluster] = False
    allowed[np.ix_(cluster, cluster[1:])] = True
    return allowed


def _sparse(shape: tuple[int, int], share: float) -> csr_array:
    return csr_array((_costs(2, shape) + 1.0) * _few_shared(shape, share))


def _masked(shape: tuple[int, int], share: float) -> Problem:
    return Problem.dense(_costs(3, shape), forbidden=~_few_shared(shape, share))


def _infinite(shape: tuple[int, int], share: float) -> Problem:
    return Problem.dense(np.where(_few_shared(shape, share), _costs(4, shape).astype(np.float32), np.inf))


def _with_short_block(short: Problem, whole: Problem) -> Problem:
    """Return a batch whose block 2 is the short one."""
    return Problem.batch([whole, whole, short, whole])


SQUARE, WIDE, TALL = (48, 48), (40, 48), (48, 40)

SHORT: dict[str, tuple[Problem, int]] = {
    "sparse": (Problem.sparse(_sparse(SQUARE, 0.1)), 0),
    "sparse, wide": (Problem.sparse(_sparse(WIDE, 0.1)), 0),
    "sparse, tall": (Problem.sparse(_sparse(WIDE, 0.1).T), 0),
    "mask, few allowed": (_masked(SQUARE, 0.1), 0),
    "mask, most allowed": (_masked(SQUARE, 0.97), 0),
    "infinite costs": (_infinite(SQUARE, 0.5), 0),
    "infinite costs, wide": (_infinite(WIDE, 0.9), 0),
    "infinite costs, tall": (Problem.dense(_infinite(WIDE, 0.9).cost_matrix.T.copy()), 0),
    "batch of sparse": (
        _with_short_block(Problem.sparse(_sparse(SQUARE, 0.1)), Problem.sparse(csr_array(_costs(5, (9, 9)) + 1.0))),
        2,
    ),
    "batch of matrices": (_with_short_block(_masked(SQUARE, 0.3), Problem.dense(_costs(6, SQUARE))), 2),
    "batch of shapes": (_with_short_block(_infinite(WIDE, 0.5), Problem.dense(_costs(7, (9, 11)) * 1.0)), 2),
    "batch, wide and tall": (_with_short_block(_infinite(WIDE, 0.5), Problem.dense(_costs(8, (11, 9)) * 1.0)), 2),
}
"""Each problem, and its block that cannot be matched whole."""


def assert_refused(kind: str, method: Callable[[Problem], object]) -> None:
    """Assert that a method names the block that cannot be matched whole, and a Hall violator in it."""
    problem, block = SHORT[kind]
    with pytest.raises(Infeasible) as caught:
        method(problem)
    assert caught.value.block == block
    assert reaches_too_little(problem, block, caught.value.rows, caught.value.columns)


def reaches_too_little(problem: Problem, block: int, rows: tuple[int, ...], columns: tuple[int, ...]) -> bool:
    """Tell whether these members of the block's shorter side reach just those of the other, and these are fewer."""
    allowed = _allowed(problem.block(block))
    if allowed.shape[0] > allowed.shape[1]:
        allowed, rows, columns = allowed.T, columns, rows
    reached = np.flatnonzero(allowed[list(rows)].any(axis=0))
    return reached.tolist() == list(columns) and len(columns) < len(rows)


def _allowed(problem: Problem) -> np.ndarray:
    if problem.kind == "sparse":
        edges = np.ones(len(problem.data)), problem.indices, problem.indptr
        return csr_array(edges, shape=problem.shape).toarray() > 0
    allowed = np.isfinite(problem.cost_matrix)
    return allowed if problem.forbidden is None else allowed & ~problem.forbidden.reshape(problem.shape)
