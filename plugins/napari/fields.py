"""Form fields that all panels share."""

from __future__ import annotations

from qtpy.QtCore import QSignalBlocker, Qt
from qtpy.QtWidgets import QDoubleSpinBox, QFormLayout, QLabel, QWidget

LARGEST = 1e9


class LengthField(QDoubleSpinBox):
    """A positive number of four significant digits; with `auto`, its lowest value reads "auto" and means None."""

    def __init__(self, *, auto: bool = False, suffix: str = "") -> None:
        super().__init__()
        self._auto = auto
        self.setDecimals(4)
        self.setRange(0.0, LARGEST)
        self.setStepType(QDoubleSpinBox.StepType.AdaptiveDecimalStepType)
        self.setSuffix(suffix)
        self.setKeyboardTracking(False)
        self.setMinimumWidth(56)
        if auto:
            self.setSpecialValueText("auto")

    def textFromValue(self, value: float) -> str:  # noqa: N802 - Qt's name
        """Return a number without trailing zeros."""
        return f"{value:.6g}"

    @property
    def number(self) -> float | None:
        """The value; None for "auto"."""
        value = float(self.value())
        return None if self._auto and value == 0.0 else value

    def show_number(self, value: float | None) -> None:
        """Show a value (None = "auto") without telling anyone."""
        with QSignalBlocker(self):
            self.setValue(0.0 if value is None else value)


def add_row(form: QFormLayout, name: str, field: QWidget, text: str, option: str) -> None:
    """Add a field under its name; the tooltip of both says what it is, and what the command line calls it."""
    label = QLabel(name)
    for widget in (label, field):
        widget.setToolTip(f"<p>{text}</p><p>On the command line: {option}</p>")
    form.addRow(label, field)


def note(text: str = "", *, warning: bool = False) -> QLabel:
    """Return a small label that wraps."""
    label = QLabel(text)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if warning:
        label.setStyleSheet("color: #ffb03b;")
    label.setVisible(bool(text))
    return label


def say(label: QLabel, text: str) -> None:
    """Show a sentence in a label, or hide the label."""
    label.setText(text)
    label.setVisible(bool(text))
