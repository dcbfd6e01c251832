"""What a setting may be, declared once: in the metadata of its field, by which it is checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from dataclasses import Field, dataclass, fields
from typing import Any

import numpy as np

from .calibrating.lengths import A_LENGTH, is_above_zero, is_size
from .errors import InvalidSetting

_KIND = "kind"
_LONGEST_SAID = 200
"""Characters of a value that a message repeats."""


@dataclass(frozen=True)
class Kind:
    """What a setting may be beside its default.

    Attributes
    ----------
    wanted : str
        In words, for "needs …".
    fits : callable
        Whether a value is one.
    choices : tuple of str
        The words that it is one of, in the order in which they are offered; empty where it is not a word.
    stored : callable, optional
        Makes of a value that fits the one that is kept; None: the value itself, one of NumPy as Python's.
    """

    wanted: str
    fits: Callable[[Any], bool]
    choices: tuple[str, ...] = ()
    stored: Callable[[Any], Any] | None = None


Declared = Mapping[str, Kind]
"""Metadata of a dataclass' field."""


def declared_as(
    wanted: str,
    fits: Callable[[Any], bool],
    choices: tuple[str, ...] = (),
    stored: Callable[[Any], Any] | None = None,
) -> Declared:
    """Return the metadata of a setting that fits; `wanted` says what does."""
    return {_KIND: Kind(wanted, fits, choices, stored)}


def choices_of(settings: type[Any], name: str) -> tuple[str, ...]:
    """Return the words that a setting of a dataclass is one of; none where it may be others too."""
    kind = next(declared.metadata.get(_KIND) for declared in fields(settings) if declared.name == name)
    return kind.choices if kind else ()


def wanted_of(declared: Field[Any]) -> str:
    """Return in words what the setting of a field may be; empty where the field does not declare it."""
    kind = declared.metadata.get(_KIND)
    return kind.wanted if kind else ""


def require_kinds(settings: Any) -> None:
    """Refuse values that are not what their fields declare, and store those that are; the default always may be.

    Raises
    ------
    InvalidSetting
    """
    for declared in fields(settings):
        kind, value = declared.metadata.get(_KIND), getattr(settings, declared.name)
        if kind is None or _is_default(value, declared.default):
            continue
        if not kind.fits(value):
            auto = f"{declared.default!r} or " if declared.default == "auto" and "'auto'" not in kind.wanted else ""
            raise InvalidSetting(f"needs {auto}{kind.wanted}; got {_said(value)}.", setting=declared.name)
        if kind.stored is not None:
            object.__setattr__(settings, declared.name, kind.stored(value))
        elif isinstance(value, np.generic):
            object.__setattr__(settings, declared.name, value.item())


def _said(value: Any) -> str:
    """Return a value as it is typed, or what it is where that is long, as of an image."""
    text = repr(value)
    if len(text) <= _LONGEST_SAID:
        return text
    shape = getattr(value, "shape", None)
    if shape is not None:
        return f"{type(value).__name__} of shape {shape}"
    return f"{type(value).__name__} of {len(value)}" if isinstance(value, Sized) else f"{text[:_LONGEST_SAID]}…"


def _is_default(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, str) and value == default)


def one_of(*choices: str) -> Declared:
    """Return the metadata of what is one of a few words."""
    return declared_as(
        f"one of {', '.join(map(repr, choices))}", lambda value: isinstance(value, str) and value in choices, choices
    )


def whole_number(least: int, of: str = "") -> Declared:
    """Return the metadata of what counts, from the least on; 2.0, as a table may hold it, is kept as 2."""
    wanted = f"a whole number{of} of at least {least}"
    return {_KIND: Kind(wanted, lambda value: is_whole(value) and value >= least, stored=int)}


def require_whole(value: Any, least: int, setting: str) -> int:
    """Return a count as an int.

    Raises
    ------
    InvalidSetting
        If it is not a whole number, or less than the least.
    """
    if not is_whole(value) or value < least:
        raise InvalidSetting(f"needs a whole number of at least {least}; got {value!r}.", setting=setting)
    return int(value)


def text_such_as(example: str) -> Declared:
    """Return the metadata of a text."""
    return declared_as(f'a text in quotes such as "{example}"', _is_text)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_number(value: Any) -> bool:
    """Whether a value is a number; True and False are none."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, however it is stored."""
    return is_number(value) and float(value).is_integer()


LENGTH = declared_as(A_LENGTH, is_above_zero)
SIZE = declared_as("a finite number of at least 0", is_size)
NUMBER = declared_as("a number", is_number)
TRUTH = declared_as("True or False", lambda value: isinstance(value, (bool, np.bool_)))
TEXT = declared_as("a text in quotes", _is_text)
