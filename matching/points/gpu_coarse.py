"""Where prices start between two point sets on a GPU: their shape on scales of many spacings, from the densities.

Where rows outnumber columns they must leave, and prices must differ over long distances to make them; bids would
carry such differences one pair at a time. On a coarse scale the duals are a potential φ (r = φ at a row, v = -φ at a
column), and matched edges carry the surplus of rows down its slope: div(κ grad φ) = columns - rows, both per volume. A
coarse grid solves that in a moment, and what is left to bids is local. The certificate never leans on it.

κ for squared distances is half the density ρ, as a matched edge is half the potential's gradient there (Y. Brenier,
"Polar factorization and monotone rearrangement of vector-valued functions", 1991). For distances it is ours, measured
on the optimal duals of uniform, normal and shifted sets, n = 5,000 to 100,000, with which φ correlates at 0.87 to
0.997: 1.1 ρ^(1 - 1/d) (1 + s⁴)², where s is the slope: no potential may be steeper than 1.

The potential takes one launch; its twin is `tests/matching/auction/coarse_twin.py`. On a CPU prices start from a
sample's optimum (`auction/sampled_start`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..device import cuda
from ..device.arrays import counts_of

THREADS = 256
POINTS_PER_CELL = 16
ROUNDS = 4
"""Times that κ is renewed from the slopes; each round has as many sweeps as the grid has cells along an axis."""

_LEAST_COUNT = 0.5
"""Points that conduct in a cell without any, so that no part of the grid is cut off."""


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
    return counts_of((z * shape[1] + y) * shape[2] + x, int(np.prod(shape))).reshape(shape)


def _faces(xp: Any, conductance: Any, pad: int) -> Any:
    """Return the mean conductance of every cell and the next along each axis, 0 beyond the last."""
    faces = xp.zeros((3, conductance.size + 2 * pad))
    for axis in range(3):
        between = xp.zeros(conductance.shape)
        ends = xp.moveaxis(conductance, axis, 0)
        xp.moveaxis(between, axis, 0)[:-1] = (ends[:-1] + ends[1:]) / 2
        faces[axis, pad:-pad] = between.ravel()
    return faces


def too_steep(xp: Any, phi: Any, steepest: float) -> float:
    """Return by what a potential must be divided for no step between neighbours to be larger than `steepest`."""
    steps = [float(abs(xp.diff(phi, axis=axis)).max()) for axis in range(3) if phi.shape[axis] > 1]
    return max(1.0, max(steps, default=0.0) / steepest)
