"""Large tables opened from napari's menu: read in another thread, and of very many rows a window of time is drawn.

napari reads files in its main thread. A Tracks layer of a million vertices takes it 5 s; a Points layer of ten million
7 s, and 1.5 s for each frame that is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from qtpy.QtCore import QObject

from ....tracker.errors import UnknownColumns
from ....tracker.points import Points
from ..threads.job import Desk, Failure, Report
from ..threads.timers import single_shot
from .columns_dialog import ask_columns
from .file_layer import layer_of
from .hand_over import make_layer
from .layer_tables import LayerData
from .main_window import main_window
from .windowed_layer import DrawnPart, WindowedLayer, most_drawn, window_part

if TYPE_CHECKING:
    from napari import Viewer

_TURN_MS = 50  # in which the window paints what was announced


Columns = Mapping[str, str] | None
"""Names of columns that the user gave, if any."""


def open_in_background(viewer: Viewer, path: str, read: Callable[[Columns], Points]) -> None:
    """Read a table in another thread, then add its layer to the viewer; napari's messages say how it goes."""
    _Opening(viewer, path, read)


class _Opening(QObject):
    """One table on its way; it goes with the viewer's window."""

    def __init__(self, viewer: Viewer, path: str, read: Callable[[Columns], Points]) -> None:
        super().__init__(main_window(viewer))
        from napari.utils.notifications import show_info

        self._viewer = viewer
        self._path, self._name = path, Path(path).name
        self._read = read
        self._columns: Columns = None
        self._opened: tuple[LayerData | DrawnPart, Points] | None = None
        self._desk = Desk(self)
        self._desk.returned.connect(self._announce)
        self._desk.failed.connect(self._fail)
        self._turn = single_shot(self, _TURN_MS, self._add)
        show_info(f"{self._name} is large: it is read in the background.")
        self._begin()

    def _begin(self) -> None:
        self._desk.start(partial(_read, self._read, self._path, self._columns))

    @property
    def is_busy(self) -> bool:
        """Whether the layer is still to come."""
        return self._desk.is_busy or self._turn.isActive()

    def _announce(self, opened: tuple[LayerData | DrawnPart, Points] | UnknownColumns) -> None:
        """Say what only napari can do, and give the window time to show it."""
        from napari.utils.notifications import show_info

        if isinstance(opened, UnknownColumns):
            self._ask(opened)
            return
        self._opened = opened
        drawn, _ = opened
        n = len(drawn.layer_data[0] if isinstance(drawn, DrawnPart) else drawn[0])
        show_info(f"napari draws {n:,} points of {self._name}…")
        self._turn.start()

    def _ask(self, unknown: UnknownColumns) -> None:
        """Ask which column is which, and read the table again by the answer."""
        self._columns = ask_columns(self._path, unknown, main_window(self._viewer))
        if self._columns is None:
            self.deleteLater()
        else:
            self._begin()

    def _add(self) -> None:
        from napari.utils.notifications import show_info

        assert self._opened is not None  # it was announced
        drawn, whole = self._opened
        layer = make_layer(drawn.layer_data if isinstance(drawn, DrawnPart) else drawn)
        self._viewer.add_layer(layer)
        if isinstance(drawn, DrawnPart):
            WindowedLayer(self._viewer, layer, whole, self._path, drawn.window, self._columns)
            show_info(drawn.window.describe(len(whole)))
        self.deleteLater()

    def _fail(self, failure: Failure) -> None:
        from napari.utils.notifications import show_error

        show_error(failure.sentence)
        self.deleteLater()


def _read(
    read: Callable[[Columns], Points], path: str, columns: Columns, report: Report
) -> tuple[LayerData | DrawnPart, Points] | UnknownColumns:
    try:
        whole = read(columns)
    except UnknownColumns as unknown:
        return unknown  # the window's thread asks
    most = most_drawn(whole)
    if len(whole) <= most:
        return layer_of(whole, path, columns), whole
    return window_part(whole, path, int(whole.frame_numbers[0]), most, columns, report), whole
