"""The rows in which the user says which part of a layer is tracked: frames, a region, the intensity under labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qtpy.QtCore import QSignalBlocker, Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtWidgets import QComboBox, QFormLayout, QHBoxLayout, QLabel, QWidget

from ..layers.layer_input import LayerInput
from ..layers.layer_movie import LayerMovie, Restriction
from ..layers.layer_part import region_of, restricted, with_intensity
from ..layers.layer_tables import OURS
from .fields import add_setting
from .number_field import NumberField

if TYPE_CHECKING:
    from napari import Viewer
    from napari.layers import Layer

_WHOLE, _NONE = "whole field", "not measured"
_LARGEST = 2**31 - 1


class PartPanel(QWidget):
    """Signals: `edited()` when another part is to be tracked.

    Attributes
    ----------
    has_input : bool
        Whether there is anything to choose a part of.
    """

    edited = Signal()

    def __init__(self, viewer: Viewer) -> None:
        super().__init__()
        self._viewer = viewer
        self._span: tuple[int, int] | None = None
        self._taken = (0, 0, _WHOLE, _NONE)
        self.has_input = False
        self.first, self.last = (NumberField(-_LARGEST, _LARGEST, is_whole=True) for _ in range(2))
        self.region = QComboBox()
        self.intensity = QComboBox()
        self._lay_out()
        for field in (self.first, self.last):
            field.valueChanged.connect(self._edit)
        for box in (self.region, self.intensity):
            box.currentIndexChanged.connect(self._edit)

    def _lay_out(self) -> None:
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        row = QWidget()
        boxes = QHBoxLayout(row)
        boxes.setContentsMargins(0, 0, 0, 0)
        boxes.addWidget(self.first, 1)
        boxes.addWidget(QLabel("to"))
        boxes.addWidget(self.last, 1)
        add_setting(form, row, "frames", more="First and last.")
        box = "A Shapes layer: the box around its shapes (y, x) is tracked."
        add_setting(form, self.region, "roi", more=box)
        add_setting(form, self.intensity, "intensity")
        self._form = form

    def show_input(self, whole: LayerInput | None) -> None:
        """Offer the frames of an input; what was chosen stays while they are the same."""
        self.has_input = whole is not None
        if whole is None:
            return
        span = whole.frame_numbers[0], whole.frame_numbers[-1]
        if span != self._span:
            self._span = span
            for field, value in zip((self.first, self.last), span, strict=True):
                with QSignalBlocker(field):
                    field.setRange(*span)
                    field.setValue(value)
        self._form.setRowVisible(self.intensity, whole.kind == "labels")

    def list_layers(self) -> None:
        """Offer the layers that there are; what was chosen stays."""
        for box, kind, none in ((self.region, "Shapes", _WHOLE), (self.intensity, "Image", _NONE)):
            names = [
                layer.name for layer in self._viewer.layers if type(layer).__name__ == kind and not _is_ours(layer)
            ]
            before = box.currentText()
            with QSignalBlocker(box):
                box.clear()
                box.addItems([none, *names])
                box.setCurrentText(before if before in names else none)
        self._form.setRowVisible(self.region, self.region.count() > 1)

    def part_of(self, whole: LayerInput, layer: Layer) -> LayerInput:
        """Return the part of an input that is to be tracked.

        Raises
        ------
        InvalidInput
            If it is empty, or a layer chosen here does not fit.
        """
        first, last = int(self.first.value()), int(self.last.value())
        self._taken = first, last, self.region.currentText(), self.intensity.currentText()
        frames = None if (first, last) == self._span else (first, last)
        part = restricted(whole, Restriction(frames, self._region(whole, layer)))
        intensity = self._chosen(self.intensity)
        return part if whole.kind != "labels" or intensity is None else with_intensity(part, intensity)

    def put_back(self) -> None:
        """Show the part that was taken last, without telling anyone."""
        first, last, region, intensity = self._taken
        for field, value in ((self.first, first), (self.last, last)):
            with QSignalBlocker(field):
                field.setValue(value)
        for box, name in ((self.region, region), (self.intensity, intensity)):
            with QSignalBlocker(box):
                box.setCurrentText(name)

    def state(self) -> object:
        """Return what tells whether the shapes of the region are still as they were."""
        shapes = self._chosen(self.region)
        return None if shapes is None else [corners.tobytes() for corners in shapes.data]

    def _region(self, whole: LayerInput, layer: Layer) -> tuple[slice, ...] | None:
        shapes = self._chosen(self.region)
        if shapes is None:
            return None
        if isinstance(whole.source, LayerMovie):
            shape = whole.source.whole_shape
        else:
            shape = tuple(int(high) + 1 for high in whole.source.table[list(whole.source.axes)].max())
        return region_of(shapes, layer, shape)

    def _chosen(self, box: QComboBox) -> Any:
        """Return the layer chosen; None for the first entry, which is no layer."""
        name = box.currentText() if box.currentIndex() > 0 else None
        return next((layer for layer in self._viewer.layers if layer.name == name), None)

    def _edit(self, value: int) -> None:
        del value
        self.edited.emit()


def _is_ours(layer: Layer) -> bool:
    return bool(layer.metadata.get(OURS, {}).get("overlay"))
