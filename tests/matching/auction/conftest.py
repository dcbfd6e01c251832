"""A device for the auction's GPU code where there is none."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from auctrack.matching import cuda
from auctrack.matching.auction import gpu_feasibility, gpu_steps
from auctrack.matching.cardinality import persistent_gpu

from ..hungarian.host_kernels import RESIDENT_BLOCKS
from .on_host import CUPY, KernelsOnHost

THREADS = 64
"""Of a block of the large kernels here: a fiber each."""


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the host be the device."""

    @contextmanager
    def using(_: str) -> Generator[Any]:
        yield CUPY

    monkeypatch.setattr(cuda, "cupy", lambda: CUPY)
    monkeypatch.setattr(cuda, "using", using)
    monkeypatch.setattr(cuda, "load", KernelsOnHost)
    monkeypatch.setattr(cuda, "require_memory", lambda *_: None)
    monkeypatch.setattr(cuda, "resident_blocks", lambda *_: RESIDENT_BLOCKS)
    for module, name in (
        (gpu_feasibility, "GREEDY_THREADS"),
        (gpu_steps, "THREADS"),
        (persistent_gpu, "THREADS_OF_A_BLOCK"),
    ):
        monkeypatch.setattr(module, name, THREADS)
    monkeypatch.setattr(gpu_feasibility, "FEW_PAIRS", 6)
