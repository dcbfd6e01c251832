"""Performance and speed-up profiles: how solvers compare over a whole set of instances.

Performance profile (Dolan & Moré 2002): the share of instances that a solver solves within x times the best solver's
time. Speed-up profile (the cardinality papers): the share on which it is at least x times as fast as a reference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

Curve = tuple[np.ndarray, np.ndarray]
"""(x, share of the instances), both float64."""


def performance_profile(times: Mapping[str, Sequence[float | None]]) -> dict[str, Curve]:
    """Return each solver's share of instances within x times the best.

    Parameters
    ----------
    times : mapping of solver to seconds
        One entry an instance, in the same order for all; None where the solver has none, which counts against it.
    """
    table = _table(times)
    with np.errstate(invalid="ignore"):
        ratios = table / np.min(table, axis=0)
    widest = np.max(ratios, where=np.isfinite(ratios), initial=1.0)
    return {name: _rising(row, widest) for name, row in zip(times, ratios, strict=True)}


def speed_up_profile(times: Mapping[str, Sequence[float | None]], reference: Sequence[float]) -> dict[str, Curve]:
    """Return each solver's share of instances solved at least x times as fast as the reference."""
    speed_ups = np.asarray(reference, dtype=np.float64) / _table(times)
    return {name: _falling(row) for name, row in zip(times, speed_ups, strict=True)}


def _table(times: Mapping[str, Sequence[float | None]]) -> np.ndarray:
    return np.array([[np.inf if t is None else t for t in row] for row in times.values()], dtype=np.float64)


def _rising(ratios: np.ndarray, end: float) -> Curve:
    """Steps up at each ratio, then level to `end`."""
    x = np.sort(ratios[np.isfinite(ratios)])
    share = np.arange(1, len(x) + 1) / len(ratios)
    return (np.append(x, end), np.append(share, share[-1])) if len(x) else (x, share)


def _falling(speed_ups: np.ndarray) -> Curve:
    x = np.sort(speed_ups)[::-1]
    x = x[x > 0]
    return x, np.arange(1, len(x) + 1) / len(speed_ups)
