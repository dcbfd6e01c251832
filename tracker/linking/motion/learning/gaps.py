"""Links over frames in which a particle was missed: candidates between likely ends and likely beginnings.

They are looked for around where flow and the links before lead: over several frames particles that fly straight go
farther than those that wander, for which the radius is made.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from ..candidates.expected import candidates_ahead
from ..candidates.graph import Graph, merged, sums_at_ends
from ..detections.ordered import Ordered
from ..models.step_model import tables
from .belief import Belief

SURE = 0.999
"""A detection that is followed, or that follows, with this probability takes part in no gap.

Before there are gaps a false link looks sure where both its ends were missed for a frame; at 0.99 it was left so.
"""
WIDEST = 3.0
"""Longest radius of candidates across a gap, in spacings."""
WORTH_WHILE = 5e-3
"""Share of the detections that links over one more frame must win to be looked for, with "auto"."""
MOST = 9
"""Missed frames up to which "auto" looks."""
GUESS = 0.02
"""Share of the detections seen again after one missed frame to start with; after k: divided by k²."""
SWEEPS = 3


def with_gaps(belief: Belief, max_missed_frames: int | Literal["auto"], radius: float) -> None:
    """Add the candidates across gaps, and learn with them."""
    frames_in_all = int(belief.movie.number[-1]) + 1 if len(belief.movie.number) else 0
    most = MOST if max_missed_frames == "auto" else max_missed_frames
    blank = _most_in_a_row(belief.movie, most)
    for missed in belief.record.learn(lambda: _steps_of(max_missed_frames, min(most, frames_in_all - 2))):
        _add(belief, missed + 1, radius)
        for _ in range(SWEEPS):
            belief.sweep()
        if missed >= blank and max_missed_frames == "auto" and belief.shares.seen[-1] < WORTH_WHILE:
            break


def _carried_on(belief: Belief) -> np.ndarray | float:
    """Return the probable velocity with which each detection was reached, float64 (n, d); 0 where none is a context."""
    graph = belief.graph
    if not belief.linked:
        return 0.0
    share = belief.probability / graph.lag
    steps = (share * along for along in belief.own_steps().all().T)
    return np.stack([sums_at_ends(graph, step, step)[0] for step in steps], axis=1)


def _most_in_a_row(movie: Ordered, most: int) -> int:
    """Return how many frames in a row were not looked at, at most, but for runs of more than `most`."""
    blank = np.diff(movie.number) - np.diff(movie.looked)
    return int(blank[blank <= most].max(initial=0))


def _steps_of(asked: int | Literal["auto"], most: int) -> list[int]:
    """Return up to how many missed frames to look, one after the other."""
    if most < 1:
        return []
    return list(range(1, most + 1)) if asked == "auto" else [most]


def _add(belief: Belief, lags: int, radius: float) -> None:
    """Add the candidates of all lags up to `lags` that are not there yet."""
    belief.odds = np.empty(0)  # of candidates that are about to be others
    known = merged([belief.graph, *_further(belief, lags, radius)])
    seen = np.concatenate([belief.shares.seen, GUESS / np.arange(belief.lags, lags) ** 2])
    belief.extend(known, known.lag <= belief.lags, lags, replace(belief.shares, seen=seen))


def _further(belief: Belief, lags: int, radius: float) -> list[Graph]:
    """Return the candidates of each lag up to `lags` that are not there yet."""
    movie, graph = belief.movie, belief.graph
    following, followed = sums_at_ends(graph, belief.probability, belief.probability)
    ahead = belief.flow_ahead
    velocity, further = _carried_on(belief), tables(belief.model, lags).slope
    more: list[Graph] = []
    for lag in range(belief.lags + 1, lags + 1):
        of_step = belief.model.shares @ further[:, lag - 1] * (1 - belief.model.turns[2])
        repeated = np.asarray(of_step, like=followed)
        along = np.where((followed < SURE)[:, None], lag * ahead + repeated * velocity, np.nan)
        reach = min(radius * np.sqrt(lag), WIDEST)
        more.append(candidates_ahead(movie, lag, reach, along, belief.hooks, following < SURE))
    return more
