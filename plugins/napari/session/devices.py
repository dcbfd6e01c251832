"""Where linking can run: the GPUs of this machine by name, or why there is none; and which solver runs where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ....matching.errors import DeviceUnavailable
from ....matching.solvers import SOLVERS, make_solver


@dataclass(frozen=True)
class Devices:
    """What this machine has to link on besides its CPU.

    Attributes
    ----------
    gpus : tuple of (device, name to show)
    why_none : str
        Why there is no GPU; empty where there is one.
    on_gpu : frozenset of str
        Solvers that run on one.
    """

    gpus: tuple[tuple[str, str], ...]
    why_none: str
    on_gpu: frozenset[str]


def find_devices(report: Callable[[Any], None]) -> Devices:
    """Look for GPUs; it may take a second, so it is work for a thread."""
    del report
    from ....matching.device import cuda

    gpus = tuple((f"cuda:{device.index}", f"GPU {device.index}: {device.name}") for device in cuda.devices())
    on_gpu = frozenset(name for name in SOLVERS if "cuda" in make_solver(name).devices)
    return Devices(gpus, "" if gpus else _why_none(), on_gpu)


def _why_none() -> str:
    from ....matching.device import cuda

    try:
        runtime = cuda.cupy().cuda.runtime
    except DeviceUnavailable:
        return "CuPy is not installed"
    try:
        runtime.getDeviceCount()
    except runtime.CUDARuntimeError:
        return "no NVIDIA driver"
    return "none in this machine"
