"""Independent pieces of compiled work, side by side in threads (numba kernels that release the interpreter lock)."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar, cast

ROWS_PER_TASK = 4096
"""Rows that a thread takes at a time; fewer are not worth waking a second thread, which costs more than they do."""

Task = TypeVar("Task")
Result = TypeVar("Result")


def side_by_side(work: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
    """Return `work` of each task, in order; in as many threads as there are processors for us, this one among them.

    They take tasks in turn, so that threads are started, not tasks: a start takes .1 ms, and some tasks less.
    A `prange` would do the same, but takes numba five times as long to compile, and its threads outlive the call: a
    forked child dies of them, and some of their layers abort where two threads of a program solve at once.
    """
    others = min(len(tasks), processors()) - 1
    if others < 1:
        return [work(task) for task in tasks]
    results: list[Any] = [None] * len(tasks)
    coming = iter(range(len(tasks)))

    def take_turns() -> None:
        try:
            for at in coming:
                results[at] = work(tasks[at])
        finally:
            deque(coming, 0)  # where one fails the others stop

    shares: list[Future[None]] = []
    with ThreadPoolExecutor(others) as pool:
        _join_in(pool, shares, take_turns, others)
    for share in shares:
        share.result()
    return results


def _join_in(pool: ThreadPoolExecutor, shares: list[Future[None]], take_turns: Callable[[], None], left: int) -> None:
    """Take turns; start one thread more, which starts the next, first: so none waits until all have begun.

    Not a function within `side_by_side` that calls itself: such a one is a circle of references, which holds the tasks
    until Python looks for circles, and so memory that was to be used again (pinned memory is made anew in .25 s).
    """
    if left:
        with suppress(RuntimeError):  # all is done meanwhile, and the pool closed
            shares.append(pool.submit(_join_in, pool, shares, take_turns, left - 1))
    take_turns()


def one_ahead(items: Iterable[Task]) -> Iterator[Task]:
    """Yield items in order, each made by a thread of its own while the one before is used.

    Where there is one processor each is made when it is asked for.
    """
    if processors() == 1:
        yield from items
        return
    made, end = iter(items), object()
    with ThreadPoolExecutor(1, thread_name_prefix="ahead") as pool:
        coming = pool.submit(next, made, end)
        while (item := coming.result()) is not end:
            coming = pool.submit(next, made, end)
            yield cast("Task", item)


def tasks(n: int) -> range:
    """Return the numbers of the tasks that `n` rows are cut into, `ROWS_PER_TASK` each."""
    return range(-(-n // ROWS_PER_TASK))


def processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
