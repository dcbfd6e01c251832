"""A movie of two spots, for tests that ask for any movie."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tifffile


def two_spots(path: Path, *, frames: int = 3) -> Path:
    """Write frames of 48 × 48 pixels of 0.5 µm with two spots that move by one pixel a frame."""
    path.parent.mkdir(parents=True, exist_ok=True)
    y, x = np.mgrid[:48, :48]
    noise = np.random.default_rng(0).normal(100, 2, (frames, 48, 48))
    for t in range(frames):
        for row, column in ((12 + t, 14), (32, 30 + t)):
            noise[t] += 200 * np.exp(-((y - row) ** 2 + (x - column) ** 2) / 8)
    known = {
        "axes": "TYX",
        "PhysicalSizeX": 0.5,
        "PhysicalSizeY": 0.5,
        "PhysicalSizeXUnit": "µm",
        "PhysicalSizeYUnit": "µm",
    }
    tifffile.imwrite(path, noise.astype(np.uint16), ome=True, metadata=known)
    return path
