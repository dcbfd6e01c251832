"""The window's thread gets the interpreter soon while work goes on in another thread.

Python lets a thread wait 5 ms for the interpreter lock. napari's main thread gives the lock away with every call into
OpenGL, and takes it again with every event that Qt hands to Python: a hundred such waits are half a second without a
tick. A full collection of garbage holds the lock for 0.3 s, since napari and Numba keep half a million objects; what
first runs or is compiled sets off several. Young objects are collected all the same, and work leaves no cycles behind.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager

_SECONDS = 0.0005
_NEVER = 1_000_000_000  # collections of the middle generation before a full one
_AFTERWARDS = 2.0  # seconds in which what the work gave is drawn

_lock = threading.Lock()
_working = 0
_usual = sys.getswitchinterval(), gc.get_threshold()


@contextmanager
def responsive() -> Generator[None]:
    """Let the threads take turns quickly and put full collections off, until soon after nobody works any more."""
    _begin()
    try:
        yield
    finally:
        timer = threading.Timer(_AFTERWARDS, _end)  # no timer of Qt: it acts although the window has gone meanwhile
        timer.daemon = True
        timer.start()


def _begin() -> None:
    global _working, _usual
    with _lock:
        if _working == 0:
            _usual = interval, collecting = sys.getswitchinterval(), gc.get_threshold()
            sys.setswitchinterval(min(_SECONDS, interval))
            gc.set_threshold(*collecting[:2], _NEVER)
        _working += 1


def _end() -> None:
    global _working
    with _lock:
        _working -= 1
        if _working == 0:
            interval, collecting = _usual
            sys.setswitchinterval(interval)
            gc.set_threshold(*collecting)
