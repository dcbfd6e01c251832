"""Work that waits: until the user stops dragging, or until the window has painted."""

from __future__ import annotations

from collections.abc import Callable

from qtpy.QtCore import QObject, QTimer


def single_shot(parent: QObject, milliseconds: int, call: Callable[[], None]) -> QTimer:
    """Return a timer that calls once, that many milliseconds after its latest start; it does not run yet."""
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(milliseconds)
    timer.timeout.connect(call)
    return timer
