"""Point sets on the GPU: sorted along a Morton curve, with a tree over them; a batch of sets shares both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

THREADS = 128
FAN, NEAREST = 8, 16  # as in auction_points.cu
MOST_ROOTS = 8


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
        Level and range of each block's roots, and range of its slots (`Block` in auction_points.cu).
    first : int32 (levels + 1,)
        Where the nodes of each level begin, leaves first; the last is their number.
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

    @classmethod
    def of(cls, cp: Any, points: Any, offsets: np.ndarray, corner: Any, cells_per_unit: float, kernels: Any) -> Side:
        """Sort the points, given with three axes, within the blocks that `offsets` (blocks + 1,) mark."""
        n, sizes = len(points), np.diff(offsets)
        blocks, slots = layout(sizes)
        block_of_point = _spread(cp, np.arange(len(sizes)), sizes)
        bits = (len(sizes) - 1).bit_length()
        keys, threads = cp.empty(n, cp.uint64), (max(-(-n // THREADS), 1),)
        arguments = (np.int32(n), points, corner, np.float64(cells_per_unit), block_of_point, np.int32(bits), keys)
        kernels["auction_keys"](threads, (THREADS,), arguments)
        sorted_order = cp.argsort(keys)
        keys = keys[sorted_order]
        order, block = cp.full(slots, -1, cp.int32), cp.zeros(slots, cp.int32)
        sorted_points, on_device = cp.full((slots, 3), cp.inf), (cp.asarray(blocks), cp.asarray(offsets))
        arguments = (np.int32(n), points, sorted_order, block_of_point, *on_device, order, block, sorted_points)
        kernels["auction_fill_slots"](threads, (THREADS,), arguments)
        first = [0]
        for level in range(int(blocks[:, 0].max()) + 1):
            first.append(first[-1] + -(-slots // FAN ** (level + 1)))
        levels = np.array(first, np.int32)
        return cls(cp, points, sorted_points, order, block, keys, on_device[1], on_device[0], levels)

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
        first = self.cp.asarray(self.first)
        return np.int32(len(self.order)), first, self.blocks, self.sorted_points, self.order, boxes, prices

    def searching(self) -> tuple[Any, ...]:
        """Return what the searching kernels take of the side whose points search."""
        return self.sorted_points, self.order, self.block

    def whole(self, boxes: Any) -> tuple[Any, ...]:
        """Return what `auction_neighbours` takes of either side."""
        first = self.cp.asarray(self.first)
        tree = np.int32(len(self.order)), first, self.blocks, self.sorted_points, self.order, boxes
        return *tree, self.block, self.keys, self.offsets


def sorted_sides(cp: Any, x: Any, y: Any, offsets: tuple[np.ndarray, np.ndarray], kernels: Any) -> tuple[Side, Side]:
    """Sort both point sets, (n, axes) and (m, axes), along one curve over their common box."""
    sides: list[Any] = []
    for given in (x, y):
        points = cp.zeros((len(given), 3))
        points[:, 3 - given.shape[1] :] = cp.asarray(given)
        sides.append(points)
    corner = cp.minimum(sides[0].min(axis=0), sides[1].min(axis=0))
    extent = float((cp.maximum(sides[0].max(axis=0), sides[1].max(axis=0)) - corner).max())
    cells_per_unit = 2**21 / extent if extent > 0 else 1.0
    rows, cols = (
        Side.of(cp, points, of_side, corner, cells_per_unit, kernels)
        for points, of_side in zip(sides, offsets, strict=True)
    )
    return rows, cols


def layout(sizes: np.ndarray) -> tuple[np.ndarray, int]:
    """Return `Side.blocks` for blocks of the given sizes, and the slots they take: at most twice their points."""
    level = np.zeros(len(sizes), np.int64)
    while (crowded := sizes > MOST_ROOTS * FAN ** (level + 1)).any():
        level += crowded
    span = FAN ** (level + 1)
    by_span = np.argsort(-level, kind="stable")
    padded = -(-sizes // span) * span
    begin = np.empty_like(sizes)
    begin[by_span] = np.cumsum(padded[by_span]) - padded[by_span]
    blocks = np.stack([level, begin // span, (begin + padded) // span, begin, begin + sizes], axis=1)
    return blocks.astype(np.int32), int((begin + sizes).max())


def _spread(cp: Any, values: np.ndarray, sizes: np.ndarray) -> Any:
    """Repeat each block's value for its points, int32 on the device."""
    if len(sizes) == 1:
        return cp.full(int(sizes[0]), int(values[0]), cp.int32)
    return cp.asarray(np.repeat(values.astype(np.int32), sizes))
