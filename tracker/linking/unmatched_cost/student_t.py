"""The distribution of steps: a Student-t distribution, the same in every direction, whose tails may be heavy.

Particles that rest and run, or that differ from each other, make long steps far more often than a Gaussian of the same
width. The multivariate t distribution has one more parameter for that; a Gaussian is its limit of many degrees of
freedom.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

HEAVIEST, GAUSSIAN = 3.0, 1000.0
"""Degrees of freedom: the fewest that are fitted (tails heavier still come from wrong links: T cells, every second
frame, F1 .969 against .961 without this bound), and as many as make the distribution a Gaussian."""

_CLOSE = 1e-3
"""Relative change of both parameters at which they are taken as settled."""
_ROUNDS = 50


@dataclass(frozen=True)
class StudentT:
    """Density of a particle's displacement from one frame to the next.

    Attributes
    ----------
    ndim : int
        Number of spatial axes.
    degrees : float
        Degrees of freedom; the fewer, the heavier the tails.
    variance : float
        Squared width along each axis, in squared units of the positions; of a Gaussian its variance.
    """

    ndim: int
    degrees: float
    variance: float

    @classmethod
    def fitted(cls, lengths: np.ndarray, ndim: int, least_variance: float) -> StudentT:
        """Return the likeliest of some steps (Liu & Rubin, ML estimation of the t distribution, 1995: ECME).

        Parameters
        ----------
        lengths : float64 (n,)
            Lengths of at least one step.
        ndim : int
        least_variance : float
            Above 0; added to that of every step, so that steps of length 0 do not make the distribution a point.
        """
        unit = max(float(lengths.max()), np.sqrt(least_variance))
        squares = (lengths / unit) ** 2 + ndim * least_variance / unit**2
        degrees, variance = 2 * HEAVIEST, float(np.median(squares)) / ndim
        for _ in range(_ROUNDS):
            before = degrees, variance
            weights = (degrees + ndim) / (degrees + squares / variance)
            variance = float(np.mean(weights * squares)) / ndim
            degrees = _likeliest_degrees(squares / variance, ndim)
            if np.allclose((degrees, variance), before, rtol=_CLOSE, atol=0):
                break
        return cls(ndim, degrees, variance * unit**2)

    def log_density_at_rest(self) -> float:
        """Return the logarithm of the density of no step at all, its highest, per unit of volume."""
        return _log_peak(self.degrees, self.ndim) - self.ndim / 2 * float(np.log(self.variance))

    def length_at(self, log_density: float) -> float:
        """Return the length of the steps of this density; 0 where no step has so high a one."""
        fall = max(self.log_density_at_rest() - log_density, 0.0)
        return float(np.sqrt(self.variance) * np.sqrt(self.degrees * np.expm1(2 * fall / (self.degrees + self.ndim))))


def _log_peak(degrees: float, ndim: int) -> float:
    """Return the logarithm of the highest density of a distribution of unit width."""
    return float(gammaln((degrees + ndim) / 2) - gammaln(degrees / 2) - ndim / 2 * np.log(degrees * np.pi))


def _likeliest_degrees(squares: np.ndarray, ndim: int) -> float:
    """Return the degrees of freedom that make steps of these squared lengths likeliest, in units of the variance."""

    def unlikely(log_degrees: float) -> float:
        degrees = float(np.exp(log_degrees))
        return (degrees + ndim) / 2 * float(np.log1p(squares / degrees).mean()) - _log_peak(degrees, ndim)

    bounds = np.log(HEAVIEST), np.log(GAUSSIAN)
    found = minimize_scalar(unlikely, bounds=bounds, method="bounded", options={"xatol": _CLOSE})
    return float(np.exp(found.x))
