"""Families of tracks: who descends from whom, how often cells divide, and how long they live."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..points import Tracks


@dataclass(frozen=True)
class Divisions:
    """What divisions tell; times are in steps from one frame to the next.

    Parameters
    ----------
    dividing : int
        Cells that two or more others follow.
    lived : float
        Time for which all cells together were followed.
    generations : ndarray
        Time from a division to the next of each cell that begins and ends in one.
    """

    dividing: int
    lived: float
    generations: np.ndarray


def joints_of(track_id: np.ndarray, tracks: Tracks) -> np.ndarray:
    """Return who follows whom, int64 (joints, 2): the places of child and mother among these ids, which ascend."""
    joints = [(child, mother) for child, of in tracks.parents.items() for mother in of]
    return np.searchsorted(track_id, np.array(joints, np.int64).reshape(-1, 2))


def families(joints: np.ndarray, n_tracks: int) -> np.ndarray:
    """Return which family each track is of, int32 (n_tracks,); without joints each is one of its own."""
    size = (n_tracks, n_tracks)
    return connected_components(coo_array((np.ones(len(joints)), tuple(joints.T)), size), directed=False)[1]


def divisions_of(first: np.ndarray, last: np.ndarray, joints: np.ndarray, step: int) -> Divisions:
    """Measure divisions.

    An only child of an only mother, from whom it is missed frames apart, is the same cell: folders of the Cell Tracking
    Challenge have tracks cut there. Daughters are first seen in the frame after their mother's last.

    Parameters
    ----------
    first, last : ndarray of int64, shape (n,)
        Frames of each track.
    joints : ndarray of int64, shape (m, 2)
        Those of `joints_of`.
    step : int
        Frame numbers from one frame to the next.
    """
    child, mother = joints.T
    mothers, children = (np.bincount(of, minlength=len(first)) for of in (child, mother))
    apart = first[child] - last[mother]
    is_cut = (mothers[child] == 1) & (children[mother] == 1) & (apart > step)
    cell = families(joints[is_cut], len(first))
    n_cells = int(cell.max(initial=-1)) + 1
    missed = np.bincount(cell[child[is_cut]], apart[is_cut], minlength=n_cells)
    seen = (np.bincount(cell, last - first, minlength=n_cells) + missed) / step
    born, parent = cell[child[~is_cut]], cell[mother[~is_cut]]
    divides = np.bincount(parent, minlength=n_cells) > 1
    is_daughter = np.bincount(born, divides[parent], minlength=n_cells) > 0
    lived = float(seen.sum()) + len(np.unique(born))
    return Divisions(int(divides.sum()), lived, seen[divides & is_daughter] + 1)
