"""Where the `auctrack` command begins: until all is imported, Ctrl-C and the like end it at once, without a word."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

from .runs.outcome import INTERRUPTED
from .terminal.garbage import collect_rarely, leave_garbage
from .terminal.interrupt import press, press_again, stopping_signals


def main() -> None:
    """Run the command line; SIGTERM, by which schedulers end a job, and a closed terminal end it as Ctrl-C does."""
    numbers = stopping_signals()
    for number in numbers:
        signal.signal(number, _leave)  # nothing was begun, and an import that is broken off says so in many lines
    collect_rarely()
    from .app import main as run

    for number in numbers:
        signal.signal(number, press)
    sys.unraisablehook = press_again
    try:
        run()
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)  # the work is over: none must change how it ended
        leave_garbage()


def _leave(number: int, frame: FrameType | None) -> None:
    del number, frame
    os._exit(INTERRUPTED)
