"""Frame pairs with what users say of them: particles where they are expected, and links at a further cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from ....matching.points.grid import build_grid
from ....matching.problem.csr import rows_of
from ...errors import InvalidSetting
from ..gate.candidates import CandidateLinks, Frame, WideGate
from ..hooks import Hooks


def expected_frame(hooks: Hooks, frame: Frame, number: int) -> Frame:
    """Return a frame with its points where they are expected in another frame."""
    grid = build_grid(hooks.expected(frame.rows, np.full(len(frame), number)), frame.grid.cell)
    return Frame(frame.number, frame.rows[grid.order], grid)


def with_further_costs(gated: Iterable[CandidateLinks | WideGate], hooks: Hooks) -> Iterator[CandidateLinks]:
    """Yield the candidate links of frame pairs with what they cost beside their length, forbidden ones left out.

    Raises
    ------
    InvalidSetting
        If the candidate links of a frame pair are too many to write out.
    """
    for links in gated:
        if isinstance(links, WideGate):
            raise InvalidSetting(
                f"needs candidate links that can be written out; from frame {links.earlier.number} to "
                f"{links.later.number} too many are within the search range. Give a shorter search_range.",
                setting="extra_cost",
            )
        row = rows_of(links.indptr)
        further = hooks.further_cost(links.row_points[row], links.col_points[links.indices])
        yield replace(links, further=further).only(np.isfinite(further))
