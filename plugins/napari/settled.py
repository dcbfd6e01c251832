"""Waiting until the widget has nothing left to do or to draw: for pictures and measurements."""

from __future__ import annotations

import time
from typing import Any

from qtpy.QtWidgets import QApplication

_PATIENCE_S = 600.0


def settle(widget: Any, *, quiet_s: float = 0.5) -> None:
    """Run the event loop until nothing has happened for `quiet_s` seconds."""
    end = time.monotonic() + _PATIENCE_S
    quiet = time.monotonic() + quiet_s
    while time.monotonic() < min(quiet, end):
        QApplication.processEvents()
        time.sleep(0.001)
        if widget.is_busy:
            quiet = time.monotonic() + quiet_s
