"""Work in another thread that can be watched and stopped, and that never fails in silence.

superqt's generator workers swallow a RuntimeError, which every CUDA failure is, and stop only at a yield. Here the work
reports through a function that raises when it is to stop, and whatever goes wrong comes back as a value.
"""

from __future__ import annotations

import atexit
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from qtpy.QtCore import QObject, QThreadPool, Signal  # pyright: ignore[reportPrivateImportUsage]
from superqt.utils import WorkerBase

from ....matching.errors import AuctrackError
from ....tracker.errors import InvalidInput, InvalidSetting
from ...words.compiling import compiling_reported
from ...words.errors import sentence_in_words
from ...words.setting_options import in_words
from .responsive import responsive
from .stopped import Stopped

Report = Callable[[Any], None]
"""Called by the work with whatever the widget should show; raises `Stopped` once it is to stop."""
Work = Callable[[Report], Any]


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


@dataclass(frozen=True)
class _Message:
    job: _Job
    kind: Literal["reported", "compiling", "returned", "failed", "stopped"]
    value: Any


class _Signals(QObject):
    started = Signal()
    finished = Signal()
    _finished = Signal(object)
    returned = Signal(object)
    errored = Signal(object)
    warned = Signal(tuple)
    sent = Signal(object)


class _AtWork:
    """The work that is going on in any thread.

    When Python ends, Qt deletes the workers' signals, and a thread that emits one then aborts the process: all work is
    stopped and waited for before. Work that has not begun by then does not begin.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[_Job, threading.Event] = {}
        self._is_over = False

    def begin(self, job: _Job) -> bool:
        """Say whether work may begin."""
        with self._lock:
            if not self._is_over:
                self._jobs[job] = threading.Event()
            return not self._is_over

    def end(self, job: _Job) -> None:
        """Take note that work has ended."""
        with self._lock:
            self._jobs.pop(job).set()

    def end_all(self) -> None:
        """Stop all work and wait until it has ended: a solve that has begun is not broken off."""
        with self._lock:
            self._is_over = True
            jobs = dict(self._jobs)
        for job, ended in jobs.items():
            job.quit()
            ended.wait()
        if jobs:
            QThreadPool.globalInstance().waitForDone(_LEAVING_MS)


_LEAVING_MS = 1_000
"""For a thread to leave Qt's side of a piece of work that has ended; the pool is shared with other plugins."""
_AT_WORK = _AtWork()
atexit.register(_AT_WORK.end_all)  # after Qt was imported, so that it is called before Qt deletes anything


class _Job(WorkerBase[Any]):
    """One piece of work in napari's thread pool, which napari asks to quit when it closes."""

    def __init__(self, work: Work, gone: threading.Event) -> None:
        super().__init__(SignalsClass=_Signals)  # pyright: ignore[reportArgumentType]
        self._work = work
        self._gone = gone

    def run(self) -> None:
        """Do the work, unless Python is about to end (called in the thread)."""
        if _AT_WORK.begin(self):
            try:
                super().run()
            finally:
                _AT_WORK.end(self)

    def work(self) -> Any:
        """Do the work (called in the thread)."""
        try:
            with responsive(), compiling_reported(lambda: self._send("compiling", None)):
                result = self._work(self._report)
            self._send("returned", result)
        except Stopped as stop:
            self._send("stopped", stop.partial)
        except Exception as error:  # noqa: BLE001 - the border to the user: everything must become one sentence
            self._send("failed", Failure(sentence_of(error), traceback.format_exc()))

    def _report(self, value: Any) -> None:
        if self.abort_requested or self._gone.is_set():
            raise Stopped
        self._send("reported", value)

    def _send(self, kind: Literal["reported", "compiling", "returned", "failed", "stopped"], value: Any) -> None:
        if not self._gone.is_set():
            self.signals.sent.emit(_Message(self, kind, value))  # pyright: ignore[reportAttributeAccessIssue]


class Desk(QObject):
    """Where one kind of work is done, one piece at a time, the newest first.

    Signals: `reported(value)`, and `compiling()` when numba begins to compile what was never used on this machine; then
    one of `returned(result)`, `failed(Failure)`, `stopped(what was done)`. All come in the main thread, none from work
    that was let go. `late(what was done)` comes from stopped work that was not waited for, unless other work has begun
    since.
    """

    reported = Signal(object)
    compiling = Signal()
    returned = Signal(object)
    failed = Signal(object)
    stopped = Signal(object)
    late = Signal(object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._job: _Job | None = None
        self._late: _Job | None = None
        self._next: Work | None = None
        self._gone = threading.Event()
        self.destroyed.connect(self._gone.set)

    @property
    def is_busy(self) -> bool:
        """Whether work is going on."""
        return self._job is not None

    def start(self, work: Work) -> None:
        """Begin work; what is going on is asked to stop first, and what was waiting is forgotten."""
        if self._job is not None:
            self._next = work
            self._job.quit()
            return
        self._late = None
        self._job = _Job(work, self._gone)
        self._job.signals.sent.connect(self._take)  # pyright: ignore[reportAttributeAccessIssue]
        self._job.start()

    def stop(self) -> None:
        """Ask the work to stop; `stopped` follows at its next report."""
        self._next = None
        if self._job is not None:
            self._job.quit()

    def wait_no_longer(self) -> None:
        """Be free for other work; what is going on is stopped, and `late` follows when it has ended by itself."""
        self.stop()
        self._late, self._job = self._job, None

    def let_go(self) -> None:
        """Listen no more to the work that is going on; it ends by itself."""
        self.stop()
        self._job = self._late = None

    def _take(self, message: _Message) -> None:
        if message.job is self._late and message.kind not in ("reported", "compiling"):
            self._late = None
            if message.kind == "stopped":
                self.late.emit(message.value)
        if message.job is not self._job:
            return
        if message.kind == "compiling":
            self.compiling.emit()
            return
        if message.kind == "reported":
            self.reported.emit(message.value)
            return
        self._job = None
        if self._next is not None:
            work, self._next = self._next, None
            self.start(work)
        elif message.kind == "returned":
            self.returned.emit(message.value)
        elif message.kind == "failed":
            self.failed.emit(message.value)
        else:
            self.stopped.emit(message.value)


def sentence_of(error: BaseException) -> str:
    """Return an error as one plain sentence, settings called as their fields are."""
    text = " ".join(str(error).split())
    if isinstance(error, InvalidSetting):
        instead = f"Set {in_words(error.wanted[0])} to {error.wanted[1]}, or leave this out." if error.wanted else ""
        text = f"{in_words(error.setting)} {error.problem} {instead}".strip()
    if isinstance(error, InvalidInput):
        text = sentence_in_words(error)
    kind = type(error).__name__
    if isinstance(error, (AuctrackError, OSError)) and text:
        return text
    if isinstance(error, MemoryError) or "out of memory" in text.lower() or "OutOfMemory" in kind:
        return "The memory of this machine or its GPU is not enough; use a smaller search range or fewer frames."
    short = text[:160] or "no message"
    if "cuda" in f"{type(error).__module__} {kind} {text}".lower():
        return f"The GPU failed ({short}); choose the device CPU and run again."
    return f"Something unexpected went wrong ({kind}: {short}); please report the details."
