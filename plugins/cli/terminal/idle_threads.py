"""Threads of linear algebra that wait for work: asleep, where this process alone is the user's."""

from __future__ import annotations

import os


def let_idle_threads_sleep() -> None:
    """Have the threads of OpenBLAS, which is not loaded yet, sleep at once where they have nothing to do.

    They turn in circles for 2²⁶ ticks of the clock else, each of them, when NumPy and SciPy are loaded and after every
    product of matrices; 2⁴ are the fewest. Results are the same.
    """
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
