"""How large particles are, for formats that draw them: the diameter that they were detected with."""

from __future__ import annotations

from collections.abc import Mapping

from ...calibrating.stated import usable
from ...points import Points

_RADIUS_IN_VOXELS = 2.5  # what can be seen and clicked, where no diameter is known


def radius_of(points: Points, settings: Mapping[str, object]) -> float:
    """Return the radius of particles in the unit of length: half of `known_diameter`, else 2.5 voxels."""
    diameter = known_diameter(settings)
    return _RADIUS_IN_VOXELS * points.calibration.scale[2] if diameter is None else diameter / 2


def known_diameter(settings: Mapping[str, object]) -> float | None:
    """Return the `diameter` of the settings, else that of the detection; None where neither is there."""
    effective = settings.get("effective")
    detected = effective.get("detect") if isinstance(effective, Mapping) else None
    known = detected.get("diameter") if isinstance(detected, Mapping) else None
    diameter = settings.get("diameter", known)
    return diameter if isinstance(diameter, (int, float)) and usable(diameter) else None
