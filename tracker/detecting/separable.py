"""Two chains of one-dimensional filters along all axes of a frame, in one sweep whose rows stay in the cache.

What a blob filter needs of a frame are two products of kernels: the smoothed image and its Laplacian, or a narrow and a
wide Gaussian. Both are carried through the axes as a pair, to which an axis does

    first'  = own · first
    second' = cross · first + other · second        (· is correlation along the axis)

The kernels are even, so each is its sum and what it does to differences: k · f = sum(k) f(0) + Σ k(t) (f(t) + f(-t) -
2 f(0)). An even background hence leaves a Laplacian of exactly zero, in float32 too.

Blocks of rows are independent of each other, and every voxel is computed in one order of operations: the response does
not depend on how many threads take part.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from ...matching.jit.compiled import compiled

_ROWS = 64  # of a block; with those around it, what the cache of a core holds
_ROWS_PER_REACH = 4  # more of them for wide filters, whose blocks overlap more


@dataclass(frozen=True)
class AxisTaps:
    """What one axis does to the pair: the kernels on one side of their centres, and their sums.

    Parameters
    ----------
    own, cross, other : ndarray, float64 (reach,)
        Values one voxel from the centre, two, and so on. Of no values: the axis is left alone.

    Notes
    -----
    The kernels `own` and `other` sum to 1, `cross` sums to 0.
    """

    own: np.ndarray
    cross: np.ndarray
    other: np.ndarray

    @property
    def stacked(self) -> np.ndarray:
        """The three as rows, float32 (3, reach)."""
        return np.stack([self.own, self.cross, self.other]).astype(np.float32)


UNTOUCHED = AxisTaps(np.empty(0), np.empty(0), np.empty(0))


def filtered(
    image: np.ndarray, axes: Sequence[AxisTaps], second: float, weights: tuple[float, float], threads: int = 1
) -> np.ndarray:
    """Return a weighted sum of the two chains, mirrored at the borders.

    Parameters
    ----------
    image : ndarray, float32 (z, y, x) or (y, x)
    axes : sequence of AxisTaps
        One an axis of the image.
    second : float
        The second chain starts from this times the image, the first from the image.
    weights : tuple of float
        Of the first and the second chain in the result.
    threads : int
        That take part; the result is the same.

    Returns
    -------
    ndarray, float32, shape of `image`
        Beside it and the image only some rows are in memory, for each thread.
    """
    volume: np.ndarray = np.require(image, np.float32, ["C", "W"]).reshape((-1, *image.shape[-2:]))
    z_taps, y_taps, x_taps = (axis.stacked for axis in (*[UNTOUCHED] * (3 - image.ndim), *axes))
    planes, rows, columns = (
        _mirrored(size, taps.shape[1]) for size, taps in zip(volume.shape, (z_taps, y_taps, x_taps), strict=True)
    )
    mix = np.array([second, *weights], dtype=np.float32)
    out = np.empty_like(volume)
    height = volume.shape[1]
    block = max(_ROWS, _ROWS_PER_REACH * y_taps.shape[1])

    def sweep(start: int) -> None:
        stop = min(start + block, height)
        _sweep(volume, z_taps, y_taps, x_taps, planes, rows, columns, mix, start, stop, out)

    with ThreadPoolExecutor(threads, thread_name_prefix="filter") as pool:
        for _ in pool.map(sweep, range(0, height, block)):
            pass
    return out.reshape(image.shape)


def _mirrored(size: int, reach: int) -> np.ndarray:
    """Return which voxel of an axis stands at each place from -reach to size + reach - 1: d c b a | a b c d."""
    place = np.arange(-reach, size + reach) % (2 * size)
    return np.minimum(place, 2 * size - 1 - place)


@compiled(fastmath={"contract"})
def _sweep(
    image: np.ndarray,
    z_taps: np.ndarray,
    y_taps: np.ndarray,
    x_taps: np.ndarray,
    planes: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    mix: np.ndarray,
    start: int,
    stop: int,
    out: np.ndarray,
) -> None:
    """Filter the rows from `start` to `stop` of every plane.

    All arrays are contiguous, with which loops over x become vector instructions.
    """
    width = image.shape[2]
    y_reach, x_reach = y_taps.shape[1], x_taps.shape[1]
    is_flat = z_taps.shape[1] == 0  # y is the first axis to be filtered, and no slab is needed
    slab = np.empty((2, 0 if is_flat else stop - start + 2 * y_reach, width), dtype=np.float32)
    line = np.empty((2, width + 2 * x_reach), dtype=np.float32)
    to_a, to_b = line[0][x_reach:], line[1][x_reach:]
    for z in range(len(image)):
        for row in range(slab.shape[1]):
            _along_first(image, z, rows[start + row], planes, z_taps, mix[0], slab[0, row], slab[1, row])
        for row in range(start, stop):
            if is_flat:
                _along_first(image[z].reshape(image.shape[1], 1, width), row, 0, rows, y_taps, mix[0], to_a, to_b)
            else:
                _along_y(slab[0], slab[1], y_reach + row - start, y_taps, to_a, to_b)
            for chain in range(2):
                _mirror_ends(line[chain], x_reach, columns)
            _along_x(line[0], line[1], x_taps, mix[1], mix[2], out[z, row])


@compiled(fastmath={"contract"})
def _along_first(
    image: np.ndarray,
    z: int,
    y: int,
    planes: np.ndarray,
    taps: np.ndarray,
    second: float,
    to_a: np.ndarray,
    to_b: np.ndarray,
) -> None:
    """Begin both chains at one row of a plane, along the first axis."""
    reach = taps.shape[1]
    centre = image[z, y]
    for x in range(len(centre)):
        to_a[x] = centre[x]
        to_b[x] = second * centre[x]
    for t in range(reach):
        own, cross = taps[0, t], taps[1, t] + second * taps[2, t]
        below, above = image[planes[z + reach - 1 - t], y], image[planes[z + reach + 1 + t], y]
        for x in range(len(centre)):
            difference = (below[x] - centre[x]) + (above[x] - centre[x])
            to_a[x] += own * difference
            to_b[x] += cross * difference


@compiled(fastmath={"contract"})
def _along_y(a: np.ndarray, b: np.ndarray, row: int, taps: np.ndarray, to_a: np.ndarray, to_b: np.ndarray) -> None:
    """Carry both chains, `a` and `b` (y, x), along y at one row."""
    here_a, here_b = a[row], b[row]
    for x in range(len(here_a)):
        to_a[x] = here_a[x]
        to_b[x] = here_b[x]
    for t in range(taps.shape[1]):
        own, cross, other = taps[0, t], taps[1, t], taps[2, t]
        before_a, after_a = a[row - 1 - t], a[row + 1 + t]
        before_b, after_b = b[row - 1 - t], b[row + 1 + t]
        for x in range(len(here_a)):
            difference = (before_a[x] - here_a[x]) + (after_a[x] - here_a[x])
            to_a[x] += own * difference
            to_b[x] += cross * difference + other * ((before_b[x] - here_b[x]) + (after_b[x] - here_b[x]))


@compiled
def _mirror_ends(line: np.ndarray, reach: int, columns: np.ndarray) -> None:
    """Fill the first and last `reach` places of a line from those between."""
    for place in range(reach):
        for end in (place, len(line) - 1 - place):
            line[end] = line[reach + columns[end]]


@compiled(fastmath={"contract"})
def _along_x(a: np.ndarray, b: np.ndarray, taps: np.ndarray, first: float, second: float, out: np.ndarray) -> None:
    """Carry both chains, rows `a` and `b` with their mirrored ends, along x, and write their weighted sum."""
    reach, width = taps.shape[1], len(out)
    here_a, here_b = a[reach : reach + width], b[reach : reach + width]
    for x in range(width):
        out[x] = first * here_a[x] + second * here_b[x]
    for t in range(reach):
        own, other = first * taps[0, t] + second * taps[1, t], second * taps[2, t]
        before_a, before_b = a[reach - 1 - t :], b[reach - 1 - t :]
        after_a, after_b = a[reach + 1 + t :], b[reach + 1 + t :]
        for x in range(width):
            difference = (before_a[x] - here_a[x]) + (after_a[x] - here_a[x])
            out[x] += own * difference + other * ((before_b[x] - here_b[x]) + (after_b[x] - here_b[x]))
