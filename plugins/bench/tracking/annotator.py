"""A simulated annotator: looks at one link after the other in some order, and puts right what is wrong."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ....tracker.editing.change import Change, Link
from ....tracker.editing.session import Session
from ....tracker.points import Points

ENOUGH = 0.999
"""Share of right links at which the annotator stops."""
Key = Callable[[Link], float]
"""What links are looked at in the order of."""


@dataclass(frozen=True)
class Truth:
    """Which detection follows which.

    Attributes
    ----------
    after, before : dict of int to int
        The next detection of the same particle, and the one before, however many frames were missed between them.
    """

    after: dict[int, int]
    before: dict[int, int]

    @classmethod
    def of(cls, points: Points) -> Truth:
        """Return the truth of simulated detections, whose `true_id` says which particles they are (-1: none)."""
        who = points.table["true_id"].to_numpy()
        order = np.lexsort((points.frames, who))
        order = order[who[order] >= 0]
        same = who[order[1:]] == who[order[:-1]]
        pairs = np.stack([order[:-1][same], order[1:][same]], axis=1).tolist()
        return cls(dict(pairs), {later: earlier for earlier, later in pairs})

    def is_right(self, link: Link) -> bool:
        """Whether a link joins a particle to its next detection."""
        return self.after.get(link[0]) == link[1]


@dataclass
class Annotator:
    """Works through the links of a session until enough of them are right.

    Attributes
    ----------
    session : Session
    truth : Truth
    looked, corrected : int
        Links looked at, and those among them that were wrong.
    curve : list of (looked, share of right links)
    """

    session: Session
    truth: Truth
    looked: int = 0
    corrected: int = 0
    curve: list[tuple[int, float]] = field(default_factory=list)
    _links: int = 0
    _right: int = 0

    def __post_init__(self) -> None:
        links = _links_of(self.session)
        self._links, self._right = len(links), sum(map(self.truth.is_right, links))
        self.curve.append((0, self.share))

    @property
    def points(self) -> Points:
        """The detections."""
        return self.session.linking().tracks

    @property
    def share(self) -> float:
        """Share of the links that are right."""
        return self._right / max(self._links, 1)

    def by_doubt(self) -> None:
        """Look at the least sure link first, always as the session has it then."""
        while self.share < ENOUGH and len(queue := self.session.doubtful(1)):
            source, target = queue[["source", "target"]].iloc[0].tolist()
            self._look((source, target))

    def by_key(self, key: Key) -> None:
        """Look at the links, those that corrections make included, in the order of a key, the smallest first."""
        waiting = [(key(link), link) for link in _links_of(self.session)]
        heapq.heapify(waiting)
        while self.share < ENOUGH and waiting:
            _, link = heapq.heappop(waiting)
            if link[1] not in self.session.successors(link[0]) or self.session.is_pinned(*link):
                continue
            for made in self._look(link).made:
                heapq.heappush(waiting, (key(made), made))

    def _look(self, link: Link) -> Change:
        """Confirm a link that is right; else make the right one in its place, or break it where there is none."""
        source, target = link
        self.looked += 1
        self.corrected += not self.truth.is_right(link)
        if self.truth.is_right(link):
            change = self.session.confirm_link(source, target)
        elif source in self.truth.after:
            change = self.session.add_link(source, self.truth.after[source])
        elif target in self.truth.before:
            change = self.session.add_link(self.truth.before[target], target)
        else:
            change = self.session.break_link(source, target)
        self._links += len(change.made) - len(change.gone)
        self._right += sum(map(self.truth.is_right, change.made)) - sum(map(self.truth.is_right, change.gone))
        self.curve.append((self.looked, self.share))
        return change


def at_random(seed: int) -> Key:
    """Return a key that puts links in a random order."""
    rng = np.random.default_rng(seed)
    return lambda _: float(rng.random())


def longest_first(points: Points) -> Key:
    """Return a key that puts long links first."""
    positions = points.positions
    return lambda link: -float(np.linalg.norm(positions[link[1]] - positions[link[0]]))


def _links_of(session: Session) -> list[Link]:
    links = session.linking().links
    return list(zip(links["source"].tolist(), links["target"].tolist(), strict=True))
