"""The statistics of a search by levels, the same for every algorithm and device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def phase_statistics(
    frontiers: Sequence[Sequence[int]], augmentations: Sequence[int], seconds: Sequence[float]
) -> dict[str, Any]:
    """Return the statistics of a run in phases, each of which searches breadth first and then augments.

    Parameters
    ----------
    frontiers : sequence of sequence of int
        Vertices of each level, for each phase.
    augmentations, seconds : sequence
        Paths found and time taken by each phase; a last phase that finds nothing augments nothing.
    """
    return {
        "phases": len(frontiers),
        "levels": [len(sizes) for sizes in frontiers],
        "frontiers": frontiers,
        "augmentations": augmentations,
        "phase_seconds": seconds,
    }
