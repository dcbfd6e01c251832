"""Padding: the even borders that stitching, registration and cropping leave around an image."""

from __future__ import annotations

import numpy as np

_MOST = 0.9  # of the voxels next to padding differ from it; of those around a single blob fewer do
_WIDE = 0.3  # of an image is within slanted padding; a large particle on a dark background is smaller
_GREY_LEVELS = 16  # of an image; a mask or labels have fewer
_CORNER = 3  # voxels in a row that are padding
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


def slanted_share(image: np.ndarray) -> float:
    """Return which share of an image is even padding that no slice leaves out, as around a rotated frame; else 0.

    What it surrounds is whole: nearly all voxels between the first and the last other one of a row, and of a column,
    are other ones too, and reach over most of the image. A dark background lies between its particles.
    """
    inside = image[content(image)]
    value = inside[(0,) * inside.ndim]
    others = inside != value
    if others.all() or not bool((inside[(0,) * (inside.ndim - 1)][:_CORNER] == value).all()):
        return 0.0
    if len(np.unique(inside[others])) < _GREY_LEVELS:
        return 0.0
    held = _between(others, -1) & _between(others, -2)
    spread = float(held.mean())
    if others.sum() < _MOST * held.sum() or spread < _WIDE:
        return 0.0
    return 1.0 - spread


def _between(others: np.ndarray, axis: int) -> np.ndarray:
    """Return where voxels lie between the first and the last of the others along an axis, these included."""
    before = np.logical_or.accumulate(others, axis)
    after = np.flip(np.logical_or.accumulate(np.flip(others, axis), axis), axis)
    return before & after


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
