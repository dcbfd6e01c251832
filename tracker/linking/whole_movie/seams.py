"""Windows joined into one assignment for the movie, exact across their seams.

A candidate counts with the weight that it has in the window its source's links are taken from. With these weights the
movie is one matching problem. Candidates that hang together and lie on one side of a seam are in one window's problem
alone, whose answer for them is the movie's. Those that reach across (gaps) are held back with all that hangs together
with them, until no later frame can add to it, and then solved by themselves. So the proofs of the windows and of what
was held back are the proof of the whole.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..motion.detections.ordered import Ordered
from ..settings import LinkSettings
from ..solution import edges_of
from .best_links import Answer, best_of
from .groups import groups
from .windows import Window

NEGLIGIBLE = 1e-9
"""Share of what the links are worth by which the best may exceed them, where rounding may say so."""


@dataclass(frozen=True)
class MadeLinks:
    """Links of a movie, (links,) each, or candidates among which such are sought.

    Attributes
    ----------
    source, target : int64
        Detections in the order of the movie.
    margin : float64
        See `Answer`.
    is_second : bool
    exchanged : float64
        Odds that an end of the link was exchanged or skipped; see `trust.exchanges`.
    """

    source: np.ndarray
    target: np.ndarray
    margin: np.ndarray
    is_second: np.ndarray
    exchanged: np.ndarray

    def only(self, keep: np.ndarray) -> MadeLinks:
        """Return some of the links."""
        return MadeLinks(*(values[keep] for values in vars(self).values()))

    def and_pins(self, pinned: np.ndarray, ways: np.ndarray) -> MadeLinks:
        """Return the links with the confirmed ones, which nothing can do without; `ways` as `open_graph` has them."""
        if not len(pinned):
            return self
        sure = np.full(len(pinned), np.inf)
        pins = (pinned[:, 0], pinned[:, 1], sure, ways.any(axis=1), np.zeros(len(pinned)))
        pairs = zip(vars(self).values(), pins, strict=True)
        return MadeLinks(*(np.concatenate(pair) for pair in pairs))


@dataclass(frozen=True)
class Proven:
    """What is left of a proof when its problem is done with.

    Attributes
    ----------
    gap : float
    is_optimal : bool
    solver, device : str
    """

    gap: float
    is_optimal: bool
    solver: str
    device: str

    @classmethod
    def of(cls, answer: Answer) -> Proven:
        """Return what the answer's proof says."""
        proof = answer.proof
        gap = float(np.sum(proof.gap)) + answer.shortfall
        is_optimal = proof.is_optimal and answer.shortfall <= NEGLIGIBLE * abs(float(np.sum(proof.cost)))
        return cls(gap, is_optimal, proof.solver, proof.device)


@dataclass(frozen=True)
class _Held:
    """Candidates that reach across a seam, and those that hang together with them.

    Attributes
    ----------
    row, col : int64 (edges,)
        Detections of the movie, for second links counted on from its end.
    weight, exchanged : float64 (edges,)
        The second as in `MadeLinks`, 0 of a candidate that its window did not choose.
    """

    row: np.ndarray
    col: np.ndarray
    weight: np.ndarray
    exchanged: np.ndarray

    def only(self, keep: np.ndarray) -> _Held:
        return _Held(*(values[keep] for values in vars(self).values()))

    def and_(self, other: _Held) -> _Held:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return _Held(*(np.concatenate(pair) for pair in pairs))


