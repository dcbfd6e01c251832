"""Ctrl-C, SIGTERM or SIGHUP at the wrong moment: files that belong together are put in place before it takes effect."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
import time
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import FrameType

_PRESSED = threading.Event()
_A_MOMENT = 0.05
"""Seconds until a Ctrl-C that was lost comes again."""
_ANOTHER = 1.0
"""Seconds after which a Ctrl-C is another one: what runs a command in an environment passes each on once more."""


def press(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, as Python does by itself, and remember it: see `CtrlCAsItself`."""
    del number, frame
    _PRESSED.set()
    raise KeyboardInterrupt


def press_again(lost: sys.UnraisableHookArgs) -> None:
    """Have a Ctrl-C that came where Python cannot raise it come again, as in what LLVM calls back; say all else."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    again = threading.Timer(_A_MOMENT, _thread.interrupt_main)
    again.daemon = True
    again.start()


class CtrlCAsItself(AbstractContextManager[None]):
    """Have errors that come of a Ctrl-C leave the block as KeyboardInterrupt; those `but`, and all others, as they are.

    Compiled code makes a SystemError of one that comes as it hands its answer over, imports make an ImportError, and
    pandas takes a file that it was reading for damaged and forgets why.
    """

    def __init__(self, *but: type[BaseException]) -> None:
        self._but = but

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Raise KeyboardInterrupt in place of what was made of it."""
        if error is not None and not isinstance(error, self._but) and _comes_of_ctrl_c(error):
            raise KeyboardInterrupt from error


def _comes_of_ctrl_c(error: BaseException) -> bool:
    if _PRESSED.is_set():
        return True
    known: BaseException | None = error
    while known is not None and not isinstance(known, KeyboardInterrupt):
        known = known.__cause__ or known.__context__
    return known is not None


def stopping_signals() -> list[signal.Signals]:
    """Return the signals that end a run; except those that its parent had it ignore, as nohup and "&" do."""
    known = [signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if name in signal.Signals.__members__]
    return [number for number in known if signal.getsignal(number) is not signal.SIG_IGN]


@contextmanager
def held_back(result: Path | None = None) -> Generator[None]:
    """Let the block finish when Ctrl-C is pressed in it, and raise KeyboardInterrupt after it; pressed again, at once.

    Hundreds of label images take minutes, and what writes them whole or not at all leaves none then. Of a `result` that
    the block wrote by then it is said that it is whole.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    from . import console

    pressed: float | None = None

    def remember(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed is None:
            pressed = time.monotonic()
            console.say("stopping once what is being written is whole; pressed again, at once and without it")
        elif time.monotonic() - pressed > _ANOTHER:
            press(number, frame)

    before = {number: signal.signal(number, remember) for number in stopping_signals()}
    is_whole = False
    try:
        yield
        is_whole = True
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if pressed is not None:
            if is_whole and result is not None:
                console.say(f"{result} is whole")
            raise KeyboardInterrupt
