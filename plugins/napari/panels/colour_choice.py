"""What the tracks are coloured by, between which percentiles, and a bar that says what the colours mean."""

from __future__ import annotations

from collections.abc import Mapping

from qtpy.QtCore import QSignalBlocker, Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtWidgets import QComboBox, QFormLayout, QHBoxLayout, QWidget

from ..draw.colours import BY_TRACK, PERCENTILES, Colouring, colour_features
from ..session.filters import MeasuredTracks
from .colour_bar import ColourBar
from .fields import note, say
from .number_field import NumberField


class ColourChoice(QWidget):
    """Signals: `edited()`."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.feature = QComboBox()
        self.percentiles = [_percentile(value) for value in PERCENTILES]
        self.bar = ColourBar()
        self.legend = note()
        self._wanted = BY_TRACK
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.addRow("Colour by", self.feature)
        row = QHBoxLayout()
        for field in self.percentiles:
            row.addWidget(field)
        form.addRow("Percentiles", row)
        self._form, self._percentiles = form, row
        form.addRow(self.bar)
        form.addRow(self.legend)
        self.clear()
        self.feature.currentIndexChanged.connect(self._edit)
        for field in self.percentiles:
            field.valueChanged.connect(self._edit)

    def show_tracks(self, data: MeasuredTracks) -> None:
        """Offer the features of new tracks; the one chosen stays where they have it."""
        self._offer({name: data.title(name) for name in colour_features(data.tracks, data.measures)})

    def choose(self, feature: str) -> None:
        """Colour by a column of the tracks or of what they measure."""
        self.feature.setCurrentIndex(self.feature.findData(feature))

    def clear(self) -> None:
        """Offer nothing, and say nothing of colours: there are no tracks."""
        self._offer({})
        self.bar.hide()
        say(self.legend, "")

    def _offer(self, titles: Mapping[str, str]) -> None:
        """List features by their titles; the one chosen last is so again where it is among them."""
        if self.feature.count():
            self._wanted, _ = self.value
        with QSignalBlocker(self.feature):
            self.feature.clear()
            for name, title in titles.items():
                self.feature.addItem(title, name)
            self.choose(self._wanted if self._wanted in titles else BY_TRACK)
        self.feature.setEnabled(bool(titles))
        self._show_percentiles()

    def show_legend(self, feature: str, colouring: Colouring) -> None:
        """Say what the colours of a feature mean."""
        self.bar.show_colours(feature, self.feature.itemText(self.feature.findData(feature)), colouring)
        grey = f"{colouring.n_missing:,} points without a value are grey." if colouring.n_missing else ""
        say(self.legend, grey)

    @property
    def value(self) -> tuple[str, tuple[float, float]]:
        """Feature and percentiles."""
        low, high = (float(field.value()) for field in self.percentiles)
        return self.feature.currentData() or BY_TRACK, (min(low, high - 1), high)

    def _edit(self, value: object = None) -> None:
        del value
        self._show_percentiles()
        self.edited.emit()

    def _show_percentiles(self) -> None:
        self._form.setRowVisible(self._percentiles, self.value[0] != BY_TRACK)


def _percentile(value: float) -> NumberField:
    field = NumberField(0, 100)
    field.setValue(value)
    return field
