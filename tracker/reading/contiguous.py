"""Pixels that lie in a file one after the other, read in parts side by side.

One thread fetches 2.5 GB/s from the system's cache, most of it for pages of memory that are new; sixteen fetch 30.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ...matching.jit.threads import side_by_side

Empty: TypeAlias = Callable[[tuple[int, ...], "np.dtype[Any]"], np.ndarray]
"""Makes an array of a shape and type to be filled."""
_PART = 1 << 26
"""Bytes that a thread reads at a time: it waits for the interpreter's lock after each."""


def can_be_read_side_by_side() -> bool:
    """Whether this system reads at a place without moving the place of other threads."""
    return hasattr(os, "preadv")


def read_into(out: np.ndarray, file: int, offset: int) -> None:
    """Fill a contiguous array with the bytes of an open file from an offset on.

    Raises
    ------
    OSError
        If the file cannot be read, or ends before.
    """
    whole = out.reshape(-1).view(np.uint8).data

    def read(first: int) -> None:
        part = whole[first : first + _PART]
        while len(part):
            got = os.preadv(file, [part], offset + first + min(_PART, len(whole) - first) - len(part))
            if got == 0:
                raise OSError(f"the file ends {len(part)} bytes before its pixels do")
            part = part[got:]

    side_by_side(read, range(0, len(whole), _PART))
