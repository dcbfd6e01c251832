"""Numbers as people read them: some significant digits, powers of ten only where zeros would have to be counted."""

from __future__ import annotations

import math
from typing import Any

_SHORTEST, _LONGEST = 1e-4, 1e15
"""Sizes between which a number has no more zeros than are seen at once."""
_WORDS = ("pixel", "frame", "detection")
"""Units that are no symbols."""


def significant(value: float, digits: int = 3) -> str:
    """Return a number with so many significant digits, never in powers of ten; of whole numbers all digits."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    places = digits - 1 - math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))
    return f"{value:.{max(places, 0)}f}"


def counted(number: int, noun: str, form: str = "d") -> str:
    """Return a number and its noun; `form` "," parts thousands, as sentences in a window have them.

    Examples
    --------
    >>> counted(1, "frame"), counted(2000, "frame"), counted(2000, "frame", ",")
    ('1 frame', '2000 frames', '2,000 frames')
    """
    return f"{number:{form}} {noun}{'' if number == 1 else 's'}"


def in_digits(value: Any, digits: int = 3) -> str:
    """Return a length, or what is measured in it, in so many digits without trailing zeros: 1093 nm, not 1.09e+03.

    Examples
    --------
    >>> in_digits(1093.4), in_digits(8.0), in_digits(0.00012346), in_digits(1.0246e-12), in_digits(1e30)
    ('1093', '8', '0.000123', '1.02e-12', '1e+30')
    """
    number = float(value)
    if abs(number) >= _LONGEST or 0 < abs(number) < _SHORTEST:
        return f"{number:.{digits}g}"
    text = significant(number, digits)
    return text.rstrip("0").rstrip(".") if "." in text else text


def expected(number: float) -> str:
    """Return how many of something are expected: to a tenth where they are few, whole where they are hundreds.

    Examples
    --------
    >>> expected(0.628), expected(5.5), expected(253.02)
    ('0.6', '5.5', '253')
    """
    return f"{number:.1f}" if number < 99.95 else f"{number:.0f}"


def in_unit(unit: str, value: Any, digits: int = 3) -> str:
    """Return what is measured in a unit in so many digits, with the unit.

    Examples
    --------
    >>> in_unit("µm", 1.24), in_unit("pixel", 1), in_unit("pixel", 1.24), in_unit("pixel/frame", 0.5), in_unit("", 2)
    ('1.24 µm', '1 pixel', '1.24 pixels', '0.5 pixels/frame', '2')
    """
    text = in_digits(value, digits)
    return f"{text} {unit if text == '1' else plural(unit)}".rstrip()


def plural(unit: str) -> str:
    """Return a unit as it stands behind other numbers than 1: those that are words have a plural."""
    name, per, rest = unit.partition("/")
    return f"{name}{'s' * (name in _WORDS)}{per}{rest}"
