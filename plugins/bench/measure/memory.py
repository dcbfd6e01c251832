"""The most memory that a call takes beyond what was in use before it."""

from __future__ import annotations

import ctypes
from pathlib import Path

from ....matching.device import cuda

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_FORGET_THE_PEAK = "5"


def give_unused_back(device: str) -> None:
    """Let allocators give back what earlier inputs left with them: what comes next would lie there unseen."""
    if device == "cpu":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of the GNU C library
        if trim is not None:
            trim(0)
    else:
        with cuda.using(device) as cp:
            cp.get_default_memory_pool().free_all_blocks()


def watch_memory(device: str) -> int | None:
    """Begin to watch the host's memory or a CUDA device's pool; return the bytes in use, None where nobody can tell."""
    give_unused_back(device)
    if device != "cpu":
        return _pool_bytes(device)
    try:
        _CLEAR.write_text(_FORGET_THE_PEAK, encoding="ascii")
    except OSError:  # not Linux, or not allowed to
        return None
    return _resident("VmRSS")


def memory_taken(device: str, before: int | None) -> int | None:
    """Return the most bytes in use since `watch_memory` beyond those that it returned.

    On the host: of the resident set. On a device: what CuPy's pool had to ask the driver for.
    """
    if before is None:
        return None
    if device == "cpu":
        most = _resident("VmHWM")
        return None if most is None else max(most - before, 0)
    return _pool_bytes(device) - before


def _pool_bytes(device: str) -> int:
    with cuda.using(device) as cp:
        return int(cp.get_default_memory_pool().total_bytes())


def _resident(field: str) -> int | None:
    """Return a line of the process's status in bytes; None where it has no such line."""
    for line in _STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    return None
