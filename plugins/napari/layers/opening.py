"""Large tables opened from napari's menu: read in another thread, and of very many rows a window of time is drawn.

napari reads files in its main thread. A Tracks layer of a million vertices takes it 5 s; a Points layer of ten million
7 s, and 1.5 s for each frame that is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from qtpy.QtCore import QObject

from ....tracker.points import Points
from ..threads.job import Desk, Failure, Report
from ..threads.timers import single_shot
from .hand_over import make_layer
from .layer_tables import LayerData
from .main_window import main_window
from .readers import layer_of
from .windowed_layer import DrawnPart, WindowedLayer, most_drawn, window_part

if TYPE_CHECKING:
    from napari import Viewer

_TURN_MS = 50  # in which the window paints what was announced


def open_in_background(viewer: Viewer, path: str, read: Callable[[], Points]) -> None:
    """Read a table in another thread, then add its layer to the viewer; napari's messages say how it goes."""
    _Opening(viewer, path, read)


class _Opening(QObject):
    """One table on its way; it goes with the viewer's window."""

    def __init__(self, viewer: Viewer, path: str, read: Callable[[], Points]) -> None:
        super().__init__(main_window(viewer))
        from napari.utils.notifications import show_info

        self._viewer = viewer
        self._path, self._name = path, Path(path).name
        self._opened: tuple[LayerData | DrawnPart, Points] | None = None
        self._desk = Desk(self)
        self._desk.returned.connect(self._announce)
        self._desk.failed.connect(self._fail)
        self._turn = single_shot(self, _TURN_MS, self._add)
        show_info(f"{self._name} is large: it is read in the background.")
        self._desk.start(partial(_read, read, path))

    @property
    def is_busy(self) -> bool:
        """Whether the layer is still to come."""
        return self._desk.is_busy or self._turn.isActive()

    def _announce(self, opened: tuple[LayerData | DrawnPart, Points]) -> None:
        """Say what only napari can do, and give the window time to show it."""
        from napari.utils.notifications import show_info

        self._opened = opened
        drawn, _ = opened
        n = len(drawn.layer_data[0] if isinstance(drawn, DrawnPart) else drawn[0])
        show_info(f"napari draws {n:,} points of {self._name}…")
        self._turn.start()

    def _add(self) -> None:
        from napari.utils.notifications import show_info

        assert self._opened is not None  # it was announced
        drawn, whole = self._opened
        layer = make_layer(drawn.layer_data if isinstance(drawn, DrawnPart) else drawn)
        self._viewer.add_layer(layer)
        if isinstance(drawn, DrawnPart):
            WindowedLayer(self._viewer, layer, whole, self._path, drawn.window)
            show_info(drawn.window.describe(len(whole)))
        self.deleteLater()

    def _fail(self, failure: Failure) -> None:
        from napari.utils.notifications import show_error

        show_error(failure.sentence)
        self.deleteLater()


def _read(read: Callable[[], Points], path: str, report: Report) -> tuple[LayerData | DrawnPart, Points]:
    whole = read()
    most = most_drawn(whole)
    if len(whole) <= most:
        return layer_of(whole, path), whole
    return window_part(whole, path, int(whole.frame_numbers[0]), most, report), whole
