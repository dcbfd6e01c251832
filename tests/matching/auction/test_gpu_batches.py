"""What batches of points on the GPU need of the host: slots in a tree of boxes."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.matching.points.gpu_tree import FAN, MOST_ROOTS, layout


@pytest.mark.parametrize("largest", [1, 8, 9, 64, 65, 513, 5000])
def test_blocks_of_points_share_no_node_below_their_roots(largest: int) -> None:
    sizes = np.random.default_rng(largest).integers(0, largest + 1, 40)
    sizes[:2] = largest, 0
    blocks, slots = layout(sizes)
    level, first_root, end_root, first_slot, end_slot = blocks.astype(np.int64).T
    span = FAN ** (level + 1)
    np.testing.assert_array_equal(end_slot - first_slot, sizes)
    np.testing.assert_array_equal(first_root * span, first_slot)
    assert (end_root * span >= end_slot).all()
    assert (end_root - first_root <= MOST_ROOTS).all()
    assert slots == end_slot.max() <= 2 * sizes.sum() + FAN * len(sizes)
    in_order = np.argsort(first_slot + (sizes == 0) * slots, kind="stable")[: np.count_nonzero(sizes)]
    assert ((end_root[in_order] * span[in_order])[:-1] <= first_slot[in_order][1:]).all()
