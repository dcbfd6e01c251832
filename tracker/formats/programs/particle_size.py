"""How large particles are, for formats that draw them: the diameter that they were detected with, or labels' size."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from ...calibrating.stated import usable
from ...points import Points

_RADIUS_IN_VOXELS = 2.5  # what can be seen and clicked, where no diameter is known


def radius_of(points: Points, settings: Mapping[str, object]) -> float:
    """Return the radius of particles in the unit of length: of `known_diameter`, else of labels, else 2.5 voxels."""
    diameter = known_diameter(settings)
    if diameter is not None:
        return diameter / 2
    size = _median_size(points)
    if size is None:
        return _RADIUS_IN_VOXELS * points.calibration.scale[2]
    of_unit_ball = math.pi ** (points.ndim / 2) / math.gamma(1 + points.ndim / 2)
    return float((size * points.calibration.scale_for(points.ndim).prod() / of_unit_ball) ** (1 / points.ndim))


def _median_size(points: Points) -> float | None:
    """Return how many voxels a particle has, in the middle of all, as label images tell it; None where none do."""
    name = "volume" if points.ndim == 3 else "area"
    if name not in points.table:
        return None
    sizes = pd.to_numeric(points.table[name], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    known = sizes[np.isfinite(sizes) & (sizes > 0)]
    return float(np.median(known)) if len(known) else None


def known_diameter(settings: Mapping[str, object]) -> float | None:
    """Return the `diameter` of the settings, else that of the detection; None where neither is there."""
    effective = settings.get("effective")
    detected = effective.get("detect") if isinstance(effective, Mapping) else None
    known = detected.get("diameter") if isinstance(detected, Mapping) else None
    diameter = settings.get("diameter", known)
    return diameter if isinstance(diameter, (int, float)) and usable(diameter) else None
