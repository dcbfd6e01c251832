"""The coarse start (`coarse_start`) on the GPU: the grid's potential in one launch, its value at every column."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..device import cuda
from .coarse_start import ROUNDS, CoarseGrid, too_steep

THREADS = 256


def coarse_prices(cp: Any, rows: Any, cols: Any, *, squared: bool) -> Any:
    """Return coarse initial prices, float64 (m,), for positions (n, 3), (m, 3) on the device."""
    m = len(cols)
    grid = CoarseGrid.over(cp, rows.T, cols.T, squared)
    v = cp.zeros(m)
    if grid is None:
        return v
    shape = tuple(map(np.int32, grid.shape))
    phi, steps, faces = cp.zeros_like(grid.surplus), cp.zeros_like(grid.faces), cp.zeros_like(grid.faces)
    potential = cuda.load("points/coarse.cu", cooperative=True)["auction_coarse_potential"]
    cells = int(np.prod(grid.shape))
    potential(
        (min(cuda.resident_blocks(potential, THREADS), -(-cells // THREADS)),),
        (THREADS,),
        (
            *(*shape, grid.surplus, grid.faces, steps, faces, phi),
            *map(np.float64, (1 / grid.steepest, grid.omega, grid.floor)),
            *(np.int32(ROUNDS), np.int32(grid.sweeps), cp.zeros(1, cp.uint32)),
        ),
    )
    inner = cp.ascontiguousarray(phi[grid.pad : -grid.pad])
    inner /= too_steep(cp, inner.reshape(grid.shape), grid.steepest)
    arguments = (np.int32(m), cols, grid.lower, np.float64(grid.side), *shape, inner, v)
    cuda.load("points/coarse.cu")["auction_coarse_prices"]((-(-m // THREADS),), (THREADS,), arguments)
    return v
