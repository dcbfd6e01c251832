"""What is at one place of an image, as detection would have found it there: a user points at a particle."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from ..points import AXES
from .around import Sight, seen_around
from .blobs import blob_response, reach_of
from .detect import measures_of, positions_of
from .padding import content
from .pixels import background_of, grey_levels
from .settings import DetectSettings

_REACH = 1 / 3
"""In diameters: a peak farther from a place is not what it means, as of two that lie over each other."""


def particles_at(image: np.ndarray, settings: DetectSettings, scale: np.ndarray, place: np.ndarray) -> pd.DataFrame:
    """Return what particle may be meant by a place in an image.

    Parameters
    ----------
    image : ndarray (z, y, x) or (y, x), any real dtype
    settings : DetectSettings
        Its diameter is a number. Threshold and separation count nothing: the user says that there is a particle.
    scale : ndarray, float64 (ndim,)
        Voxel size in the unit of the diameter.
    place : ndarray, float64 (ndim,)
        In voxels of the image.

    Returns
    -------
    DataFrame
        Columns as of `detect_frame`. First the peak of the filter's response that the place is on the slope of, placed
        like a detected one, unless it is more than a third of a diameter away; then the place itself, with what its
        voxel measures.
    """
    within = content(image)
    origin = np.array([part.start for part in within])
    inside, at = image[within], np.asarray(place, np.float64) - origin
    box = _box(inside.shape, settings, scale, at)
    corner = np.array([part.start for part in box])
    grey, _ = grey_levels(inside[box], partial(background_of, inside))
    bright = grey if settings.bright_on_dark else -grey
    response = blob_response(bright, settings.known_diameter, scale, settings.method)
    own = np.clip(np.rint(at - corner).astype(int), 0, np.array(response.shape) - 1)
    top = _uphill(response, own)
    is_near = np.linalg.norm((top - (at - corner)) * scale) <= _REACH * settings.known_diameter
    voxels = np.array([top, own] if is_near and response[tuple(top)] > 0 else [own])
    places = np.asarray(np.ravel_multi_index(tuple(voxels.T), response.shape))
    seen = seen_around(response, bright, places, Sight.of(settings.known_diameter, tuple(scale.tolist())))
    peaks = slice(len(places) - 1)
    positions = positions_of(places[peaks], seen.of(peaks), bright.shape, settings, scale) + corner + origin
    columns = dict(zip(AXES[3 - image.ndim :], np.vstack([positions, place]).T, strict=True))
    return pd.DataFrame(columns | measures_of(seen, settings))


def _box(shape: tuple[int, ...], settings: DetectSettings, scale: np.ndarray, place: np.ndarray) -> tuple[slice, ...]:
    """Return the part of an image that a place, a peak near it, and their measures, depend on."""
    reach = np.array(reach_of(settings.known_diameter, scale, settings.method)) + 2
    margin = np.ceil(_REACH * settings.known_diameter / scale).astype(int) + reach
    middle = np.clip(np.rint(place).astype(int), 0, np.array(shape) - 1)
    return tuple(
        slice(max(centre - wide, 0), min(centre + wide + 1, size))
        for centre, wide, size in zip(middle.tolist(), margin.tolist(), shape, strict=True)
    )


def _uphill(response: np.ndarray, voxel: np.ndarray) -> np.ndarray:
    """Return the peak that the steepest way up from a voxel leads to, int64 (ndim,)."""
    while True:
        corner = np.maximum(voxel - 1, 0)
        around = response[tuple(slice(low, high) for low, high in zip(corner, voxel + 2, strict=True))]
        highest = corner + np.array(np.unravel_index(int(np.argmax(around)), around.shape))
        if response[tuple(highest)] <= response[tuple(voxel)]:
            return voxel
        voxel = highest
