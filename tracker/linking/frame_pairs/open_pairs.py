"""Candidate links of frame pairs without what is given: no ends of confirmed links, and no forbidden links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from ....matching.points.grid import build_grid
from ....matching.problem.csr import rows_of
from ...points import Points
from ..constraints import Constraints, keys
from ..gate.candidates import CandidateLinks, Frame, WideGate, gate
from ..gate.limits import GateLimits


def open_pairs(
    points: Points, pairs: Iterable[tuple[Frame, Frame]], radius: float, constraints: Constraints, limits: GateLimits
) -> Iterator[CandidateLinks | WideGate]:
    """Yield the candidate links of pairs of frames, where any are left."""
    closed = np.zeros((2, len(points)), bool)
    for side in (0, 1):
        closed[side, constraints.pinned[:, side]] = True
    forbidden = keys(constraints.forbidden[:, 0], constraints.forbidden[:, 1], len(points))
    for earlier, later in pairs:
        rest = _without(earlier, closed[0], radius), _without(later, closed[1], radius)
        if len(rest[0]) and len(rest[1]):
            yield _allowed(gate(*rest, radius, limits), forbidden, len(points))


def _without(frame: Frame, closed: np.ndarray, radius: float) -> Frame:
    """Return a frame without the points whose place a confirmed link has."""
    kept = ~closed[frame.rows]
    if kept.all() or not kept.any():
        return frame if kept.all() else replace(frame, rows=frame.rows[:0])
    grid = build_grid(frame.grid.points[kept], radius)
    return Frame(frame.number, frame.rows[kept][grid.order], grid)


def _allowed(links: CandidateLinks | WideGate, forbidden: np.ndarray, n: int) -> CandidateLinks | WideGate:
    """Return the candidates of one frame pair without those that are forbidden."""
    if isinstance(links, WideGate):
        source, target = np.divmod(forbidden, n)
        row, col = (_place(side, ends) for side, ends in ((links.row_points, source), (links.col_points, target)))
        here = (row >= 0) & (col >= 0)
        return replace(links, forbidden=np.stack([row[here], col[here]], axis=1))
    row = rows_of(links.indptr)
    kept = ~np.isin(keys(links.row_points[row], links.col_points[links.indices], n), forbidden)
    return links if kept.all() else links.only(kept)


def _place(members: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return where each wanted point is among the members, −1 where it is not."""
    order = np.argsort(members)
    at = np.minimum(np.searchsorted(members, wanted, sorter=order), len(members) - 1)
    return np.where(members[order[at]] == wanted, order[at], -1)
