"""The window of a viewer, found by what napari keeps public: its `_qt_window` goes with napari 0.10."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from qtpy.QtWidgets import QMainWindow

if TYPE_CHECKING:
    from napari import Viewer


def main_window(viewer: Viewer) -> QMainWindow:
    """Return the window in which a viewer is shown."""
    return cast("QMainWindow", viewer.window.main_menu.window())
