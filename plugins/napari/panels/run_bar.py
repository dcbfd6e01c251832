"""How far the work is, how long it still takes, how to stop it, what came of it, and what went wrong."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from html import escape

from qtpy.QtCore import QEvent, Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtWidgets import (
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from ....tracker.calibrating.digits import counted
from ...words.compiling import COMPILED
from ..session.corrections import Preparing
from ..threads.job import Failure
from .fields import note, say
from .scroll import PanelScroll

_LINES = 4  # of messages in sight; for more one scrolls
_STAGES = {"detect": "Detecting", "link": "Linking"}


class RunBar(QWidget):
    """Signals: `run_all()`, `cancel()`, `recover()`."""

    run_all = Signal()
    cancel = Signal()
    recover = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._stage: tuple[str, float, int] = ("", 0.0, 0)
        self.run_button = QPushButton("Run all")
        self.run_button.setToolTip(
            "Detect and link with these settings; whatever is set to auto is measured from the data."
        )
        self.cancel_button = QPushButton("Cancel")
        self.cancel_button.setToolTip(
            "Stops within a second and keeps what is done so far. A step that is running ends in the background; its "
            "result is shown then."
        )
        self.progress = QProgressBar()
        self._run_or_progress, self._cancel_or_details = QStackedWidget(), QStackedWidget()
        self.status = note()
        self.warnings = note(warning=True)
        self.error = note(warning=True)
        self.recover_button = QPushButton()
        self.recover_button.setToolTip(
            "Corrections of these tracks that were not saved when napari ended. They replace those made since; you are "
            "asked first."
        )
        self.details_button = QPushButton("Details…")
        self.details = QTextEdit()
        self.details.setReadOnly(True)
        self._room = self._messages()
        self._lay_out()
        self.run_button.clicked.connect(self.run_all)
        self.cancel_button.clicked.connect(self.cancel)
        self.recover_button.clicked.connect(self.recover)
        self.details_button.clicked.connect(self._show_details)
        self.set_running(False)

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        row = QHBoxLayout()
        for widget in (self.run_button, self.progress):
            self._run_or_progress.addWidget(widget)
        self._run_or_progress.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        row.addWidget(self._run_or_progress, 2)
        for widget in (self.cancel_button, self.details_button):
            self._cancel_or_details.addWidget(widget)
        self._cancel_or_details.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        row.addWidget(self._cancel_or_details, 1)
        column.addLayout(row)
        column.addWidget(self._room)
        column.addWidget(self.details)
        for part in (self.recover_button, self.details):
            part.hide()

    def event(self, event: QEvent | None) -> bool:
        """Make room for as many lines as of old when letters have got another size (called by Qt)."""
        if event is not None and event.type() in (QEvent.Type.Show, QEvent.Type.StyleChange):
            self._room.setFixedHeight(_LINES * (self.status.fontMetrics().lineSpacing() + 2))  # as labels lay them out
        return super().event(event)  # pyright: ignore[reportArgumentType]

    def _messages(self) -> QWidget:
        """Return room for messages that keeps its height whatever they say, so that no button moves by them."""
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        for part in (self.recover_button, self.error, self.warnings, self.status):
            column.addWidget(part)
        column.addStretch(1)
        column.setSpacing(2)
        room = PanelScroll(page, least=0)
        room.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        return room

    def set_running(self, running: bool) -> None:
        """Offer what makes sense now."""
        self.run_button.setEnabled(not running)
        self.cancel_button.setEnabled(running)
        self._run_or_progress.setCurrentWidget(self.progress if running else self.run_button)
        self._offer_details()
        if running:
            self.offer_recovery(0)
            self.say("")
            self._stage = ("", 0.0, 0)
            self.progress.setRange(0, 0)
            self.progress.setFormat("")

    def advance(self, stage: str, done: int, total: int) -> None:
        """Show how far a stage is, with the time left once it can be told.

        It is written into the progress bar: a label that changes lays out the whole window.
        """
        if stage != self._stage[0]:
            self._stage = (stage, time.monotonic(), done)
            self.progress.setRange(0, total)
        _, began, first = self._stage
        left = ""
        if done > first and done < total:
            left = f", {_duration((time.monotonic() - began) * (total - done) / (done - first))} left"
        self.progress.setUpdatesEnabled(False)  # else the bar paints itself at once, and the canvas beside it
        where = f": frame {done} of {total}" if done else "…"
        self.announce(f"{_STAGES.get(stage, stage)}{where}{left}")
        self.progress.setValue(done)
        self.progress.setUpdatesEnabled(True)

    def offer_recovery(self, n: int) -> None:
        """Offer to make so many corrections again that were not saved; none with 0."""
        self.recover_button.setText(f"Recover {counted(n, 'unsaved correction', ',')}")
        self.recover_button.setVisible(n > 0)

    def tell_compiling(self) -> None:
        """Say that what goes on is compiled first, until it gets farther."""
        self.announce(f"{_STAGES.get(self._stage[0], 'Working')}: compiling {COMPILED}…")

    def tell_preparing(self, at: Preparing) -> None:
        """Say how far linking once more is, which corrections of some runs need first."""
        done = at.done == at.total
        said = "Ready to correct." if done else f"Preparing corrections, once: {100 * at.done // at.total} %…"
        say(self.status, said)  # and not in the place of an error: nobody has asked for this

    def announce(self, text: str) -> None:
        """Say what goes on, in the progress bar."""
        self.progress.setFormat(text)

    def say(self, text: str, warnings: Sequence[str] = (), details: str = "") -> None:
        """Show a sentence, and what is doubtful about what it says, in the place of what went wrong before.

        Of warnings only the first sentence is in sight; all of it, and the details, come on demand, and as the mouse
        rests on what is said.
        """
        self.clear_error()
        whole = [f"{warning[0].upper()}{warning[1:]}" for warning in warnings]
        heads = [*map(_first_sentence, whole)]
        say(self.status, text)
        say(self.warnings, "\n".join(heads))
        for label, said in ((self.status, [details] if details else []), (self.warnings, whole)):
            label.setToolTip("".join(f"<p>{escape(one)}</p>" for one in said))
        if details or heads != whole:
            self.details.setPlainText("\n\n".join([*whole, f"{text} {details}".strip()]))
            self._offer_details()

    def fail(self, failure: Failure) -> None:
        """Show what went wrong, with the details on demand."""
        say(self.error, _begun(failure.sentence))
        self.details.setPlainText(failure.details)
        self._offer_details()

    def clear_error(self) -> None:
        """Forget what went wrong."""
        say(self.error, "")
        self.details.clear()
        self.details.hide()
        self._offer_details()

    def _offer_details(self) -> None:
        """Offer the details of what went wrong in the place of Cancel, while there is nothing to cancel."""
        offers = bool(self.details.toPlainText()) and not self.cancel_button.isEnabled()
        self._cancel_or_details.setCurrentWidget(self.details_button if offers else self.cancel_button)

    def _show_details(self) -> None:
        self.details.setVisible(not self.details.isVisible())


def _first_sentence(text: str) -> str:
    """Return the first sentence of a text, and whether there are more."""
    first, end, rest = text.partition(". ")
    return f"{first}. …" if end and rest else text


def _begun(sentence: str) -> str:
    """Return a sentence with a capital at its beginning, unless that is a name."""
    return f"{sentence[0].upper()}{sentence[1:]}" if re.match(r"[a-z]+ ", sentence) else sentence


def _duration(seconds: float) -> str:
    if seconds < 1:
        return "under 1 s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
