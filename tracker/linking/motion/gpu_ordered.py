"""A movie's detections on a GPU in the order of frame and cell, in units of their spacing, common shifts subtracted."""

from __future__ import annotations

from collections.abc import Generator, Sized
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from ....matching.device import cuda
from ...points import Points
from ..gate.gpu_movie import DeviceMovie, DeviceTable, movie_on_device
from ..gate.spacing import spacing_of
from ..settings import LinkSettings, Motion
from .candidates.gpu_graph import BYTES_AN_EDGE, nearest_others
from .detections.ordered import Ordered, asked_for_spacing, log_density_of, ordered, spread_axes
from .detections.rounding import rounding_of
from .detections.row_order import by_frame_and_place
from .shared_shift.drift import drift_of
from .shared_shift.shift_of_all import is_of_all

GPU_PAYS = 100_000
"""Detections from which "auto" learns motion on a GPU where there is one."""
BYTES_A_DETECTION = 10 * BYTES_AN_EDGE
"""Device memory from which "auto" does: candidates are rarely more."""


@contextmanager
def movie_in_order(points: Points, settings: LinkSettings) -> Generator[Ordered | None]:
    """Yield the movie that motion is learned from, in the memory of the device that learns it; None where none does.

    A GPU's is current meanwhile.

    Raises
    ------
    DeviceUnavailable, DeviceMemoryExceeded
    """
    if not settings.is_learned:
        yield None
        return
    if not takes_gpu(points, settings):
        yield ordered(points)
        return
    with cuda.using("cuda" if settings.device == "auto" else settings.device) as cp:
        yield ordered_on_gpu(cp, points, settings.motion) or ordered(points)


def takes_gpu(points: Sized, settings: LinkSettings) -> bool:
    """Whether motion is learned in the memory of a GPU, as far as settings and size tell."""
    needs_host = settings.predict is not None or settings.extra_cost is not None
    if settings.device == "cpu" or needs_host or len(points) == 0:
        return False
    if settings.device != "auto":
        return True
    return len(points) >= GPU_PAYS and cuda.is_available() and cuda.free_bytes() >= BYTES_A_DETECTION * len(points)


def ordered_on_gpu(cp: Any, points: Points, motion: Motion) -> Ordered | None:
    """Return the movie on the current device, drift subtracted; None where one grid cannot serve all its frames.

    Raises
    ------
    DeviceMemoryExceeded
    """
    table, ndim = DeviceTable.of(cp, points), spread_axes(points)
    table = replace(table, axes=table.axes[-ndim:], scale=table.scale[-ndim:])
    row = by_frame_and_place(table.frame, table.axes)
    table = replace(table, frame=table.frame[row], axes=tuple(along[row] for along in table.axes))
    grid = movie_on_device(cp, table, 0.0)
    if grid is None:
        return None
    movie = _in_spacings(grid, row, ndim)
    drift, repeats = drift_of(movie)
    movie = replace(movie, repeats=repeats)
    if not drift.any():
        return movie
    position = movie.position - movie.of_each(drift)
    return _without(drift, movie) if is_of_all(replace(movie, position=position, drift=drift), motion)[0] else movie


def _in_spacings(grid: DeviceMovie, row: Any, ndim: int) -> Ordered:
    """Return the movie that a grid of physical positions holds, whose rows are ranks; `row` has those of the table."""
    spacing = _spacing(grid, ndim)
    held = np.flatnonzero(np.diff(grid.first_of_frame))
    starts = np.append(grid.first_of_frame[held], len(grid))
    corner, edge = np.array(grid.cells[:3]), grid.cells[3]
    position = (grid.position - grid.cp.asarray(corner)) / spacing
    cells = *np.zeros(3), np.float64(edge / spacing), *grid.cells[4:]
    scaled = replace(grid, position=position, row=row[grid.row].astype(np.int32), cells=cells)
    columns = [position[:, axis].copy() for axis in range(3 - ndim, 3)]  # CuPy is slow along rows
    extent, still = np.array([float(along.max()) for along in columns]), np.zeros((len(held), ndim))
    place = _axes(scaled, ndim)
    known = spacing, extent, still, log_density_of(place, starts), rounding_of(place, starts)
    return Ordered(place, held, starts, None, grid.row, *known, scaled)


def _without(drift: np.ndarray, movie: Ordered) -> Ordered | None:
    """Return the movie with the drift of each frame, in spacings, subtracted, and put in order again."""
    grid = movie.grid
    assert grid is not None
    shifted = movie.position - movie.of_each(drift)
    columns = tuple(grid.cp.ascontiguousarray(shifted[:, axis]) for axis in range(movie.ndim))
    frame = movie.of_each(movie.number)
    again = movie_on_device(grid.cp, DeviceTable(frame, columns, np.ones(movie.ndim), 1), 0.0)
    if again is None:
        return None
    rank, again = movie.rank[again.row], replace(again, row=grid.row[again.row])
    return replace(movie, position=_axes(again, movie.ndim), rank=rank, drift=drift, grid=again)


def _axes(grid: DeviceMovie, ndim: int) -> Any:
    return grid.cp.ascontiguousarray(grid.position[:, 3 - ndim :])


def _spacing(grid: DeviceMovie, ndim: int) -> float:
    """Return the mean distance of nearest neighbours of the ranks that `ordered` asks too, in their unit."""
    cp = grid.cp
    starts = grid.first_of_frame[np.append(np.flatnonzero(np.diff(grid.first_of_frame)), grid.n_frames)]
    asked = [np.arange(each.start, each.stop, each.step) for each in asked_for_spacing(starts)]
    is_asked = cp.zeros(len(grid), bool)
    is_asked[cp.asarray(np.concatenate([np.empty(0, np.int64), *asked]))] = True
    is_asked = is_asked[grid.row]
    near = nearest_others(grid, 2, is_asked)
    who = cp.flatnonzero(near[:, 0] >= 0)
    length = cp.sqrt(((grid.position[near[who]] - grid.position[who][:, None]) ** 2).sum(axis=2))
    length = cp.where(near[who] >= 0, length, np.inf)
    spacing = spacing_of(cuda.to_host(length), ndim) if len(who) else 0.0
    if spacing == 0.0:
        extent = grid.position.max(axis=0) - grid.position.min(axis=0)
        spacing = float(cp.sqrt((extent**2).sum()))
    return spacing or 1.0
