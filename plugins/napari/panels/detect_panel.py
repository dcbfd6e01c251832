"""Step 1: diameter and threshold, with the histogram that the threshold divides and a preview of the current frame."""

from __future__ import annotations

from dataclasses import replace

from qtpy.QtCore import Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtWidgets import QCheckBox, QFormLayout, QPushButton, QWidget

from ....tracker.detecting.settings import DetectSettings
from ...words.setting_options import DETECT
from ..session.advice import DetectAdvice
from .chart import Chart
from .fields import add_setting, column_below, note, say
from .setting_fields import SettingFields

_METHODS = {"log": "Laplacian of Gaussian", "dog": "difference of Gaussians"}
_LESS_USED = ("separation",)
"""Below what small screens show."""


class DetectPanel(QWidget):
    """Signals: `edited()` on every change, `suggest()`, `run()`."""

    edited = Signal()
    suggest = Signal()
    run = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.fields = SettingFields(DetectSettings, DETECT, {"method": _METHODS}, {})
        self.diameter, self.threshold = (self.fields.lengths[name] for name in ("diameter", "threshold"))
        self.chart = Chart("quality of all peaks, noise left, particles right")
        self.preview = QCheckBox("preview in the current frame")
        self.found = note()
        self.reason = note()
        self.suggest_button = QPushButton("Suggest")
        self.run_button = QPushButton("Detect")
        self._lay_out()
        for length in ("diameter", "separation"):
            self.fields.lengths[length].valueChanged.connect(self._other_qualities)
        self.fields.ticks["bright_on_dark"].toggled.connect(self._other_particles)
        self.fields.choices["method"].currentIndexChanged.connect(self._other_particles)
        self.threshold.valueChanged.connect(self._changed)
        self.preview.toggled.connect(self._changed)
        self.chart.moved.connect(self._dragged)
        self.suggest_button.clicked.connect(self.suggest)
        self.run_button.clicked.connect(self.run)

    def _lay_out(self) -> None:
        column = column_below(self, self.suggest_button, self.run_button)
        first, more = QFormLayout(), QFormLayout()
        for name, field in self.fields.in_order().items():
            drag = "Drag the line in the histogram." if name == "threshold" else ""
            add_setting(more if name in _LESS_USED else first, field, name, more=drag)
        column.addLayout(first)
        column.addWidget(self.chart)
        column.addWidget(self.preview)
        column.addWidget(self.found)
        column.addWidget(self.reason)
        column.addLayout(more)
        column.addStretch()

    @property
    def settings(self) -> DetectSettings:
        """What the panel says."""
        return DetectSettings(**self.fields.said())

    @property
    def found_settings(self) -> DetectSettings:
        """What the panel says, with what auto was found to be where that is known."""
        return replace(self.settings, diameter=self.diameter.shown or "auto", threshold=self.threshold.shown)

    def set_unit(self, unit: str) -> bool:
        """Show the unit of lengths; say whether a length typed in another unit was put back to auto."""
        return self.fields.set_unit(unit)

    def forget(self) -> None:
        """Show nothing that was found in another input; what the user typed stays."""
        for field in (self.diameter, self.threshold):
            field.show_found(None)
        self.chart.clear()
        for label in (self.found, self.reason):
            say(label, "")

    def show_advice(self, advice: DetectAdvice, *, take: bool) -> None:
        """Show the histogram and the reasons, and `take` the suggested values: as what auto is found to be."""
        if take:
            for field, value in ((self.diameter, advice.diameter), (self.threshold, advice.threshold)):
                field.show_number(None)
                field.show_found(value)
        say(self.reason, advice.reason)
        limit = self.threshold.shown
        self.chart.show_values(
            advice.qualities,
            limits=[advice.threshold if limit is None else limit],
            marks=[(advice.threshold, "suggested")],
            log=True,
        )

    def show_settings(self, settings: DetectSettings, asked: DetectSettings) -> None:
        """Show the settings that took effect, beside what said auto when they were `asked` for."""
        self.diameter.show_found(settings.known_diameter if asked.diameter == "auto" else None)
        self.threshold.show_found(settings.threshold if asked.threshold is None else None)
        if settings.threshold is not None and not self.chart.is_empty:
            self.chart.set_limits([settings.threshold])

    def show_found(self, text: str) -> None:
        """Say what the preview found."""
        say(self.found, text)

    def _other_particles(self, value: object) -> None:
        self.diameter.show_found(None)
        self._other_qualities(value)

    def _other_qualities(self, value: object) -> None:
        self.threshold.show_found(None)
        self._changed(value)

    def _changed(self, value: object) -> None:
        del value
        if self.threshold.shown is not None and not self.chart.is_empty:
            self.chart.set_limits([self.threshold.shown])
        self.edited.emit()

    def _dragged(self, limits: list[float]) -> None:
        self.threshold.show_number(float(f"{limits[0]:.4g}"))
        self.edited.emit()
