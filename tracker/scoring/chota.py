"""HOTA of tracks and CHOTA of lineages: how well detections are found and put together, in one figure.

HOTA: Luiten et al., International Journal of Computer Vision 129 (2021), at one tolerance. CHOTA: Kaiser et al.,
"CHOTA: A Higher Order Accuracy Metric for Cell Tracking" (2024), which counts what a track descends from and what
descends from it as its own.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse import coo_array, csr_array, eye_array

from .comparison import Comparison
from .lineages import Lineages


def hota(comparison: Comparison) -> float:
    """Return HOTA over tracklets; NaN where nothing was found and nothing is real."""
    found, real = comparison.found, comparison.real
    return _accuracy(comparison, _itself(found), _itself(real))


def chota(comparison: Comparison) -> float:
    """Return CHOTA; NaN where nothing was found and nothing is real."""
    return _accuracy(comparison, _relatives(comparison.found), _relatives(comparison.real))


def _accuracy(comparison: Comparison, found_kin: csr_array, real_kin: csr_array) -> float:
    """Average the overlap of trajectories over all detections: √(Σ overlap / (right + spurious + missed)).

    `found_kin`, `real_kin`: for every tracklet, 1 at those that belong to its trajectory.
    """
    found, real = comparison.found, comparison.real
    matched = np.flatnonzero(comparison.match >= 0)
    everything = len(found) + len(real) - len(matched)
    if everything == 0:
        return math.nan
    at = real.tracklet[comparison.match[matched]], found.tracklet[matched]
    shared = csr_array((np.ones(len(matched), np.int64), at), shape=(len(real.length), len(found.length)))
    row, column = shared.nonzero()
    common = (real_kin @ shared)[row].multiply(found_kin[column]).sum(axis=1)
    union = (real_kin @ real.length)[row] + (found_kin @ found.length)[column] - common
    return math.sqrt(float((shared[row, column] * common / union).sum()) / everything)


def _itself(lineages: Lineages) -> csr_array:
    return eye_array(len(lineages.length), dtype=np.int64, format="csr")


def _relatives(lineages: Lineages) -> csr_array:
    """Return the tracklets that each one descends from, is, or is descended from, as rows of 0 and 1."""
    n, edges = len(lineages.length), lineages.tracklet_edges
    steps = coo_array((np.ones(len(edges), np.int64), (edges[:, 0], edges[:, 1])), shape=(n, n))
    reached = _as_ones(_itself(lineages) + steps)
    while (further := _as_ones(reached @ reached)).nnz > reached.nnz:
        reached = further
    return _as_ones(reached + reached.T)


def _as_ones(counts: csr_array) -> csr_array:
    counts = csr_array(counts)
    counts.data[:] = 1
    return counts
