"""Expectation-maximisation: sweeps that make links probable, and models that are learned from the probable links."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace

import numpy as np

from .....matching.device import cuda
from .....matching.jit.threads import side_by_side
from ...hooks import Hooks
from ..candidates.flow import fields_of
from ..candidates.graph import LAG, Graph, sums_at_ends
from ..candidates.steps import EdgeSteps
from ..detections.border import Border
from ..detections.ordered import Ordered
from ..inference.marginals import cavities, link_marginals
from ..inference.sweep import Others, Unwritten, Weighed, step_sums, weighed
from ..models.features import FeatureModel, Features
from ..models.shares import Ends, EndsByPlace, Shares, ends_by_place, looks_of, shares_of
from ..models.step_model import TINY, StepModel, Sums, tables
from .learning_record import LearningRecord

ROUNDS = 5
"""Rounds of belief propagation a sweep; the messages are kept from sweep to sweep."""
TOLERANCE = 1e-3
MOST_THAT_TEACH = 30_000
"""Edges that features are learned from."""
SUREST_COST = 100.0
"""Nats of a user's cost beyond which all are as good as these, but that a link at +inf is never made."""


class TooManyCandidates(Exception):
    """There are more candidates than may be held; the caller that sets that bound catches it."""


@dataclass
class Belief:
    """What is believed of a movie's links; every sweep improves it.

    Attributes
    ----------
    border : Border or None
        Detections near the border of the field of view, once that is known.
    near : int32 (n, k) or None
        Neighbours, where their flow is a context.
    flow_weight : float
        What the neighbours' displacement counts.
    flow_share, flow_gain : float
        Share of the median step that the flow explains; nats by which it makes links likelier that taught none of it.
    linked : bool
        Whether links know of the links before and after them.
    link_gain : float
        Gain of knowing the link before, in nats a link, measured on links that were held out; NaN of too few.
    is_chance : bool
        Whether links lead to decoys nearly as often as to particles; see `decoys`.
    is_unclear : bool
        Whether the best links are less likely than none at all; see `other_starts`.
    features : Features or None
        The detections' own, where they make links likelier.
    feature_model : FeatureModel or None
        How they change along links.
    notes : list of str
        What the user should know of how it was learned.
    hooks : Hooks or None
        What users say of links.
    further : float64 (edges,) or None
        What each link costs by them, in nats, +inf where they forbid it.
    most : int or None
        Candidates that may be held.
    record : LearningRecord
        Through which everything is learned that says something of the movie as a whole.
    """

    movie: Ordered
    graph: Graph
    model: StepModel
    shares: Shares
    probability: np.ndarray
    lags: int = 1
    border: Border | None = None
    near: np.ndarray | None = None
    flow_weight: float = 0.0
    flow_share: float = 0.0
    flow_gain: float = 0.0
    linked: bool = False
    link_gain: float = 0.0
    is_chance: bool = False
    is_unclear: bool = False
    features: Features | None = None
    feature_model: FeatureModel | None = None
    notes: list[str] = field(default_factory=list)
    record: LearningRecord = field(default_factory=LearningRecord)
    hooks: Hooks | None = None
    further: np.ndarray | None = None
    most: int | None = None
    sums: Sums | None = None
    odds: np.ndarray = field(default_factory=lambda: np.empty(0))
    message: np.ndarray = field(default_factory=lambda: np.empty(0))
    into: np.ndarray = field(default_factory=lambda: np.empty(0))
    out_of: np.ndarray = field(default_factory=lambda: np.empty(0))
    past: np.ndarray | Unwritten = field(default_factory=lambda: np.empty((0, 0)))
    future: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))

    def __post_init__(self) -> None:
        self.model = replace(self.model, rounding=self.movie.rounding)
        self.restart(self.graph, self.probability)

    def restart(self, graph: Graph, probability: np.ndarray) -> None:
        """Take another graph of candidates, whose links are as probable as given.

        Raises
        ------
        TooManyCandidates
        """
        self._take(graph)
        self.settle()
        self.probability, self.into, self.out_of = probability, probability.copy(), probability.copy()
        self.odds, self.message = map(self._of_links, (1.0, 1.0))
        if self.linked:
            self.past = self._of_links(self.model.shares)
        self.future = self._open_future()

    def _take(self, graph: Graph) -> None:
        """Take another graph of candidates, and what users say of them."""
        if self.most is not None and len(graph) > self.most:
            raise TooManyCandidates
        is_new = self.further is None or graph is not self.graph
        if is_new and self.hooks is not None and self.hooks.extra_cost is not None:
            self.further = self.hooks.further_cost(self.movie.row[graph.tail], self.movie.row[graph.head])
        self.graph = graph

    def _of_links(self, value: float | np.ndarray) -> np.ndarray:
        """Return an array with a value for every link, or with one for each of its classes."""
        like = self.graph.head
        array = np.empty((len(self.graph), *np.shape(value)), like=like)
        array[:] = np.asarray(value, like=like)
        return array

    def _open_future(self) -> np.ndarray:
        """Return the likelihood of what comes after each link where nothing is known of it: 1 in each class."""
        ones = np.ones_like(self.model.shares)
        return self._of_links(ones) if self.graph.on_gpu else np.broadcast_to(ones, (len(self.graph), len(ones)))

    def extend(self, graph: Graph, known: np.ndarray, lags: int, shares: Shares) -> None:
        """Take a graph with more edges; `known` marks those of the present one, which come in the same order."""
        self.lags, self.shares, self.odds = lags, shares, np.empty(0)
        self._take(graph)
        for name, value in {"probability": 0.0, "into": 0.0, "out_of": 0.0, "message": 1.0}.items():
            self._extend(name, self._of_links(value), known)  # one at a time, for the sake of memory
        future = self._open_future()
        if self.linked:
            self._extend("past", self._of_links(self.model.shares), known)
            self._extend("future", future.copy(), known)
        else:
            self.future = future
        self.odds = self._of_links(1.0)

    def _extend(self, name: str, extended: np.ndarray, known: np.ndarray) -> None:
        extended[known] = getattr(self, name)
        setattr(self, name, extended)

    def twin(self) -> Belief:
        """Return the same, whose sweeps leave this one as it is."""
        other = copy(self)
        other.probability, other.message = self.probability.copy(), self.message.copy()  # which sweeps write to
        other.notes = list(self.notes)
        return other

    def on_host(self) -> Belief:
        """Return the same in the memory of the host."""
        if self.movie.grid is None:
            return self
        here, graph = copy(self), self.graph
        here.movie = self.movie.on_host()
        indptr, head, lag, step = map(cuda.to_host, (graph.indptr, graph.head, graph.lag, graph.step))
        here.graph = Graph(indptr, head, lag.astype(LAG), step)
        here.border = None if self.border is None else self.border.on_host()
        here.features = None if self.features is None else self.features.on_host()
        for name in ("near", "probability", "odds", "message", "into", "out_of", "past", "future"):
            if (array := getattr(self, name)) is not None:
                setattr(here, name, cuda.to_host(array))
        return here

    def drop_idle_classes(self) -> None:
        """Go on without the classes of the model that hardly any link belongs to."""
        self.model = self.model.without_idle_classes()
        self.restart(self.graph, self.probability)

    @property
    def ends(self) -> Ends:
        """What the shares say of every detection."""
        return self.ends_by_place.of_each()

    @property
    def ends_by_place(self) -> EndsByPlace:
        """What the shares say of the detections of a frame, apart for near the border and inside."""
        return ends_by_place(self.movie, self.shares, self.border)

    @property
    def weight(self) -> np.ndarray:
        """What each link is worth against both its ends staying unlinked, in nats, float64 (edges,)."""
        weight = np.log(self.odds)
        return weight if self.further is None else np.where(self.can_be, weight, -np.inf)

    @property
    def can_be(self) -> np.ndarray:
        """Mark the links that users do not forbid by their cost, bool (edges,)."""
        return np.ones(len(self.graph), bool) if self.further is None else np.isfinite(self.further)

    def likeness(self) -> np.ndarray | float:
        """Return how many times likelier what neither lag nor step says makes each link, float64 (edges,) or 1.

        That is its ends' features, the user's cost, and that frames in between were not looked at.
        """
        times = 1.0
        if (looks := looks_of(self.movie, self.graph)) is not self.graph.lag:
            seen = np.asarray(self.shares.seen, like=self.probability)
            times = seen[looks - 1] / seen[self.graph.lag - 1]
        if self.features is not None and self.feature_model is not None:
            times = times * self._by_features(self.features, self.feature_model)
        if self.further is not None:
            times = times * np.exp(-np.clip(self.further, -SUREST_COST, SUREST_COST))
        return times

    def _by_features(self, features: Features, model: FeatureModel) -> np.ndarray:
        """Return how many times likelier features make each link, float64 (edges,)."""
        times = np.empty_like(self.probability)

        def write(edges: slice) -> None:
            times[edges] = model.ratio(features.change(*self.graph.ends(edges)))

        side_by_side(write, self.graph.slices)
        return times

    def settle(self) -> None:
        """Let go of what further sweeps of the same candidates would ask for, and of what weights are made of."""
        self.odds, self.message, self.into, self.out_of, self.future = (np.empty(0) for _ in range(5))
        self.graph.let_go()
        self._let_go_of_pasts()

    def _let_go_of_pasts(self) -> None:
        """Let go of what comes before links, where they know of none."""
        if not self.linked:
            self.past = np.empty((0, len(self.model.shares)))

    def know_of_each_other(self) -> None:
        """Let links know of those before and after them, from the next sweep on."""
        if isinstance(self.past, Unwritten):
            self.past = self.past.written()
        self.linked = True

    @property
    def flow_ahead(self) -> np.ndarray | float:
        """What of the next step the neighbours' flow foretells, float64 (n, d); 0 where it is no context."""
        if self.near is None:
            return 0.0
        return self.flow_weight * fields_of(self.graph, self.near, self.probability).ahead[0]

    def own_steps(self) -> EdgeSteps:
        """Return the displacements less what the neighbours' flow explains."""
        if self.near is None or self.flow_weight == 0.0:
            return EdgeSteps(self.graph)
        return EdgeSteps(self.graph, fields_of(self.graph, self.near, self.probability), self.flow_weight)

    def sweep(self, *, learn: bool = True, damping: float = 0.5) -> None:
        """Weigh every link by its contexts, make the weights probabilities, and learn the model from these."""
        self._let_go_of_pasts()  # before the flow is asked for again
        graph, steps = self.graph, self.own_steps()
        weights = self._weighed(steps, is_damped=damping > 0.0)
        arriving, leaving = np.empty_like(weights.odds), weights.without_past
        if damping == 0.0:
            self.into, self.out_of = arriving, leaving
        of_head, of_tail = (arriving, weights.part_without_future), (leaving, self.message)
        before = self.probability, damping
        link_marginals(graph, self.odds, self.message, ROUNDS, TOLERANCE, before, self.probability, arriving)
        cavities(graph, of_head, of_tail, (self.into, self.out_of, damping))
        self.into, self.out_of = arriving, leaving
        del weights, of_head  # what was is not held while models are learned
        if learn:
            self.learn(steps)

    def _weighed(self, steps: EdgeSteps, *, is_damped: bool) -> Weighed:
        """Weigh every link by its contexts; what nobody asks for any more is let go on the way."""
        model, prior = tables(self.model, self.lags).packed, self.shares.log_odds(self.movie.log_density)
        sums = sums_at_ends(self.graph, self.into, self.out_of)
        others = [self._others()]
        self.odds, self.past, self.future = (np.empty(0) for _ in range(3))
        if not is_damped:
            self.into, self.out_of = (np.empty(0) for _ in range(2))
        weights = weighed(self.graph, steps, model, prior, self.ends_by_place, sums, others.pop())
        likeness = self.likeness()
        for odds in (weights.odds, weights.without_past):
            odds *= likeness
        self.odds, self.past, self.future, self.sums = weights.odds, weights.past, weights.future, weights.sums
        return weights

    def _others(self) -> Others | None:
        """Return what links know of each other, None where they know of none."""
        if not self.linked:
            return None
        return Others(self.probability, self.into, self.out_of, self.written_past, self.future)

    @property
    def written_past(self) -> np.ndarray:
        """What comes before each link, float64 (edges, classes); nothing where links know of none."""
        return np.empty((0, len(self.model.shares))) if isinstance(self.past, Unwritten) else self.past

    def edges_that_teach(self) -> np.ndarray:
        """Return the edges over one frame that features are learned from, all of some detections, int64 (k,)."""
        graph = self.graph
        share = max(-(-len(graph) // MOST_THAT_TEACH), 1)
        return np.flatnonzero((graph.lag == 1) & (self.movie.rank[graph.tail] % share == 0))

    def taught_by(self, edges: np.ndarray, features: Features) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return how features change along some edges, and the edges' lengths and probabilities, on the host."""
        known = features.change(*self.graph.ends(edges)), self.graph.lengths(edges), self.probability[edges]
        change, length, probability = map(cuda.to_host, known)
        return change, length, probability

    @property
    def feature_gain(self) -> float:
        """Nats by which features make a link likelier than another that is as long; 0 where none are taken."""
        if self.features is None or self.feature_model is None:
            return 0.0
        change, _, probability = self.taught_by(self.edges_that_teach(), self.features)
        total = max(float(probability.sum()), TINY)
        return float((probability * np.log(self.feature_model.ratio(change))).sum()) / total

    def learn(self, steps: EdgeSteps) -> None:
        """Learn the shares and the model from the probable links."""
        self.shares, self.model, self.feature_model = self.record.learn(lambda: self._learned(steps))

    def _learned(self, steps: EdgeSteps) -> tuple[Shares, StepModel, FeatureModel | None]:
        shares = shares_of(self.movie, self.graph, self.probability, self.into, self.lags, self.border)
        total, squares = step_sums(self.graph, steps, self.probability, self.past, self.future)
        model = self.model
        if total.sum() > 1:
            # A prior of one link with the model as it is keeps classes that no link belongs to.
            first = (squares + model.first) / (total + 1)[:, None]
            model = replace(model, shares=(total + model.shares) / (total.sum() + 1), first=first)
        if self.linked and self.sums is not None and self.sums.pairs > 1:
            model = model.learned_from(self.sums)
        feature_model = self.feature_model
        if self.features is not None:
            taught = self.taught_by(self.edges_that_teach(), self.features)
            feature_model = FeatureModel.learned(*taught, feature_model)
        return shares, model.floored(), feature_model
