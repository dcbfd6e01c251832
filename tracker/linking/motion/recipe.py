"""The recipe: first order, then the neighbours' flow, then past and future, then gaps; each kept where it helps.

Where mutual nearest neighbours are no start, past and future come first: see `other_starts`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import chdtri

from ....matching.device import cuda
from ....matching.device.arrays import count_true
from ..hooks import Hooks
from ..settings import Motion
from .candidates.expected import candidates_ahead
from .candidates.flow import fields_of, flow_at, flow_of_some, neighbours
from .candidates.graph import Graph
from .detections.border import border_of
from .detections.ordered import Ordered
from .learning import held_out
from .learning.belief import Belief
from .learning.gaps import with_gaps
from .learning.learning_record import LearningRecord
from .learning.other_starts import ROOM, PersistentStart, Start, Trial, Tried, followed, try_starts
from .learning.rare_steps import with_rare_steps
from .learning.start import mutual_nearest, starting_model
from .models.features import FeatureModel, Features
from .models.shares import shares_of

FIRST_RADIUS = 1.5
"""Candidates of the first pass, in spacings; learned models that reach farther widen it up to `WIDEST_RADIUS`."""
WIDEST_RADIUS = 2.2
LEAST_RADIUS = 0.7
"""Candidates around a prediction, however narrow steps are: some go farther than Gaussians, as jumps in a glass do."""
RIM = 1e-3
"""Share of the true links that a gate may leave out."""
FLOW_GAIN = 0.02
LINK_GAIN = 0.02
"""Nats by which the flow, and the link before, must make links likelier that taught nothing of it to be contexts."""
HOPELESS = 0.1
"""Share of that gain below which links of first order say that the link before tells nothing; no sweep changes that."""

MANY_UNLINKED = 0.15
"""Share of the detections without any link above which false ones are so many that chains of them look like tracks."""
SURE_FIRST, DOUBTED = 0.92, 5e-4
"""Probability from which links are believed where learning begins once more, and what it is for all others."""

FEWEST_PASSES, MOST_PASSES = 3, 40
"""Passes in which the flow narrows the search, and spreads from where links are known to where none is yet."""
STILL_BETTER, STILL_MORE = 0.95, 1.0005
"""One more is made where at most so much of what was unexplained is left, or there are so many times as many links."""


def believed(
    movie: Ordered,
    max_missed_frames: int | Literal["auto"],
    motion: Motion = "auto",
    features: Features | None = None,
    record: LearningRecord | None = None,
    hooks: Hooks | None = None,
    most: int | None = None,
    tried: Tried | None = None,
) -> Belief:
    """Learn how the particles of a movie move, and how probable their links are.

    Contexts named in `motion` are taken whatever they bring; with "auto" each is kept where it makes links likelier, as
    `features` always are. With `record` to repeat nothing is learned but which links are probable.

    Parameters
    ----------
    movie : Ordered
        Drift subtracted.
    max_missed_frames : int or "auto"
    motion : str
    features : Features, optional
    record : LearningRecord, optional
        Of another belief with the same settings, to repeat.
    hooks : Hooks, optional
        What users say of links. A drift is theirs to predict, if they predict anything.
    most : int, optional
        Candidates that may be held.
    tried : Tried, optional
        What is known of starts on a sample, without hooks and with room for all candidates.

    Raises
    ------
    TooManyCandidates
        If there are more.
    """
    record, trial = record or LearningRecord(), Trial()
    if may_know_links(motion):
        of_sample = OverOneFrame(motion, hooks=hooks, most=most and most // 2, spreads=False)
        known = tried if hooks is None and (most is None or most >= ROOM) else None
        trial = record.learn(lambda: try_starts(movie, of_sample, known))
    belief = OverOneFrame(motion, features, hooks, most)(movie, trial.start, record)
    belief.is_chance, belief.is_unclear = trial.is_chance, trial.is_unclear
    _without_chains_of_chance(belief)
    if hooks is not None and hooks.predict is not None:
        belief.notes.append("steps are counted from where predict expects the particles")
    with_gaps(belief, max_missed_frames, radius_of(belief))
    with_rare_steps(belief)
    return belief


def may_know_links(motion: Motion) -> bool:
    """Return whether links may know of those before and after them."""
    return motion == "auto" or "velocity" in motion


@dataclass(frozen=True)
class OverOneFrame:
    """How links over one frame are learned: in first order or from a start that goes on, then by contexts.

    Attributes
    ----------
    motion, features, hooks, most
        As of `believed`.
    spreads : bool
        Whether the flow is followed on to where no links are known yet. A sample, small, says how it is explained best,
        not how far from its own start a flow must spread in the whole movie.
    """

    motion: Motion
    features: Features | None = None
    hooks: Hooks | None = None
    most: int | None = None
    spreads: bool = True

    def __call__(self, movie: Ordered, start: Start, record: LearningRecord | None = None) -> Belief:
        """Return what is believed of a movie from a start on."""
        return self.go_on(self.begin(movie, start.going_on, record), start)

    def begin(self, movie: Ordered, going_on: PersistentStart | None, record: LearningRecord | None = None) -> Belief:
        """Return what is believed before contexts are asked for, but those that the start knows of."""
        of_start = movie, record or LearningRecord(), self.hooks, self.most
        return _first_order(*of_start) if going_on is None else _going_on_first(going_on, *of_start)

    def go_on(self, belief: Belief, start: Start) -> Belief:
        """Take the contexts that make links likelier, and return the same belief."""
        going_on, free = start.going_on, self.may_leave_flow
        if self.features is not None:
            _take_features(belief, self.features)
        if "flow" in self.motion or (free and start.takes_flow):
            widest = going_on.radius if going_on else WIDEST_RADIUS
            _take_flow(belief, FLOW_GAIN if free else -np.inf, widest, self.spreads)
        if may_know_links(self.motion):
            _take_past_and_future(belief, LINK_GAIN if free else -np.inf)
        if going_on is not None and belief.linked:
            belief.notes.append(
                "links were found by how particles keep moving, which explains them better than distance does"
            )
        return belief

    @property
    def may_leave_flow(self) -> bool:
        """Whether the neighbours' flow is taken only where it helps; else it is wanted, or not, whatever it brings."""
        return self.motion == "auto"


