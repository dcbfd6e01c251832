"""The GPU's auction where there is no GPU: its own kernels, compiled for the host, and NumPy in CuPy's place."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from auctrack.matching.device import cuda

from ..hungarian.host_kernels import RESIDENT_BLOCKS, HostArray, HostKernel, HostModule, compiled, draw_from


class _CuPy(HostModule):
    """NumPy whose functions return arrays with the methods of CuPy's."""

    cuda = SimpleNamespace(
        Device=lambda: SimpleNamespace(id=0),
        get_current_stream=lambda: SimpleNamespace(synchronize=lambda: None),
        alloc_pinned_memory=bytearray,
    )

    def __getattr__(self, name: str) -> Any:
        function = getattr(np, name)
        if isinstance(function, type) or not callable(function):
            return function

        @functools.wraps(function)
        def called(*arguments: Any, **options: Any) -> Any:
            result = function(*arguments, **options)
            return np.asarray(result).view(HostArray) if isinstance(result, (np.ndarray, np.generic)) else result

        return called


CUPY = _CuPy()


class KernelsOnHost:
    """The kernels of a file, compiled for the host."""

    def __init__(self, file: str, *options: str, cooperative: bool = False, drawn: bool = False) -> None:
        del cooperative
        self.file, self.options, self.drawn = file, options, drawn

    def __getitem__(self, name: str) -> HostKernel:
        return HostKernel(compiled(self.file, name, *self.options, drawn=self.drawn))


def be_the_device(monkeypatch: pytest.MonkeyPatch, load: Callable[..., KernelsOnHost] = KernelsOnHost) -> None:
    """Let the host be the device; `load` is what `cuda.load` becomes."""

    @contextmanager
    def using(_: str = "cuda") -> Generator[Any]:
        yield CUPY

    monkeypatch.setattr(cuda, "cupy", lambda: CUPY)
    monkeypatch.setattr(cuda, "using", using)
    monkeypatch.setattr(cuda, "load", load)
    monkeypatch.setattr(cuda, "require_memory", lambda *_: None)
    monkeypatch.setattr(cuda, "free_bytes", lambda: 1 << 40)
    monkeypatch.setattr(cuda, "resident_blocks", lambda *_: RESIDENT_BLOCKS)
    monkeypatch.setattr(cuda, "multiprocessors", lambda: RESIDENT_BLOCKS)


def draw_turns(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Draw whose turn it is in all kernels that are loaded from now on, from `seed` each time one is asked for."""

    def load(file: str, *options: str, cooperative: bool = False) -> KernelsOnHost:
        draw_from(seed, file, *options)
        return KernelsOnHost(file, *options, cooperative=cooperative, drawn=True)

    monkeypatch.setattr(cuda, "load", load)
