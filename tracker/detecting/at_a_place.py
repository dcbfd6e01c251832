"""What is at one place of an image, as detection would have found it there: a user points at a particle."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..points import AXES
from .around import Sight, seen_around
from .blobs import blob_response, reach_of
from .detect import measures_of, positions_of
from .padding import content
from .peaks import local_maxima
from .pixels import grey_levels
from .settings import DetectSettings


def particles_at(image: np.ndarray, settings: DetectSettings, scale: np.ndarray, place: np.ndarray) -> pd.DataFrame:
    """Return what particles may be meant by a place in an image.

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
        Columns as of `detect_frame`. First the peaks of the filter's response at most half a diameter away, the nearest
        first, placed like detected ones; in the last row the place itself, with what its voxel measures.
    """
    within = content(image)
    origin = np.array([part.start for part in within])
    inside, at = image[within], np.asarray(place, np.float64) - origin
    box = _box(inside.shape, settings, scale, at)
    corner = np.array([part.start for part in box])
    grey, _ = grey_levels(inside[box], inside)
    bright = grey if settings.bright_on_dark else -grey
    response = blob_response(bright, settings.known_diameter, scale, settings.method)
    places = _places(response, settings.known_diameter / 2, scale, at - corner)
    seen = seen_around(response, bright, places, Sight.of(settings.known_diameter, tuple(scale.tolist())))
    peaks = slice(len(places) - 1)
    positions = positions_of(places[peaks], seen.of(peaks), bright.shape, settings, scale) + corner + origin
    columns = dict(zip(AXES[3 - image.ndim :], np.vstack([positions, place]).T, strict=True))
    return pd.DataFrame(columns | measures_of(seen, settings))


def _box(shape: tuple[int, ...], settings: DetectSettings, scale: np.ndarray, place: np.ndarray) -> tuple[slice, ...]:
    """Return the part of an image that peaks within half a diameter of a place, and their measures, depend on."""
    reach = np.array(reach_of(settings.known_diameter, scale, settings.method)) + 2
    margin = np.ceil(settings.known_diameter / 2 / scale).astype(int) + reach
    middle = np.clip(np.rint(place).astype(int), 0, np.array(shape) - 1)
    return tuple(
        slice(max(centre - wide, 0), min(centre + wide + 1, size))
        for centre, wide, size in zip(middle.tolist(), margin.tolist(), shape, strict=True)
    )


def _places(response: np.ndarray, radius: float, scale: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return the peaks of a response within a radius of a place, the nearest first, then its own voxel; flattened."""
    peaks = local_maxima(response, 0.0, 0.0, scale)
    voxels = np.stack(np.unravel_index(peaks, response.shape), axis=1)
    away = np.linalg.norm((voxels - place) * scale, axis=1)
    nearest = np.argsort(away, kind="stable")
    own = np.clip(np.rint(place).astype(int), 0, np.array(response.shape) - 1)
    return np.append(peaks[nearest[away[nearest] <= radius]], np.ravel_multi_index(tuple(own), response.shape))