def _without_chains_of_chance(belief: Belief) -> None:
    """Begin once more with the links that are nearly sure, where many detections are false.

    Each that chance has given links makes detections without any look rarer than they are, and so the links of others
    likelier. Over gaps, which there is no lack of candidates for, false detections then hang together in long chains.
    """
    if belief.shares.unlinked < MANY_UNLINKED:
        return
    probability = np.where(belief.probability > SURE_FIRST, belief.probability, DOUBTED)
    belief.restart(belief.graph, probability)
    judged = belief.movie, belief.graph, probability, belief.into, belief.lags, belief.border
    belief.shares = belief.record.learn(lambda: shares_of(*judged))
    _sweeps(belief, 4)


def _going_on_first(
    start: PersistentStart, movie: Ordered, record: LearningRecord, hooks: Hooks | None, most: int | None
) -> Belief:
    """Learn from steps that go on as they came."""
    belief = followed(movie, start, record, hooks, most)
    belief.drop_idle_classes()
    belief.border = border_of(movie, record.learn(lambda: belief.model.typical_step))
    _sweeps(belief, 4)
    return belief


def _first_order(movie: Ordered, record: LearningRecord, hooks: Hooks | None, most: int | None) -> Belief:
    """Learn the step model and the shares of the lost and the new, without a context."""
    belief = _nearest_first(movie, record, hooks, most)
    _sweeps(belief, 4)
    radius = min(radius_of(belief), WIDEST_RADIUS)
    if radius > FIRST_RADIUS:
        belief.settle()
        graph = candidates_ahead(movie, 1, radius, 0.0, hooks)
        belief.restart(graph, np.zeros(len(graph), like=graph.head))
        del graph  # the belief has it, until it takes another
        _sweeps(belief, 3)
    belief.drop_idle_classes()
    belief.border = border_of(movie, record.learn(lambda: belief.model.typical_step))
    _sweeps(belief, 1)
    return belief


def _nearest_first(movie: Ordered, record: LearningRecord, hooks: Hooks | None, most: int | None) -> Belief:
    """Return what is believed to start with: that mutual nearest neighbours are one particle."""
    graph = candidates_ahead(movie, 1, FIRST_RADIUS, 0.0, hooks)
    mutual = mutual_nearest(graph)
    probability = mutual.astype(np.float64)
    shares = record.learn(lambda: shares_of(movie, graph, probability, probability, 1))
    model = record.learn(lambda: starting_model(graph, mutual))
    return Belief(movie, graph, model, shares, probability, record=record, hooks=hooks, most=most)


