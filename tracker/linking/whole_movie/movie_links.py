"""The links of a movie, all at once or window by window: candidates weighed by what is learned, the best of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ....matching.device import cuda
from ....matching.errors import DeviceMemoryExceeded
from ...points import Points
from ...stepwise import Step, Steps
from ..constraints import Constraints
from ..hooks import Hooks
from ..motion.candidates.gpu_graph import BYTES_AN_EDGE
from ..motion.detections.ordered import Ordered
from ..motion.learning.belief import Belief, TooManyCandidates
from ..motion.learning.learning_record import LearningRecord
from ..motion.learning.other_starts import Tried
from ..motion.models.features import Features
from ..motion.motion import Motion, motion_of
from ..motion.recipe import believed
from ..settings import LinkSettings
from ..trust.exchanges import exchange_odds
from .best_links import Answer, best_links
from .branching import Branches, branches
from .given_limits import against_unlinked, allowed, within_reach
from .open_graph import closed_ends, open_weights, ways_of, within
from .seams import MadeLinks, Proven, Seams
from .windows import (
    BYTES_A_CANDIDATE,
    BYTES_A_DETECTION,
    BYTES_MADE,
    ENOUGH,
    LEAST_RUN,
    ROUNDING,
    Window,
    excerpt,
    most_held,
    pays,
    taken_at_most,
    windows_of,
)

AS_A_WHOLE: Mapping[str, int | list[str]] = {"windows": 1, "seam_links": 0, "seam_differences": 0}
"""What the report says of a movie that is held as a whole."""
STEPS = 3
"""Learning, its candidates with divisions and merges, the assignment: what progress counts."""


@dataclass(frozen=True)
class Task:
    """What is to be linked, and how.

    Attributes
    ----------
    points : Points
    settings : LinkSettings
    hooks : Hooks or None
        Where the settings hold functions of the user's.
    movie : Ordered
        The same points, drift subtracted.
    features : Features or None
    given : Constraints
        On detections in the order of the movie.
    keeps : bool
        Whether what the links rest on is asked for: for corrections, or sampled trackings.
    tried : Tried or None
        What is known of starts on a sample of the movie.
    """

    points: Points
    settings: LinkSettings
    hooks: Hooks | None
    movie: Ordered
    features: Features | None
    given: Constraints
    keeps: bool = False
    tried: Tried | None = None

    @property
    def max_missed_frames(self) -> int | Literal["auto"]:
        """Frames that may be missing; where no frame follows another nothing says that any was missed."""
        asked = self.settings.max_missed_frames
        if asked == "auto":
            return asked if self.movie.frames_apart(1) else 0
        return min(asked, int(self.movie.number[-1])) if len(self.movie) else 0


@dataclass(frozen=True)
class MovieLinks:
    """Links, and what they rest on.

    Attributes
    ----------
    links : MadeLinks
    motion : Motion
    proofs : list of Proven
        Together that of the links.
    candidates : int
    windows : mapping
        What the report says of them: `windows`, `seam_links`, `seam_differences`, and `notes` where there are several.
    whole : (Belief, Answer, Branches, closed ends) or None
        Where all was found at once, and the task keeps it; the ends as `open_graph.closed_ends` has them.
    """

    links: MadeLinks
    motion: Motion
    proofs: list[Proven]
    candidates: int
    windows: Mapping[str, int | list[str]]
    whole: tuple[Belief, Answer, Branches, tuple[np.ndarray, np.ndarray]] | None = None


def links_within_budget(task: Task) -> Steps[MovieLinks]:
    """Return the links of a movie that is held as a whole where the memory budget has room for it, else in windows.

    So does a GPU that has no room for it where it is learned there.
    """
    budget = task.settings.memory_budget
    if len(task.movie) * BYTES_A_DETECTION <= budget:
        with suppress(TooManyCandidates, DeviceMemoryExceeded):
            return (yield from links_at_once(task, int(budget / BYTES_A_CANDIDATE)))
    return (yield from links_in_windows(task))


def links_as_a_whole(task: Task) -> Steps[MovieLinks]:
    """Return the links of a movie that is held as a whole, by the host where a GPU has no room for it."""
    if task.movie.grid is None:
        return (yield from links_at_once(task))
    with suppress(DeviceMemoryExceeded):
        return (yield from links_at_once(task))
    features = None if task.features is None else task.features.on_host()
    return (yield from links_at_once(replace(task, movie=task.movie.on_host(), features=features)))


def links_at_once(task: Task, most: int | None = None) -> Steps[MovieLinks]:
    """Return the links of a movie that is held as a whole where it is.

    Raises
    ------
    TooManyCandidates
        If there are more than `most`.
    DeviceMemoryExceeded
        If it is on a GPU that has no room for its candidates.
    """
    settings, given, n = task.settings, task.given, len(task.movie)
    yield Step(0, STEPS)
    belief = _believed(task, task.movie, task.features, LearningRecord(), most, task.tried)
    yield Step(1, STEPS)
    edges = _weighed(task, belief)
    belief.settle()
    motion = motion_of(belief, task.movie, task.points.calibration.unit)
    yield Step(2, STEPS)
    branching = settings.divisions or settings.merges
    free = _best(task, edges, edges.weight) if branching and len(given.pinned) else None
    ways = ways_of(given, n, free)
    closed = closed_ends(n, given, ways, divisions=settings.divisions, merges=settings.merges)
    weight = open_weights(edges.graph, edges.weight, given) if given else edges.weight
    answer = _best(task, edges, weight, closed)
    yield Step(3, STEPS)
    nothing, candidates = np.empty(0, np.int64), int(np.isfinite(edges.weight).sum())
    links = MadeLinks(answer.source, answer.target, answer.margin, answer.is_second, np.zeros(len(answer.source)))
    proof, whole = Proven.of(answer), (belief, answer, edges, closed) if task.keeps else None
    del answer, edges, weight  # all that exchanges do without
    links = replace(links, exchanged=_exchanged(task, belief, links, (nothing, nothing))).and_pins(given.pinned, ways)
    return MovieLinks(links, motion, [proof], candidates, AS_A_WHOLE, whole)


def links_in_windows(task: Task) -> Steps[MovieLinks]:
    """Return the links of a movie that is worked through in windows the memory budget has room for, where that pays.

    Where it has no room for the fewest frames it is exceeded, which is warned of before anything is learned.
    """
    settings, n = task.settings, len(task.movie)
    missed, budget = task.max_missed_frames, _room_for_windows(task)
    at_once = int(budget / BYTES_A_DETECTION)
    windows = windows_of(task.movie, at_once, 2 if missed == "auto" else missed + 1)
    is_worth_it = pays(task.movie, windows, at_once)
    foreseen = _over_budget(task, most_held(task.movie, windows) if is_worth_it else n)
    if foreseen:
        warnings.warn(_on_budget(task, foreseen), stacklevel=2)
    if not is_worth_it:
        found = yield from links_as_a_whole(task)
        return replace(found, windows={**found.windows, "notes": [_on_budget(task, foreseen)] if foreseen else []})
    yield Step(0, STEPS)
    taught = _taught(task, min(at_once, n))
    record, lags = taught.record, taught.lags
    windows = windows_of(task.movie, int(budget / taught.bytes_a_detection), lags)
    yield Step(1, 1 + len(windows))
    ways = ways_of(task.given, n, None)
    closed = closed_ends(n, task.given, ways, divisions=settings.divisions, merges=settings.merges)
    seams, candidates = Seams(task.movie, closed, settings), 0
    for k, window in enumerate(windows):
        candidates += _add(task, seams, window, closed, record.replay())
        yield Step(2 + k, 1 + len(windows))
    either, one = seams.differences()
    count, frames = len(windows), max(window.last - window.first for window in windows)
    note = (
        f"worked through in {count} windows of up to {frames} frames, by models learned on {taught.frames} of "
        f"{len(task.movie.number)}"
    )
    if either:
        note += f"; at {count - 1} seams {one} of {either} links differ"
    taken = _over_budget(task, most_held(task.movie, windows), taught.bytes_a_detection)
    over = [_on_budget(task, max(taken, foreseen))] if taken else []  # in the words of the warning, unless it is more
    notes = [note, *over] if count > 1 else over
    said = {"windows": count, "seam_links": either, "seam_differences": one, "notes": notes}
    return MovieLinks(seams.links().and_pins(task.given.pinned, ways), taught.motion, seams.proofs, candidates, said)


def _room_for_windows(task: Task) -> float:
    """Return the bytes of the host that a window may take; where it is a GPU's, whose candidates that has room for."""
    room = max(task.settings.memory_budget - len(task.movie) * BYTES_MADE, 0.0)
    return room if task.movie.grid is None else min(room, cuda.free_bytes() / BYTES_AN_EDGE * BYTES_A_CANDIDATE)


