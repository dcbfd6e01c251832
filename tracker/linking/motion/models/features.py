"""The detections' own features, such as intensity and size: how much likelier their change makes a link.

Features are taken as logarithms, so that a change is a ratio. Between linked detections it follows a Gaussian with the
covariance of all features together, so that what two of them say alike counts once. It is compared with the change to
others as near that a link could lead to: where light falls off to one side, or cells of a kind lie together,
neighbours look alike, and that says nothing of which is which. A share of the links changes as to these others:
blinking and merged spots are no proof against a link.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from .....matching.device import cuda
from ....errors import InvalidSetting
from ....points import Points
from ...settings import Asked
from ..detections.ordered import Ordered
from .step_model import TINY

KNOWN = ("intensity", "mean_intensity", "mass", "size", "volume", "area")
"""Columns that "auto" takes, where they are there and above 0 everywhere."""
FAITHFUL = 0.95
"""Share of the links whose features change as those of one particle do."""
NARROWEST = 0.01
"""Smallest standard deviation of a change, in that between detections drawn at random."""
ROUNDS = 5
ALIKE_AT_FIRST = 0.1
FEW_OTHERS = 10.0
"""Others that are no links, drawn at random, that those of the movie are added to."""
LENGTHS = 32
"""Classes of length."""


@dataclass(frozen=True)
class Features:
    """Features of every detection.

    Attributes
    ----------
    names : tuple of str
    value : float64 (features, n)
        Logarithms, in the order of the movie, such that the change between detections drawn at random has the identity
        for its covariance. Detections come last, as NumPy and CuPy are slow along rows of one or two.
    """

    names: tuple[str, ...]
    value: np.ndarray

    def change(self, tail: np.ndarray, head: np.ndarray) -> np.ndarray:
        """Return what changes along links, float64 (features, links)."""
        return self.value[:, head] - self.value[:, tail]

    def on_host(self) -> Features:
        """Return the same in the memory of the host."""
        return Features(self.names, cuda.to_host(self.value))

    def of(self, rows: slice | np.ndarray) -> Features:
        """Return the features of some of the detections."""
        return Features(self.names, self.value[:, rows])


def columns_of(asked: Asked) -> tuple[str, ...]:
    """Return the columns that a setting of features may take."""
    if asked == "auto":
        return KNOWN
    return () if asked == "none" else asked


def features_of(points: Points, movie: Ordered, asked: Asked) -> Features | None:
    """Return the features asked for, None where there are none.

    Raises
    ------
    InvalidSetting
        If one that is asked for by name is not a column of numbers above 0.
    """
    names = columns_of(asked)
    if asked == "auto":
        names = tuple(name for name in names if _is_positive(points, name))
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
    value = np.log(np.asarray(points.table[list(names)].to_numpy(np.float64).T, like=movie.position))
    value -= value.mean(axis=1)[:, None]
    variance, direction = np.linalg.eigh(2 * cuda.to_host(np.einsum("fn,gn->fg", value, value)) / (len(points) - 1))
    telling = variance > 1e-9 * max(float(variance.max()), 1e-9)
    if not telling.any():
        return None
    apart = np.asarray(direction[:, telling] / np.sqrt(variance[telling]), like=value)
    value = np.einsum("fa,fn->an", apart, value)
    return Features(names, value[:, movie.row if movie.grid is None else movie.grid.row])


def _is_positive(points: Points, name: str) -> bool:
    if name not in points.table or points.table[name].dtype.kind not in "iuf":
        return False
    values = points.table[name].to_numpy(np.float64)
    return bool(np.isfinite(values).all() and (values > 0).all())


@dataclass(frozen=True)
class FeatureModel:
    """Model of how features change: along links, and where else a link could lead.

    Both changes follow Gaussians around none. Of those that are no links some look as alike as links do: neighbours in
    a gradient of light, one of two kinds of cells.

    Attributes
    ----------
    direction : float64 (features, axes)
        Axes along which changes to others have a variance of 1.
    variance : float64 (axes,)
        Of changes along links.
    alike : float
        Share of the others that look as alike as links do.
    """

    direction: np.ndarray
    variance: np.ndarray
    alike: float

    def ratio(self, change: np.ndarray) -> np.ndarray:
        """Return how many times likelier a link makes each change than another detection there, float64 (links,)."""
        return self.of_faithful(self.times(change)) + 1 - FAITHFUL

    def of_faithful(self, times: np.ndarray) -> np.ndarray:
        """Return what links whose features change as those of one particle do add to the ratio, by their `times`."""
        return FAITHFUL * times / (1 - self.alike + self.alike * times)

    def times(self, change: np.ndarray) -> np.ndarray:
        """Return how many times likelier a link makes a change than one that does not look alike, float64 (links,)."""
        along = np.einsum("fl,fa->al", change, np.asarray(self.direction, like=change))
        gain = np.asarray(1 - 1 / self.variance, like=change)[:, None] * along**2
        return np.exp(0.5 * (gain.sum(axis=0) - np.log(self.variance).sum()))

    @classmethod
    def learned(
        cls, change: np.ndarray, length: np.ndarray, probability: np.ndarray, start: FeatureModel | None = None
    ) -> FeatureModel:
        """Return the model of candidate links over one frame, by expectation-maximisation.

        Parameters
        ----------
        change : float64 (features, candidates)
        length, probability : float64 (candidates,)
        start : FeatureModel, optional
        """
        others = _as_long_as_links(length, probability)
        n_features = len(change)
        model = start or cls(np.eye(n_features), np.ones(n_features), ALIKE_AT_FIRST)
        for _ in range(ROUNDS):
            times = model.times(change)
            ratio = model.of_faithful(times)
            faithful = ratio / (ratio + 1 - FAITHFUL)
            unlike = others * (1 - model.alike) / (1 - model.alike + model.alike * times)
            model = cls._of(change, probability * faithful, others, unlike)
        return model

    @classmethod
    def _of(cls, change: np.ndarray, links: np.ndarray, others: np.ndarray, unlike: np.ndarray) -> FeatureModel:
        """Return the model of changes with these weights: as links, as others, and as others that do not look alike."""
        total, squares, all_others = float(unlike.sum()), float((unlike**2).sum()), float(others.sum())
        count = total**2 / max(squares, TINY)
        known = count / (count + FEW_OTHERS)
        apart = known * _covariance(change, unlike) + (1 - known) * np.eye(len(change))
        variance, direction = eigh(_covariance(change, links), apart)
        return cls(direction, np.clip(variance, NARROWEST**2, 1.0), 1 - total / max(all_others, TINY))


def _covariance(change: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the covariance of changes around none, float64 (features, features)."""
    # Not by a product of matrices: BLAS wakes all threads for it, which then wait for more of them.
    return np.einsum("fl,gl->fg", weight * change, change) / max(float(weight.sum()), TINY)


def _as_long_as_links(length: np.ndarray, probability: np.ndarray) -> np.ndarray:
    """Return weights of those that are no links, by which they are as long as links are, float64 (candidates,).

    Who is near looks alike where light or kinds differ from place to place, and that they are near is known already.
    """
    of = np.minimum((length / max(float(length.max()), TINY) * LENGTHS).astype(np.int64), LENGTHS - 1)
    links, others = (np.bincount(of, weights, minlength=LENGTHS) for weights in (probability, 1 - probability))
    return (1 - probability) * (links / np.maximum(others, TINY))[of]
