"""Waiting until the widget has nothing left to do or to draw: for pictures and measurements."""

from __future__ import annotations

import time
from typing import Any

from qtpy.QtCore import QEvent
from qtpy.QtWidgets import QApplication

_LONGEST_WAIT_S = 600.0
_DELETION = QEvent.Type.DeferredDelete.value
_TURNS = 20
"""Turns of the event loop that have to be quiet too: Qt lays out nested pages in several, slow on a busy machine."""


def settle(widget: Any, *, quiet_s: float = 0.5) -> None:
    """Run the event loop until nothing has happened for `quiet_s` seconds, and for some turns of it."""
    end = time.monotonic() + _LONGEST_WAIT_S
    quiet, turns = time.monotonic() + quiet_s, 0
    while time.monotonic() < end and (time.monotonic() < quiet or turns < _TURNS):
        QApplication.processEvents()
        QApplication.sendPostedEvents(None, _DELETION)  # else what napari has deleted stays in sight: no loop runs here
        time.sleep(0.001)
        turns += 1
        if widget.is_busy:
            quiet, turns = time.monotonic() + quiet_s, 0
