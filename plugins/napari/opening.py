"""Large tables opened from napari's menu: read in another thread, and of the tracks a window of time is drawn.

napari reads files in its main thread and takes 5 s for a Tracks layer of a million vertices.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from qtpy.QtCore import QObject, QTimer

from ...tracker.points import Tracks
from .hand_over import make_layer
from .job import Desk, Failure, Report
from .layer_tables import LayerData, tracks_layer
from .main_window import main_window
from .preferences import read_preferences
from .windowed_tracks import TracksPart, WindowedTracks, window_part

if TYPE_CHECKING:
    from napari import Viewer

Opened = LayerData | Tracks
"""A layer as it is, or tracks of which a window is drawn where they are many."""

_TURN_MS = 50  # in which the window paints what was announced


def open_in_background(viewer: Viewer, name: str, read: Callable[[], Opened]) -> None:
    """Read a table in another thread, then add its layer to the viewer; napari's messages say how it goes."""
    _Opening(viewer, name, read)


class _Opening(QObject):
    """One table on its way; it goes with the viewer's window."""

    def __init__(self, viewer: Viewer, name: str, read: Callable[[], Opened]) -> None:
        super().__init__(main_window(viewer))
        from napari.utils.notifications import show_info

        self._viewer = viewer
        self._name = name
        self._opened: tuple[LayerData | TracksPart, Tracks | None] | None = None
        self._desk = Desk(self)
        self._desk.returned.connect(self._announce)
        self._desk.failed.connect(self._fail)
        self._turn = QTimer(self)
        self._turn.setSingleShot(True)
        self._turn.setInterval(_TURN_MS)
        self._turn.timeout.connect(self._add)
        show_info(f"{name} is large: it is read in the background.")
        self._desk.start(partial(_read, read, name, read_preferences().drawn_vertices))

    @property
    def is_busy(self) -> bool:
        """Whether the layer is still to come."""
        return self._desk.is_busy or self._turn.isActive()

    def _announce(self, opened: tuple[LayerData | TracksPart, Tracks | None]) -> None:
        """Say what only napari can do, and give the window time to show it."""
        from napari.utils.notifications import show_info

        self._opened = opened
        drawn, _ = opened
        n = len(drawn.layer_data[0] if isinstance(drawn, TracksPart) else drawn[0])
        show_info(f"napari draws {n:,} points of {self._name}…")
        self._turn.start()

    def _add(self) -> None:
        from napari.utils.notifications import show_info

        assert self._opened is not None  # it was announced
        drawn, tracks = self._opened
        layer = make_layer(drawn.layer_data if isinstance(drawn, TracksPart) else drawn)
        self._viewer.add_layer(layer)
        if isinstance(drawn, TracksPart) and tracks is not None:
            WindowedTracks(self._viewer, layer, tracks, self._name, drawn.window)
            show_info(drawn.window.describe(len(tracks)))
        self.deleteLater()

    def _fail(self, failure: Failure) -> None:
        from napari.utils.notifications import show_error

        show_error(failure.sentence)
        self.deleteLater()


def _read(
    read: Callable[[], Opened], name: str, most: int, report: Report
) -> tuple[LayerData | TracksPart, Tracks | None]:
    opened = read()
    if not isinstance(opened, Tracks):
        return opened, None
    if len(opened) <= most:
        return tracks_layer(opened, name), None
    return window_part(opened, name, int(opened.frame_numbers[0]), most, report), opened
