"""A dense problem split over several GPUs: its parts, its initial reduction and its certificate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from ..certificate.certify import Slackness, slackness_of_matched
from ..device import cuda
from ..device.collectives import Collective
from ..paths.gpu_dense import STRIPES, THREADS, DeviceCosts, DeviceState, reduce_rows
from ..paths.state import FREE
from ..presolve.sharded import ShardedCosts
from ..problem import Problem
from ..problem.outline import Outline

COPIED_BYTES = 2**28
"""Of a shard, at a time."""

Part = TypeVar("Part")


@dataclass(frozen=True)
class Shards:
    """The parts of a problem, each on a device of its own.

    Attributes
    ----------
    outline : Problem or ShardedCosts
        Sizes, duals and arithmetic of the whole.
    parts : tuple of DeviceCosts
    axis : {0, 1}
        0: each part has some rows; 1: some columns.
    first : tuple of int (parts + 1,)
        Where each begins along the axis.
    collective : Collective
    """

    outline: Outline
    parts: tuple[DeviceCosts, ...]
    axis: int
    first: tuple[int, ...]
    collective: Collective

    @property
    def none(self) -> Any:
        """As `DeviceCosts.none`."""
        return self.parts[0].none

    def each(self, do: Callable[..., Part], *of_parts: Iterable[Any]) -> list[Part]:
        """Call `do(part, ...)` for every part on its device, with what the further lists have for it."""
        done: list[Part] = []
        for part, *more in zip(self.parts, *of_parts, strict=True):
            with part.device:
                done.append(do(part, *more))
        return done

    def slices(self) -> list[slice]:
        """Return what each part has of the axis that is split."""
        return [slice(a, b) for a, b in pairwise(self.first)]

    def windows(self) -> list[tuple[slice, slice]]:
        """Return the rows and columns that each part has."""
        whole = slice(0, self.outline.shape[1 - self.axis])
        return [(own, whole) if self.axis == 0 else (whole, own) for own in self.slices()]

    def copies(self, array: np.ndarray) -> list[Any]:
        """Copy an array of the host to every device."""
        return self.each(lambda part: part.cp.array(array))


def even_split(size: int, parts: int) -> tuple[int, ...]:
    """Return where each of at most `parts` parts of a range begins, and its end; none is empty unless the range is."""
    parts = max(min(parts, size), 1)
    return tuple(size * k // parts for k in range(parts + 1))


def place(cp: Any, block: Problem, numbers: Sequence[int], axis: int) -> list[DeviceCosts]:
    """Copy a dense problem of one block, on the host or on one GPU, part by part to the devices of these numbers."""
    cost = block.cost_matrix
    mask = None if block.forbidden is None else block.forbidden.reshape(cost.shape)
    bounds = block.dual_bounds()
    parts: list[DeviceCosts] = []
    for number, (a, b) in zip(numbers, pairwise(even_split(cost.shape[axis], len(numbers))), strict=False):
        window = (slice(a, b), slice(None)) if axis == 0 else (slice(None), slice(a, b))
        with cp.cuda.Device(number):
            n, m = cost[window].shape
            n_bytes = n * m * (cost.itemsize + (mask is not None)) + _scratch_bytes(n, m, cost.shape)
            cuda.require_memory(n_bytes, f"{n} x {m} of {cost.shape[0]} x {cost.shape[1]} costs")
            masked = None if mask is None else _moved(cp, mask[window])
            own = (bound[window[side]] for side, bound in enumerate(bounds))
            parts.append(DeviceCosts(cp, _moved(cp, cost[window]), masked, *(_moved(cp, bound) for bound in own)))
    return parts


def adopt(cp: Any, costs: ShardedCosts) -> list[DeviceCosts]:
    """Take shards where they are."""
    parts: list[DeviceCosts] = []
    at = 0
    masks = costs.forbidden or (None,) * len(costs.shards)
    for shard, mask in zip(costs.shards, masks, strict=True):
        sides = [slice(None), slice(None)]
        sides[costs.axis] = slice(at, at + shard.shape[costs.axis])
        with cuda.device_of(shard):
            bounds = (cp.asarray(bound[side]) for bound, side in zip(costs.dual_bounds(), sides, strict=True))
            parts.append(DeviceCosts(cp, shard, mask, *bounds))
        at = sides[costs.axis].stop
    return parts


def _scratch_bytes(n: int, m: int, shape: tuple[int, int]) -> int:
    return 80 * sum(shape) + 8 * STRIPES * m + 8 * n + 2**26


def _moved(cp: Any, window: Any) -> Any:
    """Copy a window of an array to the current device, some rows at a time."""
    target = cp.empty(window.shape, window.dtype)
    rows = max(1, COPIED_BYTES // max(window[:1].nbytes, 1))
    for at in range(0, len(window), rows):
        piece = window[at : at + rows]
        if cuda.is_device_array(piece):
            with piece.device:
                piece = cp.ascontiguousarray(piece)
            target[at : at + rows] = cp.asarray(piece)
        else:
            target[at : at + rows].set(np.ascontiguousarray(piece))
    return target


def reduced(shards: Shards) -> DeviceState:
    """Return the state after Algorithm 1 (section 5, step 2), on the host; nothing is matched.

    Columns begin at their bound.
    """
    bound = shards.outline.dual_bounds()[1]
    begin = np.where(bound < shards.none, bound, 0)
    states = shards.each(_unreduced, [begin[own] for _, own in shards.windows()])
    shards.each(reduce_rows, states)
    if shards.axis == 1:
        shards.collective.all_min([state.r for state in states])
    least = shards.each(_least_of_columns, states)
    if shards.axis == 0:
        shards.collective.all_min(least)
    shards.each(_raise_columns, least, states)
    n, m = shards.outline.shape
    nothing = np.full(n, FREE, np.int32), np.full(m, FREE, np.int32)
    r = on_host(shards, [state.r for state in states], 0)
    v = on_host(shards, [state.v for state in states], 1)
    return DeviceState(r, v, *nothing)


def _unreduced(part: DeviceCosts, v: np.ndarray) -> DeviceState:
    return DeviceState(part.cp.empty(len(part.cost), part.dual_dtype), part.cp.array(v, part.dual_dtype), None, None)


def _least_of_columns(part: DeviceCosts, state: DeviceState) -> Any:
    cp, m = part.cp, part.cost.shape[1]
    minima = cp.empty((STRIPES, m), part.dual_dtype)
    stripes = part.kernel("paths/reduce.cu", "hungarian_reduce_stripes")
    stripes((-(-m // THREADS), STRIPES), (THREADS,), (*part.sizes, *part.pairs, state.r, minima))
    return minima.min(axis=0)


def _raise_columns(part: DeviceCosts, least: Any, state: DeviceState) -> None:
    m = part.sizes[1]
    finish = part.kernel("paths/reduce.cu", "hungarian_reduce_columns")
    finish((-(-int(m) // THREADS),), (THREADS,), (m, np.int32(1), least, part.col_bound, state.v))


def on_host(shards: Shards, parts: Sequence[Any], side: int) -> np.ndarray:
    """Return an array of all rows (side 0) or columns (1): joined where that side is split, else the first part's."""
    return np.concatenate([cuda.to_host(p) for p in parts]) if side == shards.axis else cuda.to_host(parts[0])


