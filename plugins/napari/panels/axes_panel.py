"""The row in which the user says which axis of a layer is what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from qtpy.QtCore import QSignalBlocker, Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtWidgets import QComboBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from ..layers.layer_axes import (
    ROW,
    UNDECIDED,
    AxesChoice,
    axes_choices,
    chosen_axes,
    has_a_choice,
    is_depth_first,
)
from .number_field import NumberField

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
        self.planes = NumberField(1, _MOST_PLANES, auto="how many?", is_whole=True)
        self._row = QWidget()
        row = QHBoxLayout(self._row)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(QLabel("z planes"))
        row.addWidget(self.planes, 1)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.addWidget(self.order)
        rows.addWidget(self._row)
        self.order.currentIndexChanged.connect(self._choose)
        self.planes.valueChanged.connect(self._choose)

    def show_layer(self, layer: Layer | None) -> None:
        """Offer what the axes of a layer can be, and show what they are taken to be."""
        known = None if layer is None else chosen_axes(layer)
        offered = axes_choices(layer.ndim) if layer is not None and has_a_choice(layer) else {}
        if layer is not None and known is None and not _is_usual(layer, offered):
            known = UNDECIDED
        with QSignalBlocker(self.order):
            self.order.clear()
            if offered and known == UNDECIDED:
                self.order.addItem("choose…", UNDECIDED)
            for letters, words in offered.items():
                self.order.addItem(words, letters)
            self.order.setCurrentIndex(max(self.order.findData(known), 0))
            self.planes.show_number(None)
        self.setVisible(bool(offered))
        self._show_planes()

    def _show_planes(self) -> None:
        self._row.setVisible(self.order.currentData() == ROW)

    def _choose(self, value: int) -> None:
        del value
        self._show_planes()
        letters, planes = self.order.currentData(), self.planes.number
        if letters != UNDECIDED:
            self.chosen.emit(AxesChoice(letters, None if planes is None else int(planes)))


def _is_usual(layer: Layer, offered: Mapping[str, str]) -> bool:
    """Whether a layer is taken to be time, z, y, x or time, y, x: not with channels, nor where it says otherwise."""
    return ("TYX" in offered or "TZYX" in offered) and not is_depth_first(layer)
