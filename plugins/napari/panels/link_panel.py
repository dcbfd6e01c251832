"""Step 2: how far a particle may go between two frames, beside how far particles are apart and how far they go."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from qtpy.QtCore import QSignalBlocker, Qt, Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtWidgets import QComboBox, QFormLayout, QPushButton, QWidget

from ....matching.solvers import SOLVERS
from ....tracker.linking.settings import PENALTIES, SEGMENT_RANGES, LinkSettings, idle_settings
from ...words.setting_options import LINK
from ..layers.preferences import Preferences
from ..session.advice import LinkAdvice, range_warning
from ..session.devices import Devices
from .chart import Chart
from .fields import add_setting, column_below, note, say
from .setting_fields import SettingFields

_CHOICES: Mapping[str, Mapping[str, str]] = {
    "linking": {"auctrack": "whole movie, by likelihood", "jaqaman": "Jaqaman, as TrackMate"},
    "motion": {
        "auto": "learned: chosen by the data",
        "diffusion": "learned: steps only",
        "velocity": "learned: own steps",
        "flow": "learned: neighbours' steps",
        "flow+velocity": "learned: both",
        "none": "none: distance alone",
    },
    "cost": {"squared": "squared distance"},
    "solver": {
        "auction": "Auction",
        "hungarian-classical": "Hungarian, classical",
        "hungarian-tree": "Hungarian, tree",
        "jv": "Jonker-Volgenant",
    },
    "device": {"auto": "auto", "cpu": "CPU"},
}
_EMPTY = {
    "features": "auto; or none, or intensity,size",
    **dict.fromkeys(PENALTIES, "none; such as intensity=1"),
    "memory_budget_gb": "4 GB; or 16GB, or 500MB",
}
_ENABLED = Qt.ItemDataRole.UserRole - 1  # a standard item's flags: 0 greys it out
_DEVICES = tuple(_CHOICES["device"].items())
_NO_GPU = "no gpu"
_HOW_GPU = "auctrack uses NVIDIA GPUs: install it with cuda13 or cuda12 (README, Install), and install NVIDIA's driver."
_FIRST = ("linking", "motion", "search_range")


class LinkPanel(QWidget):
    """Signals: `edited()` on every change, `suggest()`, `run()`."""

    edited = Signal()
    suggest = Signal()
    run = Signal()

    def __init__(self, preferences: Preferences) -> None:
        super().__init__()
        self._advice: LinkAdvice | None = None
        self._shows_links = False
        self._unit = "pixel"
        self._on_gpu: frozenset[str] | None = None
        self.steps = Chart("steps to the mutual nearest particle of the next frame")
        self.neighbours = Chart("distance to the nearest neighbour in the same frame")
        self.warning = note(warning=True)
        self.reason = note()
        self.learned = note()
        self.suggest_button = QPushButton("Suggest")
        self.run_button = QPushButton("Link")
        self.fields = SettingFields(LinkSettings, LINK, _CHOICES, _EMPTY)
        self.search_range, self.unmatched = (self.fields.lengths[name] for name in ("search_range", "unmatched_cost"))
        boxes = self.fields.choices
        self.linking, self.motion, self.cost, self.solver, self.device = (boxes[name] for name in _CHOICES)
        self._lay_out()
        self._allow_for_motion()
        _show_choice(self.cost, preferences.cost)
        _show_choice(self.solver, preferences.solver)
        _show_choice(self.device, preferences.device)
        self._connect()

    def _connect(self) -> None:
        self.device.currentIndexChanged.connect(self._allow_for_device)
        for box in (self.motion, self.linking):
            box.currentIndexChanged.connect(self._other_motion)
        for changed in (self.search_range.valueChanged, self.cost.currentIndexChanged):
            changed.connect(self._forget_unmatched_cost)
        self.fields.when_changed(self._changed)
        for chart in (self.steps, self.neighbours):
            chart.moved.connect(self._dragged)
        self.suggest_button.clicked.connect(self.suggest)
        self.run_button.clicked.connect(self.run)

    def _lay_out(self) -> None:
        column = column_below(self, self.suggest_button, self.run_button)
        first, self._more = QFormLayout(), QFormLayout()
        fields = self.fields.in_order()
        for name in (*_FIRST, *(name for name in fields if name not in _FIRST)):
            add_setting(first if name in _FIRST else self._more, fields[name], name)
        column.addLayout(first)
        column.addWidget(self.warning)
        column.addWidget(self.steps)
        column.addWidget(self.neighbours)
        column.addLayout(self._more)
        column.addWidget(self.reason)
        column.addWidget(self.learned)
        column.addStretch()

    @property
    def settings(self) -> LinkSettings:
        """What the panel says; what linking and motion as chosen have no use for is left out.

        Raises
        ------
        InvalidSetting
            If a text is not what its setting takes, such as pairs of a name and a weight.
        """
        return LinkSettings(**self.fields.said(but=self._idle))

    @property
    def _idle(self) -> tuple[str, ...]:
        return idle_settings(self.linking.currentData(), self.motion.currentData())

    @property
    def _learns(self) -> bool:
        """Whether auto is learned in the run, not measured from the distances between particles."""
        return self.linking.currentData() != "jaqaman" and self.motion.currentData() != "none"

    def set_unit(self, unit: str) -> bool:
        """Show the unit of lengths; say whether a length typed in another unit was put back to auto."""
        self._unit = unit
        return self.fields.set_unit(unit)

    def show_devices(self, devices: Devices) -> str | None:
        """Offer the GPUs by name, or say why there is none; return the device that was chosen if it is not here."""
        chosen, self._on_gpu = self.device.currentData(), devices.on_gpu
        found = [*_DEVICES, *([("cuda", "any GPU")] if chosen == "cuda" and devices.gpus else []), *devices.gpus]
        is_here = chosen in [value for value, _ in found]
        with QSignalBlocker(self.device):
            self.device.clear()
            for value, name in found:
                self.device.addItem(name, value)
            if devices.why_none:
                self.device.addItem(f"GPU: {devices.why_none}", _NO_GPU)
                _allow(self.device, _NO_GPU, why_not=_HOW_GPU)
        _show_choice(self.device, chosen if is_here else "auto")
        self._allow_for_device()
        return None if is_here else chosen

    def _allow_for_device(self) -> None:
        """Offer the solvers that run on the device chosen; one that does not gives way to auto."""
        is_gpu = self.device.currentData() not in [value for value, _ in _DEVICES]
        for name in SOLVERS:
            runs = not is_gpu or self._on_gpu is None or name in self._on_gpu
            _allow(self.solver, name, why_not="" if runs else "It runs on a CPU only: choose the device auto or CPU.")
            if not runs and self.solver.currentData() == name:
                self.solver.setCurrentIndex(self.solver.findData("auto"))

    def forget(self) -> None:
        """Show nothing of the particles and links before; what the user typed stays."""
        for field in (self.search_range, self.unmatched):
            field.show_found(None)
        self._advice, self._shows_links = None, False
        self.steps.clear()
        self.neighbours.clear()
        say(self.reason, "")
        say(self.learned, "")
        self._warn()

    def show_reason(self, text: str) -> None:
        """Say what decided between linking and not linking."""
        say(self.learned, text)

    def show_advice(self, advice: LinkAdvice | None, *, take: bool) -> None:
        """Show histograms and reasons, and `take` the range as what auto is found to be; else links shown stay."""
        self._advice = advice
        if advice is None:
            say(self.reason, "No frame has two particles at different places, so there is no distance to read.")
            return
        if take:
            self.search_range.show_number(None)
            self.search_range.show_found(None if self._learns else advice.search_range)
        self._give_reason(advice)
        limit = [self.search_range.shown or advice.search_range]
        unit = self._unit
        if take or not self._shows_links:
            self._shows_links = False
            self.steps.title = f"step to the mutual nearest particle of the next frame ({unit})"
            self.steps.show_values(advice.steps, limits=limit, keeps_below=True)
        self.neighbours.title = f"distance to the nearest neighbour in the same frame ({unit})"
        self.neighbours.show_values(advice.neighbours, limits=limit, marks=[(advice.spacing, "mean")], keeps_below=True)
        self._warn()

    def _give_reason(self, advice: LinkAdvice) -> None:
        learned = " Auto reaches as far as the steps learned in a run." if self._learns else ""
        say(self.reason, f"{advice.reason}{learned}")

    def show_links(self, distances: np.ndarray) -> None:
        """Show the steps that were linked."""
        self._shows_links = True
        self.steps.title = f"length of the links ({self._unit})"
        limit = self.search_range.shown
        self.steps.show_values(distances, limits=[] if limit is None else [limit], keeps_below=True)

    def show_settings(self, settings: LinkSettings, asked: LinkSettings) -> None:
        """Show the settings that took effect, beside what said auto when they were `asked` for."""
        for field, name in ((self.search_range, "search_range"), (self.unmatched, "unmatched_cost")):
            value, was_auto = getattr(settings, name), getattr(asked, name) == "auto"
            field.show_found(float(value) if was_auto and value != "auto" else None)
        self._warn()

    def _warn(self) -> None:
        limit, advice = self.search_range.shown, self._advice
        say(self.warning, "" if limit is None or advice is None else range_warning(limit, advice, self._unit))

    def _other_motion(self, value: object) -> None:
        """Take back what auto was found to be: with other motion it is something else."""
        del value
        self._allow_for_motion()
        self.search_range.show_found(None)
        if self._advice is not None:
            self._give_reason(self._advice)
        self.unmatched.show_found(None)

    def _allow_for_motion(self) -> None:
        """Take the fields away that linking and motion as chosen have no use for."""
        for name, field in self.fields.in_order().items():
            if name in (*SEGMENT_RANGES, *PENALTIES):
                self._more.setRowVisible(field, name not in self._idle)
            else:
                field.setEnabled(name not in self._idle)

    def _forget_unmatched_cost(self, value: object) -> None:
        del value
        self.unmatched.show_found(None)

    def _changed(self, value: object) -> None:
        del value
        if self.search_range.shown is not None:
            for chart in (self.steps, self.neighbours):
                if not chart.is_empty:
                    chart.set_limits([self.search_range.shown])
        self._warn()
        self.edited.emit()

    def _dragged(self, limits: list[float]) -> None:
        self.search_range.show_number(float(f"{limits[0]:.3g}"))
        self._forget_unmatched_cost(limits)
        self._changed(limits)


def _show_choice(box: QComboBox, value: str) -> None:
    """Choose a value without telling anyone; one that is not offered (a GPU not looked for yet) is added."""
    with QSignalBlocker(box):
        if box.findData(value) < 0:
            box.addItem(value, value)
        box.setCurrentIndex(box.findData(value))


def _allow(box: QComboBox, value: str, *, why_not: str) -> None:
    """Offer an entry of a box, or grey it out and say why when the mouse rests on it."""
    place = box.findData(value)
    box.setItemData(place, why_not or None, Qt.ItemDataRole.ToolTipRole)
    box.setItemData(place, 0 if why_not else None, _ENABLED)