def _sweeps(belief: Belief, count: int, damping: float = 0.0) -> None:
    for _ in range(count):
        belief.sweep(damping=damping)


def radius_of(belief: Belief) -> float:
    """Return the radius around the prediction that all but `RIM` of the steps stay in, in spacings."""
    model = belief.model
    mass = np.minimum(RIM / len(model.shares) / model.shares, 1)
    return max(float(np.sqrt(model.first.max(axis=1) * chdtri(model.first.shape[1], mass)).max()), LEAST_RADIUS)


def _take_features(belief: Belief, features: Features) -> None:
    """Weigh links by their ends' features, where these tell links of every other frame that taught nothing of them."""
    learned = belief.record.learn(lambda: _told_by(features, belief))
    if learned is None:
        return
    belief.features, belief.feature_model = features, learned
    _sweeps(belief, 2)
    if belief.record.learn(lambda: belief.feature_gain) < LINK_GAIN:  # less than the first links, some wrong, have said
        belief.features = belief.feature_model = None
        belief.notes.append(_tell_nothing(features))
        _sweeps(belief, 2)


def _told_by(features: Features, belief: Belief) -> FeatureModel | None:
    """Return how features change along links, where that tells links that taught nothing of it."""
    edges = belief.edges_that_teach()
    change, length, probability = belief.taught_by(edges, features)
    sure = np.flatnonzero(probability > 0.5)
    asked = held_out.every_other(*_tails(belief, edges[np.asarray(sure, like=edges)]))
    if asked is None:
        belief.notes.append(f"too few links to learn from {', '.join(features.names)}")
        return None
    taught = np.ones(len(edges), bool)
    taught[sure[asked]] = False
    model = FeatureModel.learned(change[:, taught], length[taught], probability[taught])
    gain = float(np.log(model.ratio(change[:, sure[asked]])).mean())
    if gain < LINK_GAIN:
        belief.notes.append(_tell_nothing(features))
        return None
    return model


def _tell_nothing(features: Features) -> str:
    do = "does" if len(features.names) == 1 else "do"
    return f"{', '.join(features.names)} {do} not tell which link is right"


