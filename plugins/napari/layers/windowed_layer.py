"""A layer of very many tracks or points, of which a window of time around the frame that is shown is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from qtpy.QtCore import QObject

from ....tracker.points import Points, Tracks
from ..threads.connections import Connections
from ..threads.job import Desk, Report
from ..threads.timers import single_shot
from .file_layer import layer_of
from .hand_over import fill_layer
from .layer_tables import OURS, WHOLE, LayerData
from .main_window import main_window
from .preferences import read_preferences
from .window import DrawnWindow, window_around

if TYPE_CHECKING:
    from napari import Viewer

_DEBOUNCE_MS = 200
_POINTS_FOR_A_VERTEX = 10
"""Points that cost napari as much as one vertex of a track: it takes 0.14 s for 100,000 of them."""


@dataclass(frozen=True)
class DrawnPart:
    """A window of tracks or points, ready to be handed to napari.

    Attributes
    ----------
    layer_data : LayerData
    window : DrawnWindow
    """

    layer_data: LayerData
    window: DrawnWindow


def most_drawn(whole: Points) -> int:
    """Return how many rows of a table are drawn at most."""
    most = read_preferences().drawn_vertices
    return most if isinstance(whole, Tracks) else most * _POINTS_FOR_A_VERTEX


def window_part(
    whole: Points, path: str, frame: int, most: int, columns: Mapping[str, str] | None, report: Report
) -> DrawnPart:
    """Return the window around a frame of the tracks or points of a file, as a layer that keeps all of them."""
    del report
    window = window_around(whole, frame, most)
    rows = np.arange(len(whole)) if window.rows is None else np.flatnonzero(window.rows)
    table = pd.concat([whole.table.iloc[rows], _corners(whole)], ignore_index=True)
    data, given, kind = layer_of(replace(whole, table=table), path, columns)
    if kind == "points":
        given |= {"shown": np.arange(len(data)) < len(rows)}
    given["name"] += f" ({window.said})"
    given["metadata"][OURS] |= {WHOLE: whole}
    return DrawnPart((data, given, kind), window)


def _corners(whole: Points) -> pd.DataFrame:
    """Return two rows that are not drawn (of tracks: single vertices); with them the sliders span all frames."""
    span = whole.table[["frame", *whole.axes]]
    corners = whole.table.iloc[[0, -1]].copy()
    corners[list(span.columns)] = np.array([span.min(), span.max()])
    corners["frame"] = corners["frame"].astype(np.int64)
    if isinstance(whole, Tracks):
        corners["track_id"] = int(whole.table["track_id"].max()) + np.array([1, 2])
    return corners


class WindowedLayer(QObject):
    """Keeps a Tracks or Points layer filled with the frames around the one that the viewer shows.

    The layer's metadata holds the whole table, which is what is saved and tracked; its name says what is drawn of it.
    It cannot be edited: the next window would take a change away.
    """

    def __init__(
        self,
        viewer: Viewer,
        layer: Any,
        whole: Points,
        path: str,
        window: DrawnWindow,
        columns: Mapping[str, str] | None,
    ) -> None:
        super().__init__(main_window(viewer))
        self._viewer, self._layer = viewer, layer
        self._whole, self._path, self._window, self._columns = whole, path, window, columns
        layer.editable = False
        self._desk = Desk(self)
        self._desk.returned.connect(self._fill)
        self._timer = single_shot(self, _DEBOUNCE_MS, self._begin)
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
        most = most_drawn(self._whole)
        self._desk.start(partial(window_part, self._whole, self._path, self._frame(), most, self._columns))

    def _fill(self, part: DrawnPart) -> None:
        data, given, kind = part.layer_data
        if kind == "tracks":
            given |= {"color_by": self._layer.color_by, "colormaps_dict": self._layer.colormaps_dict}
        else:
            given |= {"size": self._layer.size[0]}
        fill_layer(self._layer, (data, given, kind))
        self._layer.editable = False  # napari makes it so again with the data
        self._window = part.window

    def _removed(self, event: object = None) -> None:
        del event
        if self._layer not in self._viewer.layers:
            self._connections.drop()
            self._desk.let_go()
            self.deleteLater()
