"""What a context gains on links that were held out: those of every other frame.

The models are those of `step_model`, fitted by expectation-maximisation to the teaching links alone, with the context
and without it; what the asked links gain is the difference of their mean log-likelihoods, in nats a link.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..models.step_model import StepModel, Sums

ROUNDS = 8
"""Of expectation-maximisation."""
ENOUGH = 30
"""Links from which a context is learned, and of which it is asked; fewer say too little."""
MOST = 10_000
"""Links that are looked at."""


def some(rank: np.ndarray) -> np.ndarray:
    """Mark links that stand for all, about `MOST`, bool (links,), by the ranks of their tails."""
    return rank % max(-(-len(rank) // MOST), 1) == 0


def every_other(frame: np.ndarray, rank: np.ndarray) -> np.ndarray | None:
    """Mark the links to ask, bool (links,), by the frames of their tails, or by their ranks where a side is too small.

    Returns None where there are too few links to teach and to ask.
    """
    if len(frame) < 2 * ENOUGH:
        return None
    asked = frame % 2 == 1
    if min(np.count_nonzero(asked), np.count_nonzero(~asked)) >= ENOUGH:
        return asked
    return np.argsort(np.argsort(rank)) % 2 == 1


def gain_without(left: np.ndarray, step: np.ndarray, asked: np.ndarray, model: StepModel) -> float:
    """Return the nats that what a context leaves unexplained is likelier than the whole step.

    Parameters
    ----------
    left, step : float64 (links, d)
    asked : bool (links,)
    model : StepModel
        Of steps; where fitting starts.
    """
    likelihood = [log_density(x[asked], _fitted(x[~asked], model)) for x in (left, step)]
    return float((likelihood[0] - likelihood[1]).mean())


def gain_of_link_before(step: np.ndarray, before: np.ndarray, asked: np.ndarray, model: StepModel) -> float:
    """Return the nats by which the step before makes a step likelier.

    Parameters
    ----------
    step, before : float64 (links, d)
    asked : bool (links,)
    model : StepModel
    """
    model = _fitted(step[~asked], model)
    model = replace(model, second=0.8 * model.first)
    taught = _Pairs.of(step[~asked], before[~asked], model)
    for _ in range(ROUNDS):
        model = model.learned_from(taught.sums(model)).floored()
    after = log_density_after(step[asked], before[asked], model)
    return float((after - log_density(step[asked], model)).mean())


def _fitted(step: np.ndarray, model: StepModel) -> StepModel:
    """Return the model with shares and variances fitted to steps."""
    squares = step.T**2
    for _ in range(ROUNDS):
        share = _densities(squares, model.first, model.shares)
        share /= share.sum(axis=0)
        total = share.sum(axis=1)
        first = (_products(share, squares) + model.first) / (total + 1)[:, None]
        model = replace(model, shares=(total + model.shares) / (len(step) + 1), first=first).floored()
    return model


def log_density(step: np.ndarray, model: StepModel) -> np.ndarray:
    """Return the log-density of steps of which nothing else is known, float64 (links,)."""
    return np.log(_densities(step.T**2, model.first, model.shares).sum(axis=0))


def log_density_after(step: np.ndarray, before: np.ndarray, model: StepModel) -> np.ndarray:
    """Return the log-density of steps where those before them are known, float64 (links,)."""
    kept, switched, new = _Pairs.of(step, before, model).turns(model)
    return np.log((kept + switched + new).sum(axis=0))


def _densities(squares: np.ndarray, variance: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the share times the density of each step in each class, float64 (classes, links).

    `squares` float64 (d, links): links come last here, as NumPy is slow along rows of two or three.
    """
    return _gaussian(_weighted(1 / variance, squares), variance, shares)


def _weighted(weights: np.ndarray, of_links: np.ndarray) -> np.ndarray:
    """Return `weights @ of_links`, float64 (classes, links), by one thread.

    For a product of matrices BLAS wakes all threads, which then wait for more of them: that took more than all else.
    """
    return np.einsum("km,ml->kl", weights, of_links)


def _products(share: np.ndarray, of_links: np.ndarray) -> np.ndarray:
    """Return `share @ of_links.T`, float64 (classes, moments), by one thread, as `_weighted`."""
    return np.einsum("kl,ml->km", share, of_links)


def _gaussian(square: np.ndarray, variance: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return shares times densities by the squares of standardised distances, float64 (classes, links)."""
    norm = np.log(2 * np.pi * variance).sum(axis=1)[:, None]
    return (np.exp(-0.5 * (square + norm)) + 1e-300) * shares[:, None]


class _Pairs(NamedTuple):
    """Steps after others, for models that differ only in what the one before tells.

    Attributes
    ----------
    moments : float64 (3 d, links)
        y², y·y_before and y_before² along each axis.
    was : float64 (classes, links)
        Class of the step before, summing to 1.
    alone : float64 (classes, links)
        Share times density of the step, were nothing known of the one before.
    """

    moments: np.ndarray
    was: np.ndarray
    alone: np.ndarray

    @classmethod
    def of(cls, step: np.ndarray, before: np.ndarray, model: StepModel) -> _Pairs:
        step, before = step.T, before.T
        was = _densities(before**2, model.first, model.shares)
        was /= was.sum(axis=0)
        return cls(
            np.concatenate([step**2, step * before, before**2]), was, _densities(step**2, model.first, model.shares)
        )

    def turns(self, model: StepModel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the density of each step with its class kept, redrawn, and of one that begins afresh, per class."""
        p, precision = model.persistence, 1 / model.second
        square = _weighted(np.concatenate([precision, -2 * p * precision, p**2 * precision], axis=1), self.moments)
        after = _gaussian(square, model.second, np.ones(len(p)))
        keeps, switches, afresh = model.turns
        return keeps * self.was * after, switches * model.shares[:, None] * after, afresh * self.alone

    def sums(self, model: StepModel) -> Sums:
        """Return what the pairs say of a step after another."""
        kept, switched, new = self.turns(model)
        whole = (kept + switched + new).sum(axis=0)
        share = (kept + switched) / whole
        later2, product, earlier2 = np.split(_products(share, self.moments), 3, axis=1)
        return Sums(
            pairs=float(len(whole)),
            kept=float((kept.sum(axis=0) / whole).sum()),
            new=float((new.sum(axis=0) / whole).sum()),
            by_class=share.sum(axis=1),
            later2=later2,
            product=product,
            earlier2=earlier2,
        )
