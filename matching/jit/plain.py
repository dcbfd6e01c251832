"""Kernels run as the Python that they are written in, where that is over long before they were compiled.

A kernel takes 0.05 to 1.5 s to compile, and many take milliseconds of a small movie without it. They are marked
`compiled(plain=…)`: within `small_work_as_python` they run as Python up to so many array elements, until that has taken
`MOST_SECONDS` in a process; then they are compiled, for all later runs too. Where machine code is there it is used.
Answers are the same to the last bit: of numbers of the types below NumPy and numba make the same ones, so long as
exponentials, logarithms and powers are `math`'s, short integers are counts and places, and no float that is infinite or
not a number becomes an integer.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

MOST_SECONDS = 0.3
"""Half of what the kernel takes to compile that is slowest as Python, pairs within a radius."""

MOST_STEPS = 1 << 18
"""Turns of an inner loop, 1.4 µs each: a call that has begun is not ended before it is done."""

ALIKE = frozenset({"f8", "i8", "i4", "i2", "b1"})
"""Types of array elements with which NumPy's scalars count as numba does; float32, say, numba widens to float64."""

_may = threading.Event()


@contextmanager
def small_work_as_python() -> Generator[None]:
    """Let marked kernels run as Python meanwhile, in all threads: a program that soon ends, as a command does."""
    was = _may.is_set()
    _may.set()
    try:
        yield
    finally:
        if not was:
            _may.clear()


class Plain:
    """One kernel, run as Python.

    Parameters
    ----------
    dispatcher : KernelDispatcher
    most_elements : int
        Of all its arrays together.
    steps : callable, optional
        About how many turns its inner loop takes for given arguments. None: no more than a few for each element.
    """

    def __init__(self, dispatcher: Any, most_elements: int, steps: Callable[..., int] | None = None) -> None:
        self._dispatcher, self._most_elements, self._seconds = dispatcher, most_elements, 0.0
        self._steps = steps

    def serves(self, given: tuple[Any, ...]) -> bool:
        """Whether a call for which this process has no machine code is better run as Python."""
        if self._seconds >= MOST_SECONDS or not _may.is_set():
            return False
        arrays = list(_arrays(given))
        if sum(array.size for array in arrays) > self._most_elements:
            return False
        if not all(array.dtype.str[1:] in ALIKE for array in arrays) or self._dispatcher.is_kept(given):
            return False
        with np.errstate(all="ignore"):
            return self._steps is None or self._steps(*given) <= MOST_STEPS

    def __call__(self, *given: Any) -> Any:
        """Run; compile, once that has taken long enough in all."""
        begun = time.thread_time()
        with np.errstate(all="ignore"):
            made = _as_python(self._dispatcher.py_func)(*given)
        self._seconds += time.thread_time() - begun
        if self._seconds >= MOST_SECONDS:
            self._dispatcher.compile_for(given)
        return _unboxed(made)


@functools.cache
def _as_python(function: FunctionType) -> FunctionType:
    """Return a function that calls other kernels as Python, too."""
    named = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    kernels = {name: _as_python(value.py_func) for name, value in named.items() if isinstance(value, Dispatcher)}
    return FunctionType(function.__code__, {**function.__globals__, **kernels}, function.__name__)


def _arrays(given: Any) -> Generator[np.ndarray]:
    for value in given:
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, tuple):
            yield from _arrays(value)


def _unboxed(made: Any) -> Any:
    """Return what compiled code would: numbers of Python, not NumPy."""
    if isinstance(made, tuple):
        return tuple(map(_unboxed, made))
    return made.item() if isinstance(made, np.generic) else made
