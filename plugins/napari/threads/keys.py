"""Keys of the widget: in the viewer whichever layer is selected, and wherever in the dock the focus is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from qtpy.QtCore import Qt
from qtpy.QtGui import QKeySequence, QShortcut  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtWidgets import QAbstractItemView, QApplication, QMenu

from .connections import Connections

if TYPE_CHECKING:
    from napari import Viewer
    from qtpy.QtWidgets import QWidget


class Keys:
    """Binds keys that act while `widget` is on the screen: what they do is said there."""

    def __init__(self, viewer: Viewer, connections: Connections, widget: QWidget) -> None:
        self._viewer = viewer
        self._connections = connections
        self._widget = widget

    def add(self, key: str, act: Callable[[], object]) -> None:
        """Bind a key, as napari writes it ("Shift-N"); a table would search for it, fields of text take it first."""

        def pressed(of: object = None) -> None:
            del of
            if self._widget.isVisible():
                act()
            else:
                self._viewer.status = f"{key.upper()} is a key of Track particles (auctrack): open its dock to use it."

        self._connections.add_key(self._viewer, key, pressed)
        shortcut = QShortcut(QKeySequence(key.upper().replace("-", "+")), self._widget)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.setAutoRepeat(False)  # as in the viewer
        shortcut.activated.connect(lambda: _typed(key, act))


def _typed(key: str, act: Callable[[], object]) -> None:
    """Act, unless a list or a menu is open: a list goes to the entry of that letter, a menu has some of the keys."""
    popup = QApplication.activePopupWidget()
    if popup is None:
        act()
    elif not isinstance(popup, QMenu):
        for entries in popup.findChildren(QAbstractItemView):
            entries.keyboardSearch(key[-1])
    elif any(entry.text().endswith(f"\t{key.upper()}") for entry in popup.actions()):
        popup.close()
        act()
