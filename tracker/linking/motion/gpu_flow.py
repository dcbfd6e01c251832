"""The neighbours' flow on a GPU, as in `flow`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ....matching.device import cuda
from ..gate.gpu_movie import launch, launch_in_turns

_KERNELS = str(Path(__file__).with_name("flow.cu"))


def flow_of_edges(
    ways: tuple[Any, Any, Any], ends: tuple[Any, Any, Any], step: Any, near: Any, probability: Any, half: float
) -> tuple[Any, Any]:
    """Return what `flow.flow_of_edges` does.

    Parameters
    ----------
    ways
        Pointers, pointers by head, edges by head.
    ends
        Tail, head and lag of each edge.
    step, near, probability, half
        See there.
    """
    cp, n, ndim = cuda.cupy(), len(ways[0]) - 1, step.shape[1]
    kernels, everyone = cuda.load(_KERNELS, f"-DNDIM={ndim}"), launch(n)
    leaving, arriving, ahead, behind = ((cp.empty((n, ndim)), cp.empty(n)) for _ in range(4))
    links = *ways, ends[2], step, probability
    kernels["means"](*everyone, (np.int32(n), *links, *leaving, *arriving))
    for mean, field in ((leaving, ahead), (arriving, behind)):
        kernels["fields"](*everyone, (np.int32(n), np.int32(near.shape[1]), near, *mean, *field))
    along = cp.empty(step.shape)
    kernels["along"](
        *launch_in_turns(len(step)), (np.int64(len(step)), *ends, *ahead, *behind, np.float64(half), along)
    )
    return along, ahead[0]
