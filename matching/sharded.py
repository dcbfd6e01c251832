"""Costs that lie in several parts, each on a GPU of its own: problems too large for one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import cuda, device_problem, host_problem
from .errors import InvalidProblem
from .problem import Problem

PIECE = 2**28
"""Elements whose range is taken at a time."""


@dataclass(frozen=True, eq=False)
class ShardedCosts:
    """A dense problem whose rows or columns are split over devices; make one with `ShardedCosts.of`.

    Attributes
    ----------
    shards : tuple of arrays (rows, columns)
        In the order of the rows (`axis` 0) or columns (`axis` 1); float32, float64, int32 or int64, +inf = forbidden.
    forbidden : tuple of bool arrays or None
        Masks of the same shapes.
    axis : {0, 1}
        What is split: 0 the rows (for `hungarian-classical`), 1 the columns (for `hungarian-tree`).
    outline : Problem
        Sizes, prices and arithmetic of the whole; its `data` holds only the least and largest costs.
    """

    shards: tuple[Any, ...]
    forbidden: tuple[Any, ...]
    axis: int
    outline: Problem

    @classmethod
    def of(
        cls, shards: Sequence[Any], *, axis: int, unmatched_cost: Any = None, forbidden: Sequence[Any] | None = None
    ) -> ShardedCosts:
        """State a problem by parts of its cost matrix that are on their devices already; nothing is moved.

        Parameters
        ----------
        shards : sequence of array (rows, columns)
            CuPy arrays, each on a device of its own, together the matrix. Without an `unmatched_cost` there must not
            be more rows than columns: state the transposed problem.
        axis : {0, 1}
            0: they follow each other by rows; 1: by columns.
        unmatched_cost, forbidden
            As in `Problem.dense`; one mask a shard.

        Raises
        ------
        InvalidProblem
            As `Problem.dense`, or the shards do not fit together.
        """
        if axis not in (0, 1) or not len(shards):
            raise InvalidProblem(
                f"shards need one array at least and axis 0 or 1; got {len(shards)} and axis {axis!r}."
            )
        masks = [None] * len(shards) if forbidden is None else list(forbidden)
        if len(masks) != len(shards):
            raise InvalidProblem(f"forbidden needs one mask a shard, {len(shards)}; got {len(masks)}.")
        checked = [_checked(shard, mask) for shard, mask in zip(shards, masks, strict=True)]
        costs = tuple(cost for cost, _, _ in checked)
        if len({cost.dtype for cost in costs}) > 1 or len({cost.shape[1 - axis] for cost in costs}) > 1:
            raise InvalidProblem(
                f"shards need one dtype and one number of {'columns' if axis == 0 else 'rows'}; got "
                f"{[f'{cost.dtype} {cost.shape}' for cost in costs]}."
            )
        ends = sum(cost.shape[axis] for cost in costs), costs[0].shape[1 - axis]
        n, m = ends if axis == 0 else ends[::-1]
        if n > m and unmatched_cost is None:
            raise InvalidProblem(
                f"shards of {n} rows and {m} columns: every row must be matched and cannot be. State the transposed "
                "problem, or set unmatched_cost."
            )
        ranges = np.concatenate([found for _, _, found in checked])
        outline = Problem.outline((n, m), ranges, unmatched_cost)
        if outline.data.dtype != ranges.dtype:  # integers beside a fractional price
            costs = tuple(map(_as_floats, costs))
        return cls(costs, tuple(mask for _, mask, _ in checked) if forbidden is not None else (), axis, outline)

    @property
    def devices(self) -> tuple[str, ...]:
        """The device of each shard: "cuda:N", or "cpu" for an array on the host."""
        return tuple(f"cuda:{s.device.id}" if cuda.is_device_array(s) else "cpu" for s in self.shards)

    def checked_devices(self, device: str | Sequence[str]) -> tuple[str, ...]:
        """Return `devices`, on which these costs are solved; refuse any other than those."""
        wanted = (device,) if isinstance(device, str) else tuple(device)
        if device != "auto" and wanted != self.devices:
            raise InvalidProblem(f"device={device!r}: these shards are on {list(self.devices)}; name those, or 'auto'.")
        return self.devices

    def on_host(self) -> Problem:
        """Return the problem with all its costs on the host, for `verify`."""
        whole = np.concatenate([cuda.to_host(shard) for shard in self.shards], axis=self.axis)
        mask = np.concatenate([cuda.to_host(m) for m in self.forbidden], axis=self.axis) if self.forbidden else None
        prices = self.outline.row_unmatched, self.outline.col_unmatched
        return Problem.dense(whole, unmatched_cost=None if prices[0] is None else prices, forbidden=mask)


def device_of(array: Any) -> AbstractContextManager[Any]:
    """Return the device of an array, to make it current; nothing for the host's."""
    return array.device if cuda.is_device_array(array) else nullcontext()


def _checked(shard: Any, mask: Any) -> tuple[Any, Any, np.ndarray]:
    """Return a shard's costs, its mask and its range."""
    if not hasattr(shard, "ndim") or shard.ndim != 2:
        raise InvalidProblem(f"shards need arrays of 2 axes (rows, columns); got {getattr(shard, 'shape', shard)}.")
    with device_of(shard):
        parts = device_problem if cuda.is_device_array(shard) else host_problem
        (_, n, m), data, flat_mask = parts.dense_parts(shard, mask)[:3]
        ranges = [_range(piece) for piece in _pieces(data)]
        flags = None if flat_mask is None else flat_mask.reshape(n, m)
        return data.reshape(n, m), flags, np.concatenate(ranges)


def _pieces(data: Any) -> Iterator[Any]:
    """Split a flat array, so that what is computed on the way stays small."""
    for at in range(0, max(data.size, 1), PIECE):
        yield data[at : at + PIECE]


def _range(values: Any) -> np.ndarray:
    if cuda.is_device_array(values):
        return device_problem.range_of(values)
    finite = values[np.isfinite(values)]
    return np.array([finite.min(), finite.max()], values.dtype) if finite.size else np.empty(0, values.dtype)


def _as_floats(cost: Any) -> Any:
    with device_of(cost):
        return cost.astype(np.float64)
