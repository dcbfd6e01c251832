"""Frames whose particles lie exactly where those of the frame before lie: a camera recorded an image twice."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..points import Points

FEWEST = 5
"""Particles of a frame that tell: one or two may rest, or lie on whole voxels twice in a row."""


def frozen_frames(points: Points) -> tuple[int, ...]:
    """Return the numbers of the frames that hold the particles of the frame before, bit by bit and in that order."""
    x = points.table["x"].to_numpy()
    return tuple(
        number
        for (before, earlier), (number, later) in pairwise(points.rows_by_frame())
        if number - before == points.frame_step
        and len(x[later]) >= FEWEST
        and np.array_equal(x[earlier], x[later])
        and np.array_equal(points.positions_of(earlier), points.positions_of(later))
    )
