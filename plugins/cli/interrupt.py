"""Ctrl-C at the wrong moment: files that belong together are put in place before it takes effect."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType


def is_ctrl_c(error: BaseException) -> bool:
    """Whether an error is a Ctrl-C: compiled code makes a SystemError of one that comes as it hands its answer over."""
    return isinstance(error if isinstance(error, KeyboardInterrupt) else error.__cause__, KeyboardInterrupt)


@contextmanager
def held_back() -> Generator[None]:
    """Let the block finish when Ctrl-C is pressed in it, and raise KeyboardInterrupt after it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed = False

    def remember(number: int, frame: FrameType | None) -> None:
        del number, frame
        nonlocal pressed
        pressed = True

    before = signal.signal(signal.SIGINT, remember)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if pressed:
            raise KeyboardInterrupt
