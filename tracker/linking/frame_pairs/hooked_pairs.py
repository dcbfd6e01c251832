"""Frame pairs with what users say of them: particles where they are expected, and links at a further cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from ....matching.points.grid import build_grid
from ...errors import InvalidSetting
from ..gate.candidates import ROUNDING, CandidateLinks, Cost, Frame, WideGate, rows_joined
from ..hooks import Hooks


def expected_frame(hooks: Hooks, frame: Frame, number: int) -> Frame:
    """Return a frame with its points where they are expected in another frame."""
    grid = build_grid(hooks.expected(frame.rows, np.full(len(frame), number)), frame.grid.cell)
    return Frame(frame.number, frame.rows[grid.order], grid)


def with_further_costs(
    gated: Iterable[CandidateLinks | WideGate], hooks: Hooks, cost: Cost, unmatched_cost: float
) -> Iterator[CandidateLinks]:
    """Yield the candidate links of frame pairs with what they cost beside their length, forbidden ones left out.

    Where they are too many to be written out they are asked about in parts, and those that cost more than both their
    ends unmatched, which are never made, are left out too.

    Raises
    ------
    InvalidSetting
        If too many are left to write them out.
    """
    for links in gated:
        if isinstance(links, WideGate):
            yield _worth_it(links, hooks, cost, 2 * unmatched_cost * (1 + ROUNDING))
        else:
            yield _weighed(links, hooks)


def _weighed(links: CandidateLinks, hooks: Hooks) -> CandidateLinks:
    """Return candidate links with what else they cost, forbidden ones left out."""
    further = hooks.further_cost(*links.ends)
    return replace(links, further=further).only(np.isfinite(further))


def _worth_it(wide: WideGate, hooks: Hooks, cost: Cost, most_cost: float) -> CandidateLinks:
    """Return the candidate links that cost at most so much in all."""
    parts: list[CandidateLinks] = []
    left = wide.limits.written
    for links in wide.parts():
        links = _weighed(links, hooks)
        is_cheap = links.costs(cost) <= most_cost
        links = replace(links.only(is_cheap), too_dear=int(np.count_nonzero(~is_cheap)))
        left -= len(links.distance)
        if left < 0:
            raise InvalidSetting(
                f"leaves more links from frame {wide.earlier.number} to {wide.later.number} cheaper than both their "
                f"ends unlinked than can be written out ({wide.limits.written}). Give a shorter search_range, a lower "
                "unmatched_cost, or let extra_cost return +inf for more of them.",
                setting="extra_cost",
            )
        parts.append(links)
    return rows_joined(parts)
