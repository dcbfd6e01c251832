"""What number was likely meant by a text that is none: one with a decimal comma, or with a unit behind it."""

from __future__ import annotations

import re

from ...tracker.setting_words import WORDS

_NUMBER_AND_UNIT = re.compile(r"([+-]?\d*[.,]?\d+(?:e[+-]?\d+)?)\s*([^\W\d]*)", re.IGNORECASE)
_THOUSANDS = re.compile(r"[+-]?\d{1,3},\d{3}")
"""Either a thousand or one: nobody can know."""


def likely_number(text: str, setting: str) -> str:
    """Return a sentence that gives the number that was likely meant; empty where none was.

    Examples
    --------
    >>> likely_number("3,5", "threshold"), likely_number("3 um", "diameter"), likely_number("big", "diameter")
    ('Give 3.5.', "Give 3, without the unit: lengths are in the movie's, usually µm.", '')
    """
    found = _NUMBER_AND_UNIT.fullmatch(text.strip())
    if found is None:
        return ""
    number, unit = found.groups()
    if _THOUSANDS.fullmatch(number):
        return f"Give {number.replace(',', '')} or {number.replace(',', '.')}: a point is the decimal sign."
    number = number.replace(",", ".")
    return _without_unit(float(number), unit, setting) if unit else f"Give {number}."


def _without_unit(number: float, unit: str, setting: str) -> str:
    """Return the number in the unit that a setting is in, where it is known."""
    from ...tracker.calibrating.units import micrometres_of, seconds_of

    if setting == "frame_interval" and (seconds := seconds_of(unit)) is not None:
        return f"Give {number * seconds:.10g}: it is in s, unless --time-unit names another unit."
    factor = micrometres_of(unit) if setting in WORDS and WORDS[setting].is_length else None
    if factor is None:
        return "Give the number alone, without a unit."
    return f"Give {number * factor:.10g}, without the unit: lengths are in the movie's, usually µm."
