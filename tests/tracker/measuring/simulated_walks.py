"""Movements whose displacements and velocities are known, as tracks, and the same measured pair by pair."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pandas as pd

from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.points import Tracks
from auctrack.tracker.timeline import Timeline

MICROSCOPE = Calibration(scale=(2.0, 0.5, 0.25), unit="µm", frame_interval=10.0, time_unit="s")


def tracks_of(places: np.ndarray, *, step: int = 1, calibration: Calibration = MICROSCOPE) -> Tracks:
    """Tracks that are at `places` (tracks, frames, axes) in µm, every `step` frames."""
    n, frames, ndim = places.shape
    voxels = places.reshape(-1, ndim) / calibration.scale_for(ndim)
    frame = np.tile(np.arange(frames) * step, n)
    table = pd.DataFrame({"track_id": np.repeat(np.arange(n), frames), "frame": frame})
    return Tracks(table.assign(**dict(zip("zyx"[-ndim:], voxels.T, strict=True))), calibration, timeline=Timeline(step))


def diffusing(n: int, frames: int, ndim: int = 3, seed: int = 1) -> np.ndarray:
    """Places of particles that go 1 µm a frame along each axis, root mean square."""
    return np.random.default_rng(seed).normal(size=(n, frames, ndim)).cumsum(axis=1)


def with_gaps(tracks: Tracks, share: float = 0.3, seed: int = 0) -> Tracks:
    """The same, of which a share of the rows is missing, in another order."""
    seen = tracks.only(np.random.default_rng(seed).random(len(tracks)) > share)
    return Tracks(seen.table.sample(frac=1, random_state=seed), seen.calibration, timeline=seen.timeline)


def pair_by_pair(tracks: Tracks, *, of_velocity: bool) -> dict[int, np.ndarray]:
    """The displacements of all pairs of each lag, or the velocities of both: (pairs, axes) or (pairs, 2, axes)."""
    pairs, step = defaultdict(list), tracks.frame_step
    time = step * tracks.calibration.frame_interval
    for track in tracks.table["track_id"].unique():
        rows = (tracks.table["track_id"] == track).to_numpy()
        at = dict(zip(tracks.frames[rows].tolist(), tracks.positions[rows], strict=True))
        if of_velocity:
            at = {frame: (at[frame + step] - at[frame]) / time for frame in at if frame + step in at}
        for first in at:
            for later in at:
                if later >= first:
                    pairs[later - first].append((at[first], at[later]) if of_velocity else at[later] - at[first])
    return {lag: np.array(pairs[lag]) for lag in sorted(pairs)}
