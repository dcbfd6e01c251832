"""How likely a displacement is, alone and after the one before it: Gaussians of several classes, one variance per axis.

A particle is of a class (slow, fast, outlying). In class k a displacement over one frame has variance `first[k]`, and
after a displacement v it has mean `persistence[k]`·v and variance `second[k]`, each axis for itself: a depth that is
measured badly goes back where the other axes go on. From link to link the class is kept, or redrawn from `shares`,
or the displacement is drawn afresh and knows nothing of the one before it, as `turns` has it. Over more frames the same
process is summed up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from ..detections.rounding import NARROWEST

TINY = 1e-300
"""Smallest density and smallest sum of probabilities that anything is divided by."""
RELATIVE = 0.03
"""Smallest standard deviation of a class, in those of the whole model on the same axis."""
LEAST_SHARE = 0.02
"""Smallest share of a class while it is not known whether there is one."""
LEAST_TURN = 0.01
"""Smallest share of links that keep their class, of those that redraw it, and of those that begin afresh."""

Packed: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""The fields of `Tables` in order, for compiled code."""


class Sums(NamedTuple):
    """What the model is learned from: sums over pairs of consecutive edges, both over one frame, by their probability.

    Attributes
    ----------
    pairs : float
    kept, new : float
        Pairs whose class was kept; pairs whose later displacement does not know of the earlier.
    by_class : float64 (classes,)
    later2, product, earlier2 : float64 (classes, d)
        Sums of y², y·y_before and y_before².
    """

    pairs: float
    kept: float
    new: float
    by_class: np.ndarray
    later2: np.ndarray
    product: np.ndarray
    earlier2: np.ndarray

    def left(self, slope: np.ndarray) -> np.ndarray:
        """Return the sums of squares that slopes leave unexplained, float64 (classes, d)."""
        return np.maximum(self.later2 - 2 * slope * self.product + slope**2 * self.earlier2, 0.0)


@dataclass(frozen=True)
class StepModel:
    """Parameters of the distribution of steps, per class k and axis.

    Attributes
    ----------
    shares : float64 (classes,)
    first, second : float64 (classes, d)
        Variances in squared spacings.
    persistence : float64 (classes, d)
    turns : float64 (3,)
        Probabilities that the class is kept, that it is redrawn, and that the displacement is drawn afresh.
    rounding : float64 (d,), optional
        Variance that the rounding of places adds to any displacement.
    least_share : float
        Smallest share of a class.
    """

    shares: np.ndarray
    first: np.ndarray
    second: np.ndarray
    persistence: np.ndarray
    turns: np.ndarray
    rounding: np.ndarray | float = 0.0
    least_share: float = LEAST_SHARE

    @property
    def variance(self) -> np.ndarray:
        """Variance of a displacement over one frame on each axis, all classes together."""
        return self.shares @ self.first

    @property
    def typical_step(self) -> float:
        """Root mean square length of a displacement over one frame, in spacings."""
        return float(np.sqrt(self.variance.sum()))

    def without_idle_classes(self) -> StepModel:
        """Return the model without the classes whose share is the least there can be: nothing is known of them."""
        busy = self.shares > 1.1 * LEAST_SHARE
        if busy.all() or not busy.any():
            return self
        shares = self.shares[busy] / self.shares[busy].sum()
        first, second, persistence = self.first[busy], self.second[busy], self.persistence[busy]
        return replace(self, shares=shares, first=first, second=second, persistence=persistence)

    def with_rare_class(self, share: float, variance: float) -> StepModel:
        """Return the model with one more class, alike along all axes, which may be as rare as it is."""
        width = np.full((1, self.first.shape[1]), variance)
        return replace(
            self,
            shares=np.append((1 - share) * self.shares, share),
            first=np.concatenate([self.first, width]),
            second=np.concatenate([self.second, width]),
            persistence=np.concatenate([self.persistence, np.zeros_like(width)]),
            least_share=min(share, self.least_share),
        )

    def learned_from(self, sums: Sums) -> StepModel:
        """Return the model with what consecutive links say: persistence by least squares, and the rest."""
        trust = sums.by_class / (sums.by_class + 5)
        p = np.clip(trust[:, None] * self._slopes(sums), -0.6, 1.0)
        second = (sums.left(p) + self.second) / (sums.by_class + 1)[:, None]
        turns = np.array([sums.kept, sums.pairs - sums.kept - sums.new, sums.new]) + LEAST_TURN * sums.pairs
        return replace(self, second=second, persistence=p, turns=turns / turns.sum())

    def _slopes(self, sums: Sums) -> np.ndarray:
        """Return what a step repeats of the one before, float64 (classes, d).

        It is one for all axes, weighted by what each tells, but where one for each pays (Schwarz, Ann. Stat. 1978).
        """
        among, weight = sums.product / self.second, sums.earlier2 / self.second
        shared = (among.sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-300))[:, None]
        own = sums.product / np.maximum(sums.earlier2, 1e-300)
        nats = 0.5 * sums.by_class * np.log((sums.left(shared) + 1e-300) / (sums.left(own) + 1e-300)).sum(axis=1)
        pays = nats > 0.5 * (own.shape[1] - 1) * np.log(np.maximum(sums.by_class, 1))
        return np.where(pays[:, None], own, shared)

    def floored(self) -> StepModel:
        """Return the model with shares and variances that are not too small to be true."""
        shares = np.maximum(self.shares, self.least_share)
        shares = shares / shares.sum()
        narrowest = np.maximum(NARROWEST**2, self.rounding)
        first = np.maximum(self.first, np.maximum(narrowest, RELATIVE**2 * (shares @ self.first)))
        return replace(
            self,
            shares=shares,
            first=first,
            second=np.maximum(self.second, np.maximum(narrowest, RELATIVE**2 * first)),
        )


