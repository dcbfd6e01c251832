"""What it costs to leave a particle alone, measured from the data.

Two particles are worth a link as long as it explains them better than one particle lost and another one appeared. With
Gaussian steps of standard deviation σ per axis, a density ρ of particles and shares p of them that are lost and that
appear, the likelihoods are equal at the distance D with

    D² = 2 σ² ln( 1 / ((2π σ²)^(d/2) · ρ · p_lost · p_new) ).

σ and the shares are measured on the mutual nearest neighbours of the first frame pairs (σ at two quantiles, the larger
counting), the density on all positions of their later frames; the gate only bounds what is looked at. Where particles
are so crowded that the odds say little, D stays at least σ·√(2d).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.special import gammaincinv

from .gate import CandidateLinks, Cost
from .points import Points

ENOUGH = 3_000
"""Steps that are enough: frame pairs are measured from the first on until there are as many."""
POSITIONS = 3_000
"""Positions that the extent of the data is read from."""
QUANTILES = (0.5, 0.8)
"""Where σ is read from the steps, the larger reading counting: cells that rest and run keep their long steps (T cells:
F1 .976 against .968 by the median alone), and wrong neighbours, the longest steps, stay out of it."""
STILL = 0.01
"""Smallest step assumed, in spacings: particles that do not move at all must still be linked."""
RAREST = 0.01
"""Smallest share of lost or new particles assumed: clean data must not make long links free."""


@dataclass(frozen=True)
class UnmatchedCost:
    """The price of leaving a particle alone, and where it came from.

    Attributes
    ----------
    distance : float
        In the unit of the positions: two particles left alone cost as much as one link of twice this length, whatever
        the cost of a link is.
    reason : str
        One sentence for the user.
    """

    distance: float
    reason: str

    @property
    def longest(self) -> float:
        """Length of the longest link that is worth making."""
        return 2 * self.distance

    def price(self, cost: Cost) -> float:
        """Return `unmatched_cost` in the unit of the cost: half of what a link of length 2·distance costs."""
        return self.longest**2 / 2 if cost == "squared" else self.longest / 2


def measured_unmatched_cost(
    sample: Sequence[CandidateLinks], steps: np.ndarray, points: Points
) -> UnmatchedCost | None:
    """Measure the price on a sample of frame pairs.

    Parameters
    ----------
    sample : sequence of CandidateLinks
        One frame pair each.
    steps : float64 (k,)
        Lengths of their links between mutual nearest neighbours (`mutual_nearest`).
    points : Points

    Returns
    -------
    UnmatchedCost or None
        None without any step: there is nothing to measure.
    """
    if len(steps) == 0:
        return None
    ndim, unit = points.ndim, points.calibration.unit
    n_rows, n_cols = (sum(len(getattr(links, side)) for links in sample) for side in ("row_points", "col_points"))
    lost, new = (float(np.clip(1 - len(steps) / n, RAREST, 1)) for n in (n_rows, n_cols))
    spacing = _spacing(sample, points)
    variance = max(*(_variance_at(q, steps, ndim) for q in QUANTILES), (STILL * spacing) ** 2)
    log_odds = ndim * np.log(spacing / np.sqrt(2 * np.pi * variance)) - np.log(lost * new)
    longest = float(np.sqrt(2 * variance * max(log_odds, ndim)))
    counted = f"{len(steps)} {'steps' if len(steps) > 1 else 'step'}"
    return UnmatchedCost(
        longest / 2,
        f"measured on {counted}: root mean square step {np.sqrt(ndim * variance):.3g} {unit}, "
        f"{lost:.0%} lost and {new:.0%} new per frame, so up to {longest:.3g} {unit} a link is more likely than one "
        "particle lost and another new",
    )


def _variance_at(q: float, steps: np.ndarray, ndim: int) -> float:
    """Return σ² read from the q-quantile of the squared steps, which over σ² follow the χ² law of `ndim` degrees."""
    return float(np.quantile(steps, q) ** 2 / (2 * gammaincinv(ndim / 2, q)))


def mutual_nearest(links: CandidateLinks) -> np.ndarray:
    """Return the lengths of the candidate links whose two particles are each other's nearest, float64 (k,)."""
    return links.distance[_are_mutual(links.indptr, links.indices, links.distance, len(links.col_points))]


@njit(cache=True, nogil=True)
def _are_mutual(indptr, indices, distance, n_cols):  # noqa: ANN001, ANN202
    """Mark the links that are as short as any of their row and any of their column."""
    nearest = np.full(n_cols, np.inf)
    for e in range(len(indices)):
        nearest[indices[e]] = min(nearest[indices[e]], distance[e])
    mutual = np.zeros(len(indices), np.bool_)
    for i in range(len(indptr) - 1):
        least = np.inf
        for e in range(indptr[i], indptr[i + 1]):
            least = min(least, distance[e])
        for e in range(indptr[i], indptr[i + 1]):
            mutual[e] = distance[e] == least and distance[e] == nearest[indices[e]]
    return mutual


def _spacing(sample: Sequence[CandidateLinks], points: Points) -> float:
    """Return density^(-1/d): the edge of the box that holds one particle of a frame on average."""
    rows = np.concatenate([links.col_points for links in sample])
    few = rows[:: max(len(rows) // POSITIONS, 1)]
    coordinates = points.table[list(points.axes)].iloc[few].to_numpy() * points.calibration.scale_for(points.ndim)
    low, high = np.percentile(coordinates, [2, 98], axis=0)
    extent = (high - low) / 0.96
    extent = extent[extent > 0]
    if not len(extent):
        return 1.0
    edge = extent.max()  # volumes are taken in its cube: that of lengths of 1e-120 is no number
    return float(edge * ((extent / edge).prod() / (len(rows) / len(sample))) ** (1 / len(extent)))
