"""Independent pieces of compiled work, side by side in threads (numba kernels that release the interpreter lock)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

ROWS_PER_TASK = 4096
"""Rows that a thread takes at a time; fewer are not worth waking a second thread, which costs more than they do."""

Task = TypeVar("Task")
Result = TypeVar("Result")


def side_by_side(work: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
    """Return `work` of each task, in order; in as many threads as there are processors for us.

    A `prange` would do the same, but takes numba five times as long to compile, and its threads outlive the call: a
    forked child dies of them, and some of their layers abort where two threads of a program solve at once.
    """
    threads = min(len(tasks), processors()) if len(tasks) > 1 else 1
    if threads == 1:
        return [work(task) for task in tasks]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, tasks))


def tasks(n: int) -> range:
    """Return the numbers of the tasks that `n` rows are cut into, `ROWS_PER_TASK` each."""
    return range(-(-n // ROWS_PER_TASK))


def processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
