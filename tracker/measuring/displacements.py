"""The distribution of displacements: how many particles went how far along each axis in a lag (van Hove, self part)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InvalidSetting
from ..kinds import is_whole
from ..points import Tracks
from .drift import NOTHING, taken_by_chance, widening
from .ensemble import error_over_tracks
from .track_order import by_track

_OF_BINS = ("displacement", "count", "density", "gaussian", "non_gaussian", "non_gaussian_error", "n_tracks")
_TYPES: dict[str, type] = dict.fromkeys(("lag", "lag_time", "axis", *_OF_BINS), float) | {
    "lag": int,
    "axis": str,
    "count": int,
    "n_tracks": int,
}


def measure_displacements(tracks: Tracks, lags: int | Sequence[int] = 1) -> pd.DataFrame:
    """Count the displacements along each axis between positions of one track that are a lag apart (trackpy: vanhove).

    Parameters
    ----------
    tracks : Tracks
        Rows with a negative `track_id` belong to no track and are left out.
    lags : int, or sequence of int
        Differences of frame numbers.

    Returns
    -------
    DataFrame
        One row a bin that holds some, by lag, axis and displacement. A lag that no two positions are apart has none.

        - `lag`: a difference of frame numbers; `lag_time`: the same as time; `axis`: "z", "y" or "x";
        - `displacement`: the middle of the bin;
        - `count`: how many displacements are in it; `density`: their share, over the width of the bin;
        - `gaussian`: the density there if displacements were Gaussian around 0, of the same mean square;
        - `non_gaussian`: the mean fourth power over three times the squared mean square, less 1: 0 of a Gaussian, more
          where some particles go farther than others; `non_gaussian_error`: its standard error over tracks. Both are
          the same for all bins of a lag and axis, and NaN where nothing moves, or tells an error;
        - `n_tracks`: of how many tracks the displacements of the lag are.

    Raises
    ------
    InvalidInput
        If a track has two rows in one frame.
    InvalidSetting
        If a lag is no whole number, or below the frame step.

    Notes
    -----
    The bins of a lag and axis are as wide as each other, and one is around 0; how wide is the rule of D. Freedman and
    P. Diaconis (1981), rounded up to whole steps where positions stand on a grid. What particles are carried by shifts
    all displacements: `subtract_drift` takes it off. What n tracks lose by chance with that is given back, as of
    `mean_squared_displacement`, by one factor for all displacements of a lag.

    An error of positions makes displacements more Gaussian than those of the particles: one of variance σ² along an
    axis adds 2σ² to their mean square, and `non_gaussian` comes out smaller by the square of what that was to what it
    is then. Where particles hardly move, as in cages over short lags, that is most of it.

    Examples
    --------
    >>> from auctrack import measure_displacements, read_tracks
    >>> table = measure_displacements(read_tracks("sample_data/movie.truth.csv"), [1, 10])
    >>> table.groupby(["lag", "axis"])["count"].sum().loc[1].nunique()
    1
    """
    order, start = by_track(tracks)
    track = np.repeat(np.arange(len(start)), np.diff(np.append(start, len(order))))
    frame, position, taken = tracks.frames[order], tracks.positions_of(order), taken_by_chance(tracks, order)
    interval = tracks.calibration.frame_interval or 1.0
    parts: list[pd.DataFrame] = []
    for lag in _checked(lags, tracks.frame_step):
        first, later = _pairs(track, frame, lag)
        n = len(first)
        told = float(n) if taken is None else n - float((taken[later] - taken[first]).sum()) / lag
        if told <= NOTHING * n:
            continue
        wider = float(widening(np.asarray(told), np.asarray(n)))
        for axis, along in zip(tracks.axes, position.T, strict=True):
            part = _distribution((along[later] - along[first]) * np.sqrt(n / told), track[first], wider)
            parts.append(part.assign(lag=lag, lag_time=lag * interval, axis=axis))
    if not parts:
        return pd.DataFrame({name: pd.Series(dtype=dtype) for name, dtype in _TYPES.items()})
    return pd.concat(parts, ignore_index=True)[list(_TYPES)]


def _checked(lags: Any, step: int) -> list[int]:
    """Return the lags in their order, each once."""
    given: list[Any] = [lags] if isinstance(lags, str) or not isinstance(lags, Iterable) else list(lags)
    bad = [lag for lag in given if not (is_whole(lag) and lag >= step)]
    if bad or not given:
        raise InvalidSetting(
            f"needs whole numbers of at least {step}, the frame step; got {bad[0] if bad else lags!r}.", setting="lags"
        )
    return sorted({int(lag) for lag in given})


def _pairs(track: np.ndarray, frame: np.ndarray, lag: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of one track that are a lag apart; rows by track and frame, tracks numbered from 0."""
    if not len(frame):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    since = frame - frame.min()
    key = track * (int(since.max()) + lag + 1) + since
    later = np.minimum(np.searchsorted(key, key + lag), len(key) - 1)
    first = np.flatnonzero(key[later] == key + lag)
    return first, later[first]


def _distribution(moved: np.ndarray, track: np.ndarray, wider: float) -> pd.DataFrame:
    """Return the histogram of some displacements along one axis, and how Gaussian they are; `wider` is its error's."""
    width = _bin_width(moved)
    bins, count = np.unique(np.rint(moved / width), return_counts=True)
    middle = bins * width
    squares = moved**2
    second, fourth = squares.mean(), (squares**2).mean()
    ratio = pull = np.array(np.nan)
    gaussian = np.full(len(bins), np.nan)
    if fourth > 0:
        ratio = fourth / (3 * second**2)
        pull = np.bincount(track, ratio * (squares**2 / fourth - 2 * squares / second + 1)) / len(moved)
        gaussian = np.exp(-(middle**2) / (2 * second)) / np.sqrt(2 * np.pi * second)
    density, error = count / (len(moved) * width), error_over_tracks(pull)[0] * wider
    values = middle, count, density, gaussian, ratio - 1, error, len(np.unique(track))
    return pd.DataFrame(dict(zip(_OF_BINS, values, strict=True)))


def _bin_width(moved: np.ndarray) -> float:
    """Return how wide bins are, one of them around 0: an odd number of steps where displacements stand on a grid.

    Of bins of other widths some would hold more steps of the grid than others, and rise and fall where nothing does.
    Displacements on no grid have the finest one that is looked at, and more bins than these are never needed.
    """
    reach = np.abs(moved).max()
    if reach == 0:
        return 1.0
    low, high = np.percentile(moved, [25, 75])
    wanted = 2 * ((high - low) or 1.75 * moved.std()) / np.cbrt(len(moved))
    levels = np.unique(np.round(np.append(0.0, np.abs(moved)) / reach, 9))
    pitch = reach / np.rint(1 / np.diff(levels).min())
    return float(pitch * (2 * np.ceil(max(wanted / pitch - 1, 0) / 2) + 1))
