"""Points drawn into label images as spheres: each keeps a voxel of its own, whatever lies beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.spatial import KDTree

_PAIRS_AT_ONCE = 2**20
"""Of a point and a voxel near it: bounds the memory."""


def sphere_labels(
    shape: Sequence[int], centres: np.ndarray, labels: np.ndarray, radius: float, scale: np.ndarray
) -> np.ndarray:
    """Return an image of spheres.

    A voxel within the radius of several centres is that of the nearest. The voxel that holds a centre is its own;
    where it holds several, the later ones get the nearest that is none's.

    Parameters
    ----------
    shape : sequence of int
        Of the image; there must be a voxel for each centre.
    centres : ndarray of float64, shape (n, ndim)
        In voxels, inside the image.
    labels : ndarray of uint16, shape (n,)
    radius : float
        In units of `scale`.
    scale : ndarray of float64, shape (ndim,)
        Size of a voxel.

    Returns
    -------
    ndarray of uint16
    """
    image = np.zeros(shape, dtype=np.uint16)
    if not len(centres):
        return image
    near = _voxels_within(shape, centres, radius, scale)
    _, nearest = KDTree(centres * scale).query(np.column_stack(np.unravel_index(near, shape)) * scale)
    image.flat[near] = labels[nearest]
    own = _own_voxels(shape, np.rint(centres).astype(np.int64), scale)
    image.flat[own] = labels
    return image


def _voxels_within(shape: Sequence[int], centres: np.ndarray, radius: float, scale: np.ndarray) -> np.ndarray:
    """Return the flat indices of all voxels within the radius of a centre, each once."""
    reach = np.ceil(np.minimum(radius / scale, shape)).astype(np.int64) + 1
    box = np.stack(np.meshgrid(*(np.arange(-r, r + 1) for r in reach), indexing="ij"), axis=-1).reshape(-1, len(reach))
    box = box[((np.maximum(np.abs(box) - 0.5, 0) * scale) ** 2).sum(axis=1) <= radius * radius]  # centres are rounded
    found = [np.empty(0, dtype=np.int64)]
    for part in np.array_split(centres, len(centres) * len(box) // _PAIRS_AT_ONCE + 1):
        voxels = np.rint(part).astype(np.int64)[:, np.newaxis] + box
        is_near = (((voxels - part[:, np.newaxis]) * scale) ** 2).sum(axis=2) <= radius * radius
        is_near &= ((voxels >= 0) & (voxels < shape)).all(axis=2)
        found.append(np.unique(_flat(voxels[is_near], shape)))
    return np.unique(np.concatenate(found))


def _own_voxels(shape: Sequence[int], wanted: np.ndarray, scale: np.ndarray) -> list[int]:
    """Return a voxel for each centre, as flat indices without repetition."""
    own: list[int] = _flat(wanted, shape).tolist()
    taken: set[int] = set(own)
    seen: set[int] = set()
    for row, voxel in enumerate(own):
        if voxel in seen:
            own[row] = next(other for other in _outwards(shape, wanted[row], scale) if other not in taken)
            taken.add(own[row])
        seen.add(voxel)
    return own


def _outwards(shape: Sequence[int], voxel: np.ndarray, scale: np.ndarray) -> Iterator[int]:
    """Yield the flat indices of boxes of growing size about a voxel, each from the nearest to the farthest."""
    for half in range(1, max(shape) + 1):
        ends = zip(np.maximum(voxel - half, 0).tolist(), np.minimum(voxel + half + 1, shape).tolist(), strict=True)
        around = np.stack(np.meshgrid(*(np.arange(*of) for of in ends), indexing="ij"), axis=-1)
        around = around.reshape(-1, len(shape))
        order = np.argsort((((around - voxel) * scale) ** 2).sum(axis=1), kind="stable")
        yield from _flat(around[order], shape).tolist()


def _flat(voxels: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """Return the flat index of each voxel in an image of this shape."""
    return voxels @ np.cumprod([1, *shape[:0:-1]])[::-1]
