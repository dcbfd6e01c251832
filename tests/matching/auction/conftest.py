"""A device for the auction's GPU code where there is none."""

from __future__ import annotations

import pytest

from auctrack.matching.auction import gpu_bids, gpu_feasibility
from auctrack.matching.cardinality import gpu_persistent
from auctrack.matching.paths import gpu_paths

from .on_host import be_the_device

THREADS = 64
"""Of a block of the large kernels here: a fiber each."""


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the host be the device."""

    be_the_device(monkeypatch)
    for module, name in (
        (gpu_feasibility, "GREEDY_THREADS"),
        (gpu_bids, "THREADS"),
        (gpu_paths, "THREADS"),
        (gpu_persistent, "THREADS_OF_A_BLOCK"),
    ):
        monkeypatch.setattr(module, name, THREADS)
    monkeypatch.setattr(gpu_feasibility, "FEW_PAIRS", 6)
