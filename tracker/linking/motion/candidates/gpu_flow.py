"""The neighbours' flow on a GPU, as in `flow`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .....matching.device import cuda
from ...gate.gpu_movie import launch, launch_in_turns

_KERNELS = str(Path(__file__).with_name("flow.cu"))


def fields_of(links: tuple[Any, ...], near: Any) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return what `flow.fields_of` does.

    Parameters
    ----------
    links
        Pointers, pointers by head, edges by head; lag, step and probability of each edge.
    near
        See there.
    """
    cp, n, ndim = cuda.cupy(), len(links[0]) - 1, links[4].shape[1]
    kernels, everyone = cuda.load(_KERNELS, f"-DNDIM={ndim}"), launch(n)
    leaving, arriving, ahead, behind = ((cp.empty((n, ndim)), cp.empty(n)) for _ in range(4))
    kernels["means"](*everyone, (np.int32(n), *links, *leaving, *arriving))
    for mean, field in ((leaving, ahead), (arriving, behind)):
        kernels["fields"](*everyone, (np.int32(n), np.int32(near.shape[1]), near, *mean, *field))
    return ahead, behind


def flow_along(ends: tuple[Any, Any, Any], ahead: tuple[Any, Any], behind: tuple[Any, Any], half: float) -> Any:
    """Return what `flow.flow_at` does; `ends` are tail, head and lag of the edges."""
    edges, ndim = len(ends[0]), ahead[0].shape[1]
    along = cuda.cupy().empty((edges, ndim))
    kernel = cuda.load(_KERNELS, f"-DNDIM={ndim}")["along"]
    kernel(*launch_in_turns(edges), (np.int64(edges), *ends, *ahead, *behind, np.float64(half), along))
    return along
