"""Detection in the frame that is shown, again whenever a setting or the frame changes, but not while it is changing."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from qtpy.QtCore import QObject, Signal  # pyright: ignore[reportPrivateImportUsage]

from ....tracker.calibrating.stated import AXES
from ....tracker.detecting.defects import without_defects
from ....tracker.detecting.detect import detect_frame, resolve_settings
from ....tracker.detecting.settings import DetectSettings
from ..layers.depth import Depth
from ..layers.geometry import lay_over, placed_like
from ..layers.layer_input import LayerInput
from ..layers.layer_movie import LayerMovie
from ..layers.layer_tables import OURS
from ..threads.connections import Connections
from ..threads.job import Desk, Report
from ..threads.timers import single_shot

if TYPE_CHECKING:
    from napari import Viewer
    from napari.layers import Layer

_DEBOUNCE_MS = 250
NAME = "preview"


class Preview(QObject):
    """Signals: `found(sentence)`, `failed(Failure)`."""

    found = Signal(str)
    failed = Signal(object)

    def __init__(self, viewer: Viewer, connections: Connections, depth: Depth, parent: QObject) -> None:
        super().__init__(parent)
        self._viewer = viewer
        self._depth = depth
        self._layer: Any = None
        self._wanted: tuple[Layer, LayerMovie, DetectSettings] | None = None
        self._desk = Desk(self)
        self._desk.returned.connect(self._show)
        self._desk.failed.connect(self.failed)
        self._timer = single_shot(self, _DEBOUNCE_MS, self._begin)
        connections.add(viewer.dims.events.current_step, self._again)

    @property
    def is_busy(self) -> bool:
        """Whether a preview is still to come."""
        return self._timer.isActive() or self._desk.is_busy

    @property
    def layer(self) -> Any:
        """The preview's layer while it is in the viewer."""
        return self._layer if self._layer is not None and self._layer in self._viewer.layers else None

    def want(
        self, layer: Layer | None, source: LayerInput | None, settings: DetectSettings | None, *, on: bool
    ) -> None:
        """Preview a layer with these settings from now on, or nothing."""
        movie = None if source is None else source.source
        if on and layer is not None and settings is not None and isinstance(movie, LayerMovie):
            if self._wanted is not None and self._wanted[0] is not layer:
                self._remove()  # it may have fewer axes
            self._wanted = layer, movie, settings
            self._again()
        else:
            self.let_go()

    def let_go(self) -> None:
        """Preview nothing any longer, and say no more what was found."""
        self._wanted = None
        self._timer.stop()
        self._desk.let_go()
        self._remove()
        self.found.emit("")

    def _remove(self) -> None:
        if self.layer is not None:
            self._viewer.layers.remove(self.layer)
        self._layer = None

    def _again(self, event: object = None) -> None:
        del event
        if self._wanted is not None:
            self._timer.start()

    def _begin(self) -> None:
        if self._wanted is None:
            return
        layer, movie, settings = self._wanted
        point = np.asarray(self._viewer.dims.point)[-layer.ndim :]
        frame = round(float(np.asarray(layer.world_to_data(point))[0]))
        if frame in movie.frame_numbers:
            self._desk.start(partial(_detect, movie, settings, frame))

    def _show(self, result: tuple[int, pd.DataFrame, DetectSettings]) -> None:
        from napari.layers import Points as PointsLayer

        frame, table, settings = result
        if self._wanted is None:
            return
        self.found.emit(f"Preview: {len(table):,} particles in frame {frame} (threshold {settings.threshold:.4g}).")
        layer, movie, _ = self._wanted
        axes = list(AXES[3 - movie.ndim :])
        places = table[axes].to_numpy(dtype=np.float64) + movie.origin
        flat = np.zeros((len(table), layer.ndim - 1 - movie.ndim))
        data = np.column_stack([np.full(len(table), float(frame)), flat, places])
        size = settings.known_diameter / movie.calibration.scale[2]
        if self.layer is None:
            self._layer = PointsLayer(data, **_look(size), **placed_like(layer))
            self._viewer.add_layer(self._layer)
            self._viewer.layers.selection.active = layer
            self._depth.show(self._layer)
        else:
            self.layer.data = data
            lay_over(self.layer, layer)
            self.layer.size = size


def _detect(
    movie: LayerMovie, settings: DetectSettings, frame: int, report: Report
) -> tuple[int, pd.DataFrame, DetectSettings]:
    report(None)
    mended = without_defects(movie)
    effective = resolve_settings(mended, settings)
    table = detect_frame(mended.frame(frame), effective, movie.calibration.scale_for(movie.ndim))
    return frame, table, effective


def _look(size: float) -> dict[str, Any]:
    return {
        "name": NAME,
        "size": size,
        "face_color": "transparent",
        "border_color": "#ffb03b",
        "border_width": 0.08,
        "projection_mode": "all",
        "metadata": {OURS: {"overlay": True}},
    }
