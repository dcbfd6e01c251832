"""Where prices start between two point sets on a GPU: their shape on scales of many spacings, from the densities.

This is the twin of `gpu_coarse`; on a CPU prices start from a sample's optimum (`auction/sampled_start`).

Where rows outnumber columns they must leave, and prices must differ over long distances to make them; bids would
carry such differences one pair at a time. On a coarse scale the duals are a potential φ (r = φ at a row, v = -φ at a
column), and links carry the surplus of rows down its slope: div(κ grad φ) = columns - rows, both per volume. A
coarse grid solves that in a moment, and what is left to bids is local. The certificate never leans on it.

κ for squared distances is half the density ρ, as a link is half the potential's gradient there (Y. Brenier, "Polar
factorization and monotone rearrangement of vector-valued functions", 1991). For distances it is ours, measured on the
optimal duals of uniform, normal and shifted sets, n = 5,000 to 100,000, with which φ correlates at 0.87 to 0.997:
1.1 ρ^(1 - 1/d) (1 + s⁴)², where s is the slope: no potential may be steeper than 1.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.ndimage import map_coordinates

from ..jit.compiled import compiled

POINTS_PER_CELL = 16
ROUNDS = 4
"""Times that κ is renewed from the slopes; each round has as many sweeps as the grid has cells along an axis."""

_LEAST_COUNT = 0.5
"""Points that conduct in a cell without any, so that no part of the grid is cut off."""


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


@dataclass(frozen=True)
class CoarseGrid:
    """A grid of cubes over both point sets, and the equation that its potential solves.

    Attributes
    ----------
    lower : float64 (3,)
        Corner of the first cell.
    side : float
    shape : (int, int, int)
    surplus : float64 (cells,)
        Rows less columns of each cell, padded in front and behind by `pad` cells of 0.
    faces : float64 (3, cells)
        Conductance between each cell and the next along an axis where the slope is 0, padded as `surplus`.
    steepest : float
        Largest difference of the potential between neighbours; +inf for squared distances.
    floor : float
        Least potential.
    """

    lower: Any
    side: float
    shape: tuple[int, ...]
    surplus: Any
    faces: Any
    steepest: float
    floor: float

    @classmethod
    def over(cls, xp: Any, rows: Any, cols: Any, squared: bool) -> CoarseGrid | None:
        """Return the grid over positions, axes first, of the array module `xp`; None where all points are one."""
        lower = xp.minimum(rows.min(axis=1), cols.min(axis=1))
        extent = (xp.maximum(rows.max(axis=1), cols.max(axis=1)) - lower).tolist()
        side, axes = _cell_side(np.array(extent), rows.shape[1])
        if not axes:
            return None
        shape = tuple(max(int(np.ceil(length / side)), 1) for length in extent)
        n_rows, n_cols = (_count(xp, points, lower, side, shape) for points in (rows, cols))
        count = xp.maximum((n_rows + n_cols) / 2, _LEAST_COUNT)  # density · side^axes, which may be out of range
        conductance = count / 2 / side**2 if squared else 1.1 * count ** (1 - 1 / axes) / side
        pad = shape[1] * shape[2]
        surplus = xp.zeros(conductance.size + 2 * pad)
        surplus[pad:-pad] = (n_rows - n_cols).ravel()
        floor = 0.0 if cols.shape[1] > rows.shape[1] else -np.inf
        steepest = np.inf if squared else side
        return cls(lower, side, shape, surplus, _faces(xp, conductance, pad), steepest, floor)

    @property
    def pad(self) -> int:
        """Cells of one layer along the first axis."""
        return self.shape[1] * self.shape[2]

    @property
    def sweeps(self) -> int:
        """Sweeps of over-relaxation between two looks at the slopes."""
        return max(self.shape)

    @property
    def omega(self) -> float:
        """Factor of over-relaxation."""
        return 2 / (1 + np.sin(np.pi / max(self.shape)))


def _cell_side(extent: np.ndarray, n: int) -> tuple[float, int]:
    """Return the side of cubes that hold `POINTS_PER_CELL` on average, and how many axes are long enough to count."""
    side = 0.0
    while (extent > side).any():
        long = extent[extent > side]
        wider = float(np.exp(np.log(long).mean()) * (POINTS_PER_CELL / n) ** (1 / len(long)))
        if (long > wider).all():
            return wider, len(long)
        side = max(wider, float(long.min()))
    return side, 0


def _count(xp: Any, points: Any, lower: Any, side: float, shape: tuple[int, ...]) -> Any:
    last = xp.asarray(np.array(shape) - 1)[:, None]
    z, y, x = xp.minimum(((points - lower[:, None]) / side).astype(np.int64), last)
    return xp.bincount((z * shape[1] + y) * shape[2] + x, minlength=int(np.prod(shape))).reshape(shape)


def _faces(xp: Any, conductance: Any, pad: int) -> Any:
    """Return the mean conductance of every cell and the next along each axis, 0 beyond the last."""
    faces = xp.zeros((3, conductance.size + 2 * pad))
    for axis in range(3):
        between = xp.zeros(conductance.shape)
        ends = xp.moveaxis(conductance, axis, 0)
        xp.moveaxis(between, axis, 0)[:-1] = (ends[:-1] + ends[1:]) / 2
        faces[axis, pad:-pad] = between.ravel()
    return faces


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


def too_steep(xp: Any, phi: Any, steepest: float) -> float:
    """Return by what a potential must be divided for no step between neighbours to be larger than `steepest`."""
    steps = [float(abs(xp.diff(phi, axis=axis)).max()) for axis in range(3) if phi.shape[axis] > 1]
    return max(1.0, max(steps, default=0.0) / steepest)


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
