"""One sweep over the movie on a GPU, as in `sweep`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .....matching.device import cuda
from ...gate.gpu_movie import launch_in_turns, threads_of
from ..models.step_model import Packed

_KERNELS = str(Path(__file__).with_name("sweep.cu"))


class DeviceSweep:
    """The kernels of a sweep for so many axes and classes.

    Parameters
    ----------
    ndim, classes : int
    limits : dict of str to float
        The numbers of `sweep` by name, which kernels have from here.
    """

    def __init__(self, ndim: int, classes: int, limits: dict[str, float]) -> None:
        self.ndim, self.classes = ndim, classes
        options = (f"-D{name}={value!r}" for name, value in limits.items())
        self._kernels = cuda.load(_KERNELS, f"-DNDIM={ndim}", f"-DCLASSES={classes}", *options)

    def densities(self, step: Any, lag: Any, model: Any, alone: Any) -> None:
        """Write what `sweep.first_densities` does."""
        self._over_edges("densities", len(step), step, lag, *model, alone)

    def contexts(
        self, ways: tuple[Any, Any, Any], edges: Sequence[Any], model: Any, past: Any, future: Any
    ) -> tuple[Any, ...]:
        """Write past and future, return the fields of `step_model.Sums`; `edges` as the kernels take them."""
        known, count = (*ways, *edges, *model), len(edges[0])
        self._over_edges("pasts", count, *known, past)
        self._over_edges("futures", count, *known, future)
        sums = cuda.cupy().empty((3 + self.classes * (1 + 3 * self.ndim), threads_of(launch_in_turns(count))))
        self._over_edges("pairs_summed", count, *known, sums)
        total = cuda.to_host(sums.sum(axis=1))
        by_axis = total[3 + self.classes :].reshape(3, self.classes, self.ndim)
        return *map(float, total[:3]), total[3 : 3 + self.classes], *by_axis

    def unlinked(self, tail: Any, *edges: Any) -> None:
        """Write past, future and odds where steps know of no others; arguments as the kernel takes them."""
        self._over_edges("unlinked", len(tail), tail, *edges)

    def combined(self, tail: Any, *edges: Any) -> None:
        """Write the odds of `sweep.odds_of`; arguments as the kernel takes them."""
        self._over_edges("combined", len(tail), tail, *edges)

    def step_sums(self, step: Any, *edges: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return what `sweep.step_sums` does, on the host."""
        grid = launch_in_turns(len(step))
        sums = cuda.cupy().empty((self.classes * (1 + self.ndim), threads_of(grid)))
        self._kernels["step_sums"](*grid, (np.int64(len(step)), step, *edges, sums))
        total = cuda.to_host(sums.sum(axis=1))
        return total[: self.classes], total[self.classes :].reshape(self.classes, self.ndim)

    def _over_edges(self, name: str, edges: int, *arguments: Any) -> None:
        self._kernels[name](*launch_in_turns(edges), (np.int64(edges), *arguments))


def model_there(model: Packed) -> tuple[Any, np.int32]:
    """Copy the tables of a model to the current device, one after the other; return them and the number of lags."""
    return cuda.cupy().asarray(np.concatenate([np.ravel(table) for table in model])), np.int32(model[2].shape[1])
