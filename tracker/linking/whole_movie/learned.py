"""Linking by likelihood, with motion learned from the movie itself: one assignment for the whole movie."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd

from ....matching.points.grid import build_grid, more_pairs_than
from ...points import Points
from ..constraints import Constraints
from ..kept import Kept, edges_of
from ..motion.features import features_of
from ..motion.learning import Belief
from ..motion.motion import Motion, motion_of
from ..motion.ordered import Ordered
from ..motion.recipe import WIDEST_RADIUS, believed
from ..result import Linking, median_step
from ..settings import LinkSettings, Progress
from ..tracks import tracks_of, with_sureness
from ..trust.exchanges import exchange_odds
from ..trust.posterior import sampled_links
from .best_links import Answer, best_links
from .branching import Branches, branches
from .given_limits import allowed, priced, within_reach
from .open_graph import closed_ends, in_order, open_weights, ways_of, with_pins
from .worth import learned_worth

MOST_A_POINT = 64
"""Candidates of a detection, on the average of a frame, above which a movie is too dense: uniform ones have 8."""
ALWAYS_WRITTEN = 4_000_000
"""Candidates of a movie that are written out however dense it is: half a GB."""
STEPS = 3
"""Learning, its candidates with divisions and merges, the assignment: what progress counts."""


def too_dense(movie: Ordered) -> str | None:
    """Return why a movie's candidates are too many to write out, or None where they are not."""
    pairs = max(len(movie.number), 1)
    for f in range(len(movie.number)):
        own = movie.position[movie.of_frame(f)]
        most = max(MOST_A_POINT * len(own), ALWAYS_WRITTEN // pairs)
        if len(own) ** 2 > most and more_pairs_than(most, own, build_grid(own, WIDEST_RADIUS), WIDEST_RADIUS):
            return (
                "motion was not learned, links are those of motion 'none': particles lie so densely (over "
                f"{MOST_A_POINT} each within {WIDEST_RADIUS * movie.spacing:.3g}) that candidate links would fill "
                "the memory."
            )
    return None


def learned(
    points: Points,
    movie: Ordered,
    settings: LinkSettings,
    progress: Progress | None = None,
    *,
    constraints: Constraints,
    editable: bool = False,
    samples: int = 0,
) -> Linking:
    """Link a whole movie by likelihood; see `link.link_points`.

    Parameters
    ----------
    points : Points
    movie : Ordered
        The same points.
    settings : LinkSettings
        With learned motion.
    progress : callable, optional
        Called as progress(steps done, steps in all).
    constraints : Constraints
    editable : bool
        Whether candidates and duals are kept for corrections.
    samples : int
        Trackings to draw as they are likely.
    """
    done = progress or (lambda *_: None)
    done(0, STEPS)
    features = features_of(points, movie, settings.features)
    belief = believed(movie, _missed(movie, settings), settings.motion, features)
    done(1, STEPS)
    weight = priced(belief, settings)
    edges = branches(belief, weight, divisions=settings.divisions, merges=settings.merges)
    edges = within_reach(edges, points, belief.movie, settings)
    done(2, STEPS)
    answer = _best_links(edges, in_order(constraints, belief.movie), settings)
    done(3, STEPS)
    can_be = allowed(belief.graph, points, belief.movie, settings)
    links = _table(points, belief.movie, answer, _exchanged(belief, answer, can_be))
    motion = motion_of(belief, points.calibration.unit)
    report = _report(points, movie, links, answer, motion) | {"candidate_links": int(np.isfinite(edges.weight).sum())}
    kept = _kept(points, belief, answer, settings) if editable else None
    drawn = _drawn(belief, answer, can_be, samples) if samples else None
    tracks = with_sureness(tracks_of(points, links), links)
    return Linking(tracks, lambda: links, settings, None, motion, report, kept, drawn)


def _best_links(edges: Branches, given: Constraints, settings: LinkSettings) -> Answer:
    """Return the best links, and the given ones among them."""

    def solved(weight: np.ndarray, closed: tuple[np.ndarray, np.ndarray] | None = None) -> Answer:
        seconds = edges.division, edges.merge
        return best_links(edges.graph, weight, *seconds, closed=closed, solver=settings.solver, device=settings.device)

    if not given:
        return solved(edges.weight)
    branching = settings.divisions or settings.merges
    n, free = edges.graph.n, solved(edges.weight) if branching and len(given.pinned) else None
    ways = ways_of(given, n, free)
    closed = closed_ends(n, given, ways, divisions=settings.divisions, merges=settings.merges)
    return with_pins(solved(open_weights(edges.graph, edges.weight, given), closed), given, ways)


def _kept(points: Points, belief: Belief, answer: Answer, settings: LinkSettings) -> Kept:
    """Return what corrections start from."""
    movie, n = belief.movie, len(points)
    edges = edges_of(answer.problem, answer.proof)
    out_dual, into_dual = np.zeros((2, n, 2))
    for duals, stacked in ((out_dual, edges.row_dual), (into_dual, edges.col_dual)):
        for second, part in enumerate(stacked.reshape(-1, n) if n else ()):
            duals[movie.row, second] = part
    return Kept(
        movie.row[edges.row % max(n, 1)],
        movie.row[edges.col % max(n, 1)],
        edges.row >= n,
        edges.col >= n,
        edges.weight,
        edges.made,
        out_dual,
        into_dual,
        settings.divisions,
        settings.merges,
        learned_worth(points, movie, belief, settings),
    )


def _missed(movie: Ordered, settings: LinkSettings) -> int | Literal["auto"]:
    """Return how many frames may be missing; where no frame follows another nothing says that any was missed."""
    if settings.max_missed_frames == "auto" and not movie.frames_apart(1):
        return 0
    return settings.max_missed_frames


def _report(points: Points, movie: Ordered, links: pd.DataFrame, answer: Answer, motion: Motion) -> dict[str, Any]:
    wrong = float((1 - links["probability"]).sum())
    size, time = points.calibration.frame_interval, points.calibration.time_unit
    trust = f"{len(links)} link{'s' if len(links) != 1 else ''}, of which {wrong:.1f} are expected to be wrong"
    return {
        "frame_pairs": len(movie.frames_apart(1)),
        "links": len(links),
        "solves": 1,
        "gap": float(np.sum(answer.proof.gap)),
        "is_optimal": answer.proof.is_optimal,
        "solver": answer.proof.solver,
        "device": answer.proof.device,
        "median_step": median_step(links, points.frame_step),
        "motion": motion.model,
        "expected_wrong": wrong,
        "learned": [*motion.lines(size, time), trust],
        "notes": [],
    }


def _drawn(belief: Belief, answer: Answer, can_be: np.ndarray, samples: int) -> np.ndarray:
    """Return trackings drawn as they are likely, by the row that follows each row; see `Linking.samples`."""
    row = belief.movie.row
    drawn = np.full((samples, len(row)), -1)
    following = sampled_links(belief, answer.source, answer.target, can_be, samples)
    drawn[:, row] = np.where(following >= 0, row[following], -1)
    return drawn


def _exchanged(belief: Belief, answer: Answer, can_be: np.ndarray) -> np.ndarray:
    """Return the odds of each link that an end of it was exchanged, float64 (links,); 0 of second and given links."""
    first = ~answer.is_second & np.isfinite(answer.margin)
    odds = np.zeros(len(first))
    odds[first] = exchange_odds(belief, answer.source[first], answer.target[first], can_be)
    return odds


def _table(points: Points, movie: Ordered, answer: Answer, exchanged: np.ndarray) -> pd.DataFrame:
    """Return the links as a table, ends as rows of the points table; `exchanged` as `_exchanged` returns it."""
    source, target = movie.row[answer.source], movie.row[answer.target]
    frames = points.frames[target] - points.frames[source]
    positions = points.positions
    is_division = answer.is_second & _has_twin(answer.source)
    links = pd.DataFrame(
        {
            "source": source,
            "target": target,
            "frames": frames,
            "length": np.linalg.norm(positions[target] - positions[source], axis=1),
            "probability": 1 / (1 + np.exp(-answer.margin) + exchanged),
            "margin": answer.margin,
            "kind": np.select(
                [is_division, answer.is_second, frames > points.frame_step], ["division", "merge", "gap"], "step"
            ),
        }
    )
    return links.sort_values(["source", "target"], ignore_index=True)


def _has_twin(ends: np.ndarray) -> np.ndarray:
    """Mark the links that share their end with another, bool (links,)."""
    return np.bincount(ends, minlength=1)[ends] > 1
