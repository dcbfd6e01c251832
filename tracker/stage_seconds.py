"""Where the time of a run goes: read, detect, link, write."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from time import perf_counter


class StageSeconds(dict[str, float]):
    """Seconds of each stage, in the order in which they began.

    Attributes
    ----------
    devices : dict
        Where a stage ran that may run on several devices.

    Examples
    --------
    >>> seconds = StageSeconds()
    >>> with seconds.of("link"):
    ...     pass
    >>> list(seconds)
    ['link']
    """

    def __init__(self) -> None:
        super().__init__()
        self.devices: dict[str, str] = {}

    @contextmanager
    def of(self, stage: str) -> Generator[None]:
        """Count what is done meanwhile towards a stage."""
        self.setdefault(stage, 0.0)
        began = perf_counter()
        try:
            yield
        finally:
            self[stage] += perf_counter() - began

    def split_off(self, part: str, whole: str, seconds: float) -> None:
        """Take a part of a stage out of it, as a stage of its own."""
        self[part] = self.get(part, 0.0) + seconds
        self[whole] -= seconds


class BusySeconds:
    """Time during which something was done, by one thread or by several at a time.

    Attributes
    ----------
    total : float
        Without what is still being done.
    """

    def __init__(self) -> None:
        self.total = 0.0
        self._lock = threading.Lock()
        self._at_it, self._began = 0, 0.0

    @contextmanager
    def busy(self) -> Generator[None]:
        """Count what is done meanwhile."""
        self.begin()
        try:
            yield
        finally:
            self.end()

    def begin(self) -> None:
        """Count from now on, until as many have ended as began."""
        with self._lock:
            if self._at_it == 0:
                self._began = perf_counter()
            self._at_it += 1

    def end(self) -> None:
        """Count no more, unless others are still at it."""
        with self._lock:
            self._at_it -= 1
            if self._at_it == 0:
                self.total += perf_counter() - self._began
