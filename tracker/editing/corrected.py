"""A movie under correction: its detections, what is confirmed and forbidden, and the best links given both.

A confirmed link takes a way out of its source and a way into its target out of the matching problem; a forbidden one
takes its candidate. What is left is solved by `ChangingMatching`, whose duals prove that no other links are better.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ...matching.paths.changing import NONE, ChangingMatching
from ..linking.solution import LinkSolution
from ..points import Points
from .change import Link
from .detections import Detections
from .journal import Journal


class Corrected:
    """Detections, constraints and links; every method leaves the links optimal for what then stands.

    Parameters
    ----------
    points : Points
    solution : LinkSolution
        Of a linking of the same points.

    Attributes
    ----------
    detections : Detections
    pins : dict of (source, target) to (out, into)
        Confirmed links, and which way out of its source and into its target each takes: where it was made before, the
        one that it took; 0 is the first.
    bans : dict of (source, target)
        Forbidden links.
    matching : ChangingMatching
        Of detection d, row `d * ways_out` is the first way out, the next the second where particles may divide;
        columns likewise for the ways in. Links of `pins` are not in it.
    """

    def __init__(self, points: Points, solution: LinkSolution) -> None:
        self.journal = Journal()
        self.detections = Detections(points, self.journal)
        self.gain, self._step = solution.gain, points.frame_step
        self.ways_out, self.ways_in = 1 + solution.divisions, 1 + solution.merges
        self.pins: dict[Link, tuple[int, int]] = {}
        self.bans: dict[Link, bool] = {}  # whether somebody asked for it
        self.pins_out: dict[int, tuple[int, ...]] = {}
        self.pins_into: dict[int, tuple[int, ...]] = {}
        self._weight = solution.weight
        self._new_weight: dict[int, float] = {}
        self.matching = ChangingMatching(
            solution.source * self.ways_out + solution.second_out,
            solution.target * self.ways_in + solution.second_into,
            -solution.weight,
            np.flatnonzero(solution.made),
            (solution.out_dual[:, : self.ways_out].ravel(), solution.into_dual[:, : self.ways_in].ravel()),
        )

    # ---------------------------------------------------------------- looking

    def link_of(self, edge: int) -> Link:
        """Return the detections that an edge joins."""
        return int(self.matching.row[edge]) // self.ways_out, int(self.matching.col[edge]) // self.ways_in

    def links(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the sources and the targets of all links, each once, in no order."""
        edges = self.matching.row_matched[self.matching.row_matched != NONE]
        source, target = self.matching.row[edges] // self.ways_out, self.matching.col[edges] // self.ways_in
        links = np.concatenate([np.column_stack([source, target]), np.array([*self.pins], np.int64).reshape(-1, 2)])
        if self.ways_out > 1 and self.ways_in > 1:  # one may stand by two edges
            links = np.unique(links, axis=0)
        return links[:, 0], links[:, 1]

    def targets(self, source: int) -> tuple[int, ...]:
        """Return the detections that follow one."""
        matched = self.matching.row_matched[self._rows(source)]
        return *self.pins_out.get(source, ()), *(self.link_of(e)[1] for e in matched.tolist() if e != NONE)

    def sources(self, target: int) -> tuple[int, ...]:
        """Return the detections that one follows."""
        matched = self.matching.col_matched[self._cols(target)]
        return *self.pins_into.get(target, ()), *(self.link_of(e)[0] for e in matched.tolist() if e != NONE)

    def is_link(self, link: Link) -> bool:
        """Whether two detections are linked now."""
        return link[1] in self.targets(link[0])

    def matched_edge(self, link: Link) -> int | None:
        """Return the edge that stands for a link, None where it is confirmed or not made."""
        matched = self.matching.row_matched[self._rows(link[0])].tolist()
        return next((e for e in matched if e != NONE and self.link_of(e) == link), None)

    def edges_from(self, source: int) -> list[int]:
        """Return the candidates out of a detection."""
        return [e for i in _places(self._rows(source)) for e in self.matching.edges_of_row(i)]

    def edges_into(self, target: int) -> list[int]:
        """Return the candidates into a detection."""
        return [e for j in _places(self._cols(target)) for e in self.matching.edges_of_col(j)]

    def weight(self, edge: int) -> float:
        """Return what a candidate is worth where nothing stands against it."""
        return self._new_weight[edge] if edge in self._new_weight else float(self._weight[edge])

    def require_order(self, link: Link) -> None:
        """Refuse a link that does not lead forward in time between detections that are there."""
        self.detections.require(*link)
        earlier, later = map(self.detections.frame, link)
        if earlier >= later:
            raise self.detections.refusal(
                f"link {_named(link)} needs a source in an earlier frame than its target; they are in frames "
                f"{earlier} and {later}.",
                "order",
                *link,
            )

    def has_room(self, link: Link) -> bool:
        """Whether a link could be confirmed beside those that are."""
        source, target = link
        are_there = all(map(self.detections.is_there, link))
        has_ways = len(self._taken_out(source)) < self.ways_out and len(self._taken_into(target)) < self.ways_in
        return are_there and has_ways

    # ---------------------------------------------------------------- constraints

    def pin(self, link: Link, *, divides: bool = False) -> None:
        """Confirm a link, whether or not it was a candidate. `solve_again` is to be called for its ends.

        `divides`: its source may have two confirmed links whether or not divisions are looked for.
        """
        self.require_order(link)
        if link in self.pins:
            return
        if link in self.bans:
            self.journal.drop(self.bans, link)
        source, target = link
        most = max(self.ways_out, 1 + divides)
        ways = self._free(link, self._taken_out(source), most), self._free(link, self._taken_into(target), self.ways_in)
        if (edge := self.matched_edge(link)) is not None:
            own = int(self.matching.row[edge]) % self.ways_out, int(self.matching.col[edge]) % self.ways_in
            is_free = own[0] not in self._taken_out(source), own[1] not in self._taken_into(target)
            ways = own[0] if is_free[0] else ways[0], own[1] if is_free[1] else ways[1]
        self.journal.put(self.pins, link, ways)
        self.journal.put(self.pins_out, source, (*self.pins_out.get(source, ()), target))
        self.journal.put(self.pins_into, target, (*self.pins_into.get(target, ()), source))

    def unpin(self, link: Link) -> None:
        """Take a confirmation back, if there is one. `solve_again` is to be called for its ends."""
        if link not in self.pins:
            return
        source, target = link
        self.journal.drop(self.pins, link)
        self.journal.put(self.pins_out, source, tuple(t for t in self.pins_out[source] if t != target))
        self.journal.put(self.pins_into, target, tuple(s for s in self.pins_into[target] if s != source))

    def ban(self, link: Link) -> None:
        """Forbid a link. `solve_again` is to be called for its ends."""
        self.unpin(link)
        self.journal.put(self.bans, link, value=True)

    def unban(self, link: Link) -> None:
        """Allow a link again. `solve_again` is to be called for its ends."""
        self.journal.drop(self.bans, link)

    def give(self, pinned: Iterable[Sequence[int]], forbidden: Iterable[Sequence[int]]) -> None:
        """Confirm and forbid many links at once."""
        links = [(link[0], link[1]) for link in forbidden]
        for link in links:
            self.ban(link)
        for link in sorted([(link[0], link[1]) for link in pinned], key=self.is_link, reverse=True):
            self.pin(link)
            links.append(link)
        self.solve_again(end for link in links for end in link)

    def begin_with(
        self, pinned: Sequence[Sequence[int]], forbidden: Sequence[Sequence[int]], lacked: Iterable[Link]
    ) -> None:
        """Confirm and forbid what the linking does; those of them that it lacked were never asked for."""
        self.give(pinned, forbidden)
        self.bans.update(dict.fromkeys(lacked, False))

    def lacked_beside(self, source: int, target: int) -> list[Link]:
        """Return the candidates out of a source and into a target that are forbidden, but that nobody forbade."""
        edges = *self.edges_from(source), *self.edges_into(target)
        return [link for link in {self.link_of(edge) for edge in edges} if self.bans.get(link) is False]

    def solve_again(self, detections: Iterable[int]) -> None:
        """Make the candidates of some detections allowed or not as the constraints now say, and the links optimal."""
        edges = np.unique([e for d in set(detections) for e in (*self.edges_from(d), *self.edges_into(d))]).astype(int)
        self.matching.change(edges, np.array([self._cost(e) for e in edges.tolist()]))

    def _cost(self, edge: int) -> float:
        """Return what a candidate costs now, +inf where it may not be taken."""
        link, weight = self.link_of(edge), self.weight(edge)
        out, into = int(self.matching.row[edge]) % self.ways_out, int(self.matching.col[edge]) % self.ways_in
        taken = out in self._taken_out(link[0]) or into in self._taken_into(link[1])
        there = self.detections.is_there(link[0]) and self.detections.is_there(link[1])
        return np.inf if taken or link in self.bans or link in self.pins or not there or weight <= 0 else -weight

    def _taken_out(self, source: int) -> set[int]:
        return {self.pins[source, target][0] for target in self.pins_out.get(source, ())}

    def _taken_into(self, target: int) -> set[int]:
        return {self.pins[source, target][1] for source in self.pins_into.get(target, ())}

    # ---------------------------------------------------------------- detections

    def add_members(self) -> None:
        """Make room for one more detection."""
        self.matching.add_members(self.ways_out, self.ways_in)

    def look_for_candidates(self, detection: int) -> None:
        """Weigh the links of a detection again, by its place alone, and solve again."""
        edges = (*self.edges_from(detection), *self.edges_into(detection))
        for edge in edges:
            self.journal.put(self._new_weight, edge, -np.inf)
        known = {self.link_of(e): e for e in edges if self._is_first(e)}
        new: list[Link] = []
        for link, weight in self._around(detection).items():
            edge = known.get(link, self.matching.n_edges + len(new))
            self.journal.put(self._new_weight, edge, weight)
            if link not in known:
                new.append(link)
        if new:
            ends = np.array(new)
            self.matching.add_edges(ends[:, 0] * self.ways_out, ends[:, 1] * self.ways_in, np.full(len(new), np.inf))
        self.solve_again([detection])

    def _around(self, detection: int) -> dict[Link, float]:
        """Return the links of a detection that are worth making, and what each is worth."""
        gain: dict[Link, float] = {}
        frame = self.detections.frame(detection)
        here = self.detections.physical(detection)
        for lag in range(1, self.gain.most_frames + 1):
            for later in (False, True):
                other_frame = frame + lag * self._step * (1 if later else -1)
                others = self.detections.near(other_frame, here, self.gain.radius(lag))
                if not others:
                    continue
                there = np.array([self.detections.physical(other) for other in others])
                ends = (here[None], there) if later else (there, here[None])
                weight = self.gain.of(lag, *ends, np.array([sorted((frame, other_frame))]))
                for other, value in zip(others, weight.tolist(), strict=True):
                    if value > 0:
                        gain[(detection, other) if later else (other, detection)] = value
        return gain

    def _is_first(self, edge: int) -> bool:
        """Whether an edge stands for a first link on either side."""
        return self.matching.row[edge] % self.ways_out == 0 and self.matching.col[edge] % self.ways_in == 0

    def _free(self, link: Link, taken: set[int], ways: int) -> int:
        """Return the first of some ways that no confirmed link takes."""
        free = next((way for way in range(ways) if way not in taken), None)
        if free is None:
            raise self.detections.refusal(
                f"link {_named(link)} cannot be confirmed: its source or its target has a confirmed link in its place. "
                "Break or release that one first.",
                "no room",
                *link,
            )
        return free

    def _rows(self, detection: int) -> slice:
        return slice(detection * self.ways_out, (detection + 1) * self.ways_out)

    def _cols(self, detection: int) -> slice:
        return slice(detection * self.ways_in, (detection + 1) * self.ways_in)


def _places(of: slice) -> range:
    return range(of.start, of.stop)


def _named(link: Link) -> str:
    return f"{link[0]} → {link[1]}"
