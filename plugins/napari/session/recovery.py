"""The file in which corrections that no other file holds outlive a crash, found again by the detections they are of."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from ....tracker.points import Points


def recovery_file(folder: Path, points: Points) -> Path:
    """Return the file for corrections of these very detections, in this order."""
    places = np.ascontiguousarray(points.table[["frame", *points.axes]].to_numpy(np.float64))
    return folder / f"{hashlib.blake2b(places.tobytes(), digest_size=8).hexdigest()}.corrections.json"
