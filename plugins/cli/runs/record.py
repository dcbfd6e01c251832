"""What is written down beside a result: its figures, and the settings that `--config` takes to repeat it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from ....tracker.calibrating.calibration import Calibration
from ....tracker.formats.programs.particle_size import known_diameter
from ....tracker.formats.sidecar import read_sidecar
from ....tracker.measuring.track_order import track_lengths
from ....tracker.pipeline import TrackingResult
from ....tracker.settings import Settings
from ..terminal.standard_input import STANDARD_INPUT


def tracking_record(source: str, asked: Settings, result: TrackingResult) -> dict[str, Any]:
    """Return the record of a tracking: the run, and its figures; what was learned of the motion, where any was."""
    return {**run_record(source, asked, result.settings), "figures": figures(result)}


def run_record(source: str, asked: Settings, effective: Settings) -> dict[str, Any]:
    """Return the record of a run: its input, from the root on, the settings that were asked for, and those in force."""
    whole = source if Path(source) == STANDARD_INPUT else os.path.abspath(source)  # noqa: PTH100 - it may be a pattern
    return {"source": whole, "asked": asked.to_mapping(), "effective": effective.to_mapping()}


def as_drawn(table: str | Path, calibration: Calibration) -> dict[str, Any]:
    """Return how particles are drawn by what stands beside their table: the movie's shape in voxels, their diameter.

    Without the diameter where the voxel size is another than it was.
    """
    beside = read_sidecar(Path(table))
    if beside is None:
        return {}
    diameter = known_diameter(beside.settings) if beside.calibration.scale == calibration.scale else None
    known = {"image_shape": beside.settings.get("image_shape"), "diameter": diameter}
    return {name: value for name, value in known.items() if value is not None}


def figures(result: TrackingResult) -> dict[str, Any]:
    """Return the figures of a tracking: its points, frames, tracks and links, what was learned, and the proof."""
    lengths = track_lengths(result.tracks.table["track_id"].to_numpy())
    return {
        "points": len(result.linking.tracks),
        "frames": len(result.linking.tracks.frame_numbers),
        "tracks": len(lengths),
        "median_length": float(np.median(lengths)) if len(lengths) else 0.0,
        "unit": result.tracks.calibration.unit,
        **result.linking.report,
    }
