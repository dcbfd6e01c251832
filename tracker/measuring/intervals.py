"""Measures with intervals that hold the errors of tracking too.

A measure of one tracking has an error over tracks, which supposes that they are right. Over trackings sampled by
their likelihood (`Linking.sampled_tracks`) the measure scatters by what tracking does to it; both make the interval, by
Rubin's rules for data of which some are imputed (D. Rubin, Multiple Imputation for Nonresponse in Surveys, 1987). An
error that few tracks tell is itself not well known, so that intervals are those of Student's distribution, of the
degrees of freedom that both errors have together (F. Satterthwaite, Biometrics Bulletin 2, 1946).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import gammaincinv, ndtri, stdtrit

from ..errors import InvalidSetting
from ..kinds import is_number
from ..points import Tracks
from .displacements import measure_displacements
from .ensemble import measure_ensemble
from .msd import mean_squared_displacement
from .velocity import velocity_correlation

LEVEL = 0.95
"""Share of intervals that hold the true value."""
_STRAIGHT = 0.1
"""How far from 1 the exponent of a mean squared displacement may be that is as good as a straight line."""

_CERTAIN = 1e-18
"""Of an error that is known exactly, such as that of a count, one over its degrees of freedom."""


def ensemble_intervals(sampled: Iterable[Tracks], level: float = LEVEL) -> pd.DataFrame:
    """Return what `measure_ensemble` measures, with intervals.

    Parameters
    ----------
    sampled : Tracks, two or more
        Trackings of the same movie.
    level : float
        Between 0 and 1.

    Returns
    -------
    DataFrame
        `measure`, `value` (mean over the trackings), `standard_error` (of tracks and of tracking), `low`, `high`,
        `unit`. What divisions tell is there where any tracking has one. A value is NaN where not every tracking tells
        it, its interval where none tells an error. That of `division_rate` is one of a count: where nothing divides it
        still says how rare divisions must be.

    Raises
    ------
    InvalidSetting
        If there are fewer than two trackings, or the level is not between 0 and 1.

    Warns
    -----
    UserWarning
        Where `msd_exponent` says that the mean squared displacement is no straight line, so that `diffusion` is no
        diffusion coefficient.
    """
    trackings = _trackings(sampled)
    divide = any(tracks.parents for tracks in trackings)
    tables = [measure_ensemble(tracks, divisions=divide) for tracks in trackings]
    pooled = _pooled(tables, "measure", "value", level)
    rate = pooled["measure"] == "division_rate"
    for value, high in pooled.loc[rate, ["value", "high"]].to_numpy().tolist():
        pooled.loc[rate, ["low", "high"]] = _of_a_count(value, high - value, level)
    for exponent, low, high in pooled.loc[pooled["measure"] == "msd_exponent", ["value", "low", "high"]].to_numpy():
        _warn_of_a_bend(exponent, low, high)
    return pooled.assign(unit=pooled["measure"].map(dict(zip(tables[0]["measure"], tables[0]["unit"], strict=True))))


def _warn_of_a_bend(exponent: float, low: float, high: float) -> None:
    """Warn where the exponent is surely not that of a straight line; of few tracks one interval is not sure.

    The words are the same for every movie, so that one filter takes all; the table has the numbers.
    """
    if abs(exponent - 1) > _STRAIGHT and high - low < abs(exponent - 1):
        warnings.warn(
            "the mean squared displacement is not a straight line: its exponent is not 1 (msd_exponent). 'diffusion' "
            "is its growth from one frame to two, not a diffusion coefficient.",
            stacklevel=3,
        )


def msd_intervals(sampled: Iterable[Tracks], max_lag: int | None = None, level: float = LEVEL) -> pd.DataFrame:
    """Return the mean squared displacement over all tracks, with intervals.

    Parameters
    ----------
    sampled, level
        See `ensemble_intervals`.
    max_lag : int, optional
        See `mean_squared_displacement`.

    Returns
    -------
    DataFrame
        `lag`, `lag_time`, `msd`, `standard_error`, `low`, `high`, of the lags that every tracking has. Units are those
        of `mean_squared_displacement`.

    Raises
    ------
    InvalidSetting
        See `ensemble_intervals`.
    """
    return _of_lags([mean_squared_displacement(tracks, max_lag) for tracks in _trackings(sampled)], "msd", level)


def velocity_correlation_intervals(
    sampled: Iterable[Tracks], max_lag: int | None = None, level: float = LEVEL
) -> pd.DataFrame:
    """Return the autocorrelation of the velocity over all tracks, with intervals.

    Parameters
    ----------
    sampled, level
        See `ensemble_intervals`.
    max_lag : int, optional
        See `velocity_correlation`.

    Returns
    -------
    DataFrame
        As of `msd_intervals`, with `correlation` in place of `msd`.

    Raises
    ------
    InvalidSetting
        See `ensemble_intervals`.
    """
    return _of_lags([velocity_correlation(tracks, max_lag) for tracks in _trackings(sampled)], "correlation", level)


def non_gaussian_intervals(
    sampled: Iterable[Tracks], lags: int | Sequence[int] = 1, level: float = LEVEL
) -> pd.DataFrame:
    """Return how far from a Gaussian displacements along each axis are distributed, with intervals.

    Parameters
    ----------
    sampled, level
        See `ensemble_intervals`.
    lags : int, or sequence of int
        See `measure_displacements`.

    Returns
    -------
    DataFrame
        One row a lag and axis that every tracking has: `lag`, `lag_time`, `axis`, `non_gaussian`, `standard_error`,
        `low`, `high`. The bins of a distribution are each tracking's own, so that these have no intervals.

    Raises
    ------
    InvalidSetting
        See `ensemble_intervals`.
    """
    bins = [measure_displacements(tracks, lags) for tracks in _trackings(sampled)]
    tables = [
        each.drop_duplicates(["lag", "axis"]).rename(columns={"non_gaussian_error": "standard_error"}) for each in bins
    ]
    return _of_lags(tables, "non_gaussian", level, "axis")


def _of_lags(tables: list[pd.DataFrame], value: str, level: float, *within: str) -> pd.DataFrame:
    """Pool the values of each lag, and of what is told apart within it; the lags as times too."""
    pooled = _pooled(tables, ["lag", *within], value, level)
    pooled.insert(1, "lag_time", pooled["lag"].map(tables[0].groupby("lag")["lag_time"].first()))
    return pooled


def _trackings(sampled: object) -> list[Tracks]:
    """Return the trackings, two at least."""
    given: list[Any] = (
        list(sampled) if isinstance(sampled, Iterable) and not isinstance(sampled, pd.DataFrame) else [sampled]
    )
    others = sorted({type(each).__name__ for each in given if not isinstance(each, Tracks)})
    if others or isinstance(sampled, Tracks):
        got = " and ".join(others) or "one"
        raise InvalidSetting(
            f"needs several trackings, as Linking.sampled_tracks() gives; got {got}.", setting="sampled"
        )
    return given


def _pooled(tables: list[pd.DataFrame], key: str | list[str], value: str, level: float) -> pd.DataFrame:
    """Pool the values of the keys that are in every table."""
    if len(tables) < 2:
        raise InvalidSetting(f"needs two trackings or more; got {len(tables)}.", setting="sampled")
    if not is_number(level) or not 0 < level < 1:
        raise InvalidSetting(f"needs a number between 0 and 1; got {level!r}.", setting="level")
    together = pd.concat(tables)
    together["within"] = together["standard_error"] ** 2
    by_key = together.groupby(key, sort=False)
    mean, between, within = by_key[value].mean(), by_key[value].var(), by_key["within"].mean()
    mean = mean.where(by_key[value].count() == len(tables))
    variance = within + (1 + 1 / len(tables)) * between
    share = (1 + 1 / len(tables)) * between / variance
    of_tracks = by_key["n_tracks"].mean().fillna(np.inf) - 1
    freedom = 1 / np.maximum((1 - share) ** 2 / of_tracks + share**2 / (len(tables) - 1), _CERTAIN)
    half = stdtrit(freedom, (1 + level) / 2) * np.sqrt(variance)
    pooled = pd.DataFrame({value: mean, "standard_error": np.sqrt(variance), "low": mean - half, "high": mean + half})
    return pooled[by_key.size() == len(tables)].reset_index()


def _of_a_count(rate: float, half: float, level: float) -> tuple[float, float]:
    """Return the bounds of a rate that was counted, exact where `half` is that of a Poisson count alone.

    `half` is that of an interval on both sides alike, which for few would reach below none.
    """
    error = half / ndtri((1 + level) / 2)
    time = max(rate, error) / error**2
    count = rate * time
    low = gammaincinv(count, (1 - level) / 2) if count else 0.0
    return float(low / time), float(gammaincinv(count + 1, (1 + level) / 2) / time)
