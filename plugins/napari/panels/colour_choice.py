"""What the tracks are coloured by, between which percentiles, and what the colours mean."""

from __future__ import annotations

from qtpy.QtCore import QSignalBlocker, Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtWidgets import QComboBox, QDoubleSpinBox, QFormLayout, QHBoxLayout, QWidget

from ..draw.colours import BY_TRACK, PERCENTILES, Colouring, colour_features
from ..session.filters import MeasuredTracks
from .fields import note, say


class ColourChoice(QWidget):
    """Signals: `edited()`."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.feature = QComboBox()
        self.percentiles = [_percentile(value) for value in PERCENTILES]
        self.legend = note()
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.addRow("Colour by", self.feature)
        row = QHBoxLayout()
        for field in self.percentiles:
            row.addWidget(field)
        form.addRow("Percentiles", row)
        form.addRow(self.legend)
        self.feature.currentIndexChanged.connect(self._edit)
        for field in self.percentiles:
            field.valueChanged.connect(self._edit)

    def show_tracks(self, data: MeasuredTracks) -> None:
        """Offer the features of new tracks; the one chosen stays where they have it."""
        chosen, _ = self.value
        features = colour_features(data.tracks, data.measures)
        with QSignalBlocker(self.feature):
            self.feature.clear()
            self.feature.addItems(list(features))
            self.feature.setCurrentText(chosen if chosen in features else BY_TRACK)

    def show_legend(self, colouring: Colouring) -> None:
        """Say what the colours mean."""
        if colouring.limits is None:
            say(self.legend, "" if not colouring.n_missing else "All values are missing: drawn grey.")
            return
        low, high = colouring.limits
        grey = f"; {colouring.n_missing:,} points without a value are grey" if colouring.n_missing else ""
        say(self.legend, f"dark {low:.4g} to bright {high:.4g}{grey}")

    @property
    def value(self) -> tuple[str, tuple[float, float]]:
        """Feature and percentiles."""
        low, high = (float(field.value()) for field in self.percentiles)
        return self.feature.currentText() or BY_TRACK, (min(low, high - 1), high)

    def _edit(self, value: object = None) -> None:
        del value
        self.edited.emit()


def _percentile(value: float) -> QDoubleSpinBox:
    field = QDoubleSpinBox()
    field.setRange(0, 100)
    field.setDecimals(1)
    field.setValue(value)
    field.setKeyboardTracking(False)
    return field
