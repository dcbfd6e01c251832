"""What the price of leaving a particle alone decides: links, and particles lost and new, at some prices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...points import Points
from ...stepwise import finished
from ..frame_pairs.first_order import first_order
from ..settings import LinkSettings


@dataclass(frozen=True)
class AtPrice:
    """The links that one price makes.

    Attributes
    ----------
    unmatched_cost : float
        The price, in the unit of the positions.
    links : int
    lost, new : float
        Shares of the particles with a next frame that are not linked to it, and of those with a frame before; 0 where
        there are none.
    """

    unmatched_cost: float
    links: int
    lost: float
    new: float


def at_prices(points: Points, settings: LinkSettings, prices: Sequence[float]) -> list[AtPrice]:
    """Link at some prices, with the same range.

    Where particles are of several kinds, slow and fast, lost and new particles become fewer in steps as the price pays
    for the next kind; where they do so without an end, a dearer price only links strangers.

    Parameters
    ----------
    points : Points
    settings : LinkSettings
        Whose `unmatched_cost` is replaced.
    prices : sequence of float

    Raises
    ------
    InvalidSetting
        If a price is not a length.
    """
    frames, present, step = points.frames, points.frame_numbers, points.frame_step
    followed, preceded = (int(np.count_nonzero(np.isin(frames + way, present))) for way in (step, -step))
    made: list[AtPrice] = []
    for price in prices:
        links = len(finished(first_order(points, replace(settings.without_motion(), unmatched_cost=price))).links)
        made.append(AtPrice(price, links, _share_left(links, followed), _share_left(links, preceded)))
    return made


def _share_left(links: int, of: int) -> float:
    return 1 - links / of if of else 0.0
