"""What the unmatched cost decides: links, and particles lost and new, at some values of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...points import Points
from ...stepwise import finished
from ..frame_pairs.first_order import first_order
from ..settings import LinkSettings


@dataclass(frozen=True)
class AtUnmatchedCost:
    """The links that one unmatched cost makes.

    Attributes
    ----------
    unmatched_cost : float
        The unmatched cost, in the unit of the positions.
    links : int
    lost, new : float
        Shares of the particles with a next frame that are not linked to it, and of those with a frame before; 0 where
        there are none.
    """

    unmatched_cost: float
    links: int
    lost: float
    new: float


def at_unmatched_costs(
    points: Points, settings: LinkSettings, unmatched_costs: Sequence[float]
) -> list[AtUnmatchedCost]:
    """Link at some unmatched costs, with the same range.

    Where particles are of several kinds, slow and fast, lost and new particles become fewer in steps as the
    unmatched cost pays for the next kind; where they do so without an end, a higher one only links strangers.

    Parameters
    ----------
    points : Points
    settings : LinkSettings
        Whose `unmatched_cost` is replaced.
    unmatched_costs : sequence of float

    Raises
    ------
    InvalidSetting
        If an unmatched cost is not a length.
    """
    frames, present, step = points.frames, points.frame_numbers, points.frame_step
    followed, preceded = (int(np.count_nonzero(np.isin(frames + way, present))) for way in (step, -step))
    made: list[AtUnmatchedCost] = []
    for unmatched_cost in unmatched_costs:
        links = len(
            finished(first_order(points, replace(settings.without_motion(), unmatched_cost=unmatched_cost))).links
        )
        made.append(AtUnmatchedCost(unmatched_cost, links, _share_left(links, followed), _share_left(links, preceded)))
    return made


def _share_left(links: int, of: int) -> float:
    return 1 - links / of if of else 0.0
