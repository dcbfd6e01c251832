"""Where linking can run: the GPUs of this machine, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def find_devices(report: Callable[[Any], None]) -> list[tuple[str, str]]:
    """Return (device, name to show) of every GPU; looking for them may take a second, so it is work for a thread."""
    del report
    from ....matching.device.cuda import devices

    return [(f"cuda:{device.index}", f"GPU {device.index}: {device.name}") for device in devices()]
