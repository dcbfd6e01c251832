"""The links of frame pairs, gathered solve by solve, and what is said of them in the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ...matching.certificate.assignment import Assignment
from ...matching.problem import Problem
from ..points import Points
from .candidates import CandidateLinks, WideGate
from .margins import link_margins
from .result import median_step
from .settings import LinkSettings

_COLUMNS = {"source": np.int64, "target": np.int64, "length": np.float64, "margin": np.float64}


@dataclass
class PairLinks:
    """The links of all solves so far, and what is said of them in the end."""

    settings: LinkSettings
    with_margins: bool = False
    frame_pairs: int = 0
    candidate_links: int = 0
    solves: int = 0
    gap: float = 0.0
    is_optimal: bool = True
    solver: str = ""
    device: str = ""
    columns: dict[str, list[np.ndarray]] = field(default_factory=lambda: {name: [] for name in _COLUMNS})

    def add(self, candidates: CandidateLinks | WideGate, problem: Problem, answer: Assignment) -> None:
        """Add the links of one solve."""
        rows, cols = answer.links()
        lengths = candidates.lengths(problem, answer)
        margin = link_margins(problem, answer) if self.with_margins else np.nan
        self.add_links(candidates.row_points[rows], candidates.col_points[cols], lengths, margin)
        self.add_solve(answer, answer.n_blocks, candidates.n_candidates)

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
        given = source, target, length, np.broadcast_to(margin, source.shape)
        for name, values in zip(_COLUMNS, given, strict=True):
            self.columns[name].append(values)

    def add_pinned(self, points: Points, pinned: np.ndarray) -> None:
        """Add confirmed links, which no solve has made."""
        source, target = pinned.T
        positions = points.positions
        self.add_links(source, target, np.linalg.norm(positions[target] - positions[source], axis=1), np.inf)

    def table(self, frame_step: int) -> pd.DataFrame:
        """Return all links as `Linking.links` has them."""
        made = {
            name: np.concatenate(parts, dtype=_COLUMNS[name]) if parts else np.empty(0, _COLUMNS[name])
            for name, parts in self.columns.items()
        }
        links = pd.DataFrame(made).assign(frames=np.int64(frame_step), kind="step")
        links["probability"] = np.where(np.isposinf(links["margin"]), 1.0, np.nan)
        return links[["source", "target", "frames", "length", "probability", "margin", "kind"]]

    def report(self, links: pd.DataFrame, frame_step: int) -> dict[str, Any]:
        """Return what `Linking.report` says of them."""
        return {
            "frame_pairs": self.frame_pairs,
            "candidate_links": self.candidate_links,
            "links": len(links),
            "solves": self.solves,
            "gap": self.gap,
            "is_optimal": self.is_optimal,
            "solver": self.solver or self.settings.solver,
            "device": self.device or self.settings.device,
            "median_step": median_step(links, frame_step),
            "motion": "none",
            "expected_wrong": None,
            "learned": [],
            "notes": [],
        }
