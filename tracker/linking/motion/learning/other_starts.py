"""Other starts of learning: a particle goes on as it came, however far that is, and however many detections are false.

Mutual nearest neighbours start well where steps are short and most detections are particles. Elsewhere they are mostly
different particles, whose steps look short and lead nowhere, and expectation-maximisation stays with them. Two steps in
a row that are alike are rare by chance, however long they are: a model that is wide for a first step and narrow for the
next one finds them among all candidates. Which start was the best one, the likelihood of the links that each ends with
tells, on a sample.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import gamma

from .....matching.device import cuda
from ...hooks import Hooks
from ..candidates.expected import candidates_ahead
from ..candidates.graph import MOST, sums_at_ends
from ..detections.ordered import NEAREST, Ordered
from ..models.shares import Shares
from ..models.step_model import StepModel
from .belief import Belief, TooManyCandidates
from .crowding import crowding
from .decoys import are_chance
from .learning_record import LearningRecord
from .likelihood import best_links, log_likelihood
from .start import TURNS

PERSISTENCE, LEFT = 0.9, 0.2
"""To start with: the share of a step that the next one repeats, and the share of the variance that it leaves."""
UNTAUGHT, SWEEPS = 2, 8
"""Sweeps before anything is learned, and after."""

SAMPLE, FEWEST_FRAMES = 3_000, 5
"""Detections that starts are tried on, and the frames that they are of at least."""
SURE, FEW_FALSE = 0.98, 0.85
"""Shares of the detections that links follow from which no other start is tried, and none for many false ones."""
ASKED = 30_000
"""Positions by which the middle of a field of view is found, and how many are around it."""
RIM = 2.0
"""Spacings from where a sample is cut within which particles come and go."""
NEAR_RIM, CUT_OFF = 0.9, 0.01
"""Part of the radius of candidates, and the share of the links that end beyond it, from which it cuts others off."""
MOST_AT_ONE_PLACE = 2
"""Times `SAMPLE` beyond which a ball holds particles at one place, of which as many as there should be are taken."""
ROOM = 2 * MOST * MOST_AT_ONE_PLACE * SAMPLE
"""Candidates for which a movie may have room from which no trial has too many."""
CLEAR = 1.0
"""Nats a detection from which links are no chance, by any start."""
UNCLEAR = -0.5
"""Nats a link that could be, below which the best links are so unlikely that more are wrong than they make expect.

They are beside particles as dense as around those that are linked (`crowding`).
"""
TELLING_PAIR = 500
"""Detections of a single frame pair from which decoys tell chance; of fewer they take links that are right for it."""
GAIN_A_DETECTION, LOGS = 0.05, 5.0
"""Nats by which another start must be likelier: for each detection, and in all, times the logarithm of their number."""


class PersistentStart(NamedTuple):
    """That steps go on as they came: a step model, shares, and the radius of candidates in spacings."""

    model: StepModel
    shares: Shares
    radius: float


@dataclass(frozen=True)
class Start:
    """What learning starts with.

    Attributes
    ----------
    going_on : PersistentStart or None
        None to start with mutual nearest neighbours as one particle.
    takes_flow : bool
        Whether the neighbours' flow may be taken.
    """

    going_on: PersistentStart | None = None
    takes_flow: bool = True


class _Guess(NamedTuple):
    """What a start is made of where nothing is known of a movie but its spacing.

    Attributes
    ----------
    candidates : float
        Of a detection, were they spread evenly.
    sizes, shares : tuple of float
        Variances of the classes beside each other, and their shares.
    ends, unlinked : float
        Shares of lost and of new detections, and of those that are both.
    until : float
        Share of the detections followed by links of nearest neighbours from which it is not tried.
    """

    candidates: float
    sizes: tuple[float, ...]
    shares: tuple[float, ...]
    ends: float
    unlinked: float
    until: float


_MIXED, _ALIKE = ((0.03, 0.5, 3.0), (0.2, 0.5, 0.3)), ((1.0,), (1.0,))
_GUESSES = (
    _Guess(4.0, *_MIXED, 0.2, 0.1, SURE),
    _Guess(20.0, *_MIXED, 0.2, 0.1, SURE),
    _Guess(4.0, *_ALIKE, 0.5, 0.4, FEW_FALSE),
)
"""Steps of up to some two spacings, and of up to five, by particles of several kinds; and among many false ones.

