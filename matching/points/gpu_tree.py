"""Point sets on the GPU: sorted along a Morton curve, with a tree over them; a batch of sets shares both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..device import cuda
from ..device.arrays import spread

THREADS = 128
FAN, NEAREST = (cuda.declared("points/tree.cu", name) for name in ("FAN", "NEAREST"))
MOST_ROOTS = 8
MOST_BLOCKS = 1024
"""That look for the box of all points."""


@dataclass(frozen=True)
class Side:
    """The point sets of one side of a batch, sorted within each block.

    Each block fills consecutive slots, the first a multiple of what one of its roots spans; so no node below a root has
    points of two blocks.

    Attributes
    ----------
    cp : module
    points : float64 (n, 3)
        In the caller's order, over all blocks; missing leading axes are 0.
    sorted_points : float64 (slots, 3)
        +inf where no point is.
    order, block : int32 (slots,)
        Index of each sorted point in the caller's order, -1 = no point; its block.
    keys : uint64 (n,)
        Block and Morton code of the points, ascending.
    offsets : int64 (blocks + 1,)
    blocks : int32 (blocks, 5)
        Level and range of each block's roots, and range of its slots (`Block` in points/tree.cu).
    first, first_there : int32 (levels + 1,)
        Where the nodes of each level begin, leaves first; the last is their number. On the host and on the device.
    """

    cp: Any
    points: Any
    sorted_points: Any
    order: Any
    block: Any
    keys: Any
    offsets: Any
    blocks: Any
    first: np.ndarray
    first_there: Any

    @classmethod
    def of(cls, cp: Any, points: Any, offsets: np.ndarray, box: Any, kernels: Any) -> Side:
        """Sort the points, given with three axes, within the blocks that `offsets` (blocks + 1,) mark."""
        n, sizes = len(points), np.diff(offsets)
        blocks, slots = layout(sizes)
        levels = _first_nodes(slots, int(blocks[:, 0].max()))
        offsets_there, blocks_there, levels_there = _uploaded(cp, offsets, blocks, levels)
        block_of_point = spread(cp, np.arange(len(sizes), dtype=np.int32), sizes)
        bits = (len(sizes) - 1).bit_length()
        keys, threads = cp.empty(n, cp.uint64), (max(-(-n // THREADS), 1),)
        arguments = (np.int32(n), points, box, block_of_point, np.int32(bits), keys)
        kernels["auction_keys"](threads, (THREADS,), arguments)
        sorted_keys, order, block = cp.empty(n, cp.uint64), cp.empty(slots, cp.int32), cp.empty(slots, cp.int32)
        sorted_points = cp.empty((slots, 3))
        if slots > n:
            for array, empty in ((order, -1), (block, 0), (sorted_points, cp.inf)):
                array.fill(empty)
        arguments = (np.int32(n), points, cp.argsort(keys), keys, block_of_point, blocks_there, offsets_there)
        kernels["auction_fill_slots"](threads, (THREADS,), (*arguments, sorted_keys, order, block, sorted_points))
        trees = offsets_there, blocks_there, levels, levels_there
        return cls(cp, points, sorted_points, order, block, sorted_keys, *trees)

    def tree(self, kernels: Any, v: Any) -> tuple[Any, Any]:
        """Return boxes and largest prices of the tree's nodes for column duals `v`, in the caller's order."""
        cp, first = self.cp, self.first
        boxes, prices = cp.empty((int(first[-1]), 6)), cp.empty(int(first[-1]))
        for level in range(len(first) - 1):
            nodes = int(first[level + 1] - first[level])
            below = len(self.order) if level == 0 else int(first[level] - first[level - 1])
            start_below = 0 if level == 0 else int(first[level - 1])
            sizes = (np.int32(level), np.int32(nodes), np.int32(below), first[level], np.int32(start_below))
            arguments = (*sizes, self.sorted_points, self.order, v, boxes, prices)
            kernels["auction_tree"]((-(-nodes // THREADS),), (THREADS,), arguments)
        return boxes, prices

    def searched(self, boxes: Any, prices: Any) -> tuple[Any, ...]:
        """Return what the searching kernels take of this side."""
        slots = np.int32(len(self.order))
        return slots, self.first_there, self.blocks, self.sorted_points, self.order, boxes, prices

    def searching(self) -> tuple[Any, ...]:
        """Return what the searching kernels take of the side whose points search."""
        return self.sorted_points, self.order, self.block

    def whole(self, boxes: Any) -> tuple[Any, ...]:
        """Return what `auction_neighbours` takes of either side."""
        tree = np.int32(len(self.order)), self.first_there, self.blocks, self.sorted_points, self.order, boxes
        return *tree, self.block, self.keys, self.offsets


def sorted_sides(cp: Any, x: Any, y: Any, offsets: tuple[np.ndarray, np.ndarray], kernels: Any) -> tuple[Side, Side]:
    """Sort both point sets, (n, axes) and (m, axes), along one curve over their common box."""
    x, y = (_with_three_axes(cp, cp.asarray(points)) for points in (x, y))
    box = cp.zeros(6, cp.uint64)
    blocks = (min(-(-(len(x) + len(y)) // THREADS), MOST_BLOCKS),)
    kernels["auction_box"](blocks, (THREADS,), (np.int32(len(x)), x, np.int32(len(y)), y, box))
    return Side.of(cp, x, offsets[0], box, kernels), Side.of(cp, y, offsets[1], box, kernels)


def _with_three_axes(cp: Any, points: Any) -> Any:
    """Return the points as they are, or with missing leading axes 0."""
    if points.shape[1] == 3:
        return points
    padded = cp.zeros((len(points), 3))
    padded[:, 3 - points.shape[1] :] = points
    return padded


def _first_nodes(slots: int, top: int) -> np.ndarray:
    """Return where the nodes of each level up to `top` begin, and their number: `Side.first`."""
    first = [0]
    for level in range(top + 1):
        first.append(first[-1] + -(-slots // FAN ** (level + 1)))
    return np.array(first, np.int32)


def _uploaded(cp: Any, offsets: np.ndarray, *numbers: np.ndarray) -> list[Any]:
    """Copy int64 offsets and int32 arrays, which come back flat, to the device at once."""
    parts = [offsets.view(np.int32), *(array.ravel() for array in numbers)]
    there = cp.asarray(np.concatenate(parts))
    ends = np.cumsum([len(part) for part in parts])
    whole, *others = (there[end - len(part) : end] for part, end in zip(parts, ends, strict=True))
    return [whole.view(cp.int64), *others]


def layout(sizes: np.ndarray) -> tuple[np.ndarray, int]:
    """Return `Side.blocks` for blocks of the given sizes, and the slots they take: at most twice their points."""
    level = np.zeros(len(sizes), np.int64)
    while (too_full := sizes > MOST_ROOTS * FAN ** (level + 1)).any():
        level += too_full
    span = FAN ** (level + 1)
    by_span = np.argsort(-level, kind="stable")
    padded = -(-sizes // span) * span
    begin = np.empty_like(sizes)
    begin[by_span] = np.cumsum(padded[by_span]) - padded[by_span]
    blocks = np.stack([level, begin // span, (begin + padded) // span, begin, begin + sizes], axis=1)
    return blocks.astype(np.int32), int((begin + sizes).max())
