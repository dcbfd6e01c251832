"""The links of frame pairs, gathered solve by solve, and what is said of them in the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ....matching.certificate.assignment import Assignment
from ....matching.device.arrays import median
from ....matching.problem import Problem
from ...links import STEP, links_of
from ...points import Points
from ..gate.candidates import CandidateLinks, WideGate
from ..settings import LinkSettings
from ..trust.margins import link_margins

Columns = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Rows of the points table that links lead from and to, int64, their lengths and margins, float64."""
ENOUGH = 1 << 20
"""Links whose median length is that of all, to a part in a thousand."""


@dataclass
class PairLinks:
    """The links of all solves so far, and what is said of them in the end.

    Attributes
    ----------
    parts : list of callable
        Return the columns of some links each; they are asked when a table of links is.
    counts_all : bool
        Whether `candidate_links` is the number of all; or else so many at least.
    lengths : list of float64 (links,)
        Of the same links, where they were made: on the host or on a GPU.
    measured_on : Points or None
        Whose positions say how long links are; None: they are as long as their candidates.
    """

    settings: LinkSettings
    with_margins: bool = False
    frame_pairs: int = 0
    candidate_links: int = 0
    counts_all: bool = True
    solves: int = 0
    gap: float = 0.0
    is_optimal: bool = True
    solver: str = ""
    device: str = ""
    parts: list[Callable[[], Columns]] = field(default_factory=list)
    lengths: list[Any] = field(default_factory=list)
    measured_on: Points | None = None

    def add(self, candidates: CandidateLinks | WideGate, problem: Problem, answer: Assignment) -> None:
        """Add the links of one solve."""
        rows, cols = answer.edges()
        lengths = candidates.lengths(problem, answer)
        margin = link_margins(problem, answer) if self.with_margins else np.nan
        source, target = candidates.row_points[rows], candidates.col_points[cols]
        if self.measured_on is not None:
            at = self.measured_on.positions_of
            lengths = np.linalg.norm(at(target) - at(source), axis=1)
        self.add_links(source, target, lengths, margin)
        count, is_all = candidates.counted(problem)
        self.counts_all &= is_all
        self.add_solve(answer, answer.n_blocks, max(count, len(rows)))

    def add_solve(self, answer: Assignment, frame_pairs: int, candidate_links: int) -> None:
        """Count one solve, and what it says of its proof."""
        self.frame_pairs += frame_pairs
        self.candidate_links += candidate_links
        self.solves += 1
        self.gap += float(np.sum(answer.gap))
        self.is_optimal &= answer.is_optimal
        self.solver, self.device = answer.solver, answer.device

    def add_links(
        self, source: np.ndarray, target: np.ndarray, length: np.ndarray, margin: np.ndarray | float = np.nan
    ) -> None:
        """Add links by rows of the points table; a margin may be one for all."""
        columns = source, target, length, np.broadcast_to(margin, source.shape)
        self.add_later(lambda: columns, length)

    def add_later(self, columns: Callable[[], Columns], lengths: Any) -> None:
        """Add links whose columns are made when they are needed."""
        self.parts.append(columns)
        self.lengths.append(lengths)

    def add_pinned(self, points: Points, pinned: np.ndarray) -> None:
        """Add confirmed links, which no solve has made."""
        source, target = pinned.T
        positions = points.positions
        self.add_links(source, target, np.linalg.norm(positions[target] - positions[source], axis=1), np.inf)

    def links(self, frame_step: int) -> Callable[[], pd.DataFrame]:
        """Return what makes the table of all links, as `Linking.links` has them."""
        return partial(_table, self.parts, frame_step)

    def before(self, n: int) -> np.ndarray:
        """Return for each of the n rows of the points table the row that a link leads from to it, −1 for none."""
        before = np.full(n, -1, dtype=np.int64)
        for part in self.parts:
            source, target, *_ = part()
            before[target] = source
        return before

    def report(self) -> dict[str, Any]:
        """Return what `Linking.report` says of them."""
        return {
            "frame_pairs": self.frame_pairs,
            "candidate_links": self.candidate_links,
            "more_candidates": not self.counts_all,
            "links": sum(map(len, self.lengths)),
            "solves": self.solves,
            "gap": self.gap,
            "is_optimal": self.is_optimal,
            "solver": self.solver or self.settings.solver,
            "device": self.device or self.settings.device,
            "median_step": self._median_step(),
            "motion": "none",
            "expected_wrong": None,
            "learned": [],
            "notes": [],
        }

    def _median_step(self) -> float | None:
        """Return the median length, taken where the lengths lie; of millions every so many stand for all."""
        links = sum(map(len, self.lengths))
        if not links:
            return None
        return median(np.concatenate([lengths[:: -(-links // ENOUGH)] for lengths in self.lengths]))


def _joined(parts: list[Callable[[], Columns]]) -> Columns:
    """Return the columns of all parts, one after the other."""
    made = [part() for part in parts]
    types = np.int64, np.int64, np.float64, np.float64
    source, target, length, margin = (
        np.concatenate([np.empty(0, dtype), *(columns[k] for columns in made)], dtype=dtype)
        for k, dtype in enumerate(types)
    )
    return source, target, length, margin


def _table(parts: list[Callable[[], Columns]], frame_step: int) -> pd.DataFrame:
    source, target, length, margin = _joined(parts)
    frames = np.full(len(source), frame_step, np.int64)
    probability = np.where(np.isposinf(margin), 1.0, np.nan)
    return links_of(source, target, frames, length, probability, margin, np.full(len(source), STEP))