class Seams:
    """The links of windows, joined as they come.

    Parameters
    ----------
    movie : Ordered
        The whole movie.
    closed : bool (rows,), bool (columns,)
        Places that confirmed links have; see `open_graph.closed_ends`.
    settings : LinkSettings
    """

    def __init__(self, movie: Ordered, closed: tuple[np.ndarray, np.ndarray], settings: LinkSettings) -> None:
        self.proofs: list[Proven] = []
        self._movie, self._closed, self._settings = movie, closed, settings
        nothing = np.empty(0, np.int64)
        self._held = _Held(nothing, nothing, np.empty(0), np.empty(0))
        self._made: list[MadeLinks] = []
        self._foreseen: list[tuple[int, int, np.ndarray]] = []

    def known(self, window: Window) -> tuple[np.ndarray, np.ndarray]:
        """Return sources and targets of the first links before the window's own, as its detections."""
        first = self._movie.starts[window.first]
        # What an earlier window made ends before this one begins: each has half an overlap of its own.
        recent = [made.only((made.source >= first) & ~made.is_second) for made in self._made[-2:]]
        sides = ([getattr(made, side) - first for made in recent] for side in ("source", "target"))
        source, target = (np.concatenate([np.empty(0, np.int64), *side]) for side in sides)
        return source, target

    def add(self, window: Window, answer: Answer, exchanged: np.ndarray) -> None:
        """Take the answer of the next window.

        Parameters
        ----------
        window : Window
        answer : Answer
            Of the candidates out of its frames from `window.begin` on.
        exchanged : float64 (links,)
            See `MadeLinks`.
        """
        self.proofs.append(Proven.of(answer))
        first, end = self._movie.starts[[window.first, window.end]]
        made = MadeLinks(answer.source + first, answer.target + first, answer.margin, answer.is_second, exchanged)
        own = made.source < end
        if window.last > window.end + 1:  # links out of its last frame are none of its own
            until = int(self._movie.starts[window.end + -(-(window.last - window.end) // 4)])
            self._foreseen.append((int(end), until, _keys(made.only(~own), until, len(self._movie))))
        held = self._held.and_(self._candidates(window, answer, exchanged))
        apart, waiting = self._held_back(held, window)
        self._made.append(made.only(own & ~np.isin(made.source, held.row[apart] % len(self._movie))))
        self._solve(held.only(apart & ~waiting))
        self._held = held.only(waiting)

    def links(self) -> MadeLinks:
        """Return the links so far."""
        parts = [vars(made).values() for made in self._made]
        return MadeLinks(*(np.concatenate(values) for values in zip(*parts, strict=True)))

    def differences(self) -> tuple[int, int]:
        """Return how many links just after the seams either window made, and how many of them the other did not."""
        links, either, one = self.links(), 0, 0
        n = len(self._movie)
        for first, until, foreseen in self._foreseen:
            after = _keys(links.only(links.source >= first), until, n)
            both = len(np.intersect1d(after, foreseen))
            either += len(after) + len(foreseen) - both
            one += len(after) + len(foreseen) - 2 * both
        return either, one

    def _candidates(self, window: Window, answer: Answer, exchanged: np.ndarray) -> _Held:
        """Return the candidates out of the window's own frames."""
        edges = edges_of(answer.problem, answer.proof)
        odds = np.zeros(answer.problem.n_rows)
        odds[answer.proof.edges()[0]] = exchanged
        row, col = (self._in_movie(ends, window) for ends in (edges.row, edges.col))
        candidates = _Held(row, col, edges.weight, np.where(edges.made, odds[edges.row], 0.0))
        return candidates.only(row % len(self._movie) < self._movie.starts[window.end])

    def _in_movie(self, ends: np.ndarray, window: Window) -> np.ndarray:
        """Return rows or columns of a window as those of the movie."""
        first, last = self._movie.starts[[window.first, window.last]]
        second, detection = np.divmod(ends, last - first)
        return detection + first + second * len(self._movie)

    def _held_back(self, held: _Held, window: Window) -> tuple[np.ndarray, np.ndarray]:
        """Mark the candidates that are no longer, or not yet, the window's: those that were held, and those to hold."""
        n, frames = len(self._movie), len(self._movie.number)
        was = np.arange(len(held.row)) < len(self._held.row)
        reaches = held.col % n >= self._movie.starts[min(window.end + 1, frames)]
        if not (was.any() or reaches.any()):
            return was, reaches
        group = groups(held.row, held.col)
        waiting = np.isin(group, group[reaches])
        return waiting | np.isin(group, group[was]), waiting

    def _solve(self, held: _Held) -> None:
        """Solve what was held back, by itself."""
        if not len(held.row):
            return
        n = len(self._movie)
        ends = np.unique(np.concatenate([held.row % n, held.col % n]))
        row, col = (np.searchsorted(ends, side % n) + len(ends) * (side // n) for side in (held.row, held.col))
        order = np.lexsort((col, row))
        closed = self._closed[0].reshape(-1, n)[:, ends].ravel(), self._closed[1].reshape(-1, n)[:, ends].ravel()
        solver, device = self._settings.solver, self._settings.device
        answer = best_of(row[order], col[order], held.weight[order], len(ends), closed, solver=solver, device=device)
        self.proofs.append(Proven.of(answer))
        made = edges_of(answer.problem, answer.proof).made
        links = MadeLinks(answer.source, answer.target, answer.margin, answer.is_second, held.exchanged[order][made])
        self._made.append(replace(links, source=ends[links.source], target=ends[links.target]))


def _keys(links: MadeLinks, until: int, n: int) -> np.ndarray:
    """Return one number for each link out of the detections before `until`."""
    inside = links.source < until
    return links.source[inside] * n + links.target[inside]
