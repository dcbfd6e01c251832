"""How many links a search range allows: what is out of reach at one range, and what a longer one could add."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ....matching.cardinality.radii import cardinality_over_radii
from ....matching.certificate.certify import block_of
from ....matching.problem.csr import rows_of
from ...calibrating.lengths import require_length
from ...errors import InvalidSetting
from ...points import Points, require
from ..gate.candidates import CandidateLinks, WideGate, gated_pairs, in_runs
from ..gate.limits import GateLimits
from .wide_reach import wide_cardinality


class Reach(NamedTuple):
    """The largest number of links at each of some ranges.

    Attributes
    ----------
    ranges : float64 (n,)
        In the unit of the positions, as they were given.
    links : int64 (n,)
        How many links there can be at once, none longer than the range and no particle in two of a frame pair; whether
        they are likely does not matter. Never fewer at a longer range.
    most : int
        How many there would be without any range: in each frame pair as many as its smaller frame has particles.
    """

    ranges: np.ndarray
    links: np.ndarray
    most: int

    @property
    def shares(self) -> np.ndarray:
        """Links as shares of the most there could be, float64 (n,); 1 where there could be none."""
        return self.links / self.most if self.most else np.ones(len(self.links))


def reach(points: Points, ranges: Sequence[float]) -> Reach:
    """Return the largest number of links between consecutive frames over search ranges (maximum-cardinality matching).

    The curve rises as long as particles are out of each other's reach, and flattens where a longer range only adds to
    the choice. Time goes with the candidate links of the longest range; no more than `gate.MOST_WRITTEN` are held.

    Parameters
    ----------
    points : Points
    ranges : sequence of float
        Search ranges in the unit of the positions, in any order; at least one.

    Raises
    ------
    InvalidSetting
        If there is no range, or one is no length above 0.
    """
    require(Points, points)
    lengths = np.asarray(ranges)
    if lengths.ndim != 1 or len(lengths) == 0:
        raise InvalidSetting(f"needs one length or more; got {ranges!r}.", setting="ranges")
    for length in lengths.tolist():
        require_length("ranges", length)
    lengths = lengths.astype(np.float64)
    links, most = np.zeros(len(lengths), np.int64), 0
    for run in in_runs(gated_pairs(points, float(lengths.max()), GateLimits.within(is_kept=True))):
        if isinstance(run, WideGate):
            links += wide_cardinality(run.earlier.grid.points, run.later.grid.points, lengths)
            most += min(len(run.earlier), len(run.later))
        else:
            links += cardinality_over_radii(*_pairs(run), lengths, device="cpu")
            most += int(np.minimum(np.diff(run.row_offsets), np.diff(run.col_offsets)).sum())
    return Reach(lengths, links, most)


def _pairs(run: CandidateLinks) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]:
    """Return row, column and length of each candidate link, counted over all frame pairs, and how many there are."""
    rows = rows_of(run.indptr)
    columns = run.indices + run.col_offsets[block_of(run.row_offsets, rows)]
    return rows, columns, run.distance, (len(run.row_points), len(run.col_points))
