"""What users allow a link where its motion is learned, which nothing that was learned says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...tracker.calibrating.digits import in_unit

if TYPE_CHECKING:
    from ...tracker.linking.result import Linking


def given_limits(linking: Linking) -> list[str]:
    """Return the search range and the unmatched cost that were given beside learned motion, in words."""
    settings, unit = linking.settings, linking.tracks.calibration.unit
    if not settings.is_learned:
        return []
    given = {"search range": settings.search_range, "unmatched cost": settings.unmatched_cost}
    said = [f"{name} {in_unit(unit, value, 4)}" for name, value in given.items() if value != "auto"]
    return [f"{' and '.join(said)}, as given"] if said else []
