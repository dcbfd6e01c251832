"""Pixels that lie in a file one after the other, read in parts side by side.

One thread fetches 2.5 GB/s from the system's cache, most of it for pages of memory that are new; sixteen fetch 30.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...matching.jit.threads import processors, side_by_side

_PART = 1 << 26
"""Bytes that each of all threads reads at a time, or more: it waits for the interpreter's lock after each."""


@dataclass(frozen=True)
class PixelBuffer:
    """What pixels are read into, and by whom.

    Attributes
    ----------
    empty : callable
        Called as empty(shape, dtype) for an array to be filled.
    threads : int, optional
        That share a frame. None: one a processor.
    """

    empty: Callable[[tuple[int, ...], np.dtype[Any]], np.ndarray] = np.empty
    threads: int | None = None


NEW_MEMORY = PixelBuffer()


def can_be_read_side_by_side() -> bool:
    """Whether this system reads at a place without moving the place of other threads."""
    return hasattr(os, "preadv")


def read_into(
    out: np.ndarray, file: int, offset: int, threads: int | None = None, stored: np.dtype[Any] | None = None
) -> None:
    """Fill a contiguous array with the bytes of an open file from an offset on, by so many threads (`PixelBuffer`).

    Pixels that are `stored` in the other byte order are turned round.

    Raises
    ------
    OSError
        If the file cannot be read, or ends before.
    """
    whole = out.reshape(-1)
    size = -(-whole.size // threads) if threads else max(_PART // out.itemsize, -(-whole.size // processors()))

    def read(first: int) -> None:
        part = whole[first : first + size]
        left = part.view(np.uint8).data
        while len(left):
            got = os.preadv(file, [left], offset + first * out.itemsize + part.nbytes - len(left))
            if got == 0:
                raise OSError(f"the file ends {len(left)} bytes before its pixels do")
            left = left[got:]
        if stored is not None and stored != out.dtype:
            part[...] = part.view(stored)

    side_by_side(read, range(0, whole.size, size))
