"""What it costs to leave a particle unlinked, measured from the data.

Two particles are worth a link as long as it explains them better than one particle lost and another one appeared. With
steps of density f, a density ρ of particles and shares p of them that are lost and that appear, the likelihoods are
equal at the distance D with

    f(D) = ρ · p_lost · p_new.

The first reading is made on mutual nearest neighbours, as if steps were Gaussian. They favour short steps, so the
width comes out too small and the losses too high; therefore the sample is linked at that distance, to the optimum, and
f (a Student-t distribution, `student_t`) and the shares are read from these links, `ROUNDS` times. The density is that
of all positions in the sample's later frames. Where particles are so dense that the odds say little, D stays at least
σ·√(2d).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import gammaincinv

from ...calibrating.digits import in_unit
from ...errors import InvalidInput
from ...points import Points
from ..gate.candidates import Cost, Frame, gate, in_runs
from ..gate.excerpt import Excerpt, excerpts
from ..gate.limits import GateLimits
from ..gate.optimum import optimum
from .student_t import GAUSSIAN, StudentT

ENOUGH = 3_000
"""Particles that are enough: frame pairs are measured from the first on until there are as many, and of larger frames
only a part (`excerpt`)."""
ROUNDS = 2
"""Readings from links. With more of them the unmatched cost drifts upwards where steps say little."""
POSITIONS = 3_000
"""Positions that the extent of the data is read from."""
QUANTILES = (0.5, 0.8)
"""Where σ is first read from the steps, the larger reading counting: cells that rest and run keep their long steps, and
wrong neighbours, the longest steps, stay out of it."""
STILL = 0.01
"""Smallest step assumed, in spacings: particles that do not move at all must still be linked."""
RAREST = 0.01
"""Smallest share of lost or new particles assumed: clean data must not make long links free."""
LAYER = float(np.sqrt(2 * np.pi))
"""Extent along an axis, in standard deviations of a step, up to which the axis says nothing of links: it is left out.

