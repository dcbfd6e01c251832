"""The threads of the paper's OMP-8: as many of numba's as are asked for."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from numbers import Integral
from threading import Lock

import numba
from numba.core import config

from ...errors import InvalidProblem

_ONE_AT_A_TIME = Lock()


@contextmanager
def numba_threads(threads: int | None) -> Generator[None]:
    """Let numba's parallel loops use so many threads, one solve at a time: not all of its layers stand two at once."""
    if threads is None:
        yield
        return
    available = int(vars(config)["NUMBA_NUM_THREADS"])
    if not isinstance(threads, Integral) or not 1 <= threads <= available:
        raise InvalidProblem(
            f"threads needs a whole number from 1 to {available} (set NUMBA_NUM_THREADS for more); got {threads!r}.",
            argument="threads",
        )
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
