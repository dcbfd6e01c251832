"""Memory that large arrays leave is kept for the next ones, where this process alone is the user's."""

from __future__ import annotations

import ctypes
import os
import sys

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX, _ARENA_MAX = -1, -2, -4, -8  # of malloc.h
_KEPT, _GROWN_BY = 2**31 - 1, 1 << 26  # bytes: the most that can be stated, and 64 MB


def keep_freed_memory() -> None:
    """Have glibc give no freed array back to the system, which clears each page again for the next one.

    Arrow, which is not loaded yet, shall take its memory there too, unless the user has said otherwise. Tables of 10^7
    rows spend a third of their time on clearing else. All threads share one arena: one of their own would hold no array
    of more than 64 MB, so that large frames would be cleared each time. NumPy, which is not loaded either, shall not
    ask for pages of 2 MB: the system looks for them, or makes room, while the array waits. Other systems are left as
    they are.
    """
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:  # not glibc
        return
    for what, value in ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, _KEPT), (_TOP_PAD, _GROWN_BY), (_ARENA_MAX, 1)):
        mallopt(what, value)
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
