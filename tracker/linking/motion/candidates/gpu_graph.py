"""What `graph` and `flow` ask of every detection, on a GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .....matching.device import cuda
from ...gate.gpu_movie import DeviceMovie, launch

BYTES_AN_EDGE = 300
"""Device memory for a candidate link at the peak of a sweep of three classes in 3D."""
_KERNELS = str(Path(__file__).with_name("graph.cu"))


def candidates(
    grid: DeviceMovie, lag: int, radius: float, predicted: Any, heads: Any | None, limits: dict[str, float]
) -> tuple[Any, Any, Any]:
    """Return the candidates of `graph.candidates`: pointers int64 (n + 1,), heads int32 and steps float64 (edges, d).

    Of more than `limits["MOST"]` of a detection the nearest are taken; of those as far `limits["TIE"]` tells which.

    Raises
    ------
    DeviceMemoryExceeded
        If they are too many.
    """
    cp, ndim = grid.cp, predicted.shape[1]
    asked = predicted, lag, radius, heads
    indptr = cp.zeros(len(grid) + 1, np.int64)
    cp.cumsum(cp.minimum(_counted(grid, *asked), limits["MOST"]), out=indptr[1:])
    edges = int(indptr[-1])
    cuda.require_memory(BYTES_AN_EDGE * edges, f"learning from {edges} candidate links")
    head, step = cp.empty(edges, np.int32), cp.empty((edges, ndim))
    options = (f"-D{name}={value!r}" for name, value in limits.items())
    _ask(grid, asked, (np.intp(0), indptr, head, step), "-DWRITES", *options)
    return indptr, head, step


def _counted(grid: DeviceMovie, *asked: Any) -> Any:
    nothing, counts = np.intp(0), grid.cp.empty(len(grid), np.int32)
    _ask(grid, asked, (counts, nothing, nothing, nothing))
    return counts


def _ask(grid: DeviceMovie, asked: tuple[Any, int, float, Any], out: tuple[Any, ...], *options: str) -> None:
    predicted, lag, radius, heads = asked
    kernel = cuda.load(_KERNELS, f"-DNDIM={predicted.shape[1]}", *options)["candidates_within"]
    near = np.int32(lag), np.float64(radius), np.intp(0) if heads is None else heads
    kernel(*launch(len(grid)), (np.int32(len(grid)), predicted, *grid.in_cells, *near, *out))


def nearest_others(grid: DeviceMovie, count: int, asked: Any | None = None) -> Any:
    """Return the nearest others of the same frame as `flow.neighbours` does, int32 (n, count)."""
    near = grid.cp.empty((len(grid), count), np.int32)
    kernel = cuda.load(_KERNELS, f"-DOTHERS={count}")["nearest_others"]
    kernel(
        *launch(len(grid)),
        (np.int32(len(grid)), *grid.in_cells, np.intp(0) if asked is None else asked, near),
    )
    return near


def sums_at_ends(ways: tuple[Any, Any, Any], into: Any, out_of: Any) -> tuple[Any, Any]:
    """Return what `graph.sums_at_ends` does; `ways` are pointers, pointers by head, and edges by head."""
    return _at_ends("sums_at_ends", ways, into, out_of)


def least_at_ends(ways: tuple[Any, Any, Any], value: Any) -> tuple[Any, Any]:
    """Return per detection the least value of the edges into it, and of those out of it; infinite without any."""
    return _at_ends("least_at_ends", ways, value)


def _at_ends(name: str, ways: tuple[Any, Any, Any], *values: Any) -> tuple[Any, Any]:
    n, cp = len(ways[0]) - 1, cuda.cupy()
    came, went = cp.empty(n), cp.empty(n)
    cuda.load(_KERNELS)[name](*launch(n), (np.int32(n), *ways, *values, came, went))
    return came, went
