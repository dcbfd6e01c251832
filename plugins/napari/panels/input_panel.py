"""Which layer is tracked, what it is taken to be, and how large its voxels are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from qtpy.QtCore import QSignalBlocker, Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtWidgets import QComboBox, QFormLayout, QGroupBox, QHBoxLayout, QLabel, QPushButton, QWidget

from ....tracker.calibrating.calibration import FRAME, PIXEL, Calibration
from ....tracker.calibrating.stated import AXES
from ....tracker.calibrating.units import MICROMETRE, SECOND
from ....tracker.errors import InvalidInput, UnknownAxes
from ..layers.geometry import LENGTHS, apply_calibration, slide_into
from ..layers.hand_over import make_layer
from ..layers.layer_axes import NO_TIME, AxesChoice, call_time_first, rearranged_layers
from ..layers.layer_input import KINDS, LayerInput, file_of, measures_of, read_layer, state_of
from ..layers.layer_tables import OURS, LayerData
from ..layers.own_layers import is_in_use
from ..layers.readers import read_channels
from ..layers.series_shown import show_series
from ..threads.connections import Connections
from ..threads.timers import single_shot
from .axes_panel import AxesPanel
from .fields import LengthField, add_setting, note, say
from .part_panel import PartPanel

if TYPE_CHECKING:
    from napari import Viewer
    from napari.layers import Layer

_UNITS = (*LENGTHS, PIXEL)
_NARROW = (
    "QAbstractSpinBox { min-width: 40px; padding: 1px 4px; }"
    "QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { width: 0px; }"
    "QAbstractSpinBox::up-arrow, QAbstractSpinBox::down-arrow { image: none; width: 0px; }"
)
"""Three in a row: no room for buttons. With NoButtons Qt 6.11.3 draws no text in a field of napari's style."""


_Act = Callable[[], None]


