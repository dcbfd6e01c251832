"""Tabs that are as tall as the page that is shown needs, where Qt's are as tall as the tallest."""

from __future__ import annotations

from qtpy.QtCore import QSize
from qtpy.QtWidgets import QTabWidget

_FRAME = 6  # pixels


class Pages(QTabWidget):
    """Tabs that leave the height that other pages would need to what stands below."""

    def __init__(self) -> None:
        super().__init__()
        self.currentChanged.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the size asked for (called by Qt)."""
        asked = self.currentWidget().sizeHint().height() if self.count() else 0
        return QSize(super().sizeHint().width(), self._around(asked))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the least size (called by Qt)."""
        least = self.currentWidget().minimumSizeHint().height() if self.count() else 0
        return QSize(super().minimumSizeHint().width(), self._around(least))

    def hasHeightForWidth(self) -> bool:  # noqa: N802 - Qt's name
        """Say that texts wrap (called by Qt)."""
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802 - Qt's name
        """Return the height at which the texts of the page fit into a width (called by Qt)."""
        if not self.count() or not self.currentWidget().hasHeightForWidth():
            return self.sizeHint().height()
        return self._around(self.currentWidget().heightForWidth(width))

    def _around(self, height: int) -> int:
        return height + self.tabBar().sizeHint().height() + _FRAME
