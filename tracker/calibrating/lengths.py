"""Lengths as users give them: a number above 0, in the unit of the data, never squared."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidSetting

A_LENGTH = (
    "a finite length above 0, the same along all axes, in the unit of the data (µm where it is known, else pixels)"
)
LONGEST = 1e100
"""Size from which lengths are refused: their squares must stay numbers."""


def require_length(name: str, value: Any) -> None:
    """Refuse what is not a length; `name` is the setting's.

    Raises
    ------
    InvalidSetting
    """
    if not is_above_zero(value):
        raise InvalidSetting(f"needs {A_LENGTH}; got {value!r}.", setting=name)


def is_size(value: Any) -> bool:
    """Whether a value is a number of 0 or more, below `LONGEST`; True and False are none."""
    plain = value.item() if isinstance(value, np.generic) else value  # float32 cannot be compared with LONGEST
    return isinstance(plain, (int, float)) and not isinstance(plain, bool) and 0 <= plain < LONGEST


def is_above_zero(value: Any) -> bool:
    """Whether a value is a size, and not 0."""
    return is_size(value) and value != 0
