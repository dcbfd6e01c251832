"""How sure the links are, kept up with the acts: margins near an act are recomputed when they are asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from copy import copy

import numpy as np
import pandas as pd
from scipy.special import expit

from ..linking.result import Linking
from ..linking.trust.margins import link_margins
from ..links import ENDS
from .change import Change, Link
from .corrected import Corrected
from .outcome import edges_exchanged

BESIDE_A_CHANGE = 0.5
"""What log-odds count in the order of doubts where an act exchanged a link at an end: wrong links come together."""


class Doubts:
    """Margins of the links of a movie under correction, and log-odds that they are right.

    Those of links with an end that an act touched, or with a rival there, follow the act; one farther away is that of
    before until all are measured again. Log-odds are the margin, less what the odds take off that the linking gave for
    two tracks that have exchanged a detection (`linking.exchanges`), where no act in effect changed a link at its ends.

    Parameters
    ----------
    movie : Corrected
        Before any act.
    linking : Linking
        What it was made of.
    """

    def __init__(self, movie: Corrected, linking: Linking) -> None:
        self._movie, self._is_learned = movie, linking.settings.is_learned
        self._exchanged: Counter[int] = Counter()
        links = linking.links
        self._exchanges = _exchange_odds(links) if self._is_learned else pd.Series(dtype=np.float64)
        if links["margin"].isna().any():
            self.measure()
        else:
            self._take(*(links[name].to_numpy() for name in (*ENDS, "margin")))

    def note(self, change: Change, before: Iterable[int] = (), *, is_undone: bool = False) -> None:
        """Forget what an act, or its undoing, may have changed; `before` are the detections near it before it."""
        ends_of_changed = [end for link in (*change.gone, *change.made) for end in link]
        self._exchanged.update(dict.fromkeys(ends_of_changed, -1 if is_undone else 1))
        for link in change.gone:
            self._drop(link)
        self._follow({end for end in before if end < len(self._movie.detections)} | self.near(change))

    def near(self, change: Change) -> set[int]:
        """Return the detections that an act touched, and those that are candidates of one now."""
        movie = self._movie
        touched = [d for d in change.touched if d < len(movie.detections)]
        edges = {e for d in touched for e in (*movie.edges_from(d), *movie.edges_into(d))}
        return {*touched, *(end for e in edges for end in movie.link_of(e))}

    def margin(self, link: Link) -> float:
        """Return what the best links without this one lose, worked out now; inf of a confirmed one."""
        movie = self._movie
        if link in movie.pins:
            return np.inf
        old, new = self._without(link)
        return max(sum(map(movie.weight, old.values())) - sum(map(movie.weight, new.values())), 0.0)

    def rivals(self, link: Link) -> tuple[Link, ...]:
        """Return the links that would be made if this one were not; none of a confirmed one, which stays."""
        movie = self._movie
        if link in movie.pins:
            return ()
        were, are = ({movie.link_of(edge) for edge in edges.values()} for edges in self._without(link))
        return tuple(sorted(are - were))

    def _without(self, link: Link) -> tuple[dict[int, int], dict[int, int]]:
        """Return the matched edges that the best links without this one give up, and those that they take, by row."""
        matching, edge = self._movie.matching, self._movie.matched_edge(link)
        assert edge is not None
        matching.begin()
        matching.change(np.array([edge]), np.inf)
        exchanged = edges_exchanged(self._movie, matching.changes())
        matching.take_back(matching.changes())
        return exchanged

    def least(self, count: int) -> pd.DataFrame:
        """Return the least sure links that are not confirmed, the least sure first; see `BESIDE_A_CHANGE`."""
        self._work_out()
        far = np.arange(len(self._margin))
        if count < len(far):
            far = np.argpartition(self._log_odds, count)[:count]
        table = self._table(far[np.isfinite(self._margin[far])])
        table = table[np.isfinite(table["margin"])]
        beside = table[ENDS].map(lambda end: self._exchanged[end] > 0).any(axis=1)
        order = np.where(beside, np.minimum(BESIDE_A_CHANGE * table["log_odds"], table["log_odds"]), table["log_odds"])
        table = table.assign(order=order).sort_values(["order", *ENDS], ignore_index=True).head(count)
        table["probability"] = expit(table["log_odds"]) if self._is_learned else np.nan
        return table.drop(columns=["order", "log_odds"])

    def all(self, *, remeasure: bool = True) -> pd.DataFrame:
        """Return every link with its `margin` and `log_odds`, inf for confirmed ones, in no order.

        They are measured again (`remeasure`) if there were acts, or else near these acts only. What is kept stays as it
        is, so that undoing an act brings back what was there before it.
        """
        if remeasure and (self._near or self._stale or self._is_dropped.any()):
            exact = copy(self)  # `measure` gives it arrays of its own
            exact.measure()
            return exact.all(remeasure=False)
        self._work_out()
        return self._table(np.flatnonzero(~self._is_dropped), dict.fromkeys(self._movie.pins, np.inf))

    def measure(self) -> None:
        """Work out the margins of all links that are not confirmed."""
        matching = self._movie.matching
        proof = matching.proof()
        rows, cols = proof.edges()
        margin = link_margins(matching.problem(), proof)
        self._take(rows // self._movie.ways_out, cols // self._movie.ways_in, margin)
        self._follow({end for end, times in self._exchanged.items() if times > 0})

    def _table(self, far: np.ndarray, more: Mapping[Link, float] | None = None) -> pd.DataFrame:
        """Return those of no act's neighbourhood at the places `far`, all others, and `more`."""
        others = {**self._near, **(more or {})}
        ends, margin = np.array([*others], np.int64).reshape(-1, 2), np.array([*others.values()], np.float64)
        return pd.DataFrame(
            {
                "source": np.concatenate([self._source[far], ends[:, 0]]),
                "target": np.concatenate([self._target[far], ends[:, 1]]),
                "margin": np.concatenate([self._margin[far], margin]),
                "log_odds": np.concatenate([self._log_odds[far], self._log_odds_of(ends[:, 0], ends[:, 1], margin)]),
            }
        )

    def _take(self, source: np.ndarray, target: np.ndarray, margin: np.ndarray) -> None:
        order = np.lexsort((target, source))
        self._source, self._target, self._margin = source[order], target[order], margin[order]
        self._log_odds = self._log_odds_of(self._source, self._target, self._margin)
        self._is_dropped = np.zeros(len(order), bool)
        self._near: dict[Link, float] = {}
        self._stale: set[Link] = set()

    def _log_odds_of(self, source: np.ndarray, target: np.ndarray, margin: np.ndarray) -> np.ndarray:
        """Return the log-odds of links, float64 (links,)."""
        exchanged = self._exchanges.reindex(_ends(source, target), fill_value=0.0).to_numpy()
        changed = [end for end, times in self._exchanged.items() if times > 0]
        exchanged = np.where(np.isin(source, changed) | np.isin(target, changed), 0.0, exchanged)
        with np.errstate(divide="ignore"):
            return -np.logaddexp(-margin, np.log(exchanged))

    def _follow(self, ends: set[int]) -> None:
        """Have the margins of all links at some detections worked out when they are asked for."""
        movie = self._movie
        for link in {(s, t) for s in ends for t in movie.targets(s)} | {(s, t) for t in ends for s in movie.sources(t)}:
            self._drop(link)
            self._stale.add(link)

    def _work_out(self) -> None:
        self._near |= {link: self.margin(link) for link in self._stale - self._movie.pins.keys()}
        self._stale.clear()

    def _drop(self, link: Link) -> None:
        """Forget the margin of a link."""
        self._near.pop(link, None)
        self._stale.discard(link)
        low, high = np.searchsorted(self._source, [link[0], link[0] + 1])
        own = low + np.flatnonzero(self._target[low:high] == link[1])
        self._margin[own], self._log_odds[own], self._is_dropped[own] = np.inf, np.inf, True


def _exchange_odds(links: pd.DataFrame) -> pd.Series[float]:
    """Return by (source, target) the odds of links that have any that their margin does not tell."""
    with np.errstate(divide="ignore"):
        odds = 1 / links["probability"].to_numpy() - 1 - np.exp(-links["margin"].to_numpy())
    has = odds > 0
    return pd.Series(odds[has], _ends(links["source"].to_numpy()[has], links["target"].to_numpy()[has]))


def _ends(source: np.ndarray, target: np.ndarray) -> pd.MultiIndex:
    return pd.MultiIndex.from_arrays([source, target])
