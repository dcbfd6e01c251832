"""The threads of the paper's OMP-8: as many of numba's as are asked for."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock

import numba
from numba.core import config

from ...options import need_whole_number

_ONE_AT_A_TIME = Lock()

_STARTED_IN: list[int] = []
"""The process in which numba's threads were started, once they are."""


@contextmanager
def numba_threads(threads: int | None) -> Generator[bool]:
    """Let numba's parallel loops use so many threads, one solve at a time: not all of its layers stand two at once.

    Yields whether there may be more than one: not in a child that was forked after they were started, which GNU OpenMP
    would end.
    """
    if threads is not None:
        available = int(vars(config)["NUMBA_NUM_THREADS"])
        need_whole_number("threads", threads, available, words=" (set NUMBA_NUM_THREADS for more)")
    if threads in (None, 1) or _STARTED_IN not in ([], [os.getpid()]):
        yield False
        return
    with _ONE_AT_A_TIME:
        _STARTED_IN[:] = [os.getpid()]
        before = numba.get_num_threads()
        numba.set_num_threads(threads)
        try:
            yield True
        finally:
            numba.set_num_threads(before)
