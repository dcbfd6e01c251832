"""The question before corrections are lost that no file holds: save them, discard them, or stay."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

from qtpy.QtCore import QEvent, QObject, Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtWidgets import QMainWindow, QMessageBox

from ..layers.main_window import canvas_of, main_window
from ..threads.timers import single_shot
from .parts import Parts
from .taking_away import TakingAway

_BUTTON = QMessageBox.StandardButton
_BUTTONS = {_BUTTON.Save: "Save…", _BUTTON.Discard: "Discard", _BUTTON.Cancel: "Cancel"}


def _stay() -> None:
    """Do nothing."""


class Unsaved(QObject):
    """Asks before corrections are lost, by what the user does with mouse and keys, or as window or dock are closed.

    Scripts are not asked: `running.run_all()`, `input.choose_layer(name)`, `viewer.close()` and
    `viewer.window.remove_dock_widget(…)` act at once. Signals: `discarded()` once the user has said so.
    """

    discarded = Signal()

    def __init__(self, parts: Parts, taking_away: TakingAway, parent: QObject) -> None:
        super().__init__(parent)
        self._parts = parts
        self._taking_away = taking_away
        self._waiting: tuple[Callable[[], None], Callable[[], None]] | None = None
        window = main_window(parts.viewer)
        window.installEventFilter(self)
        self._window = weakref.ref(window)  # a window that is kept until Python ends makes PyQt crash there
        self._closing = single_shot(self, 0, partial(self.before, self._close))
        taking_away.exports.returned.connect(self._go_on)
        taking_away.exports.failed.connect(self._go_back)

    def watch(self, dock: Any) -> None:
        """Ask before a dock goes by the button in its title, for which napari calls its `destroyOnClose`."""
        dock.destroyOnClose = partial(self.before, dock.destroyOnClose)

    def let_go(self) -> None:
        """Ask no more when the window closes: the widget goes."""
        window = self._window()
        if window is not None:
            window.removeEventFilter(self)

    def before(self, act: Callable[[], None], else_: Callable[[], None] = _stay) -> None:
        """Do something that loses corrections: at once where none are unsaved, else when the user has agreed.

        Parameters
        ----------
        act : callable
            Done once they are saved, or may be discarded.
        else_ : callable
            Done where the user wants neither, or saving fails.
        """
        answer = self._ask() if self._parts.session.n_unsaved else _BUTTON.Discard
        path = self._taking_away.ask_session() if answer == _BUTTON.Save else None
        if path is not None:
            self._waiting = act, else_
            self._taking_away.export(path)
        elif answer == _BUTTON.Discard:
            self.discarded.emit()
            act()
        else:
            else_()

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """Keep the window open until it is said what becomes of corrections (called by Qt)."""
        if watched is not self._window() or event is None or event.type() != QEvent.Type.Close:
            return False
        if not self._parts.session.n_unsaved or self._is_closed_by_script():
            return False
        event.ignore()
        self._closing.start()  # and not in here: a window that is being told to close cannot be closed
        return True

    def _is_closed_by_script(self) -> bool:
        """Whether it is `viewer.close()`: that closes what is in the window before the window itself."""
        laid_out = canvas_of(self._parts.viewer).layout()
        item = None if laid_out is None else laid_out.itemAt(0)
        canvas = None if item is None else item.widget()
        return canvas is not None and canvas.isHidden()

    def _close(self) -> None:
        self.let_go()
        QMainWindow.close(main_window(self._parts.viewer))  # napari's own would forget whether all of it was to close

    def _ask(self) -> QMessageBox.StandardButton:
        n = self._parts.session.n_unsaved
        box = QMessageBox(main_window(self._parts.viewer))
        box.setIcon(QMessageBox.Icon.Warning)
        box.setWindowTitle("Corrections (auctrack)")
        box.setText(
            "You have 1 correction that is not saved." if n == 1 else f"You have {n:,} corrections that are not saved."
        )
        box.setInformativeText("What is not saved will be lost.")
        for standard, text in _BUTTONS.items():
            button = box.addButton(standard)
            assert button is not None  # it is a standard one
            button.setText(text)
        box.setDefaultButton(_BUTTON.Save)
        return _BUTTON(box.exec())

    def _go_on(self, said: str) -> None:
        """Do what waited for the file, or ask again where there were more corrections meanwhile."""
        del said
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self.before(*waiting)

    def _go_back(self, failure: object) -> None:
        del failure
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting[1]()
