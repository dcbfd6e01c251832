"""A text laid over the canvas, where there is room to read all of it."""

from __future__ import annotations

from qtpy.QtCore import QEvent, QObject, Qt, Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtGui import QMouseEvent
from qtpy.QtWidgets import QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

_WIDEST = 760  # pixels; longer lines are hard to read
_MARGIN = 6
_FRAME = 4  # pixels that napari's style takes around a scroll area


class HelpSheet(QFrame):
    """A sheet over the left of the canvas, no higher than its text, out of sight at first; a click on it: `clicked()`.

    Parameters
    ----------
    canvas : QWidget
        What it lies over.
    text : str
        HTML.
    """

    clicked = Signal()

    def __init__(self, canvas: QWidget, text: str) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self.label = QLabel(text)
        self.label.setWordWrap(True)
        self.label.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.area = QScrollArea()
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidgetResizable(True)
        self.area.setWidget(self.label)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(*[_MARGIN] * 4)
        whole.addWidget(self.area)
        self.setAutoFillBackground(True)
        self.hide()
        canvas.installEventFilter(self)

    def setVisible(self, visible: bool) -> None:  # noqa: N802 - Qt's name
        """Show it above all else on the canvas, or put it away (called by Qt too)."""
        super().setVisible(visible)
        if visible:
            self._fit()
            self.raise_()

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """Stay within the canvas (called by Qt)."""
        if watched is self._canvas and event is not None and event.type() == QEvent.Type.Resize:
            self._fit()
        return False

    def mousePressEvent(self, event: QMouseEvent | None) -> None:  # noqa: N802 - Qt's name
        """Ask to be put away (called by Qt)."""
        del event
        self.clicked.emit()

    def let_go(self) -> None:
        """Leave the canvas: the widget goes."""
        self._canvas.removeEventFilter(self)
        self.hide()
        self.deleteLater()

    def _fit(self) -> None:
        width = min(self._canvas.width(), _WIDEST)
        around, bar = 2 * _MARGIN + _FRAME, self.area.verticalScrollBar().sizeHint().width()
        needed = self.label.heightForWidth(width - around - bar) + around
        self.setGeometry(0, 0, width, min(self._canvas.height(), needed))
