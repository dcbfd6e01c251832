"""Belief propagation on a GPU, as in `marginals`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .....matching.device import cuda
from ...gate.gpu_movie import launch

_KERNELS = str(Path(__file__).with_name("marginals.cu"))


def link_marginals(
    ways: tuple[Any, Any, Any],
    odds: Any,
    message: Any,
    rounds: int,
    tolerance: float,
    before: tuple[Any, float],
    probability: Any,
    arriving: Any,
) -> None:
    """Write what `marginals.link_marginals` writes; `ways` are pointers, pointers by head, and edges by head."""
    indptr, *incoming = ways
    kernels, n, everyone = cuda.load(_KERNELS), np.int32(len(indptr) - 1), launch(len(indptr) - 1)
    moved, asked = cuda.cupy().zeros(rounds, np.int32), (n, indptr, odds, message)
    for each in map(np.int32, range(rounds)):
        kernels["asked"](*everyone, (*asked, each, moved, arriving))
        kernels["answered"](*everyone, (n, *incoming, arriving, each, np.float64(tolerance), message, moved))
    kernels["concluded"](*everyone, (*asked, before[0], np.float64(before[1]), probability))


def cavities(
    ways: tuple[Any, Any, Any],
    arriving: tuple[Any, Any],
    leaving: tuple[Any, Any],
    before: tuple[Any, Any, float],
) -> None:
    """Share out odds as `marginals.cavities` does."""
    n, (into, out_of, damping) = len(ways[0]) - 1, before
    kernel = cuda.load(_KERNELS)["shared_out"]
    kernel(*launch(n), (np.int32(n), *ways, *arriving, *leaving, into, out_of, np.float64(damping)))
