"""The vote for a common shift on a GPU, as in `drift`, for many frame pairs at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .....matching.device import cuda
from ...gate import gpu_movie
from ...gate.gpu_movie import DeviceMovie
from .shift_votes import FEWEST, winning_shifts

KEPT = 1984
"""Votes near the winner that a frame pair has room for; where there are more, particles are asked again and again."""
AT_ONCE = 256
"""Frame pairs whose votes are held: 75 kB each, and what counting the votes of one takes eight times as much."""
_KERNELS = str(Path(__file__).with_name("drift.cu"))


def common_shifts(
    grid: DeviceMovie, starts: np.ndarray, number: np.ndarray, field: np.ndarray, limits: dict[str, float]
) -> np.ndarray:
    """Return what `drift.common_shifts` does of each frame and the one after it, float64 (frames − 1, d), on the host.

    Parameters
    ----------
    grid : DeviceMovie
        In spacings.
    starts, number : int64 (frames + 1,), int64 (frames,)
        As those of `Ordered`.
    field : float64 (d,)
        As that of `drift.common_shifts`.
    limits : dict of str to float
        The numbers of `drift` by name, which kernels have from here.
    """
    ndim = len(field)
    options = (f"-D{name}={value!r}" for name, value in {**limits, "KEPT": KEPT}.items())
    kernels = cuda.load(_KERNELS, f"-DNDIM={ndim}", *options)
    bins = 2 * int(limits["REACH"]) + 1
    size = (*[1] * (3 - ndim), *[bins] * ndim)
    shifts = np.empty((len(number) - 1, 3))
    for first in range(0, len(shifts), AT_ONCE):
        last = first + AT_ONCE
        counts = grid.cp.empty((len(shifts[first:last]), *size))
        chosen = starts[first : last + 2], number[first : last + 1]
        shifts[first:last] = _shifts(kernels, grid, *chosen, counts, field, limits["VOTERS"])
    return shifts[:, 3 - ndim :]


def _shifts(
    kernels: cuda.Kernels,
    grid: DeviceMovie,
    starts: np.ndarray,
    number: np.ndarray,
    counts: np.ndarray,
    field: np.ndarray,
    most_voters: float,
) -> np.ndarray:
    """Return the shifts of some frame pairs, float64 (pairs, 3), on the host; `counts` has room for their votes."""
    cp, pairs = grid.cp, len(counts)
    movie = cp.asarray(starts), cp.asarray(number, np.int32), grid.position, grid.starts, *grid.cells
    kernels["count_votes"]((pairs,), (gpu_movie.THREADS,), (*movie, counts))
    held = np.diff(starts)
    step = np.maximum(held[:-1] // int(most_voters), 1)
    elect, is_believed = winning_shifts(counts, field, np.maximum(-(-held[:-1] // step), 1))
    is_believed &= np.minimum(held[:-1], held[1:]) >= FEWEST
    shift = cp.asarray(elect)
    kernels["refine_shifts"]((pairs,), (gpu_movie.THREADS,), (*movie, cp.asarray(is_believed), shift))
    return cuda.to_host(shift)
