"""When numba compiles, in any thread: what a first run waits for, and no later one."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from .stage_seconds import BusySeconds


@contextmanager
def compiling_watched(begins: Callable[[], None], ends: Callable[[], None]) -> Generator[None]:
    """Call these whenever numba begins and ends to compile a function; it does neither where code is in its cache."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: event.Event) -> None:
            del event
            begins()

        def on_end(self, event: event.Event) -> None:
            del event
            ends()

    with event.install_listener("numba:compile", Listener()):
        yield


@contextmanager
def seconds_compiling() -> Generator[BusySeconds]:
    """Yield the time during which numba compiles, in any thread."""
    busy = BusySeconds()
    with compiling_watched(busy.begin, busy.end):
        yield busy
