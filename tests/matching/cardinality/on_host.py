"""The GPU's matching where there is no GPU: its own kernels, compiled for the host, and NumPy in CuPy's place."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from auctrack.matching.cardinality import (
    gpu_best,
    gpu_forest,
    gpu_graph,
    gpu_initial,
    gpu_persistent,
    gpu_rounds,
    gpu_structure,
)
from auctrack.matching.papers.deveci_apfb_2013 import gpu as apfb_gpu
from auctrack.matching.papers.deveci_gpr_2013 import gpu as g_pr_gpu

from ..auction.on_host import CUPY, KernelsOnHost, be_the_device
from ..hungarian.host_kernels import RESIDENT_BLOCKS, draw_from

THREADS, FEW_THREADS = 64, 32
"""Of a block here, a fiber each: of kernels that stay, and of those that are launched again and again."""

_SPREAD = 2654435761  # so that the first turns of neighbouring seeds differ

SMALL: dict[str, tuple[str, ...]] = {
    "cardinality/push.cu": ("-DGATHER=8",),
    "cardinality/search.cu": ("-DFEW=4", "-DHANDFUL=1", "-DHEAVY=6", "-DCHUNK=6", "-DGATHER=8"),
}
"""Options with which small graphs reach all of a file."""

WIDE: dict[str, tuple[tuple[str, ...], ...]] = {"cardinality/push.cu": (("-DLANES=32",),)}
"""Other forms of a file, for graphs of long rows."""

PERSISTENT = ("cardinality/push.cu", "cardinality/search.cu")
"""Files whose kernels run to the end in one launch, and meet at barriers of the whole grid."""


class _Event:
    """A moment that nobody measures."""

    def record(self) -> None: ...

    def synchronize(self) -> None: ...


def be_the_small_device(monkeypatch: pytest.MonkeyPatch, *, drawn: Sequence[str] = ()) -> None:
    """Let the host be the device, in small; in the kernels of the files `drawn` whose turn it is is drawn."""

    def load(file: str, *options: str, cooperative: bool = False) -> KernelsOnHost:
        return KernelsOnHost(file, *options, *SMALL.get(file, ()), cooperative=cooperative, drawn=file in drawn)

    monkeypatch.setattr(CUPY.cuda, "Event", _Event, raising=False)
    monkeypatch.setattr(CUPY.cuda, "get_elapsed_time", lambda *_: 0.0, raising=False)
    be_the_device(monkeypatch, load)
    _make_small(monkeypatch)


def _make_small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (apfb_gpu, g_pr_gpu, gpu_graph, gpu_initial, gpu_rounds, gpu_structure):
        monkeypatch.setattr(module, "THREADS", FEW_THREADS)
    monkeypatch.setattr(gpu_persistent, "THREADS_OF_A_BLOCK", THREADS)
    monkeypatch.setattr(apfb_gpu, "_CONSTANT_GRID", RESIDENT_BLOCKS)
    for module in (gpu_best, gpu_forest, gpu_initial):
        monkeypatch.setattr(module, "LONG_ROW", 6)
    monkeypatch.setattr(gpu_forest, "_HEAVY_CHUNK", 6)
    monkeypatch.setattr(g_pr_gpu, "SHRINK_FROM", 4)


def draw_turns_from(seed: int, files: Sequence[str] = PERSISTENT) -> None:
    """Draw the turns in these files' kernels from another seed from now on."""
    for file in files:
        for options in ((), *WIDE.get(file, ())):
            draw_from(seed * _SPREAD % 2**32, file, *options, *SMALL.get(file, ()))
