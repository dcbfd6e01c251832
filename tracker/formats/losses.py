"""What a format cannot hold of points and tracks, in words."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..points import Points, Tracks
from .registry import Format
from .sidecar import SUFFIX


def lost(points: Points, into: Format) -> list[str]:
    """Return what is lost in a format, and what stands only in the settings beside it; empty where nothing is.

    Returns
    -------
    list of str
        One phrase each, such as "features quality, snr".
    """
    return [*_of_points(points, into), *(_of_tracks(points, into) if isinstance(points, Tracks) else [])]


def loss_note(points: Points, result: Path, into: Format) -> str:
    """Return the sentence that says what a file or folder of a format lacks; empty where it lacks nothing."""
    phrases = "; ".join(lost(points, into)).replace("NAME", result.name)
    return f"{result} cannot hold {phrases}." if phrases else ""


def _of_points(points: Points, into: Format) -> list[str]:
    phrases: list[str] = []
    features = [name for name in points.table.columns if name not in ("frame", *points.axes, "track_id")]
    kinds = {name: "numbers" if points.table[name].dtype.kind in "iufb" else "features" for name in features}
    unheld = [str(name) for name, kind in kinds.items() if kind not in into.holds]
    if unheld:
        phrases.append(f"columns {', '.join(unheld)}")
    if "positions" not in into.holds:
        phrases.append("exact positions, which become voxels of spheres")
    if "voxels" not in into.holds and points.calibration.scale != (1.0, 1.0, 1.0):
        phrases.append(f"the size of a voxel, as positions are in {points.calibration.unit} there")
    elif "unit" not in into.holds and points.calibration.scale != (1.0, 1.0, 1.0):
        phrases.append(f"the size of a voxel (it stands in NAME{SUFFIX})")
    if points.calibration.is_physical and "unit" not in into.holds:
        phrases.append(f"the unit of length (it stands in NAME{SUFFIX})")
    if points.calibration.frame_interval is not None and "interval" not in into.holds:
        phrases.append(f"the frame interval (it stands in NAME{SUFFIX})")
    return phrases


def _of_tracks(tracks: Tracks, into: Format) -> list[str]:
    phrases: list[str] = []
    merges = sum(len(parents) > 1 for parents in tracks.parents.values())
    if "ids" not in into.holds:
        phrases.append("the numbers of the tracks, which are counted again")
    if tracks.parents and "lineage" not in into.holds:
        phrases.append(f"the descent of {len(tracks.parents)} tracks (it stands in NAME{SUFFIX})")
    elif merges and "merges" not in into.holds:
        phrases.append(f"{merges} merges: of two parents the first is kept")
    gaps = 0 if "gaps" in into.holds else _gaps(tracks)
    if gaps:
        phrases.append(f"{gaps} missed stretches, at which tracks are cut in two, the second descending from the first")
    return phrases


def _gaps(tracks: Tracks) -> int:
    """Return how many times a track misses frames."""
    ids, frames = tracks.table["track_id"].to_numpy(), tracks.frames
    order = np.lexsort((frames, ids))
    same = ids[order][1:] == ids[order][:-1]
    return int(np.count_nonzero(same & (np.diff(frames[order]) > tracks.frame_step)))
