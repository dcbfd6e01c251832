"""Trackings of a whole movie sampled by their likelihood, with divisions and merges, confirmed links kept in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ...stepwise import Steps
from ..constraints import keys
from ..motion.candidates.graph import Graph
from ..motion.learning.belief import Belief
from ..trust.posterior import sampled_links
from ..trust.second_links import SecondLinks
from .branching import Branches, Seconds
from .given_limits import allowed
from .movie_links import MovieLinks, Task

SEED = 0

Closed: TypeAlias = tuple[np.ndarray, np.ndarray]
"""Rows and columns that confirmed links have; see `open_graph.closed_ends`."""


@dataclass(frozen=True)
class SampledTrackings:
    """Trackings, by rows of the points table.

    Attributes
    ----------
    following : int64 (samples, n)
        See `Linking.samples`.
    seconds : tuple of int64 (links, 2)
        See `Linking.second_samples`.
    """

    following: np.ndarray
    seconds: tuple[np.ndarray, ...]


def sampled_trackings(task: Task, found: MovieLinks, count: int) -> Steps[SampledTrackings]:
    """Sample trackings of a movie that was found as a whole, one by one."""
    assert found.whole is not None
    belief, _, edges, closed = found.whole
    graph, n, made = belief.graph, len(task.movie), found.links
    can_be = allowed(graph, task.points, belief.movie, task.settings) & belief.can_be & _open(task, graph, closed)
    divisions, merges = _second_links(task, edges, closed)
    linked = (np.bincount(end, belief.probability, n) for end in (graph.tail, graph.head))
    out_of, into = (np.maximum(1 - of, 0) for of in linked)
    explained = (
        merges.likelier_unlinked(n) * divisions.likelier_end(into),
        divisions.likelier_unlinked(n) * merges.likelier_end(out_of),
    )
    first = ~made.is_second
    links = made.source[first], made.target[first]
    chains = yield from sampled_links(belief, *links, can_be, count, SEED, explained)
    pins = task.given.pinned
    is_first = np.isin(keys(pins[:, 0], pins[:, 1], n), keys(made.source[first], made.target[first], n))
    chains[:, pins[is_first, 0]] = pins[is_first, 1]
    rng, seconds = np.random.default_rng(SEED), list[np.ndarray]()
    for following in chains:
        second = _seconds_of(following, (divisions, merges), pins[~is_first], closed, rng)
        seconds.append(belief.movie.row[np.concatenate([pins[~is_first], second])])
    return SampledTrackings(_by_row(belief, chains), tuple(seconds))


def _by_row(belief: Belief, chains: np.ndarray) -> np.ndarray:
    row = belief.movie.row
    following = np.full(chains.shape, -1)
    following[:, row] = np.where(chains >= 0, row[chains], -1)
    return following


def _open(task: Task, edges: Graph, closed: Closed, *, way_out: int = 0, way_in: int = 0) -> np.ndarray:
    """Mark the candidates that are not given, and both places of which no confirmed link has."""
    n, given = len(task.movie), task.given.never_solved
    is_given = np.isin(keys(edges.tail, edges.head, n), keys(given[:, 0], given[:, 1], n))
    return ~is_given & ~closed[0][edges.tail + n * way_out] & ~closed[1][edges.head + n * way_in]


def _second_links(task: Task, edges: Branches, closed: Closed) -> tuple[SecondLinks, SecondLinks]:
    """Return the candidates of divisions and of merges."""
    tail, head = edges.graph.tail, edges.graph.head
    never = np.full(len(tail), -np.inf)
    nothing = Seconds(never, never, 1.0)
    divisions, merges = edges.division or nothing, edges.merge or nothing
    open_out = _open(task, edges.graph, closed, way_out=int(edges.division is not None))
    open_in = _open(task, edges.graph, closed, way_in=int(edges.merge is not None))
    return (
        SecondLinks.of(head, tail, divisions.alone, open_out, divisions.together, divisions.beside),
        SecondLinks.of(tail, head, merges.alone, open_in, merges.together, merges.beside),
    )


def _seconds_of(
    following: np.ndarray,
    candidates: tuple[SecondLinks, SecondLinks],
    pinned: np.ndarray,
    closed: Closed,
    rng: np.random.Generator,
) -> np.ndarray:
    """Sample the second links beside some chains, by source and target, int64 (links, 2)."""
    n, (divisions, merges) = len(following), candidates
    ends = following < 0
    begins = np.bincount(following[~ends], minlength=n) == 0
    leaving, arriving = (np.bincount(pinned[:, side], minlength=n) for side in (0, 1))
    room_out, room_in = 1 + ends - leaving, 1 + begins - arriving
    divided = divisions.sampled(begins & ~closed[1][:n], room_out, following < 0, rng)
    mothers, daughters = divisions.other[divided], divisions.unlinked[divided]
    ends[mothers] = False
    np.subtract.at(room_in, daughters, 1)
    merged = merges.sampled(ends & ~closed[0][:n], room_in, begins, rng)
    return np.stack([np.append(mothers, merges.unlinked[merged]), np.append(daughters, merges.other[merged])], axis=1)
