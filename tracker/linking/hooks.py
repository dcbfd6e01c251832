"""What users know of links and say by functions of their own: where particles are expected, and a further cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InvalidSetting
from ..points import Points
from .settings import ExtraCost, LinkSettings, Predict

_IS = {"NaN": np.isnan, "inf": np.isposinf, "-inf": np.isneginf}
"""How values that are no finite numbers are found, by what they are called."""


@dataclass(frozen=True)
class Hooks:
    """A user's functions, and the points that they are asked about.

    Attributes
    ----------
    points : Points
    predict : callable or None
    extra_cost : callable or None
    """

    points: Points
    predict: Predict | None
    extra_cost: ExtraCost | None

    def expected(self, rows: np.ndarray, frames: np.ndarray) -> np.ndarray:
        """Return where the particles of some rows are expected in some frames, float64 (k, d), physical.

        Raises
        ------
        InvalidSetting
            If what comes back is not a finite position for each row.
        """
        if self.predict is None:
            return self.points.positions_of(rows)
        given = _numbers(self.predict(self.points, rows, frames))
        if given is None or given.shape != (len(rows), self.points.ndim) or not np.isfinite(given).all():
            raise InvalidSetting(
                f"needs to return finite positions along {', '.join(self.points.axes)}, one row for each of "
                f"the {len(rows)} it was asked for; {_described(given, 'NaN', 'inf', '-inf')}.",
                setting="predict",
            )
        return given

    def further_cost(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Return what links between some rows cost beside all else, float64 (k,), +inf where they are forbidden.

        Raises
        ------
        InvalidSetting
            If what comes back is not a number, or +inf, for each link.
        """
        if self.extra_cost is None:
            return np.zeros(len(source))
        given = _numbers(self.extra_cost(self.points, source, target))
        if given is None or given.shape != (len(source),) or not (given > -np.inf).all():
            raise InvalidSetting(
                f"needs to return a number for each of the {len(source)} links it was asked for, +inf "
                f"where a link is forbidden; {_described(given, 'NaN', '-inf')}.",
                setting="extra_cost",
            )
        return given


def hooks_of(points: Points, settings: LinkSettings) -> Hooks | None:
    """Return the functions that the settings hold, None where they hold none."""
    if settings.predict is None and settings.extra_cost is None:
        return None
    return Hooks(points, settings.predict, settings.extra_cost)


def _numbers(given: Any) -> np.ndarray | None:
    """Return what a function gave as float64, None where it is not an array of real numbers."""
    try:
        return None if np.iscomplexobj(given) else np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _described(given: np.ndarray | None, *refused: str) -> str:
    """Say what came instead, and which of the values that are refused are among it."""
    if given is None:
        return "what it returned is not an array of real numbers"
    among = [name for name in refused if _IS[name](given).any()]
    return f"it returned shape {given.shape}" + (f", {' and '.join(among)} among it" if among else "")
