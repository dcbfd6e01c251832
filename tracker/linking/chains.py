"""Links to tracks: chains where each link is the only one of both its ends; all others make a lineage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...matching.jit.compiled import compiled
from ..points import Points, Tracks


def lineages(points: Points, source: np.ndarray, target: np.ndarray) -> Tracks:
    """Return the tracks of links between rows of the points table, and who descends from whom."""
    ways_out, ways_in = (np.bincount(ends, minlength=len(points)) for ends in (source, target))
    follows = (ways_out[source] == 1) & (ways_in[target] == 1)
    ids = track_ids(points.frames, source[follows], target[follows])
    parents: dict[int, Sequence[int]] = {}
    for parent, child in zip(ids[source[~follows]].tolist(), ids[target[~follows]].tolist(), strict=True):
        parents[child] = [*parents.get(child, ()), parent]
    return replace(points.with_track_ids(ids), parents=parents)


def track_ids(frames: np.ndarray, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Number the chains of links.

    Parameters
    ----------
    frames : int64 (n,)
        Frame of each particle.
    source, target : int64 (k,)
        Links: particle `source` is followed by particle `target`, of a later frame. No particle is a source or a target
        twice.

    Returns
    -------
    int64 (n,)
        Track of each particle, numbered from 0 in the order of first appearance (frame, then row).
    """
    before = np.full(len(frames), -1, dtype=np.int64)
    before[target] = source
    return ids_of_chains(frames, before)


def ids_of_chains(frames: np.ndarray, before: np.ndarray) -> np.ndarray:
    """As `track_ids`, from the particle that each follows, int64 (n,), −1 for none; written in its place."""
    in_order = bool((frames[1:] >= frames[:-1]).all())
    _number(None if in_order else np.argsort(frames, kind="stable"), before)
    return before


@compiled
def _number(order, ids):  # noqa: ANN001, ANN202
    """Replace the particle that each follows by its track; what is followed has its own already."""
    n_tracks = 0
    for k in range(len(ids)):
        particle = k if order is None else order[k]
        if ids[particle] >= 0:
            ids[particle] = ids[ids[particle]]
        else:
            ids[particle] = n_tracks
            n_tracks += 1
