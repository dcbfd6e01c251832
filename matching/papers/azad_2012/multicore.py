"""Phases shared among threads: each takes the next few items as soon as it has done its last ones."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from time import perf_counter
from typing import Any

import numpy as np

from ...cardinality.graph import IntArray
from ...errors import InvalidProblem
from ...jit.threads import processors, side_by_side

ROOTS_PER_TURN = 16


def thread_count(threads: int | None) -> int:
    """How many threads to use: as many as asked for, or as there are processors for us."""
    if threads is None:
        return processors()
    if not isinstance(threads, Integral) or threads < 1:
        raise InvalidProblem(
            f"threads needs a whole number of at least 1, or None for all processors; got {threads!r}.",
            argument="threads",
        )
    return int(threads)


def search_in_phases(phase: Callable[[IntArray, int], int], col_of_row: IntArray, n_threads: int) -> dict[str, Any]:
    """Call ``phase(free_rows, number)`` until it augments nothing; return the statistics of the run."""
    free_rows = np.flatnonzero(col_of_row < 0).astype(np.int32)
    augmentations: list[int] = []
    seconds: list[float] = []
    while not augmentations or augmentations[-1]:
        begin = perf_counter()
        augmentations.append(phase(free_rows, len(augmentations) + 1))
        free_rows = free_rows[col_of_row[free_rows] < 0]
        seconds.append(perf_counter() - begin)
    return {
        "phases": len(augmentations),
        "augmentations": augmentations,
        "phase_seconds": seconds,
        "threads": n_threads,
    }


def share(
    kernel: Callable[..., int], arguments: tuple[Any, ...], n_items: int, n_threads: int, *, per_turn: int
) -> int:
    """Call ``kernel(thread, counter, *arguments)`` on as many threads as `n_items` are worth; return the results' sum.

    `counter` starts at 0; a thread takes the `per_turn` items from ``fetch_add(counter, 0, per_turn)`` on, again and
    again until there are none.
    """
    counter = np.zeros(1, np.int64)
    n_worth = max(1, min(n_threads, n_items // per_turn))
    return sum(side_by_side(lambda thread: int(kernel(thread, counter, *arguments)), range(n_worth)))
