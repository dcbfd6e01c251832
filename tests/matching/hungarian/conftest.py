"""What the tests of the kernels on the host share."""

from __future__ import annotations

from typing import Any

import pytest

from auctrack.matching.device import cuda
from auctrack.matching.hungarian import gpu_classical

from .host_kernels import RESIDENT_BLOCKS

THREADS = 64
"""Of a block of the classical method on the host: a fiber each."""


@pytest.fixture
def host_as_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the host be all devices."""

    def resident_blocks(kernel: Any, threads: int) -> int:
        del kernel, threads
        return RESIDENT_BLOCKS

    monkeypatch.setattr(cuda, "resident_blocks", resident_blocks)
    monkeypatch.setattr(cuda, "open_peers", lambda _: None)
    monkeypatch.setattr(cuda, "require_memory", lambda *_: None)
    monkeypatch.setattr(gpu_classical, "THREADS", THREADS)
