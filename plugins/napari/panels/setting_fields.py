"""A field for each setting of a section, made of what its option says that it takes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from qtpy.QtWidgets import QCheckBox, QComboBox, QLineEdit, QWidget

from ....tracker.kinds import choices_of
from ...words.setting_options import SettingOption, in_words
from .fields import LengthField
from .number_field import NumberField

_LENGTHS = ("LENGTH", "QUALITY")
_MOST_FRAMES = 99


class SettingFields:
    """Fields by the names of their settings, in the order of the options; links that are read from files have none.

    Parameters
    ----------
    settings : type
        The dataclass of the section.
    options : mapping of str to SettingOption
        Its options.
    choices : mapping of str to mapping of str to str
        Settings that are one of a few words: what those are called that have a name of their own.
    empty : mapping of str to str
        Settings that are texts: what their empty field says.

    Attributes
    ----------
    lengths, counts, ticks, choices, texts : dict
        The fields of each kind.
    """

    def __init__(
        self,
        settings: type[Any],
        options: Mapping[str, SettingOption],
        choices: Mapping[str, Mapping[str, str]],
        empty: Mapping[str, str],
    ) -> None:
        self._options = {option.key: option for option in options.values() if option.kind is not Path}
        self.lengths: dict[str, LengthField] = {}
        self.counts: dict[str, NumberField] = {}
        self.ticks: dict[str, QCheckBox] = {}
        self.choices: dict[str, QComboBox] = {}
        self.texts: dict[str, QLineEdit] = {}
        for name, option in self._options.items():
            if name in choices:
                self.choices[name] = _choice_box(choices_of(settings, name) or choices[name], choices[name])
            elif option.is_flag:
                self.ticks[name] = QCheckBox(in_words(name))
            elif option.metavar in _LENGTHS:
                self.lengths[name] = LengthField(auto="auto")
            elif option.metavar == "N":
                self.counts[name] = NumberField(-1, _MOST_FRAMES, auto="auto", is_whole=True)
                self.counts[name].show_number(None)
            else:
                self.texts[name] = QLineEdit(placeholderText=empty.get(name, ""))

    def in_order(self) -> Mapping[str, QWidget]:
        """Return all fields."""
        kinds = (self.lengths, self.counts, self.ticks, self.choices, self.texts)
        fields: dict[str, QWidget] = {name: field for kind in kinds for name, field in kind.items()}
        return {name: fields[name] for name in self._options}

    def when_changed(self, call: Callable[[object], None]) -> None:
        """Call with the new value whenever the user changes a field."""
        for number in (*self.lengths.values(), *self.counts.values()):
            number.valueChanged.connect(call)
        for box in self.choices.values():
            box.currentIndexChanged.connect(call)
        for tick in self.ticks.values():
            tick.toggled.connect(call)
        for text in self.texts.values():
            text.textChanged.connect(call)

    def set_unit(self, unit: str) -> bool:
        """Show the unit of lengths; say whether a length typed in another unit was put back to auto."""
        lengths = (field for name, field in self.lengths.items() if self._options[name].metavar == "LENGTH")
        put_back = [field.set_unit(unit) for field in lengths]
        return any(put_back)

    def said(self, *, but: Collection[str] = ()) -> dict[str, Any]:
        """Return what the fields say of their settings, as the command line reads it; without what they leave open.

        Parameters
        ----------
        but : collection of str
            Settings whose fields are not looked at.

        Raises
        ------
        InvalidSetting
            If a text cannot be read.
        """
        given: dict[str, Any] = {}
        for name, field in self.in_order().items():
            if name not in but and (value := self._said(name, field)) is not None:
                given[name] = value
        return given

    def _said(self, name: str, field: QWidget) -> Any:
        """Return what a field says of its setting, None where it says nothing."""
        if isinstance(field, NumberField):
            return int(field.number) if field.number is not None and name in self.counts else field.number
        if isinstance(field, QComboBox):
            return field.currentData()
        given = field.isChecked() if isinstance(field, QCheckBox) else self.texts[name].text().strip()
        return self._options[name].read(given, name) if given else None


def _choice_box(words: Iterable[str], names: Mapping[str, str]) -> QComboBox:
    """Return a box of all that a setting may be, in its order."""
    box = QComboBox()
    for word in words:
        box.addItem(names.get(word, word), word)
    return box