class InputPanel(QGroupBox):
    """Signals.

    `chosen()` when the input has become another one, or its calibration has changed; `take_up()` to go on with its
    links.

    Parameters
    ----------
    viewer : Viewer
    connections : Connections
    before : callable
        Takes what makes the input another one, and what shows again what it was: it does one of them.
    would_lose : callable
        Says whether another input would lose what no file holds: then the input stays though its layer is deleted.
    """

    chosen = Signal()
    take_up = Signal()

    def __init__(
        self,
        viewer: Viewer,
        connections: Connections,
        before: Callable[[_Act, _Act], None],
        would_lose: Callable[[], bool],
    ) -> None:
        super().__init__("Input")
        self._viewer = viewer
        self._connections = connections
        self._before = before
        self._would_lose = would_lose
        self.source: LayerInput | None = None
        self._listed: dict[str, Layer] = {}
        self._chosen: Layer | None = None
        self._deleted: Layer | None = None
        self._state: tuple[object, ...] | None = None
        self._measures: Mapping[str, tuple[Any, ...]] = {}
        self._follow_soon = single_shot(self, 0, self._follow)
        self._is_folded = False
        self._was_amiss = False
        self.layer_box = QComboBox()
        self.axes = AxesPanel()
        self.part = PartPanel(viewer)
        self.summary = note()
        self.problem = note(warning=True)
        self.take_up_button = QPushButton("Check and correct its links")
        self.take_up_button.setToolTip(
            "Show these tracks in 3 Results with the links that they have. Check links then tells how sure each link "
            "is, and where linking with the settings of 2 Link would decide otherwise. To link the particles from "
            "scratch instead, use Run all."
        )
        self.take_up_button.hide()
        self.sizes = [LengthField() for _ in AXES]
        self.unit_box = QComboBox()
        self.unit_box.addItems(_UNITS)
        self.interval = LengthField(auto="not known", suffix=" s")
        for field, axis in zip(self.sizes, AXES, strict=True):
            field.setToolTip(f"Size of a voxel along {axis}")
            field.setStyleSheet(_NARROW)
            field.show_number(1.0)  # while there is no layer
        self._lay_out()
        self._connect()
        self._list_layers()
        if self.layer is None:
            self._choose()  # which says what to do

    def _connect(self) -> None:
        self.layer_box.currentIndexChanged.connect(self._edited)
        self.axes.chosen.connect(lambda choice: self._before(partial(self._take_axes, choice), self._put_back))
        self.part.edited.connect(self._edited)
        self.take_up_button.clicked.connect(self.take_up)
        self.unit_box.currentIndexChanged.connect(self._edited_calibration)
        for field in (*self.sizes, self.interval):
            field.valueChanged.connect(self._edited_calibration)
        layers = self._viewer.layers
        for event in (layers.events.inserted, layers.events.removed, layers.events.renamed):
            self._connections.add(event, self._list_layers)
        self._connections.add(layers.events.inserted, lambda event: self._listen(event.value))
        for layer in layers:
            self._listen(layer)

    def _lay_out(self) -> None:
        form = QFormLayout(self)
        form.addRow("Layer", self.layer_box)
        add_setting(form, self.axes, "axes")
        form.addRow(self.summary)
        form.addRow(self.problem)
        form.addRow(self.take_up_button)
        row = QWidget()
        boxes = QHBoxLayout(row)
        boxes.setContentsMargins(0, 0, 0, 0)
        for field in (*self.sizes, self.unit_box):
            boxes.addWidget(field)
        add_setting(form, row, "scale", "unit")
        add_setting(form, self.interval, "frame_interval")
        form.addRow(self.part)
        self._form, self._sizes, self._sizes_label = form, row, cast("QLabel", form.labelForField(row))
        for label in self.findChildren(QLabel):
            label.setMinimumWidth(0)

    @property
    def layer(self) -> Layer | None:
        """The layer chosen."""
        return self._listed.get(self.layer_box.currentText())

    def fold(self, on: bool) -> None:
        """Leave the room to what stands below: show the layer alone, unless something of it is missing or wrong.

        Where something was, all stays open until the next call: it is mended field by field.
        """
        self._is_folded, self._was_amiss = on, False
        self._show_rows()

    def _show_rows(self) -> None:
        self._was_amiss |= bool(self.problem.text())
        is_open = not self._is_folded or self._was_amiss
        self._form.setRowVisible(self.summary, not self._is_folded and bool(self.summary.text()))
        for row in (self._sizes, self.interval):
            self._form.setRowVisible(row, is_open)
        self._form.setRowVisible(self.part, is_open and self.part.has_input)
        self._form.setRowVisible(self.axes, is_open and self.axes.order.count() > 0)

    def choose_layer(self, name: str) -> None:
        """Choose a layer by its name; corrections of the one before are lost without a question."""
        with QSignalBlocker(self.layer_box):
            self.layer_box.setCurrentText(name)
        if self.layer is not self._chosen:
            self._choose()

    def refresh(self) -> None:
        """Read the layer again if it was changed elsewhere: points moved, a scale set in napari's own controls."""
        layer = self.layer
        if layer is not None and self._state != (state_of(layer), self.part.state()):
            self._choose()

    def _listen(self, layer: Layer) -> None:
        for name in measures_of(layer):
            self._connections.add(getattr(layer.events, name), self._measured_anew)

    def _measured_anew(self, event: Any) -> None:
        """Follow scale, units or axes set elsewhere, once all that is set together is set."""
        if event.source is self.layer:
            self._follow_soon.start()

    def _follow(self) -> None:
        """Take the layer as it measures now, or give it back its measures where its corrections are to stay."""
        layer = self.layer
        if layer is not None and self._measures != measures_of(layer):
            self._before(self._choose, partial(_measure, layer, self._measures))

    def _list_layers(self, event: object = None) -> None:
        del event
        kept = self._kept()
        there = [*self._viewer.layers, *kept.values()]
        listed = {
            layer.name: layer
            for layer in self._viewer.layers
            if type(layer).__name__ in KINDS and not is_in_use(layer, there)
        }
        listed |= kept
        self._listed = dict(sorted(listed.items(), key=lambda each: _is_tracks(each[1])))  # results come last
        self.part.list_layers()
        if [*self._listed] == [self.layer_box.itemText(k) for k in range(self.layer_box.count())]:
            return
        looked_at = self._looked_at()
        with QSignalBlocker(self.layer_box):
            self.layer_box.clear()
            self.layer_box.addItems([*self._listed])
        if self._chosen is not None:
            self._show_choice(self._chosen)
        elif looked_at is not None and not _is_tracks(looked_at):
            self._show_choice(looked_at)
        if self.layer is not self._chosen or self.source is None:
            self._choose()

    def _looked_at(self) -> Layer | None:
        """Return what the user looks at, the input to begin with: what is selected, unless it is hidden."""
        layers = self._viewer.layers
        selected = layers.selection.active
        shown = (layer for layer in reversed(layers) if layer.visible and layer.name in self._listed)
        return selected if selected is None or selected.visible else next(shown, selected)

    def _kept(self) -> dict[str, Layer]:
        """Return the layer chosen, and how it is listed, where it stays the input though it is deleted."""
        layer, is_kept = self._chosen, self._chosen is self._deleted or self._would_lose()
        self._deleted = layer if is_kept and layer not in self._viewer.layers else None
        if layer is None or self._deleted is None:
            return {}
        say(self.problem, f"{layer.name} is deleted. Its tracks and corrections are still here: Export… saves them.")
        return {f"{layer.name} (deleted)": layer}

    def _show_choice(self, layer: Layer) -> None:
        """Show which layer is chosen, if it is listed."""
        with QSignalBlocker(self.layer_box):
            name = next(
                (name for name, each in self._listed.items() if each == layer), ""
            )  # napari's proxies are equal
            self.layer_box.setCurrentText(name)

    def _edited(self, index: int = 0) -> None:
        """Take another layer or part, if what is lost by that may be lost."""
        del index
        self._before(self._choose, self._put_back)

    def _edited_calibration(self, value: object) -> None:
        del value
        by_size = self.sender() in self.sizes
        self._before(partial(self._recalibrate, by_size=by_size), self._put_back)

    @property
    def has_links(self) -> bool:
        """Whether the input is tracks that were saved, whose links may be taken up."""
        return self.source is not None and self.source.has_links

    def _put_back(self) -> None:
        """Show again what the input is: it is to stay."""
        if self._chosen is None or self.source is None:
            return
        self._show_choice(self._chosen)
        self.axes.show_layer(self._chosen)
        self.part.put_back()
        self._show_calibration(self.source.calibration, self.source.ndim)

    def _choose(self) -> None:
        self._was_amiss &= self.layer is self._chosen
        before, self._chosen = self._chosen, self.layer
        layer = self._chosen
        if layer is not None and layer is not before:
            show_series(self._viewer, layer)
        self.source, problem = None, ""
        self._state = None if layer is None else (state_of(layer), self.part.state())
        self._measures = {} if layer is None else measures_of(layer)
        self.axes.show_layer(layer)
        if layer is None:
            self.part.show_input(None)
            problem = "Open a movie or a point table, or File > Open Sample > auctrack."
        else:
            try:
                self.source = self._read(layer)
            except InvalidInput as error:
                problem = str(error)
        say(self.problem, problem)
        say(self.summary, "" if self.source is None else self.source.summary)
        self.take_up_button.setVisible(self.has_links)
        if self.source is not None:
            self._show_calibration(self.source.calibration, self.source.ndim)
        else:
            self._show_numbers(Calibration())  # not those of the layer before
        for field in (*self.sizes, self.unit_box, self.interval):
            field.setEnabled(self.source is not None)
        self._show_rows()
        self.chosen.emit()
        if self._deleted not in (None, layer):
            self._list_layers()  # it has gone for good

    def _read(self, layer: Layer) -> LayerInput:
        """Return the part of a layer that is to be tracked."""
        self.part.show_input(None)
        whole = read_layer(layer)
        self.part.show_input(whole)
        return self.part.part_of(whole, layer)

    def _take_axes(self, choice: AxesChoice) -> None:
        """Take the axes for what the user says they are; a layer whose axes stand in another order is made again."""
        layer = self.layer
        if layer is None:
            return
        if choice.keeps_the_data:
            layer.metadata[OURS] = layer.metadata.get(OURS, {}) | {
                "axes_choice": choice.letters,
                "axes": choice.letters,
            }
            if choice.letters != NO_TIME:
                call_time_first(layer)
            self._choose()
            return
        try:
            made = _in_order(layer, choice)
        except (InvalidInput, UnknownAxes) as error:
            say(self.problem, str(error))
            return
        layer.visible = False
        for layer_data in made:
            self._viewer.add_layer(make_layer(layer_data))
        first = self._viewer.layers[-len(made)]
        self.choose_layer(first.name)
        slide_into(self._viewer.dims, first)

    def _show_numbers(self, calibration: Calibration) -> None:
        for field, size in zip(self.sizes, calibration.scale, strict=True):
            field.show_number(size)
        with QSignalBlocker(self.unit_box):
            self.unit_box.setCurrentText(calibration.unit if calibration.unit in _UNITS else PIXEL)
        self.interval.show_number(calibration.frame_interval)

    def _show_calibration(self, calibration: Calibration, ndim: int) -> None:
        self._show_numbers(calibration)
        self.sizes[0].setVisible(ndim == 3)
        self._sizes_label.setText(f"Voxel {', '.join(AXES[-ndim:])}")
        if not calibration.is_physical:
            say(self.problem, "The voxel size is not known: distances are in pixels. Enter it and choose µm.")

    def _recalibrate(self, *, by_size: bool) -> None:
        """Write what was typed into the layer; whole sizes typed while the unit is unknown make it µm."""
        layer, source = self.layer, self.source
        if layer is None or source is None:
            return
        sizes = [float(field.value()) for field in self.sizes]
        unit = self.unit_box.currentText()
        interval = self.interval.number
        if by_size and unit == PIXEL:
            unit = MICROMETRE
        known = replace(
            source.calibration,
            scale=(sizes[0], sizes[1], sizes[2]),
            unit=unit,
            frame_interval=interval,
            time_unit=FRAME if interval is None else SECOND,
        )
        step = self._viewer.dims.current_step
        apply_calibration(layer, known)
        self._viewer.dims.current_step = step
        self._viewer.reset_view()
        self._choose()


def _measure(layer: Layer, measures: Mapping[str, tuple[Any, ...]]) -> None:
    for name, value in measures.items():
        setattr(layer, name, value)


def _is_tracks(layer: object) -> bool:
    return type(layer).__name__ == "Tracks"


def _in_order(layer: Layer, choice: AxesChoice) -> Sequence[LayerData]:
    """Return layers in the order time, z, y, x: of the file where it says nothing of its axes, else of the data."""
    kept = layer.metadata.get(OURS, {})
    if kept.get("silent"):
        return read_channels(kept["path"], choice.of_file, kept.get("series"))
    return rearranged_layers(layer, choice, None if "path" in kept else file_of(layer))
