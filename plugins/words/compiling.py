"""What a first run waits for: numba compiles what was never compiled on this machine."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from ...tracker.compiling import compiling_watched

COMPILED = "for this machine, once"
"""What is said of it beside the word."""


@contextmanager
def compiling_reported(report: Callable[[], None]) -> Generator[None]:
    """Call `report` whenever numba begins to compile, as it does not where it finds code in its cache."""
    with compiling_watched(report, lambda: None):
        yield
