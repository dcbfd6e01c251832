"""A scroll area for panels taller than the room there is."""

from __future__ import annotations

from qtpy.QtCore import QEvent, QObject, QSize, Qt
from qtpy.QtWidgets import QFrame, QScrollArea, QWidget


class PanelScroll(QScrollArea):
    """A scroll area that is never narrower than what it holds, and leaves its height to others.

    Parameters
    ----------
    page : QWidget
        What it holds.
    least : int
        Pixels of height at least.
    """

    def __init__(self, page: QWidget, least: int) -> None:
        super().__init__()
        self._least = least
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidget(page)

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """Ask for other width once the page needs another (called by Qt, whose scroll areas do not)."""
        if event is not None and watched is self.widget() and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)  # pyright: ignore[reportArgumentType]

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the size asked for: a page around it would grow to more, and would be scrolled itself."""
        return self.minimumSizeHint()

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the least size (called by Qt)."""
        inside = self.widget()
        wide = 0 if inside is None else inside.minimumSizeHint().width()
        return QSize(wide + self.verticalScrollBar().sizeHint().width() + 4, self._least)
