"""As what pixels are read: numbers as they are stored, truth values, as masks have them, as 0 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np


def read_as(stored: Any) -> tuple[np.dtype[Any], bool] | None:
    """Return the type that pixels are read as, and whether they are a mask; None where they are neither.

    Examples
    --------
    >>> read_as(np.dtype(">u2")), read_as(np.dtype(bool)), read_as(np.dtype(complex))
    ((dtype('uint16'), False), (dtype('uint8'), True), None)
    """
    kind = getattr(stored, "kind", None)
    if kind == "b":
        return np.dtype(np.uint8), True
    return (np.dtype(stored).newbyteorder("="), False) if kind in ("u", "i", "f") else None
