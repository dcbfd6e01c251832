"""Work in another thread that can be watched and stopped, and that never fails in silence.

superqt's generator workers swallow a RuntimeError, which every CUDA failure is, and stop only at a yield. Here the work
reports through a function that raises when it is to stop, and whatever goes wrong comes back as a value.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from qtpy.QtCore import QObject, Signal
from superqt.utils import WorkerBase

from ...matching.errors import AuctrackError

Report = Callable[[Any], None]
"""Called by the work with whatever the widget should show; raises `Stopped` once the user has cancelled."""


class Stopped(BaseException):
    """Raised inside the work when it is to stop. Like KeyboardInterrupt it is no Exception: nothing may catch it."""


@dataclass(frozen=True)
class Failure:
    """What went wrong.

    Attributes
    ----------
    sentence : str
        For the user.
    details : str
        Traceback, on demand.
    """

    sentence: str
    details: str


class _Signals(QObject):
    started = Signal()
    finished = Signal()
    _finished = Signal(object)
    returned = Signal(object)
    errored = Signal(object)
    warned = Signal(tuple)
    reported = Signal(object)
    failed = Signal(object)


class Job(WorkerBase[Any]):
    """One piece of work.

    Signals: `reported(value)` for every report, then `returned(result)` or `failed(Failure)`, or neither when it was
    stopped; `finished()` always comes last.
    """

    def __init__(self, work: Callable[[Report], Any]) -> None:
        super().__init__(SignalsClass=_Signals)  # pyright: ignore[reportArgumentType]
        self._work = work

    def work(self) -> Any:
        """Do the work (called in the thread)."""
        try:
            return self._work(self._report)
        except Stopped:
            self.quit()
        except Exception as error:  # noqa: BLE001 - the border to the user: everything must become one sentence
            self.failed.emit(Failure(sentence_of(error), traceback.format_exc()))
            self.quit()
        return None

    def _report(self, value: Any) -> None:
        if self.abort_requested:
            raise Stopped
        self.reported.emit(value)


def sentence_of(error: BaseException) -> str:
    """Return an error as one plain sentence."""
    text = " ".join(str(error).split())
    if isinstance(error, (AuctrackError, OSError)) and text:
        return text
    if isinstance(error, MemoryError) or "out of memory" in text.lower() or "OutOfMemory" in type(error).__name__:
        return (
            "The memory of this machine or its GPU is not enough for this; use a smaller search range or fewer frames."
        )
    if "cuda" in f"{type(error).__module__} {type(error).__name__} {text}".lower():
        return f"The GPU failed ({_first_sentence(text)}); choose the device cpu and run again."
    return f"Something unexpected went wrong ({type(error).__name__}: {_first_sentence(text)}). Details may help to report it."


def _first_sentence(text: str) -> str:
    return text[:160] or "no message"
