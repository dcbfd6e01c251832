"""A movie's particles in the memory of a GPU, and their candidate links, of all frames at once."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ....matching.device import cuda
from ....matching.device.transfer import uploaded
from ....matching.points.grid import DENSE, cells_for
from ...calibrating.lengths import LONGEST
from ...points import Points
from .candidates import Cost

THREADS = 256
BLOCKS_AT_ONCE = 8
"""Blocks of a multiprocessor whose threads take turns."""
BYTES_A_POINT = 160
"""Device memory for the movie at its peak: columns, their order, and what the sort takes."""
_KERNELS = str(Path(__file__).with_name("gate.cu"))


@dataclass(frozen=True)
class DeviceTable:
    """The columns of a table that say where particles are, on one GPU.

    Attributes
    ----------
    frame : int64 (n,)
    axes : tuple of float64 (n,)
        Coordinates along z, y, x, or y, x.
    scale : float64 (axes,)
        Physical size of a step along each.
    frame_step : int
        Difference between the numbers of two consecutive frames.
    """

    frame: Any
    axes: tuple[Any, ...]
    scale: np.ndarray
    frame_step: int

    def __len__(self) -> int:
        return len(self.frame)

    @classmethod
    def of(cls, cp: Any, points: Points) -> DeviceTable:
        """Copy the columns of points to the current device."""
        columns = [points.table[name].to_numpy() for name in ("frame", *points.axes)]
        frame, *axes = uploaded(cp, columns)
        return cls(frame, tuple(axes), points.calibration.scale_for(points.ndim), points.frame_step)


@dataclass(frozen=True)
class DeviceMovie:
    """Particles in the order of frame and cell, which is what is meant by points here; arrays are CuPy's.

    Attributes
    ----------
    cp : module
        CuPy.
    position : float64 (n, 3)
        Physical; axes z, y, x, missing ones are 0.
    row : int32 (n,)
        Row of the table of each point, ascending within a cell.
    cell : int32 (n,)
        Cell of each point, those of the frames one after the other.
    starts : int32 (cells of all frames + 1,)
        Cell c owns the points `starts[c]:starts[c+1]`.
    cells : tuple
        Corner z, y, x and edge of the cells, and how many there are along each axis and frames, as kernels take them.
    first_of_frame : int64 (frames + 1,)
        On the host: the first point of each frame, frames without points counted in.
    """

    cp: Any
    position: Any
    row: Any
    cell: Any
    starts: Any
    cells: tuple[Any, ...]
    first_of_frame: np.ndarray

    def __len__(self) -> int:
        return len(self.row)

    @property
    def n_frames(self) -> int:
        """Frames from the first to the last that hold points."""
        return len(self.first_of_frame) - 1

    def part(self, first: int, last: int) -> DeviceMovie:
        """Return the frames from `first` on, before `last`, frames without points counted in."""
        begin, end = (int(self.first_of_frame[frame]) for frame in (first, last))
        own, before = slice(begin, end), first * self.cells_of_frame
        return replace(
            self,
            position=self.position[own],
            row=self.row[own],
            cell=self.cell[own] - np.int32(before),
            starts=self.starts[before : last * self.cells_of_frame + 1] - np.int32(begin),
            cells=(*self.cells[:-1], np.int32(last - first)),
            first_of_frame=self.first_of_frame[first : last + 1] - begin,
        )

    @property
    def cells_of_frame(self) -> int:
        """Cells that each frame has."""
        return math.prod(int(along) for along in self.cells[4:7])

    @property
    def in_cells(self) -> tuple[Any, ...]:
        """Positions and cells as kernels take them."""
        return self.position, self.cell, self.starts, *self.cells

    def counted_pairs(self, radius: float) -> Any:
        """Return the number of points of the next frame that are at most `radius` from each point, int32 (n,)."""
        counts = self.cp.empty(len(self), np.int32)
        nothing = np.intp(0)
        self._ask(0, len(self), radius, counts, nothing, 0, nothing, nothing)
        return counts

    def pairs(self, points: slice, first_column: int, indptr: Any, radius: float, cost: Cost) -> tuple[Any, Any]:
        """Return what `counted_pairs` has counted for some points: columns, int32, and costs, float64 (pairs,).

        Columns are points counted from `first_column`; `indptr` is int64 (len(points) + 1,).
        """
        n_pairs = int(indptr[-1] - indptr[0])
        indices, costs = self.cp.empty(n_pairs, np.int32), self.cp.empty(n_pairs, np.float64)
        options = ["-DWRITES", *(["-DSQUARED"] if cost == "squared" else [])]
        n = points.stop - points.start
        self._ask(points.start, n, radius, np.intp(0), indptr, first_column, indices, costs, *options)
        return indices, costs

    def _ask(self, first: int, n: int, radius: float, counts: Any, indptr: Any, column: int, *out: Any) -> None:
        arrays, options = out[:2], out[2:]
        cuda.load(_KERNELS, *options)["pairs_within"](
            *launch(n),
            (
                *(np.int32(first), np.int32(n), *self.in_cells),
                *(np.float64(radius), counts, indptr, np.int32(column), *arrays),
            ),
        )

    def lay_links(self, points: slice, first_column: int, col_of_row: Any, links: tuple[Any, Any, Any]) -> None:
        """Write links of points into arrays by rows of the table: what follows, what comes before, and the length."""
        n = points.stop - points.start
        sizes = np.int32(points.start), np.int32(n), np.int32(first_column)
        kernel = cuda.load(_KERNELS)["links_laid"]
        kernel(*launch(n), (*sizes, self.position, self.row, col_of_row, *links))


def movie_on_device(cp: Any, table: DeviceTable, radius: float) -> DeviceMovie | None:
    """Sort a movie on the current device for candidate links of at most `radius`.

    Returns
    -------
    DeviceMovie or None
        None where particles are too dense or too far away, or frames too scattered, for one grid to serve all.

    Raises
    ------
    DeviceMemoryExceeded
        Before memory is taken.
    """
    n, frame, step = len(table), table.frame, table.frame_step
    cuda.require_memory(BYTES_A_POINT * n, f"a movie of {n} particles")
    first, last = (int(end) for end in cuda.to_host(cp.stack([frame.min(), frame.max()])))
    slots = (last - first) // step + 1
    corner, extent = _box(cp, table)
    edge, dims = cells_for(extent, -(-n // slots), float(radius))
    per_frame = int(dims.prod())
    is_far = max(np.abs(corner).max(), np.abs(corner + extent).max()) >= LONGEST
    if is_far or slots > 4 * n or slots * per_frame >= 2**31 - 1:
        return None
    missing = 3 - len(table.axes)
    placed = (*[np.intp(0)] * missing, *table.axes, *[np.float64(1)] * missing, *map(np.float64, table.scale))
    cells = (*map(np.float64, corner), np.float64(edge), *map(np.int32, dims))
    unsorted, counts = cp.empty(n, np.int32), cp.zeros(slots * per_frame, np.int32)
    kernels = cuda.load(_KERNELS)
    when = frame, np.int64(first), np.int64(step)
    kernels["points_in_cells"](*launch(n), (np.int32(n), *placed, *when, *cells, unsorted, counts))
    if float((counts.astype(np.float64) ** 2).sum()) > DENSE * n:
        return None
    starts = cp.concatenate([cp.zeros(1, np.int32), cp.cumsum(counts, dtype=np.int32)])
    row = cp.argsort(unsorted, kind="stable").astype(np.int32)
    position = cp.empty((n, 3), np.float64)
    kernels["points_laid"](*launch(n), (np.int32(n), *placed, row, position))
    first_of_frame = cuda.to_host(starts[::per_frame]).astype(np.int64)
    return DeviceMovie(cp, position, row, unsorted[row], starts, (*cells, np.int32(slots)), first_of_frame)


def _box(cp: Any, table: DeviceTable) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower corner and the extent of positions along z, y, x, physical; 0 of a missing axis."""
    ends = cuda.to_host(cp.stack([end for axis in table.axes for end in (axis.min(), axis.max())]))
    physical = np.zeros((3, 2))
    physical[3 - len(table.axes) :] = ends.reshape(-1, 2) * table.scale[:, None]
    return physical[:, 0], physical[:, 1] - physical[:, 0]


def launch(n: int) -> tuple[tuple[int], tuple[int]]:
    """Return grid and block with a thread for each of n."""
    return (max(1, -(-n // THREADS)),), (THREADS,)


def launch_in_turns(n: int) -> tuple[tuple[int], tuple[int]]:
    """Return grid and block that fill the device, no more: each thread takes every so many-th of n."""
    return (min(launch(n)[0][0], BLOCKS_AT_ONCE * cuda.multiprocessors()),), (THREADS,)


def threads_of(launched: tuple[tuple[int], tuple[int]]) -> int:
    """Return how many threads a grid and a block have in all."""
    return launched[0][0] * launched[1][0]
