"""What lies behind the tracks of a picture: the field that there is to show, and the movie's maximum projection."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....tracker.detecting.threshold import spread_frames
from ....tracker.errors import InvalidSetting
from ....tracker.points import AXES, Tracks
from ....tracker.reading.movie import Movie
from .picture_part import Box, Look, PicturePart, View

_FRAMES = 50
"""Frames of which the projection is made, spread over those shown."""

Extent = tuple[float, float, float, float]
"""Left, right, bottom, top, physical; bottom is the greater one, as the first row is drawn at the top."""
Projection = tuple[np.ndarray, Extent]


def whole_field(tracks: Tracks, movie: Movie | None) -> Box:
    """Return the movie's field, or where there is no movie what shows every point."""
    low, high = np.zeros(3), np.zeros(3)
    if movie is not None:
        scale, start = movie.calibration.scale_for(movie.ndim), np.array(movie.origin)
        low[-movie.ndim :] = (start - 0.5) * scale
        high[-movie.ndim :] = (start + movie.shape - 0.5) * scale
        return Box(low, high)
    points = tracks.positions if len(tracks) else np.array([[0.0] * tracks.ndim, [1.0] * tracks.ndim])
    margin = 0.02 * max(float(np.ptp(points, axis=0).max()), 1e-9)
    low[-tracks.ndim :], high[-tracks.ndim :] = points.min(axis=0) - margin, points.max(axis=0) + margin
    return Box(low, high)


def region_asked(field: Box, look: Look, tracks: Tracks, movie: Movie | None) -> Box:
    """Return the part of the field that was asked for; its numbers are voxels of a movie, or steps of a table.

    Raises
    ------
    InvalidSetting
        If it does not name each axis, or is empty.
    """
    if look.roi is None:
        return field
    if len(look.roi) != tracks.ndim:
        raise InvalidSetting(f"needs {tracks.ndim} ranges, one per axis; got {len(look.roi)}.", setting="roi")
    corner = 0.0 if movie is None else 0.5  # a voxel's position is its centre
    for axis, part in zip(AXES[-tracks.ndim :], look.roi, strict=True):
        k = AXES.index(axis)
        ends = (part.start, part.stop)
        low, high = (None if end is None else (end - corner) * tracks.calibration.scale[k] for end in ends)
        field = field.cut(k, field.low[k] if low is None else low, field.high[k] if high is None else high)
        if field.size[k] <= 0:
            raise InvalidSetting(
                f"needs a range of {axis} within the picture; got {part.start}:{part.stop}.", setting="roi"
            )
    return field


def projections(movie: Movie, views: Sequence[View], parts: Sequence[PicturePart]) -> list[Projection]:
    """Return for each view the maximum over the frames and the depth shown, and its physical extent (imshow's)."""
    scale, origin = np.ones(3), np.zeros(3, dtype=np.int64)
    scale[-movie.ndim :], origin[-movie.ndim :] = movie.calibration.scale_for(movie.ndim), movie.origin
    shape = np.array((1, *movie.shape)[-3:])
    voxels = [_voxels(part.box, scale, origin, shape) for part in parts]
    highest: list[np.ndarray | None] = [None] * len(views)
    shown = tuple(number for number in movie.frame_numbers if number in parts[0].frames)
    for number in spread_frames(shown or movie.frame_numbers[-1:], _FRAMES):
        frame = movie.frame(number).reshape(shape)
        for k, (view, (first, stop)) in enumerate(zip(views, voxels, strict=True)):
            cut = frame[tuple(map(slice, first, stop))].max(axis=view.depth).astype(np.float32)
            before = highest[k]
            highest[k] = cut if before is None else np.fmax(before, cut)
    found: list[Projection] = []
    for view, image, (first, stop) in zip(views, highest, voxels, strict=True):
        assert image is not None
        left, top = ((first + origin - 0.5) * scale)[[view.across, view.down]]
        right, bottom = ((stop + origin - 0.5) * scale)[[view.across, view.down]]
        found.append((image, (left, right, bottom, top)))
    return found


def _voxels(box: Box, scale: np.ndarray, origin: np.ndarray, shape: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first voxels of a frame that a box touches, and those behind its last, along z, y, x."""
    nearly = 1e-6  # the box of whole voxels touches no others
    first = np.floor(box.low / scale - origin + 0.5 + nearly).astype(int)
    stop = np.ceil(box.high / scale - origin + 0.5 - nearly).astype(int)
    first = np.clip(first, 0, shape - 1)
    return first, np.clip(stop, first + 1, shape)
