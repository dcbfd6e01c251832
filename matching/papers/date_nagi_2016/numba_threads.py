"""The threads of the paper's OMP-8: as many of numba's as are asked for."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock

import numba
from numba.core import config

from ...options import need_whole_number

_ONE_AT_A_TIME = Lock()


@contextmanager
def numba_threads(threads: int | None) -> Generator[None]:
    """Let numba's parallel loops use so many threads, one solve at a time: not all of its layers stand two at once."""
    if threads is None:
        yield
        return
    available = int(vars(config)["NUMBA_NUM_THREADS"])
    need_whole_number("threads", threads, available, words=" (set NUMBA_NUM_THREADS for more)")
    if threads == 1:
        yield
        return
    with _ONE_AT_A_TIME:
        before = numba.get_num_threads()
        numba.set_num_threads(threads)
        try:
            yield
        finally:
            numba.set_num_threads(before)
