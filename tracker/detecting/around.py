"""What is seen around peaks: the response beside each, grey levels in and around it, how it fades from a border.

All that is measured of a peak is read in one go, by a kernel of a GPU too.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...matching.device import cuda
from ...matching.device.transfer import fetched
from ...matching.jit.compiled import SMALL, compiled
from . import gpu_around
from .blobs import ball, gaussian_kernels, sigma_of

PLANES = 3
"""That are looked at from a border."""
NEAR = 2
"""Planes from a border whose peaks are looked at from there."""
COLUMNS = 10 + 6 * PLANES
"""Of a peak: its height, those before it along z, y, x, those after it, the two means, the deviation, six profiles."""
_AT_A_TIME = 1024  # peaks that are looked at: most columns are of those near a border, which few are
_SHELL = 1.5  # outer radius of the surroundings, in radii of the particle


@dataclass(frozen=True)
class Sight:
    """Where to look, for particles of one size.

    Parameters
    ----------
    core, shell : ndarray, int32 (k, 3)
        Offsets of the voxels within the radius, and of those within 1.5 radii beyond it.
    kernels : ndarray, float64 (3, 2, taps)
        Of each axis a Gaussian and sigma² times its second derivative, from the centre on; 0 beyond their reach.
    reach : tuple of int
        Of the kernels along z, y, x.
    """

    core: np.ndarray
    shell: np.ndarray
    kernels: np.ndarray
    reach: tuple[int, ...]

    @classmethod
    @functools.lru_cache(maxsize=16)
    def of(cls, diameter: float, scale: tuple[float, ...]) -> Sight:
        """Return the sight for a physical diameter and the size of a voxel along each axis; kept for the next frame."""
        radius, flat, step = diameter / 2.0, 3 - len(scale), np.array(scale)
        core, shell = ball(radius, step), ball(_SHELL * radius, step, inner=np.nextafter(radius, np.inf))
        pairs = [gaussian_kernels(sigma) for sigma in sigma_of(diameter, step).tolist()]
        pairs = [(np.ones(1), np.zeros(1))] * flat + pairs
        reach = tuple(len(gauss) // 2 for gauss, _ in pairs)
        kernels = np.zeros((3, 2, max(reach) + 1))
        for axis, pair in enumerate(pairs):
            kernels[axis, :, : reach[axis] + 1] = [kernel[reach[axis] :] for kernel in pair]
        core, shell = (np.pad(table, ((0, 0), (flat, 0))).astype(np.int32) for table in (core, shell))
        return cls(core, shell, kernels, reach)


@dataclass(frozen=True)
class Around:
    """What is seen around n peaks, on the host, float64.

    Attributes
    ----------
    height : (n,)
        The response at the peaks.
    before, after : (ndim, n)
        The response one voxel before and after along each axis; at a border the peak's own.
    inside, around, spread : (n,)
        Mean grey level within the radius, mean and standard deviation in the shell around it. Only what lies within the
        image counts; of a shell that has nothing there, both are 0.
    near : int64 (m,)
        Which peaks are near a border, ascending.
    profiles : (ndim, 2, m, PLANES)
        Of those near the start, or the end, of an axis: the image in the outermost planes from there on, filtered along
        the other axes alone, so that no mirrored voxel enters and the background is gone.
    """

    height: np.ndarray
    before: np.ndarray
    after: np.ndarray
    inside: np.ndarray
    around: np.ndarray
    spread: np.ndarray
    near: np.ndarray
    profiles: np.ndarray

    def of(self, peaks: np.ndarray | slice) -> Around:
        """Return what is seen around some of the peaks, a mask or their places, ascending."""
        height, before, after = self.height[peaks], self.before[:, peaks], self.after[:, peaks]
        means = self.inside[peaks], self.around[peaks], self.spread[peaks]
        places = np.arange(len(self.height))[peaks]
        _, near, own = np.intersect1d(places, self.near, assume_unique=True, return_indices=True)
        return Around(height, before, after, *means, near, self.profiles[:, :, own])

    @classmethod
    def of_tables(
        cls, tables: Iterable[tuple[np.ndarray, np.ndarray]], places: np.ndarray, shape: tuple[int, ...]
    ) -> Around:
        """Return what stands in the columns of `_look` for places in an image of a shape.

        Some places after others have a table each, and the order in which they stand in its rows.
        """
        flat, near = 3 - len(shape), np.empty(len(places), np.int64)
        near = near[: _near_a_border(places, *(1,) * flat, *shape, near)]
        columns, profiles = np.empty((10, len(places))), np.empty((3, 2, len(near), PLANES))
        start = 0
        for table, order in tables:
            _take(table, order, start, near, int(np.searchsorted(near, start)), columns, profiles)
            start += len(order)
        inside, around, spread = columns[7:]
        beside = columns[1 + flat : 4], columns[4 + flat : 7]
        return cls(columns[0], *beside, inside, around, spread, near, profiles[flat:])

    @classmethod
    def joined(cls, parts: Sequence[Around]) -> Around:
        """Return what is seen around the peaks of several parts of an image, one after the other."""

        def laid(name: str, axis: int = -1) -> np.ndarray:
            return np.concatenate([getattr(part, name) for part in parts], axis=axis)

        if len(parts) == 1:
            return parts[0]
        means = laid("inside"), laid("around"), laid("spread")
        starts = np.cumsum([0, *(len(part.height) for part in parts)])
        near = np.concatenate([part.near + start for part, start in zip(parts, starts[:-1], strict=True)])
        return cls(laid("height"), laid("before"), laid("after"), *means, near, laid("profiles", axis=2))


def seen_around(response: np.ndarray, bright: np.ndarray, places: np.ndarray, sight: Sight) -> Around:
    """Look around peaks, wherever they are held.

    Parameters
    ----------
    response, bright : ndarray, float32 (z, y, x) or (y, x)
        An image in which particles are bright, and its response.
    places : ndarray, int64 (n,)
        Of the peaks in the flattened image.
    sight : Sight
    """
    if cuda.is_device_array(bright):
        count = cuda.cupy().full(1, len(places), np.int32)
        seen = fetched(cuda.cupy(), look_on_gpu(response, bright, places, count, sight))
        return Around.of_tables([(seen, np.arange(len(seen)))], cuda.to_host(places), bright.shape)
    return Around.of_tables(_looked_at(*_volumes(response, bright), places, sight), places, bright.shape)


def _looked_at(
    response: np.ndarray, bright: np.ndarray, places: np.ndarray, sight: Sight
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the columns of `_look` of some peaks after others, each time in the same memory, and their order."""
    seen, reach = np.empty((min(_AT_A_TIME, len(places)), COLUMNS)), np.array(sight.reach)
    for start in range(0, len(places), _AT_A_TIME):
        some = places[start : start + _AT_A_TIME]
        _look(response, bright, some, sight.core, sight.shell, sight.kernels, reach, seen)
        yield seen, np.arange(len(some))