@dataclass(frozen=True)
class Proof:
    """What the certificate of a matching is made of, on the host.

    Attributes
    ----------
    r, v : (rows,), (columns,)
        Feasible duals.
    cost : (matched edges,)
        By ascending row.
    slackness : Slackness
    """

    r: np.ndarray
    v: np.ndarray
    cost: np.ndarray
    slackness: Slackness


def prove(shards: Shards, v: np.ndarray, col_of_row: np.ndarray, row_of_col: np.ndarray) -> Proof:
    """Compute the best row duals, and every term of the gap, each part on its device."""
    v = np.minimum(v, shards.outline.dual_bounds()[1])
    duals_there = [v[own] for _, own in shards.windows()]
    duals, terms = (list(arrays) for arrays in zip(*shards.each(_row_duals, duals_there), strict=True))
    packed = shards.each(_matched_costs, shards.windows(), shards.copies(col_of_row))
    shards.collective.all_max(packed)
    if shards.axis == 1:
        least = shards.each(lambda _, r: r.copy(), duals)
        shards.collective.all_min(least)
        terms = shards.each(lambda part, r, low, size: part.cp.where(r == low, size, -1), duals, least, terms)
        shards.collective.all_max(terms)
        r, sizes = least[0], terms[0]
    else:
        r, sizes = (shards.collective.gathered(arrays) for arrays in (duals, terms))
    r, sizes, cost = (cuda.to_host(array) for array in (r, sizes, packed[0]))
    return Proof(
        r, v, cost[col_of_row >= 0], slackness_of_matched(shards.outline, col_of_row, row_of_col, cost, r, v, sizes)
    )


def _row_duals(part: DeviceCosts, v: np.ndarray) -> tuple[Any, Any]:
    cp, (n, _) = part.cp, part.cost.shape
    r, terms = cp.empty(n, part.dual_dtype), cp.empty(n, part.dual_dtype)
    kernel = part.kernel("hungarian/shards.cu", "hungarian_certify_rows")
    blocks = min(max(-(-32 * n // THREADS), 1), 1 << 16)
    kernel((blocks,), (THREADS,), (*part.sizes, *part.pairs, part.row_bound, cp.asarray(v), r, terms))
    return r, terms


def _matched_costs(part: DeviceCosts, window: tuple[slice, slice], col_of_row: Any) -> Any:
    """Return what each row's matched edge costs if it is in this part, else the lowest number."""
    packed = part.cp.full(len(col_of_row), part.lowest, part.dual_dtype)
    first = (np.int32(side.start) for side in window)
    kernel = part.kernel("hungarian/shards.cu", "hungarian_pack_matched_costs")
    blocks = -(-len(part.cost) // THREADS)
    kernel((blocks,), (THREADS,), (*part.sizes, *first, part.cost, col_of_row, packed))
    return packed
