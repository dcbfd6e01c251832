"""Form fields that all panels share."""

from __future__ import annotations

from napari.settings import get_settings
from qtpy.QtCore import QEvent, Qt
from qtpy.QtWidgets import QCheckBox, QFormLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from ....tracker.setting_words import WORDS
from ...words.setting_options import SETTINGS, in_words
from ..layers.main_window import is_dark
from .number_field import DECIMALS, NumberField

LARGEST = 1e9
_ON_DARK, _ON_LIGHT = "#ffb03b", "#7a4a00"  # colours of warnings
_OPTIONS = {option.key: option.name for option in SETTINGS.values()}


class LengthField(NumberField):
    """A positive number; with `auto`, an emptied field says "auto" and means None.

    What auto was found to be is shown beside it ("auto: 3.63 µm") and is never the field's number: only what the user
    typed is.
    """

    def __init__(self, *, auto: str = "", suffix: str = "") -> None:
        super().__init__(0.0 if auto else 10**-DECIMALS, LARGEST, auto=auto)
        self._found: float | None = None
        self.setStepType(NumberField.StepType.AdaptiveDecimalStepType)
        self.setSuffix(suffix)
        self.setMinimumWidth(56)

    def stepBy(self, steps: int) -> None:  # noqa: N802 - Qt's name
        """Step from the number found where the field says auto (called by Qt)."""
        if self.number is None:
            self.setValue(self._found or 1.0)
        super().stepBy(steps)

    def needs(self) -> str:
        """Return which numbers it takes."""
        return f"a number above 0, up to {LARGEST:,.0f}"

    @property
    def shown(self) -> float | None:
        """The number that can be read: the one typed, else what auto was found to be."""
        return self._found if self.number is None else self.number

    def show_found(self, value: float | None) -> None:
        """Show what auto was found to be (None = not known yet); a number that was typed stays."""
        self._found = value
        self.setSpecialValueText(self.auto if value is None else f"{self.auto}: {value:.4g}{self.suffix()}")

    def set_unit(self, unit: str) -> bool:
        """Show lengths in a unit; say whether a number typed in another one was put back to auto."""
        if self.suffix() == f" {unit}":
            return False
        typed = self.number is not None
        self.setSuffix(f" {unit}")
        self.show_number(None)
        self.show_found(None)
        return typed


def column_below(panel: QWidget, *buttons: QWidget) -> QVBoxLayout:
    """Return the layout of a panel, its buttons on top: a small screen shows the first rows only."""
    column, row = QVBoxLayout(panel), QHBoxLayout()
    for button in buttons:
        row.addWidget(button)
    column.addLayout(row)
    return column


def add_setting(form: QFormLayout, field: QWidget, *settings: str, more: str = "") -> None:
    """Add a field under the name of its first setting, unless it is a tick that says it itself.

    The tooltip of both says what the settings are, and which options they are.
    """
    empty = f"Empty the field for {field.auto}." if isinstance(field, NumberField) and field.auto else ""
    texts = [*map(_explained, settings), more, empty]
    options = " and ".join(_OPTIONS[setting] for setting in settings)
    name = in_words(settings[0])
    label = QLabel("" if isinstance(field, QCheckBox) and field.text() == name else name[0].upper() + name[1:])
    for widget in (label, field):
        widget.setToolTip(f"<p>{' '.join(filter(None, texts))}</p><p>On the command line: {options}</p>")
    form.addRow(label, field)


def _explained(setting: str) -> str:
    words = WORDS[setting]
    auto = f"Not given: {words.auto}." if words.auto else ""
    return " ".join(part for part in (f"{words.what}.", words.more, auto) if part)


class _Warning(QLabel):
    """A label in a colour that can be read on the background of napari's theme."""

    def event(self, event: QEvent | None) -> bool:
        """Take another colour when the theme has become another one (called by Qt)."""
        if event is not None and event.type() == QEvent.Type.StyleChange:
            on_dark = is_dark(get_settings().appearance.theme, "background")
            style = f"color: {_ON_DARK if on_dark else _ON_LIGHT};"
            if style != self.styleSheet():
                self.setStyleSheet(style)
        return super().event(event)  # pyright: ignore[reportArgumentType]


def note(text: str = "", *, warning: bool = False) -> QLabel:
    """Return a small label that wraps."""
    label = _Warning(text) if warning else QLabel(text)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setVisible(bool(text))
    return label


def say(label: QLabel, text: str) -> None:
    """Show a sentence in a label, or hide the label."""
    label.setText(text)
    label.setVisible(bool(text))
