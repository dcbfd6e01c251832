"""A Tracks layer of very many vertices, of which a window of time around the frame that is shown is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from qtpy.QtCore import QObject, QTimer

from ...tracker.points import Tracks
from .connections import Connections
from .hand_over import fill_layer
from .job import Desk, Report
from .layer_tables import OURS, LayerData, tracks_layer
from .main_window import main_window
from .preferences import read_preferences
from .window import Window, window_around

if TYPE_CHECKING:
    from napari import Viewer

_DEBOUNCE_MS = 200


@dataclass(frozen=True)
class TracksPart:
    """A window of tracks, ready to be handed to napari.

    Attributes
    ----------
    layer_data : LayerData
    window : Window
    """

    layer_data: LayerData
    window: Window


def window_part(tracks: Tracks, name: str, frame: int, most: int, report: Report) -> TracksPart:
    """Return the window of tracks around a frame, as a layer that keeps all of them."""
    del report
    window = window_around(tracks, frame, most)
    rows = np.arange(len(tracks)) if window.rows is None else np.flatnonzero(window.rows)
    table = pd.concat([tracks.table.iloc[rows], _corners(tracks)], ignore_index=True)
    shown = Tracks(table, tracks.calibration, tracks.parents)
    subset = f", one track of {window.every}" if window.every > 1 else ""
    data, given, kind = tracks_layer(shown, f"{name} (frames {window.first} to {window.last}{subset})")
    given["metadata"][OURS] |= {"tracks": tracks}
    return TracksPart((data, given, kind), window)


def _corners(tracks: Tracks) -> pd.DataFrame:
    """Return two lone vertices, which napari does not draw: with them its sliders span all frames, drawn or not."""
    span = tracks.table[["frame", *tracks.axes]]
    corners = tracks.table.iloc[[0, -1]].copy()
    corners[list(span.columns)] = np.array([span.min(), span.max()])
    corners["frame"] = corners["frame"].astype(np.int64)
    corners["track_id"] = int(tracks.table["track_id"].max()) + np.array([1, 2])
    return corners


class WindowedTracks(QObject):
    """Keeps a Tracks layer filled with the frames around the one that the viewer shows.

    The layer's metadata holds all tracks, so that saving writes them all; its name says which frames are drawn.
    """

    def __init__(self, viewer: Viewer, layer: Any, tracks: Tracks, name: str, window: Window) -> None:
        super().__init__(main_window(viewer))
        self._viewer, self._layer = viewer, layer
        self._tracks, self._name, self._window = tracks, name, window
        self._desk = Desk(self)
        self._desk.returned.connect(self._fill)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_DEBOUNCE_MS)
        self._timer.timeout.connect(self._begin)
        self._connections = Connections()
        self._connections.add(viewer.dims.events.current_step, self._stepped)
        self._connections.add(viewer.layers.events.removed, self._removed)
        self.destroyed.connect(self._connections.drop)

    @property
    def is_busy(self) -> bool:
        """Whether another window is still to be drawn."""
        return self._timer.isActive() or self._desk.is_busy

    def _frame(self) -> int:
        point = np.asarray(self._viewer.dims.point)[-self._layer.ndim :]
        return round(float(np.asarray(self._layer.world_to_data(point))[0]))

    def _stepped(self, event: object = None) -> None:
        del event
        if not self._window.shows(self._frame()):
            self._timer.start()

    def _begin(self) -> None:
        most = read_preferences().drawn_vertices
        self._desk.start(partial(window_part, self._tracks, self._name, self._frame(), most))

    def _fill(self, part: TracksPart) -> None:
        data, given, kind = part.layer_data
        look = {"color_by": self._layer.color_by, "colormaps_dict": self._layer.colormaps_dict}
        fill_layer(self._layer, (data, given | look, kind))
        self._window = part.window

    def _removed(self, event: object = None) -> None:
        del event
        if self._layer not in self._viewer.layers:
            self._connections.drop()
            self._desk.let_go()
            self.deleteLater()
