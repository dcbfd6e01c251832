"""The pair correlation function: how many particles are at a distance from another, by how many chance puts there."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

from ..calibrating.lengths import require_length
from ..points import Points, require

BINS = 100
_REACH = 5.0
"""Edges of the volume that each particle has to itself, as far as which is looked unless a distance is given."""
_DIRECTIONS = 64
"""Steps of each angle over which the box is averaged."""


def pair_correlation(points: Points, max_distance: float | None = None) -> pd.DataFrame:
    """Count the particles around each other, by how many there would be if all were anywhere (trackpy: static).

    Parameters
    ----------
    points : Points
        Or tracks, of which rows without a track count too: all that was found in a frame.
    max_distance : float, optional
        How far is looked, in the unit of the calibration. None: five times the edge of the volume (in 2D: the area)
        that each particle has to itself.

    Returns
    -------
    DataFrame
        One row a bin, of 100 of the same width:

        - `distance`: the middle of the bin;
        - `pair_correlation`: g(r), the pairs of particles of one frame that far apart, by how many they would be on
          average if each were anywhere in the box that holds all; 1 far away in a liquid;
        - `n`: how many pairs they are, of all frames. Frames in which particles have hardly moved say the same again.

        Bins that are farther than the box is wide, where there can be no pair, are left out.

    Raises
    ------
    InvalidInput
        If a table is given for `Points`.
    InvalidSetting
        If `max_distance` is not a length.

    Notes
    -----
    Of particles near a border a part of the shell around them is outside the box, which is allowed for: pairs a vector
    apart are expected by the volume of the box that is still in it when shifted by that vector, on average over all
    directions. The box is the smallest that holds all positions, so that it should be full of particles: of a part of
    it, `Points.cut`. An axis along which all are at one place, as z of particles on a plane, does not count.

    Errors of positions blur g(r), and two that are detected as one are missing where they touch.

    Examples
    --------
    >>> from auctrack import pair_correlation, read_points
    >>> len(pair_correlation(read_points("sample_data/points.csv"), 20.0))
    100
    """
    require(Points, points)
    if max_distance is not None:
        require_length("max_distance", max_distance)
    position = points.positions
    box = np.ptp(position, axis=0) if len(position) else np.zeros(points.ndim)
    position, box = position[:, box > 0], box[box > 0]
    frames = [position[rows] for _, rows in points.rows_by_frame()]
    pairs = sum(len(each) * (len(each) - 1) for each in frames)
    if not pairs or not len(box):
        return pd.DataFrame({"distance": [], "pair_correlation": [], "n": np.empty(0, np.int64)})
    room = float(box.prod()) * len(frames) / len(position)
    edges = np.linspace(0.0, max_distance or _REACH * room ** (1 / len(box)), BINS + 1)
    count = np.sum([_ordered_pairs(each, edges) for each in frames], axis=0)
    middle = (edges[1:] + edges[:-1]) / 2
    share = _share_in_shells(middle, edges, box)
    can_be = share > 0
    return pd.DataFrame(
        {
            "distance": middle[can_be],
            "pair_correlation": count[can_be] / (pairs * share[can_be]),
            "n": count[can_be] // 2,
        }
    )


def _ordered_pairs(position: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return how many particles others have in each shell, together; of each pair both, and none has itself."""
    tree = cKDTree(position)
    return np.asarray(tree.count_neighbors(tree, edges, cumulative=False))[1:]


def _share_in_shells(distance: np.ndarray, edges: np.ndarray, box: np.ndarray) -> np.ndarray:
    """Return the share of pairs that are in each shell if particles are anywhere in a box.

    It is what the box and itself, shifted by the distance, share of the volume: on average over all directions, and
    times the volume of the shell, by the square of the volume.
    """
    overlap = np.maximum(box - distance[:, None, None] * _directions(len(box)), 0.0).prod(axis=2).mean(axis=1)
    shell = np.diff({1: 2.0, 2: np.pi, 3: 4 * np.pi / 3}[len(box)] * edges ** len(box))
    return overlap * shell / box.prod() ** 2


def _directions(ndim: int) -> np.ndarray:
    """Return directions that stand for all of those with no negative part, float64 (k, d)."""
    steps = (np.arange(_DIRECTIONS) + 0.5) / _DIRECTIONS
    around = np.stack([np.cos(np.pi / 2 * steps), np.sin(np.pi / 2 * steps)], axis=1)
    if ndim == 1:
        return np.ones((1, 1))
    if ndim == 2:
        return around
    up, flat = np.repeat(steps, _DIRECTIONS)[:, None], np.tile(around, (_DIRECTIONS, 1))
    return np.concatenate([up, np.sqrt(1 - up**2) * flat], axis=1)
