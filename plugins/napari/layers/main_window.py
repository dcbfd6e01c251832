"""The window of a viewer, found by what napari keeps public (its `_qt_window` goes with 0.10), and how dark it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from qtpy.QtGui import QColor
from qtpy.QtOpenGLWidgets import QOpenGLWidget
from qtpy.QtWidgets import QMainWindow, QWidget

if TYPE_CHECKING:
    from napari import Viewer

_MIDDLE = 128  # lightness of a colour that is neither


def is_dark(theme: str, part: str) -> bool:
    """Whether a part ("canvas", "background") of the window is dark in a theme of napari."""
    from napari.utils.theme import get_theme

    return QColor(getattr(get_theme(theme), part).as_hex()).lightness() < _MIDDLE


def main_window(viewer: Viewer) -> QMainWindow:
    """Return the window in which a viewer is shown."""
    return cast("QMainWindow", viewer.window.main_menu.window())


def canvas_of(viewer: Viewer) -> QWidget:
    """Return the part of the window that layers are painted in."""
    canvas = main_window(viewer).centralWidget()
    assert canvas is not None  # every window of napari has one
    return canvas


def paint_now(viewer: Viewer) -> None:
    """Have the layers painted before anything else is done, though painting is held."""
    canvas = canvas_of(viewer)
    is_held = not canvas.updatesEnabled()
    canvas.setUpdatesEnabled(True)
    for picture in canvas.findChildren(QOpenGLWidget):
        picture.repaint()
    canvas.setUpdatesEnabled(not is_held)
