"""The vote for a common shift on a GPU, as in `drift`, for many frame pairs at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .....matching.device import cuda
from ...gate import gpu_movie
from ...gate.gpu_movie import DeviceMovie
from .election import elected
from .near_shifts import FINE, WIDTH
from .shift_votes import FEWEST

KEPT = 1984
"""Votes near the winner that a frame pair has room for; where there are more, particles are asked again and again."""
AT_ONCE = 256
"""Frame pairs whose votes are held: 70 kB each, and what counting the votes of one takes eight times as much."""
_KERNELS = str(Path(__file__).with_name("drift.cu"))


def common_shifts(
    grid: DeviceMovie, starts: np.ndarray, number: np.ndarray, field: np.ndarray, limits: dict[str, float]
) -> tuple[np.ndarray, np.ndarray]:
    """Return what `drift.common_shifts` does of each frame and the one after it, on the host.

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
    numbers = {**limits, "FINE": FINE, "NEAR_WIDTH": WIDTH, "KEPT": KEPT}
    options = (f"-D{name}={value!r}" for name, value in numbers.items())
    kernels = cuda.load(_KERNELS, f"-DNDIM={ndim}", *options)
    shifts, repeats = np.empty((len(number) - 1, 3)), np.empty(len(number) - 1, bool)
    for first in range(0, len(shifts), AT_ONCE):
        some, last = slice(first, first + AT_ONCE), first + AT_ONCE
        chosen = starts[first : last + 2], number[first : last + 1]
        shifts[some], repeats[some] = _shifts(kernels, grid, *chosen, field, limits)
    return shifts[:, 3 - ndim :], repeats


def _shifts(
    kernels: cuda.Kernels,
    grid: DeviceMovie,
    starts: np.ndarray,
    number: np.ndarray,
    field: np.ndarray,
    limits: dict[str, float],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the shifts of some frame pairs, float64 (pairs, 3), and which of them repeat, on the host."""
    cp, pairs = grid.cp, len(number) - 1
    movie = cp.asarray(starts), cp.asarray(number, np.int32), grid.position, grid.starts, *grid.cells
    threads = (gpu_movie.THREADS,)

    def votes(kernel: str, bins: int, of_pairs: np.ndarray) -> np.ndarray:
        counts = cp.zeros((len(of_pairs), *[1] * (3 - len(field)), *[bins] * len(field)), np.int32)
        kernels[kernel]((len(of_pairs),), threads, (*movie, cp.asarray(of_pairs), counts))
        return counts

    held = np.diff(starts)
    step = np.maximum(held[:-1] // int(limits["VOTERS"]), 1)
    voters = np.maximum(-(-held[:-1] // step), 1)
    near = votes("count_near_votes", WIDTH, np.arange(pairs))
    elect = elected(near, lambda some: votes("count_votes", 2 * int(limits["REACH"]) + 1, some), field, voters)
    is_asked = np.minimum(held[:-1], held[1:]) >= FEWEST
    shift = cp.asarray(elect.shift)
    kernels["refine_shifts"]((pairs,), threads, (*movie, cp.asarray(is_asked * elect.within), shift))
    return cuda.to_host(shift), is_asked & elect.repeats