def _tails(belief: Belief, links: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the frames of links' tails, and their ranks, which no order of the rows changes."""
    tail = belief.graph.tail[links]
    return cuda.to_host(belief.movie.frame[tail]), cuda.to_host(belief.movie.rank[tail])


def _some(belief: Belief, links: np.ndarray) -> np.ndarray:
    """Return the links that stand for all; of millions on a GPU none comes to the host."""
    return links[held_out.some(belief.movie.rank[belief.graph.tail[links]])]


def _take_flow(belief: Belief, least_gain: float, widest: float, spreads: bool) -> None:
    """Make the neighbours' flow a context where it makes links likelier, and look for candidates where it leads.

    They are looked for within `widest` spacings; where the flow `spreads`, as long as that finds more links.
    """
    gain = belief.record.learn(lambda: _gain_of_flow(belief))
    if gain is None or gain < least_gain:
        return
    near = neighbours(belief.movie)
    weight, _, ahead = _flow(belief, near)
    belief.near = near
    unexplained, found = np.inf, 0.0
    for done in range(MOST_PASSES):
        belief.flow_weight = weight
        radius = min(radius_of(belief), widest)
        belief.settle()
        graph = candidates_ahead(belief.movie, 1, radius, weight * ahead, belief.hooks)
        belief.restart(graph, _carried(belief, graph))
        del graph
        _sweeps(belief, 2)
        weight, belief.flow_share, ahead = _flow(belief, near)
        better, more = STILL_BETTER * unexplained, STILL_MORE * found
        unexplained, found = 1 - belief.flow_share, belief.record.learn(lambda: float(belief.probability.sum()))
        goes_on = unexplained <= better or (spreads and found >= more)
        if done + 1 >= FEWEST_PASSES and not goes_on:
            break
    belief.flow_weight = weight
    _sweeps(belief, 2)
    belief.flow_weight, belief.flow_share, _ = _flow(belief, near)
    belief.flow_gain = belief.record.learn(lambda: _gain_of_flow(belief)) or gain


def _gain_of_flow(belief: Belief) -> float | None:
    """Return the nats by which the flow makes links likelier that taught nothing of it; None where they are too few."""
    links = _some(belief, np.flatnonzero(belief.probability > 0.5))
    asked = held_out.every_other(*_tails(belief, links))
    if asked is None:
        belief.notes.append("too few links to learn from neighbours")
        return None
    flow = cuda.to_host(flow_of_some(belief.movie, belief.graph, belief.probability, belief.near, links))
    step = cuda.to_host(belief.graph.steps_at(links))
    weight, _ = _weight_of(flow[~asked], step[~asked])
    return held_out.gain_without(step - weight * flow, step, asked, belief.model)


def _flow(belief: Belief, near: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Return the best weight of the flow, the share of the median step that it explains, and where it leads."""
    graph, fields = belief.graph, fields_of(belief.graph, near, belief.probability)
    sure = np.flatnonzero(belief.probability > 0.5)
    weight, gain = belief.record.learn(lambda: _weight_of(flow_at(graph, fields, sure), graph.steps_at(sure)))
    return weight, gain, fields.ahead[0]


def _weight_of(flow: np.ndarray, step: np.ndarray) -> tuple[float, float]:
    """Return the weight with which the flow explains steps best, and the share of the median step that it explains."""
    weight = 0.0
    for _ in range(4):
        square = ((step - weight * flow) ** 2).sum(axis=1)
        trust = 1 / (1 + square / max(float(np.median(square)), 1e-12))
        both, own = ((trust * each.sum(axis=1)).sum() for each in (step * flow, flow**2))
        weight = float(both) / max(float(own), 1e-300)
    weight = float(np.clip(weight, 0, 1.1))
    before = float(np.median((step**2).sum(axis=1)))
    after = float(np.median(((step - weight * flow) ** 2).sum(axis=1)))
    return weight, 1 - float(np.sqrt(after / max(before, 1e-12)))


def _carried(belief: Belief, graph: Graph) -> np.ndarray:
    """Return what is believed of the edges of another graph: as before where they were there, else nothing."""
    old = belief.graph.tail.astype(np.int64) * belief.graph.n + belief.graph.head
    new = graph.tail.astype(np.int64) * graph.n + graph.head
    if not len(old):
        return np.zeros(len(new), like=graph.head)
    at = np.minimum(np.searchsorted(old, new), len(old) - 1)
    return np.where(old[at] == new, belief.probability[at], 0.0)


def _take_past_and_future(belief: Belief, least_gain: float) -> None:
    """Make the links before and after a link contexts, where they make links likelier.

    A start of which they are contexts stands where too few links are left to ask.
    """
    if not belief.record.learn(lambda: _has_enough_links(belief)):
        if belief.linked:
            belief.link_gain = np.nan
        else:
            belief.notes.append("too few links to learn from those before and after them")
        return
    if not belief.linked:
        belief.link_gain = belief.record.learn(lambda: _gain_of_link_before(belief))
        if belief.link_gain < HOPELESS * least_gain:
            return
        belief.model = replace(belief.model, second=0.8 * belief.model.first)
        belief.know_of_each_other()
        _sweeps(belief, 5, damping=0.5)
    belief.link_gain = belief.record.learn(lambda: _gain_of_link_before(belief))
    if belief.link_gain < least_gain:
        belief.linked, belief.sums = False, None
        _sweeps(belief, 2)


def _has_enough_links(belief: Belief) -> bool:
    return count_true(belief.probability > 0.5) >= 2 * held_out.ENOUGH


def _gain_of_link_before(belief: Belief) -> float:
    """Return the nats by which the link before makes links likelier that taught nothing of it; 0 of too few."""
    graph, sure = belief.graph, np.flatnonzero(belief.probability > 0.5)
    into = np.full_like(sure, -1, dtype=np.int32, shape=graph.n)
    into[graph.head[sure]] = sure
    links = _some(belief, sure[into[graph.tail[sure]] >= 0])
    asked = held_out.every_other(*_tails(belief, links))
    if asked is None:
        return 0.0
    steps = belief.own_steps()
    step, before = (cuda.to_host(steps.at(of)) for of in (links, into[graph.tail[links]]))
    return held_out.gain_of_link_before(step, before, asked, belief.model)