def _over_budget(task: Task, held: int, bytes_a_detection: float = BYTES_A_DETECTION) -> float:
    """Return the bytes that a movie takes of which so much is held at once; 0 where the memory budget has room."""
    taken = taken_at_most(held, len(task.movie), bytes_a_detection)
    return 0.0 if taken <= task.settings.memory_budget * (1 + ROUNDING) else taken


def _on_budget(task: Task, taken: float) -> str:
    """Return what is said of so many bytes, more than the memory budget."""
    return (
        f"the fewest frames that links are made from may take {taken / 1e9:.2g} GB, more than the memory budget of "
        f"{task.settings.memory_budget_gb:g} GB; by distance alone (motion none) links take less."
    )


@dataclass(frozen=True)
class _Taught:
    """What an excerpt teaches.

    Attributes
    ----------
    record : LearningRecord
    motion : Motion
    lags : int
        Frames that links may span.
    frames : int
        That taught it.
    bytes_a_detection : float
        What a detection takes with its candidates.
    """

    record: LearningRecord
    motion: Motion
    lags: int
    frames: int
    bytes_a_detection: float


def _taught(task: Task, at_once: int) -> _Taught:
    """Return what an excerpt teaches of a movie of which so many detections are held at a time.

    The excerpt is smaller where its candidates would be more than the budget has room for. It is the host's, which
    joins its frames.
    """
    movie, chosen = excerpt(task.movie.on_host(), at_once)
    features = None if task.features is None else task.features.on_host().of(chosen)
    can_be_smaller = at_once > 0 and (len(movie.number) > LEAST_RUN or len(movie) > ENOUGH)
    most = int(task.settings.memory_budget / BYTES_A_CANDIDATE) if can_be_smaller else None
    try:
        belief = _believed(task, movie, features, LearningRecord(), most)
    except TooManyCandidates:
        return _taught(task, at_once // 2)
    _weighed(task, belief)  # how daughters move is learned there
    motion = motion_of(belief, task.movie, task.points.calibration.unit)
    bytes_a_detection = BYTES_A_CANDIDATE * len(belief.graph) / max(len(movie), 1)
    return _Taught(belief.record, motion, belief.lags, len(movie.number), max(bytes_a_detection, BYTES_A_DETECTION))


def _add(
    task: Task, seams: Seams, window: Window, closed: tuple[np.ndarray, np.ndarray], record: LearningRecord
) -> int:
    """Find the links of a window and join them to those before; return how many candidates are its own."""
    first, begin, end, last = task.movie.starts[[window.first, window.begin, window.end, window.last]]
    features = None if task.features is None else task.features.of(slice(first, last))
    belief = _believed(task, task.movie.part(window.first, window.last), features, record)
    edges = _weighed(task, belief)
    belief.settle()
    tail, given = edges.graph.tail + first, within(task.given, first, last)
    weight = open_weights(edges.graph, edges.weight, given) if given else edges.weight
    rows, cols = (side.reshape(-1, len(task.movie))[:, first:last].ravel() for side in closed)
    answer = _best(task, edges, np.where(tail >= begin, weight, -np.inf), (rows, cols))
    seams.add(window, answer, _exchanged(task, belief, answer, seams.known(window)))
    return int(np.isfinite(edges.weight[(tail >= begin) & (tail < end)]).sum())


def _believed(
    task: Task,
    movie: Ordered,
    features: Features | None,
    record: LearningRecord,
    most: int | None = None,
    tried: Tried | None = None,
) -> Belief:
    """Return what is learned of some frames, where they are, in the memory of the host."""
    missed, motion = task.max_missed_frames, task.settings.motion
    with nullcontext() if movie.grid is None else cuda.using():
        return believed(movie, missed, motion, features, record, task.hooks, most, tried).on_host()


def _weighed(task: Task, belief: Belief) -> Branches:
    """Return what the candidates of some frames are worth."""
    settings = task.settings
    asked = {"divisions": settings.divisions, "merges": settings.merges, "sampled": task.keeps}
    edges = branches(belief, against_unlinked(belief, settings), **asked)
    return within_reach(edges, task.points, belief.movie, settings)


def _best(
    task: Task, edges: Branches, weight: np.ndarray, closed: tuple[np.ndarray, np.ndarray] | None = None
) -> Answer:
    """Return the best links by the weights of first ones."""
    solver, device = task.settings.solver, task.settings.device
    second = (None if seconds is None else seconds.worth for seconds in (edges.division, edges.merge))
    return best_links(edges.graph, weight, *second, closed=closed, solver=solver, device=device)


def _exchanged(
    task: Task, belief: Belief, answer: Answer | MadeLinks, known: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Return the odds of each link that an end of it was exchanged, float64 (links,); 0 of second links.

    `known` are sources and targets of links that are made beside the answer's.
    """
    first = ~answer.is_second & np.isfinite(answer.margin)
    ends = zip(known, (answer.source[first], answer.target[first]), strict=True)
    source, target = (np.concatenate(side) for side in ends)
    can_be = allowed(belief.graph, task.points, belief.movie, task.settings) & belief.can_be
    odds = np.zeros(len(first))
    odds[first] = exchange_odds(belief, source, target, can_be)[len(known[0]) :]
    return odds