A start with fewer candidates than these would find short steps wherever there are none.
"""


def starts(ndim: int, share: float = 0.0) -> list[PersistentStart]:
    """Return what is tried where links of nearest neighbours follow a share of the detections."""
    return [_going_on(guess, ndim) for guess in _GUESSES if share < guess.until]


def _going_on(guess: _Guess, ndim: int) -> PersistentStart:
    radius = _radius_around(guess.candidates, ndim)
    variance = (radius / 2) ** 2 / ndim / np.dot(guess.shares, guess.sizes)
    first = np.outer(guess.sizes, np.full(ndim, variance))
    model = StepModel(np.array(guess.shares), first, LEFT * first, np.full_like(first, PERSISTENCE), np.array(TURNS))
    return PersistentStart(model, Shares(guess.ends, guess.ends, guess.unlinked, np.array([1 - guess.ends])), radius)


def _radius_around(count: float, ndim: int) -> float:
    """Return the radius of the ball that holds so many uniform particles, in spacings."""
    ball = np.pi ** (ndim / 2) / gamma(ndim / 2 + 1)
    return float((count / ball) ** (1 / ndim) / NEAREST[ndim])


class Tried(NamedTuple):
    """The start that leads to the likeliest links of a sample, and their log-likelihood."""

    start: Start
    likelihood: float


class Trial(NamedTuple):
    """What came of trying starts on a sample.

    Attributes
    ----------
    start : Start
        What leads to the likeliest links.
    is_chance : bool
        Whether links lead to particles hardly more often than to decoys among them.
    is_unclear : bool
        Whether the best links make the sample clearly less likely than no links at all.
    """

    start: Start = Start()
    is_chance: bool = False
    is_unclear: bool = False


class Learn(Protocol):
    """How links over one frame are learned: `recipe.OverOneFrame`."""

    @property
    def may_leave_flow(self) -> bool:
        """Whether the neighbours' flow, where it was taken, is tried to be left out."""
        ...

    def __call__(self, movie: Ordered, start: Start) -> Belief:
        """Return what is believed of a movie from a start on."""
        ...

    def begin(self, movie: Ordered, going_on: PersistentStart | None) -> Belief:
        """Return what is believed before contexts are asked for."""
        ...

    def go_on(self, belief: Belief, start: Start) -> Belief:
        """Take contexts, and return the same belief."""
        ...


def try_starts(movie: Ordered, learn: Learn, tried: Tried | None = None) -> Trial:
    """Try whether another start leads to likelier links than nearest neighbours do, and whether links are chance.

    Parameters
    ----------
    movie : Ordered
    learn : Learn
    tried : Tried, optional
        What `best_of` says of the sample, where that was asked already.
    """
    sample, is_inner = sample_of(movie)
    pairs = len(sample.pairs_apart(1)[0])
    if not pairs or (pairs == 1 and len(sample) < TELLING_PAIR):
        return Trial()
    try:
        # Of one frame pair no link can know of one before it, and there is one start.
        start, likelihood = tried or (best_of(sample, is_inner, learn) if pairs > 1 else _of_nearest(sample, learn))
    except TooManyCandidates:
        return Trial()  # a trial holds fewer than the movie may
    is_chance = is_unclear = False
    if likelihood < CLEAR * len(sample):
        with suppress(TooManyCandidates):
            is_chance = are_chance(sample, lambda decoyed: learn(decoyed, start))
        with suppress(TooManyCandidates):
            is_unclear = _is_unclear(sample, likelihood, lambda: learn(sample, start))
    return Trial(start, is_chance, is_unclear)