@dataclass(frozen=True)
class Tables:
    """What the densities need, per class and number of frames (lags from 1 on, index lag − 1).

    Attributes
    ----------
    shares : float64 (classes,)
    turns : float64 (3,)
    slope : float64 (classes, lags, d)
        Mean displacement over the lag, per velocity before it.
    first_precision, first_norm : float64 (classes, lags, d), (classes, lags)
        Inverse variances, and logs of the norming factor.
    second_precision, second_norm : float64 (classes, lags before, lags, d), (classes, lags before, lags)
    """

    shares: np.ndarray
    turns: np.ndarray
    slope: np.ndarray
    first_precision: np.ndarray
    first_norm: np.ndarray
    second_precision: np.ndarray
    second_norm: np.ndarray

    @property
    def packed(self) -> Packed:
        """The fields in order, for compiled code."""
        return (
            self.shares,
            self.turns,
            self.slope,
            self.first_precision,
            self.first_norm,
            self.second_precision,
            self.second_norm,
        )


def tables(model: StepModel, lags: int) -> Tables:
    """Sum the model up over 1 … lags frames."""
    p = model.persistence[:, None]
    lag = np.arange(1, lags + 1)[:, None]
    powers = p ** np.arange(lags + 1)[:, None]  # (classes, lags + 1, d): 1, p, p², …
    partial = np.cumsum(powers, axis=1)  # 1, 1 + p, …
    slope = p * partial[:, :lags]
    first_growth = np.cumsum(np.concatenate([np.ones_like(p), 1 + 2 * slope[:, : lags - 1]], axis=1), axis=1)
    second_growth = np.cumsum(partial[:, :lags] ** 2, axis=1)
    # A velocity averaged over several frames is not the last one.
    blur = (1 - p) * (lag - 1) / lag  # (classes, lags before, d)
    first = model.first[:, None] * np.maximum(first_growth, 0.5)
    second = (
        model.second[:, None, None] * second_growth[:, None]
        + model.first[:, None, None] * blur[:, :, None] * slope[:, None] ** 2
    )
    return Tables(model.shares, model.turns, slope, 1 / first, _norm(first), 1 / second, _norm(second))


def _norm(variance: np.ndarray) -> np.ndarray:
    return -0.5 * np.log(2 * np.pi * variance).sum(axis=-1)
