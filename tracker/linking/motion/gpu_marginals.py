"""Belief propagation on a GPU, as in `marginals`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ....matching.device import cuda
from ..gate.gpu_movie import launch, launch_in_turns, threads_of

_KERNELS = str(Path(__file__).with_name("marginals.cu"))


def link_marginals(
    ways: tuple[Any, Any, Any],
    odds: Any,
    message: Any,
    rounds: int,
    tolerance: float,
    probability: Any,
    arriving: Any,
) -> None:
    """Write what `marginals.link_marginals` writes; `ways` are pointers, pointers by head, and edges by head."""
    indptr, *incoming = ways
    kernels, n = cuda.load(_KERNELS), np.int32(len(indptr) - 1)
    everyone, in_turns = launch(len(indptr) - 1), launch_in_turns(len(indptr) - 1)
    change = cuda.cupy().empty(threads_of(in_turns))
    for _ in range(rounds):
        kernels["asked"](*everyone, (n, indptr, odds, message, arriving))
        kernels["answered"](*in_turns, (n, *incoming, arriving, message, change))
        if float(change.max()) < tolerance:
            break
    kernels["concluded"](*everyone, (n, indptr, odds, message, probability))


def cavities(ways: tuple[Any, Any, Any], arriving: Any, leaving: Any) -> None:
    """Share out odds as `marginals.cavities` does."""
    n = len(ways[0]) - 1
    cuda.load(_KERNELS)["shared_out"](*launch(n), (np.int32(n), *ways, arriving, leaving))
