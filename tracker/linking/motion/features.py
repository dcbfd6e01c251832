"""The detections' own features, such as intensity and size: how much likelier their change makes a link.

Features are taken as logarithms, so that a change is a ratio. Between linked detections it follows a Gaussian with the
covariance of all features together, so that what two of them say alike counts once; between others that of two
detections drawn at random. A share of the links changes as if drawn at random: blinking and merged spots are no proof
against a link.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import InvalidSetting
from ...points import Points
from ..settings import Asked
from .ordered import Ordered

KNOWN = ("intensity", "mean_intensity", "mass", "size", "volume", "area")
"""Columns that "auto" takes, where they are there and above 0 everywhere."""
FAITHFUL = 0.95
"""Share of the links whose features change as those of one particle do."""
NARROWEST = 0.01
"""Smallest standard deviation of a change, in that between detections drawn at random."""
ROUNDS = 5


@dataclass(frozen=True)
class Features:
    """Features of every detection.

    Attributes
    ----------
    names : tuple of str
    value : float64 (n, features)
        Logarithms, in the order of the movie, such that the change between detections drawn at random has the identity
        for its covariance.
    """

    names: tuple[str, ...]
    value: np.ndarray

    def change(self, tail: np.ndarray, head: np.ndarray) -> np.ndarray:
        """Return what changes along links, float64 (links, features)."""
        return self.value[head] - self.value[tail]

    def of(self, rows: slice | np.ndarray) -> Features:
        """Return the features of some of the detections."""
        return Features(self.names, self.value[rows])


def features_of(points: Points, movie: Ordered, asked: Asked) -> Features | None:
    """Return the features asked for, None where there are none.

    Raises
    ------
    InvalidSetting
        If one that is asked for by name is not a column of numbers above 0.
    """
    if asked == "none":
        return None
    names = tuple(name for name in KNOWN if _is_positive(points, name)) if asked == "auto" else asked
    unfit = [name for name in names if not _is_positive(points, name)]
    if unfit:
        others = points.table.columns.drop(["frame", *points.axes])
        fit = [str(name) for name in others if _is_positive(points, name)]
        raise InvalidSetting(
            "needs columns that hold finite numbers above 0 everywhere, such as there are: "
            f"{', '.join(fit) or 'none'}; got {', '.join(map(repr, unfit))}.",
            setting="features",
        )
    if not names or len(points) < 2:
        return None
    value = np.log(points.table[list(names)].to_numpy(np.float64))[movie.row]
    variance, direction = np.linalg.eigh(2 * np.atleast_2d(np.cov(value.T)))
    telling = variance > 1e-9 * max(float(variance.max()), 1e-9)
    if not telling.any():
        return None
    return Features(names, (value @ direction[:, telling]) / np.sqrt(variance[telling]))


def _is_positive(points: Points, name: str) -> bool:
    if name not in points.table or points.table[name].dtype.kind not in "iuf":
        return False
    values = points.table[name].to_numpy(np.float64)
    return bool(np.isfinite(values).all() and (values > 0).all())


@dataclass(frozen=True)
class FeatureModel:
    """Model of a change between linked detections: a Gaussian around none, along its own axes.

    Attributes
    ----------
    direction : float64 (features, axes)
        Columns of length 1.
    variance : float64 (axes,)
        Of detections drawn at random it is 1 on every axis.
    """

    direction: np.ndarray
    variance: np.ndarray

    def ratio(self, change: np.ndarray) -> np.ndarray:
        """Return how many times likelier a link makes each change than chance does, float64 (links,)."""
        return FAITHFUL * np.exp(self._log_ratio(change)) + 1 - FAITHFUL

    def _log_ratio(self, change: np.ndarray) -> np.ndarray:
        square = (change @ self.direction) ** 2
        return 0.5 * (square @ (1 - 1 / self.variance) - np.log(self.variance).sum())

    @classmethod
    def learned(cls, change: np.ndarray, probability: np.ndarray) -> FeatureModel:
        """Return the model that changes have along probable links, those that chance explains better left out."""
        model = cls(np.eye(change.shape[1]), np.ones(change.shape[1]))
        for _ in range(ROUNDS):
            weight = probability * (1 - (1 - FAITHFUL) / model.ratio(change))
            covariance = (weight[:, None] * change).T @ change / max(float(weight.sum()), 1e-300)
            variance, direction = np.linalg.eigh(covariance)
            model = cls(direction, np.clip(variance, NARROWEST**2, 1.0))
        return model
