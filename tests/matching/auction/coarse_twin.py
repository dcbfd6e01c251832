"""The potential of `points/coarse.cu` in plain loops, and the prices that it gives: what a GPU is held to."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import map_coordinates

from auctrack.matching.jit.compiled import compiled
from auctrack.matching.points.gpu_coarse import ROUNDS, CoarseGrid, too_steep


def coarse_prices(rows: np.ndarray, cols: np.ndarray, squared: bool) -> np.ndarray:
    """Return coarse initial prices: column duals that are right on a coarse grid.

    Parameters
    ----------
    rows, cols : float64 (3, n), (3, m)
        Positions, axes first.
    squared : bool
        Whether the cost is the squared distance.

    Returns
    -------
    float64 (m,)
        At most 0 where columns outnumber rows: no price may then be higher.
    """
    grid = CoarseGrid.over(np, rows, cols, squared)
    if grid is None:
        return np.zeros(cols.shape[1])
    places = (cols - grid.lower[:, None]) / grid.side - 0.5
    return -map_coordinates(_potential(grid), places, order=1, mode="nearest")


def _potential(grid: CoarseGrid) -> np.ndarray:
    """Return the potential of every cell: nowhere below the grid's `floor`, no step between cells above `steepest`."""
    pad, shape = grid.pad, grid.shape
    strides = np.array([pad, shape[2], 1])
    phi, steps, faces = np.zeros_like(grid.surplus), np.zeros_like(grid.faces), np.zeros_like(grid.faces)
    for _ in range(ROUNDS):
        _renew(phi, steps, grid.faces, faces, strides, pad, 1 / grid.steepest)
        _relax(phi, grid.surplus, faces, strides, pad, grid.omega, grid.sweeps, grid.floor)
    phi = phi[pad:-pad].reshape(shape)
    return phi / too_steep(np, phi, grid.steepest)


@compiled
def _renew(phi, steps, flat, faces, strides, pad, per_step):
    """Move the slopes half-way to those of `phi`, and write each face's conductance at its slope."""
    for axis in range(3):
        for c in range(pad, len(phi) - pad):
            step = abs(phi[c] - phi[c + strides[axis]]) * per_step if flat[axis, c] > 0.0 else 0.0
            steps[axis, c] = (steps[axis, c] + step) / 2
            faces[axis, c] = flat[axis, c] * (1 + steps[axis, c] ** 4) ** 2


@compiled
def _relax(phi, source, faces, strides, pad, omega, sweeps, floor):
    """Successive over-relaxation of Σ faces · (phi - neighbour) = source, kept at `floor` or above."""
    for _ in range(sweeps):
        for c in range(pad, len(phi) - pad):
            inflow, total = source[c], 0.0
            for axis in range(3):
                s = strides[axis]
                inflow += faces[axis, c] * phi[c + s] + faces[axis, c - s] * phi[c - s]
                total += faces[axis, c] + faces[axis, c - s]
            if total > 0.0:
                phi[c] = max(phi[c] + omega * (inflow / total - phi[c]), floor)
