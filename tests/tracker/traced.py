"""The memory that a piece of work takes, as Python's and NumPy's allocations tell."""

import tracemalloc
from collections.abc import Callable
from typing import TypeVar

Made = TypeVar("Made")


def with_peak(work: Callable[[], Made]) -> tuple[Made, int]:
    """Return what the work makes, and the most bytes it held at a time."""
    tracemalloc.start()
    try:
        made = work()
        return made, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