def _is_unclear(sample: Ordered, likelihood: float, learned: Callable[[], Belief]) -> bool:
    """Whether the best links make a sample clearly less likely than none, where particles are as dense as around them.

    Beside particles from anywhere, as `likelihood` has it, any link in the middle of a swarm is likely.
    """
    least, denser = UNCLEAR * _most_links(sample), crowding(sample)
    if likelihood < least or likelihood - denser * _most_links(sample) >= least:
        return likelihood < least
    tail, _ = best_links(learned())
    return likelihood - denser * len(tail) < least


def _most_links(movie: Ordered) -> int:
    """Return how many detections have a frame after theirs to be linked to."""
    earlier, _ = movie.pairs_apart(1)
    return int(np.diff(movie.starts)[earlier].sum())


def best_of(sample: Ordered, is_inner: np.ndarray, learn: Learn) -> Tried:
    """Return the start that leads to the likeliest links, and their log-likelihood; `sample_of` gives the first two.

    Raises
    ------
    TooManyCandidates
        If nearest neighbours have too many.
    """
    margin = margin_of(sample)
    near, *without_flow = _led_to(sample, None, learn)
    others = starts(sample.ndim, _followed_share(near, is_inner))
    best, likeliest = Start(), log_likelihood(near)
    for belief in without_flow:
        if (likelihood := log_likelihood(belief)) > likeliest + margin:
            best, likeliest = Start(takes_flow=False), likelihood
    del near, without_flow  # before others are made
    least = likeliest + margin
    for other in others:
        for flow_left, (each, likelihood) in enumerate(_tried(sample, other, learn)):
            if likelihood > least + flow_left * margin:
                best, likeliest, least = each, likelihood, likelihood
    return Tried(best, likeliest)


def _of_nearest(sample: Ordered, learn: Learn) -> Tried:
    """Return the start from nearest neighbours, and the log-likelihood of the links that it leads to."""
    return Tried(Start(), log_likelihood(learn(sample, Start())))


def margin_of(sample: Ordered) -> float:
    """Return by how many nats what is likelier must be so."""
    return max(GAIN_A_DETECTION * len(sample), LOGS * np.log(len(sample)))


def _tried(sample: Ordered, start: PersistentStart, learn: Learn) -> list[tuple[Start, float]]:
    """Return where a start led, and how likely its links are; without the neighbours' flow too, where that was taken.

    The flow is taken by what it explains beside nothing, and may explain less beside past and future. Around it steps
    are short, which is no model to start with: that is the one learned without it.
    """
    try:
        led_to = _led_to(sample, start, learn)
    except TooManyCandidates:
        return []
    last = led_to[-1]
    if last.near is not None:
        return [(Start(start), log_likelihood(last))]
    taught = PersistentStart(last.model, last.shares, _wide_enough(last, start.radius))
    return [(Start(taught, takes_flow=belief.near is not None), log_likelihood(belief)) for belief in led_to]


def _led_to(sample: Ordered, going_on: PersistentStart | None, learn: Learn) -> list[Belief]:
    """Return what is believed from a start on; and without the neighbours' flow, where it was taken and may be left.

    Raises
    ------
    TooManyCandidates
    """
    begun = learn.begin(sample, going_on)
    belief = learn.go_on(begun.twin(), Start(going_on))
    if belief.near is None or not learn.may_leave_flow:
        return [belief]
    return [belief, learn.go_on(begun, Start(going_on, takes_flow=False))]


def _wide_enough(belief: Belief, radius: float) -> float:
    """Return a radius within which links were learned, or the widest there is where many of them end near it."""
    graph = belief.graph
    length = np.sqrt((graph.steps_at(np.arange(len(graph))) ** 2).sum(axis=1))
    near_rim = belief.probability[length > NEAR_RIM * radius].sum()
    if near_rim <= CUT_OFF * belief.probability.sum():
        return radius
    return max(_radius_around(guess.candidates, belief.movie.ndim) for guess in _GUESSES)


