"""What a context gains on links that were held out: those of every other frame.

The models are those of `step_model`, fitted by expectation-maximisation to the teaching links alone, with the context
and without it; what the asked links gain is the difference of their mean log-likelihoods, in nats a link.
"""

from __future__ import annotations

from dataclasses import replace

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
    for _ in range(ROUNDS):
        model = model.learned_from(_sums(step[~asked], before[~asked], model)).floored()
    after = log_density_after(step[asked], before[asked], model)
    return float((after - log_density(step[asked], model)).mean())


def _fitted(step: np.ndarray, model: StepModel) -> StepModel:
    """Return the model with shares and variances fitted to steps."""
    for _ in range(ROUNDS):
        share = _densities(step, model.first) * model.shares
        share /= share.sum(axis=1, keepdims=True)
        total = share.sum(axis=0)
        first = (share.T @ step**2 + model.first) / (total + 1)[:, None]
        model = replace(model, shares=(total + model.shares) / (len(step) + 1), first=first).floored()
    return model


def log_density(step: np.ndarray, model: StepModel) -> np.ndarray:
    """Return the log-density of steps of which nothing else is known, float64 (links,)."""
    return np.log(_densities(step, model.first) @ model.shares)


def log_density_after(step: np.ndarray, before: np.ndarray, model: StepModel) -> np.ndarray:
    """Return the log-density of steps where those before them are known, float64 (links,)."""
    kept, switched, new = _turns(step, before, model)
    return np.log((kept + switched + new).sum(axis=1))


def _densities(step: np.ndarray, variance: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray:
    """Return the density of each step in each class, float64 (links, classes); `mean` (links, classes, d)."""
    square = (
        step**2 @ (1 / variance).T
        if mean is None
        else np.einsum("lkd,kd->lk", (step[:, None] - mean) ** 2, 1 / variance)
    )
    return np.exp(-0.5 * (square + np.log(2 * np.pi * variance).sum(axis=1))) + 1e-300


def _turns(step: np.ndarray, before: np.ndarray, model: StepModel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the density of each step with its class kept, redrawn, and of one that begins afresh, per class."""
    was = _densities(before, model.first) * model.shares
    was /= was.sum(axis=1, keepdims=True)
    after = _densities(step, model.second, before[:, None, :] * model.persistence)
    keeps, switches, afresh = model.turns
    return keeps * was * after, switches * model.shares * after, afresh * model.shares * _densities(step, model.first)


def _sums(step: np.ndarray, before: np.ndarray, model: StepModel) -> Sums:
    """Return what the teaching pairs of links say of a step after another."""
    kept, switched, new = _turns(step, before, model)
    whole = (kept + switched + new).sum(axis=1)
    share = (kept + switched) / whole[:, None]
    return Sums(
        pairs=float(len(step)),
        kept=float((kept.sum(axis=1) / whole).sum()),
        new=float((new.sum(axis=1) / whole).sum()),
        by_class=share.sum(axis=0),
        later2=share.T @ step**2,
        product=share.T @ (step * before),
        earlier2=share.T @ before**2,
    )
