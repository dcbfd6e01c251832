"""The window's thread gets the interpreter soon while work goes on in another thread.

Python lets a thread wait 5 ms for the interpreter lock. napari's main thread gives the lock away with every call into
OpenGL, and takes it again with every event that Qt hands to Python: a hundred such waits are half a second without a
tick.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager

_SECONDS = 0.0005

_lock = threading.Lock()
_working = 0
_usual = sys.getswitchinterval()


@contextmanager
def responsive() -> Generator[None]:
    """Let the threads of this process take turns quickly; the usual pace is back once nobody works any more."""
    global _working, _usual
    with _lock:
        if _working == 0:
            _usual = sys.getswitchinterval()
            sys.setswitchinterval(min(_SECONDS, _usual))
        _working += 1
    try:
        yield
    finally:
        with _lock:
            _working -= 1
            if _working == 0:
                sys.setswitchinterval(_usual)
