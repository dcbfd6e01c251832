"""The row in which the user says which axis of a layer is what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qtpy.QtCore import QSignalBlocker, Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtWidgets import QComboBox, QHBoxLayout, QSpinBox, QWidget

from ..layers.layer_axes import ROW, UNDECIDED, AxesChoice, axes_choices, chosen_axes, has_a_choice

if TYPE_CHECKING:
    from napari.layers import Layer

_MOST_PLANES = 100_000


class AxesPanel(QWidget):
    """Signals: `chosen(AxesChoice)` when the user has said what the axes are."""

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.order = QComboBox()
        self.order.setToolTip("What the axes of the layer are, in its own order; wrong ones are put in order.")
        self.planes = QSpinBox()
        self.planes.setRange(1, _MOST_PLANES)
        self.planes.setKeyboardTracking(False)
        self.planes.setPrefix("z planes: ")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.order, 2)
        row.addWidget(self.planes, 1)
        self.order.currentIndexChanged.connect(self._choose)
        self.planes.valueChanged.connect(self._choose)

    def show_layer(self, layer: Layer | None) -> None:
        """Offer what the axes of a layer can be, and show what they are taken to be."""
        known = None if layer is None else chosen_axes(layer)
        offered = axes_choices(layer.ndim) if layer is not None and has_a_choice(layer) else {}
        if offered and known is None and "TYX" not in offered and "TZYX" not in offered:
            known = UNDECIDED  # with channels no order is taken for granted
        with QSignalBlocker(self.order), QSignalBlocker(self.planes):
            self.order.clear()
            if known == UNDECIDED:
                self.order.addItem("choose…", UNDECIDED)
            for letters, words in offered.items():
                self.order.addItem(words, letters)
            self.order.setCurrentIndex(max(self.order.findData(known), 0))
            self.planes.setValue(1)
        self.setVisible(bool(offered))
        self._show_planes()

    def _show_planes(self) -> None:
        self.planes.setVisible(self.order.currentData() == ROW)

    def _choose(self, value: int) -> None:
        del value
        self._show_planes()
        letters, planes = self.order.currentData(), int(self.planes.value())
        if letters != UNDECIDED and (letters != ROW or planes > 1):
            self.chosen.emit(AxesChoice(letters, planes))
