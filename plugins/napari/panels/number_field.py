"""Numbers as users type them: with a decimal point or a decimal comma, or with a power of ten."""

from __future__ import annotations

import re

from qtpy.QtCore import QPoint, QSignalBlocker, QTimer
from qtpy.QtGui import QFocusEvent, QValidator
from qtpy.QtWidgets import QDoubleSpinBox, QToolTip, QWidget

_NUMBER = re.compile(r"[-+]?(\d+[.,]?\d*|[.,]\d+)(e[-+]?\d+)?", re.IGNORECASE)
DECIMALS = 15
"""A voxel of 65 nm may be given in m; what is shown has six digits."""


def number_in(text: str) -> float | None:
    """Return the number that a text is; None where it is none."""
    return float(text.strip().replace(",", ".")) if _NUMBER.fullmatch(text.strip()) else None


def refuse(field: QWidget, text: str, needs: str) -> None:
    """Say below a field that it keeps what it had, as it needs something else than what was typed."""
    place = field.mapToGlobal(QPoint(0, field.height() // 2))
    QToolTip.showText(place, f"<p>“{text}” was not taken: this field needs {needs}.</p>", field)


class NumberField(QDoubleSpinBox):
    """A number, read once it is entered, whatever language the computer speaks; one that it cannot take is refused.

    Parameters
    ----------
    least, most : float
    auto : str
        What the field says where it has no number; an emptied field then has none. Qt shows it for the lowest value,
        which is no number of the field.
    is_whole : bool
        Whether it takes whole numbers alone.
    """

    def __init__(self, least: float, most: float, *, auto: str = "", is_whole: bool = False) -> None:
        super().__init__()
        self.auto = auto
        self.setDecimals(0 if is_whole else DECIMALS)
        self.setRange(least, most)
        self.setKeyboardTracking(False)
        self.setSpecialValueText(auto)

    @property
    def number(self) -> float | None:
        """The value; None where there is none."""
        value = float(self.value())
        return None if self.auto and value == self.minimum() else value

    def show_number(self, value: float | None) -> None:
        """Show a value, or that there is none, without telling anyone."""
        with QSignalBlocker(self):
            self.setValue(self.minimum() if value is None else value)

    def textFromValue(self, value: float) -> str:  # noqa: N802 - Qt's name
        """Return a number without trailing zeros (called by Qt)."""
        return f"{value:.{12 if self.decimals() == 0 else 6}g}"

    def valueFromText(self, text: str | None) -> float:  # noqa: N802 - Qt's name
        """Return what was typed, or the value itself, which has more digits than are shown (called by Qt)."""
        typed = self._typed(text)
        if typed == self.textFromValue(self.value()):
            return float(self.value())
        number = number_in(typed)
        return self.minimum() if number is None else number

    def validate(self, input: str | None, pos: int) -> tuple[QValidator.State, str, int]:  # noqa: A002 - Qt's name
        """Say whether a text can be taken (called by Qt); any may become one that can, so no key is swallowed."""
        number = number_in(self._typed(input))
        is_auto = bool(self.auto) and self._typed(input) in ("", self.auto)
        takes = is_auto if number is None else self._takes(number)
        state = QValidator.State.Acceptable if takes else QValidator.State.Intermediate
        return state, input or "", pos

    def fixup(self, input: str | None) -> str:  # noqa: A002 - Qt's name
        """Say why what was typed cannot be taken (called by Qt, which then puts back what there was)."""
        if typed := self._typed(input):
            refuse(self, typed, f"{self.needs()}; empty means {self.auto}" if self.auto else self.needs())
        return input or ""

    def needs(self) -> str:
        """Return which numbers it takes."""
        least = self.minimum() + (1 if self.auto else 0)
        return f"a {'whole ' if self.decimals() == 0 else ''}number from {least:,.10g} to {self.maximum():,.10g}"

    def focusInEvent(self, event: QFocusEvent | None) -> None:  # noqa: N802 - Qt's name
        """Select "auto" whole, so that a number typed replaces it (called by Qt)."""
        super().focusInEvent(event)  # pyright: ignore[reportArgumentType]
        if self.number is None:
            QTimer.singleShot(0, self.selectAll)  # after the click, which would set the cursor

    def _takes(self, number: float) -> bool:
        is_above = number > self.minimum() if self.auto else number >= self.minimum()
        return is_above and number <= self.maximum() and (self.decimals() > 0 or number.is_integer())

    def _typed(self, text: str | None) -> str:
        """Return a text without "auto", behind which one may type, and without the unit."""
        return (text or "").removeprefix(self.specialValueText()).removesuffix(self.suffix()).strip()
