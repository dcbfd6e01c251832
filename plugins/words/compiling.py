"""What a first run waits for: numba compiles what was never compiled on this machine."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from ...tracker.stage_seconds import BusySeconds

COMPILED = "for this machine, once"
"""What is said of it beside the word."""


@contextmanager
def compiling_reported(report: Callable[[], None]) -> Generator[None]:
    """Call `report` whenever numba begins to compile, as it does not where it finds code in its cache."""
    with _listening(report, lambda: None):
        yield


@contextmanager
def seconds_compiling() -> Generator[BusySeconds]:
    """Yield the time during which numba compiles, in any thread."""
    busy = BusySeconds()
    with _listening(busy.begin, busy.end):
        yield busy


@contextmanager
def _listening(start: Callable[[], None], end: Callable[[], None]) -> Generator[None]:
    """Call these whenever numba begins and ends to compile a function."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: event.Event) -> None:
            del event
            start()

        def on_end(self, event: event.Event) -> None:
            del event
            end()

    with event.install_listener("numba:compile", Listener()):
        yield
