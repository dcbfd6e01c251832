"""What both variants on several GPUs make of what the devices packed (section 5)."""

from __future__ import annotations

from typing import Any

from ...hungarian.shards import Shards
from ...paths.gpu_dense import DeviceCosts


def take_largest(shards: Shards, packed: list[Any], arrays: list[Any]) -> None:
    """Write the largest of what the devices packed, where that is above the lowest number."""
    shards.collective.all_max(packed)

    def take(part: DeviceCosts, there: Any, array: Any) -> None:
        array[...] = part.cp.where(there > part.lowest, there, array)

    shards.each(take, packed, arrays)