def _followed_share(belief: Belief, is_inner: np.ndarray) -> float:
    """Return the share of some detections that links follow, bool (n,) marking them."""
    movie = belief.movie
    earlier, _ = movie.pairs_apart(1)
    asked = is_inner & movie.of_each(np.isin(np.arange(len(movie.number)), earlier))
    _, follows = sums_at_ends(belief.graph, belief.probability, belief.probability)
    return float(follows[asked].mean()) if asked.any() else 0.0


def followed(
    movie: Ordered, start: PersistentStart, record: LearningRecord, hooks: Hooks | None, most: int | None
) -> Belief:
    """Return what is believed of a movie from a start on, where links know of those before and after them.

    Raises
    ------
    TooManyCandidates
        If there are more than `most`.
    """
    graph = candidates_ahead(movie, 1, start.radius, 0.0, hooks)
    any_of_them = 1.0 / (1 + np.diff(graph.indptr))[graph.tail]
    known = graph, start.model, start.shares, any_of_them
    belief = Belief(movie, *known, linked=True, record=record, hooks=hooks, most=most)
    for done in range(UNTAUGHT + SWEEPS):
        belief.sweep(learn=done >= UNTAUGHT)
    return belief


def sample_of(movie: Ordered) -> tuple[Ordered, np.ndarray]:
    """Return about `SAMPLE` detections on the host, from the middle of a movie, and which are not near where it is cut.

    Of large frames it is those in a ball around a particle in the middle of the field of view.
    """
    frames = len(movie.number)
    length = min(max(SAMPLE * frames // max(len(movie), 1), FEWEST_FRAMES), frames)
    first = (frames - length) // 2
    starts = movie.starts[first : first + length + 1]
    own, starts = slice(*starts[[0, -1]].tolist()), starts - starts[0]
    row = movie.row if movie.grid is None else movie.grid.row
    of_each = [movie.position[own], row[own], movie.rank[own]]
    is_inner = np.ones(int(starts[-1]), bool)
    if len(is_inner) > SAMPLE:
        square, limit = _around_the_middle(of_each[0], SAMPLE / len(is_inner))
        inside = np.flatnonzero(square <= limit)
        if len(inside) > MOST_AT_ONE_PLACE * SAMPLE:
            inside = np.asarray(_as_many_of_each_frame(cuda.to_host(inside), starts), like=inside)
        of_each = [each[inside] for each in of_each]
        starts = cuda.to_host(np.searchsorted(inside, np.asarray(starts, like=inside)))
        is_inner = np.sqrt(cuda.to_host(square[inside])) <= np.sqrt(limit) - RIM
    position, row, rank = map(cuda.to_host, of_each)
    of_frames = slice(first, first + length)
    numbers, drift = movie.number[of_frames], movie.drift[of_frames]
    known = movie.spacing, movie.extent, drift, movie.log_density, movie.rounding
    return Ordered(position, numbers, starts, row, rank, *known), is_inner


def _as_many_of_each_frame(inside: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return those of some detections that come first in their frames, `SAMPLE` in all."""
    of_frame = np.searchsorted(starts, inside, side="right")
    first = np.searchsorted(of_frame, of_frame)
    return inside[np.arange(len(inside)) - first < -(-SAMPLE // (len(starts) - 1))]


def _around_the_middle(position: np.ndarray, share: float) -> tuple[np.ndarray, float]:
    """Return how far each position is from one in the middle, squared, and within how much about a share of them is."""
    some = np.ascontiguousarray(cuda.to_host(position[:: max(len(position) // ASKED, 1)]).T)
    middle = some[:, ((some - np.median(some, axis=1)[:, None]) ** 2).sum(axis=0).argmin()]
    square = np.zeros(len(position), like=position)
    for axis, at in enumerate(middle.tolist()):
        square += (position[:, axis] - at) ** 2
    return square, float(np.quantile(((some - middle[:, None]) ** 2).sum(axis=0), share))
