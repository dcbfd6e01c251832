"""What the times were measured on: the machine, and the code."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from .... import __version__
from ....matching.device import cuda

PACKAGE = Path(__file__).resolve().parents[3]
"""The folder of the package, which is the repository's root where it is a checkout."""

_DRIVER = re.compile(r"\d{3,}(\.\d+)+")
_PACKAGES = ("numpy", "scipy", "numba", "cupy-cuda13x", "cupy-cuda12x", "lapx", "trackpy", "laptrack", "btrack")


def describe_machine() -> dict[str, Any]:
    """Return processor, cores, GPUs with their driver, and versions, as a record holds them."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": platform.platform(),
        "gpus": [device.name for device in cuda.devices()],
        "cuda_driver": _driver(),
        "nvidia_driver": _nvidia_driver(),
        "versions": {"auctrack": __version__, "python": platform.python_version(), **_versions()},
    }


def one_line(machine: dict[str, Any]) -> str:
    """Return the machine as one line of text."""
    gpus = ", ".join(machine["gpus"]) or "no CUDA device"
    driver = f" (CUDA {machine['cuda_driver']}, driver {machine['nvidia_driver']})" if machine["cuda_driver"] else ""
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    return f"{machine['processor']}, {machine['cores']} cores; {gpus}{driver}; {versions}"


def commit_of(folder: Path = PACKAGE) -> str | None:
    """Return the git commit that a folder is a checkout of, "-dirty" after it if files differ from it; else None.

    None too where git is not installed, or refuses to read the folder: the version stands for the code then.
    """
    if not (folder / ".git").exists():
        return None
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _driver() -> str | None:
    """The CUDA version that the driver offers, as 13.0; None without a device."""
    if not cuda.devices():
        return None
    version = cuda.cupy().cuda.runtime.driverGetVersion()
    return f"{version // 1000}.{version % 1000 // 10}"


def _nvidia_driver() -> str | None:
    """The driver's own version, as 580.159; None where Linux's kernel does not tell it."""
    stated = Path("/proc/driver/nvidia/version")
    if not stated.exists():
        return None
    return next((word for word in stated.read_text(encoding="utf-8").split() if _DRIVER.fullmatch(word)), None)


def _versions() -> dict[str, str]:
    found: dict[str, str] = {}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
