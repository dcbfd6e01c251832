"""First order: every pair of consecutive frames is a matching problem of its own, and lengths are all that counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from ...matching.certificate.assignment import Assignment
from ...matching.problem import Problem
from ...matching.solving import solve
from ..points import Points
from .candidates import EDGE_BUDGET, CandidateLinks, WideGate, frame_pairs, gated_pairs, in_runs
from .chains import track_ids
from .constraints import NOTHING_GIVEN, Constraints
from .kept_pairs import KeptPairs
from .margins import link_margins
from .open_pairs import open_pairs
from .price import UnmatchedCost, measured_unmatched_cost
from .result import Linking, median_step
from .settings import LinkSettings
from .spacing import automatic_range
from .worth import LengthWorth

Progress = Callable[[int, int], None]
Watch = Callable[[CandidateLinks | WideGate, Problem, Assignment], None]


def first_order(
    points: Points,
    settings: LinkSettings,
    *,
    margins: bool = False,
    progress: Progress | None = None,
    watch: Watch | None = None,
    edge_budget: int = EDGE_BUDGET,
    constraints: Constraints = NOTHING_GIVEN,
    editable: bool = False,
) -> Linking:
    """Link particles from frame to frame, each frame pair to proven optimality; see `link.link_points`."""
    search_range = automatic_range(points) if settings.search_range == "auto" else float(settings.search_range)
    price = _price(points, settings, search_range)
    # A link that costs more than leaving both its ends alone is never made, so it need not be a candidate.
    longest = min(search_range, price.longest)
    gated = open_pairs(points, longest, constraints) if constraints else gated_pairs(points, longest)
    n_pairs = int(np.count_nonzero(np.diff(points.frame_numbers) == points.frame_step))
    made = _Links(settings, with_margins=margins)
    kept = KeptPairs(len(points)) if editable else None
    for candidates in in_runs(gated, edge_budget):
        problem = candidates.problem(settings.cost, price.price(settings.cost))
        solver = candidates.solver if settings.solver == "auto" else settings.solver
        answer = solve(problem, solver, settings.device)
        made.add(candidates, problem, answer)
        if kept is not None:
            kept.add(candidates, problem, answer)
        if watch is not None:
            watch(candidates, problem, answer)
        if progress is not None:
            progress(made.frame_pairs + 1, n_pairs + 1)
    if len(constraints.pinned):
        made.add_pinned(points, constraints.pinned)
    links = made.table(points.frame_step)
    tracks = points.with_track_ids(track_ids(points.frames, links["source"].to_numpy(), links["target"].to_numpy()))
    effective = replace(settings, search_range=search_range, unmatched_cost=price.distance, max_missed_frames=0)
    report = made.report(links, points.frame_step)
    worth = LengthWorth(longest, settings.cost, price.price(settings.cost))
    return Linking(tracks, links, effective, price, report=report, kept=kept.kept(worth) if kept else None)


_COLUMNS = {"source": np.int64, "target": np.int64, "length": np.float64, "margin": np.float64}


@dataclass
class _Links:
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
        rows, cols = answer.links()
        lengths = candidates.lengths(problem, answer)
        self.columns["source"].append(candidates.row_points[rows])
        self.columns["target"].append(candidates.col_points[cols])
        self.columns["length"].append(lengths)
        margin = link_margins(problem, answer) if self.with_margins else np.full(len(rows), np.nan)
        self.columns["margin"].append(margin)
        self.frame_pairs += answer.n_blocks
        self.candidate_links += candidates.n_candidates
        self.solves += 1
        self.gap += float(np.sum(answer.gap))
        self.is_optimal &= answer.is_optimal
        self.solver, self.device = answer.solver, answer.device

    def add_pinned(self, points: Points, pinned: np.ndarray) -> None:
        """Add confirmed links, which no solve has made."""
        positions = points.positions
        self.columns["source"].append(pinned[:, 0])
        self.columns["target"].append(pinned[:, 1])
        self.columns["length"].append(np.linalg.norm(positions[pinned[:, 1]] - positions[pinned[:, 0]], axis=1))
        self.columns["margin"].append(np.full(len(pinned), np.inf))

    def table(self, frame_step: int) -> pd.DataFrame:
        made = {
            name: np.concatenate(parts, dtype=_COLUMNS[name]) if parts else np.empty(0, _COLUMNS[name])
            for name, parts in self.columns.items()
        }
        links = pd.DataFrame(made).assign(frames=np.int64(frame_step), kind="step")
        links["probability"] = np.where(np.isposinf(links["margin"]), 1.0, np.nan)
        return links[["source", "target", "frames", "length", "probability", "margin", "kind"]]

    def report(self, links: pd.DataFrame, frame_step: int) -> dict[str, Any]:
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


def _price(points: Points, settings: LinkSettings, search_range: float) -> UnmatchedCost:
    """Return the price of the lone: as given, measured, or half the range where there is nothing to measure."""
    if settings.unmatched_cost != "auto":
        return UnmatchedCost(float(settings.unmatched_cost), "as given")
    follows = bool((np.diff(points.frame_numbers) == points.frame_step).any())
    price = measured_unmatched_cost(frame_pairs(points, 0.0), search_range, points)
    if price is not None:
        return price
    nothing = "no two particles are within the search range of each other" if follows else "no frame follows another"
    return UnmatchedCost(search_range / 2, f"not measured: {nothing}")