def look_on_gpu(response: Any, bright: Any, places: Any, count: Any, sight: Sight) -> Any:
    """Return the columns of what is seen around the first `count` places, all on a GPU, without waiting for it."""
    offsets, filters = (sight.core, sight.shell), (sight.kernels, sight.reach)
    return gpu_around.seen_around(_volumes(response, bright), places, count, offsets, *filters, COLUMNS)


def _volumes(response: np.ndarray, bright: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both with three axes."""
    shape = -1, *bright.shape[-2:]
    return response.reshape(shape), bright.reshape(shape)


@compiled(plain=SMALL)
def _near_a_border(places: np.ndarray, depth: int, height: int, width: int, near: np.ndarray) -> int:
    """Write which of the places are looked at from a border of their image, ascending, and count these."""
    count = 0
    for i in range(len(places)):
        z, y, x = places[i] // (height * width), places[i] // width % height, places[i] % width
        from_z = min(z, depth - 1 - z) if depth > 1 else NEAR
        from_y = min(y, height - 1 - y) if height > 1 else NEAR
        from_x = min(x, width - 1 - x) if width > 1 else NEAR
        if min(from_z, from_y, from_x) < NEAR:
            near[count] = i
            count += 1
    return count


@compiled(plain=SMALL)
def _take(
    table: np.ndarray,
    order: np.ndarray,
    start: int,
    near: np.ndarray,
    first: int,
    columns: np.ndarray,
    profiles: np.ndarray,
) -> None:
    """Write rows of a table in an order as columns, from a start on, and profiles of those `near`, from their first."""
    for i in range(len(order)):
        for column in range(len(columns)):
            columns[column, start + i] = table[order[i], column]
    while first < len(near) and near[first] < start + len(order):
        row = order[near[first] - start]
        for axis in range(3):
            for side in range(2):
                for plane in range(PLANES):
                    profiles[axis, side, first, plane] = table[row, 10 + PLANES * (2 * axis + side) + plane]
        first += 1


@compiled
def _look(
    response: np.ndarray,
    grey: np.ndarray,
    places: np.ndarray,
    core: np.ndarray,
    shell: np.ndarray,
    kernels: np.ndarray,
    reach: np.ndarray,
    seen: np.ndarray,
) -> None:
    """Write what is seen around each place, the columns of `COLUMNS`.

    Plain steps, here and below: copies, slices and `max` take numba a second and a half to compile.
    """
    values = np.empty(len(core) + len(shell))
    centre, at = np.empty(3, np.int64), np.empty(3, np.int64)
    _, height, width = grey.shape
    for i in range(len(places)):
        centre[0], centre[1], centre[2] = places[i] // (height * width), places[i] // width % height, places[i] % width
        seen[i, 0] = response[centre[0], centre[1], centre[2]]
        seen[i, 7], _ = _mean_and_deviation(grey, centre, core, values)
        seen[i, 8], seen[i, 9] = _mean_and_deviation(grey, centre, shell, values)
        for axis in range(3):
            size = grey.shape[axis]
            for side in range(2):
                step, first = (-1, 0) if side == 0 else (1, size - 1)
                rank = (first - centre[axis]) * step
                for other in range(3):
                    at[other] = centre[other]
                if rank > 0:
                    at[axis] += step
                seen[i, 1 + 3 * side + axis] = response[at[0], at[1], at[2]]
                if size == 1 or rank >= NEAR or 2 * rank >= size:
                    continue
                column = 10 + PLANES * (2 * axis + side)
                for plane in range(PLANES):
                    if plane < size:
                        at[axis] = first - plane * step
                        seen[i, column + plane] = _filtered_across(grey, at, axis, kernels, reach)


@compiled
def _mean_and_deviation(
    grey: np.ndarray, centre: np.ndarray, offsets: np.ndarray, values: np.ndarray
) -> tuple[float, float]:
    """Return mean and standard deviation of the grey levels at the offsets that fall into the image."""
    depth, height, width = grey.shape
    count, total, squares = 0, 0.0, 0.0
    for offset in range(len(offsets)):
        z, y, x = centre[0] + offsets[offset, 0], centre[1] + offsets[offset, 1], centre[2] + offsets[offset, 2]
        if 0 <= z < depth and 0 <= y < height and 0 <= x < width:
            values[count] = grey[z, y, x]
            total += values[count]
            count += 1
    if count == 0:
        return 0.0, 0.0
    mean = total / count
    for i in range(count):
        apart = values[i] - mean
        squares += apart * apart
    return mean, math.sqrt(squares / count)


@compiled
def _filtered_across(grey: np.ndarray, voxel: np.ndarray, axis: int, kernels: np.ndarray, reach: np.ndarray) -> float:
    """Return minus the Laplacian of the Gaussian along the axes but one, at one voxel, mirrored at the borders."""
    u, v = (1 if axis == 0 else 0), (1 if axis == 2 else 2)
    at, total = np.empty(3, np.int64), 0.0
    at[axis] = voxel[axis]
    for i in range(-reach[u], reach[u] + 1):
        at[u] = _mirrored(voxel[u] + i, grey.shape[u])
        smooth, bent = 0.0, 0.0
        for j in range(-reach[v], reach[v] + 1):
            at[v] = _mirrored(voxel[v] + j, grey.shape[v])
            value = grey[at[0], at[1], at[2]]
            away = j if j > 0 else -j
            smooth += kernels[v, 0, away] * value
            bent += kernels[v, 1, away] * value
        away = i if i > 0 else -i
        total -= kernels[u, 1, away] * smooth + kernels[u, 0, away] * bent
    return total


@compiled
def _mirrored(place: int, size: int) -> int:
    """Return which voxel of an axis stands at a place beyond its ends: d c b a | a b c d | d c b a."""
    place %= 2 * size
    return place if place < size else 2 * size - 1 - place