In a thinner layer than that chance partners are denser along it than a step's density ever is.
"""
TIE = 1e-12
"""What more it costs to leave two particles unlinked than to link them where both cost the same: above all rounding."""


@dataclass(frozen=True)
class UnmatchedCost:
    """The unmatched cost, and where it came from.

    Attributes
    ----------
    distance : float
        In the unit of the positions: two particles left unlinked cost as much as one link of twice this length,
        whatever the cost of a link is.
    reason : str
        One sentence for the user.
    """

    distance: float
    reason: str

    @property
    def longest(self) -> float:
        """Length of the longest link that is worth making."""
        return 2 * self.distance

    def in_costs(self, cost: Cost) -> float:
        """Return `unmatched_cost` in the unit of the cost: half of what a link of length 2·distance costs.

        More by `TIE`, so that a link just as long as that is made: trackpy makes it, whose range is both.
        """
        return (self.longest**2 / 2 if cost == "squared" else self.longest / 2) * (1 + TIE)


@dataclass(frozen=True)
class SampledSteps:
    """What a sample of links says of all.

    Attributes
    ----------
    distribution : StudentT
        Of their lengths.
    lost, new : float
        Shares of the particles without a link to the next frame, and without one from the frame before; at least
        `RAREST`.
    spacing : float
        density^(-1/d): the edge of the box that holds one particle of a frame on average.
    lengths : float64 (n,)
        Lengths of the links.
    """

    distribution: StudentT
    lost: float
    new: float
    spacing: float
    lengths: np.ndarray

    @property
    def longest(self) -> float:
        """Length at which a link is as likely as one particle lost and another new."""
        ndim = self.distribution.ndim
        log_density = float(np.log(self.lost * self.new)) - ndim * float(np.log(self.spacing))
        return max(self.distribution.length_at(log_density), float(np.sqrt(2 * ndim * self.distribution.variance)))


def measured_unmatched_cost(
    pairs: Iterator[tuple[Frame, Frame]], search_range: float, points: Points, limits: GateLimits | None = None
) -> UnmatchedCost | None:
    """Measure the unmatched cost on the first frame pairs.

    Parameters
    ----------
    pairs : iterator of pairs of Frame
        Frames that follow each other; as many are taken as are needed.
    search_range : float
        Longest possible link, in the unit of the positions.
    points : Points
        What the frames belong to.
    limits : GateLimits, optional
        What is held at a time.

    Returns
    -------
    UnmatchedCost or None
        None without any step: there is nothing to measure.
    """
    steps = measured_steps(pairs, search_range, points.ndim, limits)
    if steps is None:
        return None
    unit, count = points.calibration.unit, len(steps.lengths)
    counted = f"{count} {'steps' if count > 1 else 'step'}"
    return UnmatchedCost(
        steps.longest / 2,
        f"measured on {counted}: root mean square step {in_unit(unit, np.sqrt(np.mean(steps.lengths**2)))}, "
        f"{steps.lost:.0%} lost and {steps.new:.0%} new from frame to frame, so up to "
        f"{in_unit(unit, steps.longest)} a link is more likely than one particle lost and another new",
    )


def measured_steps(
    pairs: Iterator[tuple[Frame, Frame]], search_range: float, ndim: int, limits: GateLimits | None = None
) -> SampledSteps | None:
    """Return what the links of the first frame pairs say of all, None where none are within the search range.

    Parameters
    ----------
    pairs, search_range, limits
        As in `measured_unmatched_cost`.
    ndim : int
        Number of spatial axes.

    Raises
    ------
    InvalidInput
        If positions are so close together that squares of their distances are 0.
    """
    sample = list(excerpts(pairs, ENOUGH))
    nearest = np.concatenate([np.empty(0), *(_nearest_steps(part, search_range) for part in sample)])
    if len(nearest) == 0:
        return None
    positions = [part.later.grid.points for part in sample]
    step = np.sqrt(max(_variance_at(q, nearest, ndim) for q in QUANTILES))
    extent = extent_of(positions)
    wide = extent[extent > LAYER * step]
    ndim = len(wide) or ndim
    spacing = density_spacing(wide, sum(map(len, positions)) / len(positions))
    least = (STILL * spacing) ** 2
    variance = max(*(_variance_at(q, nearest, ndim) for q in QUANTILES), least)
    if variance < np.finfo(float).tiny:
        raise InvalidInput(
            f"points are too close together, those of a frame {spacing:g} apart: squares of such distances are 0. Give "
            "positions in a smaller unit of length."
        )
    steps = SampledSteps(StudentT(ndim, GAUSSIAN, variance), *_shares(sample, nearest), spacing, nearest)
    for _ in range(ROUNDS):
        lengths = _linked_steps(sample, min(steps.longest, search_range), steps.longest, limits)
        steps = SampledSteps(StudentT.fitted(lengths, ndim, least), *_shares(sample, lengths), spacing, lengths)
    return steps


def _shares(sample: Sequence[Excerpt], steps: np.ndarray) -> tuple[float, float]:
    """Return which shares of the counted particles have no link to the next frame, and none from the one before."""

    def unlinked(counted: list[np.ndarray]) -> float:
        return float(np.clip(1 - len(steps) / max(np.count_nonzero(np.concatenate(counted)), 1), RAREST, 1))

    return unlinked([part.earlier_counted for part in sample]), unlinked([part.later_counted for part in sample])


def _linked_steps(sample: Sequence[Excerpt], radius: float, longest: float, limits: GateLimits | None) -> np.ndarray:
    """Return the lengths of the links of the counted particles, at the optimum of one unmatched cost."""
    unmatched_cost = UnmatchedCost(longest / 2, "").in_costs("squared")
    counted = np.concatenate([part.earlier_counted for part in sample])
    lengths, first = [np.empty(0)], 0
    for run in in_runs((gate(part.earlier, part.later, radius, limits) for part in sample), limits):
        _, problem, answer = optimum(run, "squared", unmatched_cost)
        rows, _ = answer.edges()
        lengths.append(run.lengths(problem, answer)[counted[first + rows]])
        first += len(run.row_points)
    return np.concatenate(lengths)


def _variance_at(q: float, steps: np.ndarray, ndim: int) -> float:
    """Return σ² read from the q-quantile of the squared steps, which over σ² are χ² distributed, of `ndim` degrees."""
    return float(np.quantile(steps, q) ** 2 / (2 * gammaincinv(ndim / 2, q)))


def _nearest_steps(part: Excerpt, longest: float) -> np.ndarray:
    """Return the distances of the counted particles to their mutual nearest neighbours in the next frame."""
    rows, lengths = mutual_nearest(part.earlier.grid.points, part.later.grid.points, longest)
    return lengths[part.earlier_counted[rows]]


def mutual_nearest(x: np.ndarray, y: np.ndarray, longest: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of `x` whose nearest in `y` has them for its own nearest, and how far it is away.

    Parameters
    ----------
    x, y : float64 (n, d), (m, d)
    longest : float
        Distance above which two particles are not neighbours.

    Returns
    -------
    rows, lengths : int64 (k,), float64 (k,)
    """
    away: Any = cKDTree(y).query(x, distance_upper_bound=np.nextafter(longest, np.inf))
    back: Any = cKDTree(x).query(y)
    lengths, nearest = away
    near = np.flatnonzero(nearest < len(y))
    rows = near[back[1][nearest[near]] == near]
    return rows, lengths[rows]


def extent_of(frames: Sequence[np.ndarray]) -> np.ndarray:
    """Return how far the positions in some frames spread along each axis, float64 (d,).

    Positions are taken between the 2 and 98 % quantiles of each axis, as a box that holds .96 of its length.
    """
    few = np.concatenate(frames)[:: max(sum(map(len, frames)) // POSITIONS, 1)]
    low, high = np.percentile(few, [2, 98], axis=0)
    return (high - low) / 0.96


def density_spacing(extent: np.ndarray, held: float) -> float:
    """Return density^(-1/d) of so many positions in a box, 1 where they are all in one place."""
    if not len(extent):
        return 1.0
    edge = extent.max()  # volumes are taken in its cube: that of lengths of 1e-120 underflows
    return float(edge * ((extent / edge).prod() / held) ** (1 / len(extent)))
