"""Ctrl-C, or SIGTERM, at the wrong moment: files that belong together are put in place before it takes effect."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType


def is_ctrl_c(error: BaseException) -> bool:
    """Whether an error is a Ctrl-C.

    Compiled code makes a SystemError of one that comes as it hands its answer over, and imports make an ImportError.
    """
    known: BaseException | None = error
    while known is not None and not isinstance(known, KeyboardInterrupt):
        known = known.__cause__ or known.__context__
    return known is not None


def heeded() -> list[signal.Signals]:
    """Return the signals that end a run; except those that its parent had it ignore, as nohup and "&" do."""
    return [number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) is not signal.SIG_IGN]


@contextmanager
def held_back() -> Generator[None]:
    """Let the block finish when Ctrl-C is pressed in it, and raise KeyboardInterrupt after it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    from . import console

    pressed = False

    def remember(number: int, frame: FrameType | None) -> None:
        del number, frame
        nonlocal pressed
        if not pressed:
            console.say("stopping once what is being written is whole")
        pressed = True

    before = {number: signal.signal(number, remember) for number in heeded()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if pressed:
            raise KeyboardInterrupt
