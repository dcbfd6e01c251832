"""How many threads the multicore algorithms use."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import numba
from numba.core import config

from ..errors import InvalidProblem


@contextmanager
def limited_threads(threads: int | None) -> Generator[int]:
    """Run numba's parallel loops with so many threads (None: all there are), then restore."""
    available = int(vars(config)["NUMBA_NUM_THREADS"])
    if threads is not None and not 1 <= threads <= available:
        raise InvalidProblem(f"threads: need 1 to {available} (set NUMBA_NUM_THREADS for more), got {threads}")
    before = numba.get_num_threads()
    numba.set_num_threads(available if threads is None else threads)
    try:
        yield numba.get_num_threads()
    finally:
        numba.set_num_threads(before)
