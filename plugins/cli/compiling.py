"""What a first run waits for: numba compiles what was never compiled on this machine."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

COMPILED = "for this machine, once"
"""What is said of it beside the word."""


@contextmanager
def told_of_compiling(tell: Callable[[], None]) -> Generator[None]:
    """Call `tell` whenever numba begins to compile, as it does not where it finds code in its cache."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: event.Event) -> None:
            del event
            tell()

        def on_end(self, event: event.Event) -> None:
            del event

    with event.install_listener("numba:compile", Listener()):
        yield
