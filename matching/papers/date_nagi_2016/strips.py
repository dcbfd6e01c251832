"""A level of the forests in strips of columns, which threads take by turns: Algorithm 4, and the least key after it.

The threads are Python's and live as long as a solve: none is left that would end a child which is forked later, as
those of OpenMP do. The thread that grows the trees takes strips, too, and waits for no more than those that others have
taken: where the other processors are busy, it takes all of them.
"""

# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from time import sleep
from typing import NamedTuple

import numpy as np

from ...jit.compiled import compiled
from ..azad_2012.atomics import claim, fetch_add
from .state import TreeState

STRIP = 2048
"""Most columns of a strip."""
SHARES = 4
"""What the number of strips is a multiple of, so that 2 or 4 threads have the same number of columns."""
WORTH_THREADS = 2**13
"""Pairs in a level from which it is shared among threads."""

NEXT, DONE, ROWS, OVER, WIDTH = 0, 8, 16, 24, 32
"""Where in `turns`, on cache lines of their own: the next strip, columns done, the level's rows, whether there are no
more levels, and columns of a strip, which never change: a thread may look at an old level's turns in a new one."""
POLLS = 10_000
"""How often a thread looks for strips before it sleeps, some 0.1 ms."""
SLEEP_S = 5e-5


class Strips(NamedTuple):
    """The level that is shared.

    `turns`, int64, says whose turn it is; `alone` is the same for levels that no other thread should see. `level`
    (rows,) lists the level's rows, `least` (strips,) holds the least key of each strip.
    """

    turns: np.ndarray
    alone: np.ndarray
    level: np.ndarray
    least: np.ndarray


def no_strips(state: TreeState, threads: int) -> Strips:
    """Return room for the strips of a level, none of which is to be taken."""
    n_cols = len(state.v)
    n_strips = SHARES * max(1, -(-n_cols // (SHARES * STRIP)))
    level, least = np.empty(len(state.r), np.int32), np.empty(n_strips, state.v.dtype)
    alone = _turns(n_cols, min(n_cols, STRIP))
    shared = _turns(n_cols, -(-n_cols // n_strips)) if threads > 1 else alone
    return Strips(shared, alone, level, least)


def _turns(n_cols: int, width: int) -> np.ndarray:
    turns = np.zeros(5 * 8, np.int64)
    turns[NEXT], turns[WIDTH] = n_cols, max(width, 1)
    return turns


@contextmanager
def helpers(count: int, help_once: Callable[[], bool], strips: Strips) -> Generator[None]:
    """Let so many threads take strips meanwhile."""
    if count == 0:
        yield
        return
    with ThreadPoolExecutor(count) as pool:
        helping = [pool.submit(_help, help_once) for _ in range(count)]
        try:
            yield
        finally:
            strips.turns[OVER] = 1
    for helper in helping:
        helper.result()


def _help(help_once: Callable[[], bool]) -> None:
    while help_once():
        sleep(SLEEP_S)


@compiled
def expand(level, indptr, data, state, trees, strips):
    """Lower the keys of the columns that the level's rows reach; return the least of those that are not covered."""
    turns = strips.turns if len(level) * len(state.v) >= WORTH_THREADS else strips.alone
    turns[ROWS] = len(level)
    for k in range(len(level)):
        strips.level[k] = level[k]
    turns[DONE] = 0
    claim(turns, NEXT, 0)
    _take_strips(turns, indptr, data, state, trees, strips)
    while fetch_add(turns, DONE, 0) < len(state.v):
        pass
    least = state.none
    for s in range(-(-len(state.v) // turns[WIDTH])):
        least = min(least, strips.least[s])
    return least


@compiled
def help_expanding(indptr, data, state, trees, strips):
    """Take strips while levels are shared; return whether there may be more, after looking in vain for a while."""
    left = POLLS
    while left > 0:
        if fetch_add(strips.turns, OVER, 0) > 0:
            return False
        left -= 1
        if fetch_add(strips.turns, NEXT, 0) * strips.turns[WIDTH] < len(state.v):
            _take_strips(strips.turns, indptr, data, state, trees, strips)
            left = POLLS
    return True


@compiled
def _take_strips(turns, indptr, data, state, trees, strips):
    n_cols, width = len(state.v), turns[WIDTH]
    while True:
        s = fetch_add(turns, NEXT, 1)
        first, end = s * width, min((s + 1) * width, n_cols)
        if first >= n_cols:
            return
        strips.least[s] = _expand_strip(strips.level[: turns[ROWS]], first, end, indptr, data, state, trees)
        fetch_add(turns, DONE, end - first)


@compiled
def _expand_strip(level, first_col, end_col, indptr, data, state, trees):
    """Algorithm 4 for one strip of columns: the level's least slack of each, then its key; return the least key."""
    least = np.full(end_col - first_col, state.none)
    rows = np.empty(len(least), np.int32)
    for i in level:
        lo = indptr[i] + first_col
        r = state.r[i]
        for k in range(len(least)):
            slack = data[lo + k] - state.v[first_col + k] - r
            if slack < least[k] and data[lo + k] < state.none:
                least[k], rows[k] = slack, i
    entered = trees.entered[level[0]]
    lowest = state.none
    for k in range(len(least)):
        j = first_col + k
        if trees.covered[j]:
            continue
        key = entered + max(least[k], 0)
        if least[k] < state.none and key < trees.key[j]:
            trees.key[j], trees.pred[j], trees.pred_cost[j] = key, rows[k], data[indptr[rows[k]] + j]
        lowest = min(lowest, trees.key[j])
    return lowest
