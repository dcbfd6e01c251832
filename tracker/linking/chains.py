"""Links to tracks: every particle follows at most one and is followed by at most one, so links form chains."""

from __future__ import annotations

import numpy as np
from numba import njit


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
    in_order = bool((frames[1:] >= frames[:-1]).all())
    order = np.arange(len(frames)) if in_order else np.argsort(frames, kind="stable")
    return _numbered(order, before)


@njit(cache=True, nogil=True)
def _numbered(order, before):  # noqa: ANN001, ANN202
    ids = np.empty(len(order), np.int64)
    n_tracks = 0
    for particle in order:
        if before[particle] >= 0:
            ids[particle] = ids[before[particle]]
        else:
            ids[particle] = n_tracks
            n_tracks += 1
    return ids
