"""Padding: the even borders that stitching, registration and cropping leave around an image."""

from __future__ import annotations

import numpy as np

_MOST = 0.9  # of the voxels next to padding differ from it; of those around a single blob fewer do
_LEAST = 16  # voxels of y and x within padding; a smaller box is that of a particle


def content(image: np.ndarray) -> tuple[slice, ...]:
    """Return where an image lies within its padding, as a slice along each axis; all of it where there is none.

    Padding are planes, rows or columns at a border that hold one value throughout, the same on all sides, up to where
    nearly all voxels have another one.
    """
    faces = (image[(*[slice(None)] * axis, end)] for axis in range(image.ndim) for end in (0, -1))
    value = next((face.flat[0] for face in faces if _is_even(face)), None)
    if value is None:
        return tuple(slice(0, size) for size in image.shape)
    differs = image != value
    for axis in range(image.ndim):
        others = tuple(other for other in range(image.ndim) if other != axis)
        seen = np.flatnonzero(differs.any(axis=others))
        if len(seen):
            differs = differs.take(range(seen[0], seen[-1] + 1), axis=axis)
    if min(differs.shape[-2:]) < _LEAST:
        return tuple(slice(0, size) for size in image.shape)
    return _within(image, value, differs)


def _is_even(face: np.ndarray) -> bool:
    """Whether one value fills a plane; its first line says so of nearly all that are not."""
    return all(bool((part == face.flat[0]).all()) for part in (face[0], face))


def _faces(image: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the last plane across an axis."""
    return image.take(0, axis=axis), image.take(-1, axis=axis)


def _within(image: np.ndarray, value: float, differs: np.ndarray) -> tuple[slice, ...]:
    """Return the slices that leave out those even borders next to which most of `differs`, the box between, differs."""
    inside: list[slice] = []
    for axis, size in enumerate(image.shape):
        planes = np.moveaxis(image, axis, 0)
        filled = [float(face.mean()) > _MOST for face in _faces(differs, axis)]
        even = size - differs.shape[axis]
        before = next((i for i, plane in enumerate(planes) if (plane != value).any()), 0) if even else 0
        inside.append(slice(before if filled[0] else 0, size - (even - before) if filled[1] else size))
    return tuple(inside)
