"""What the user's search range and unmatched cost say of links that were learned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import logsumexp

from ...points import Points
from ..motion.candidates.graph import Graph
from ..motion.detections.ordered import Ordered
from ..motion.learning.belief import Belief
from ..motion.models.shares import Ends, ends_inside
from ..motion.models.step_model import tables
from ..settings import LinkSettings
from .branching import Branches

_A_HAIR = 1e-9
"""By how much of its square a link may be longer than what pays for it exactly: it is made then, however sums round."""


def in_force(belief: Belief, settings: LinkSettings) -> tuple[np.ndarray, Ends]:
    """Return the log-odds of a link before its displacement is looked at: per look, and of its ends, by frame.

    As learned; or, where the unmatched cost is given, with that in place of the learned shares of lost and new
    particles: a link of twice that length over one frame, of which nothing but the length is known, is only just made.
    What is known of a link (the links before and after it, the neighbours' flow) counts on top of that.
    """
    movie = belief.movie
    prior, ends = belief.shares.log_odds(movie.log_density), ends_inside(movie, belief.shares)
    if settings.unmatched_cost == "auto":
        return prior, ends
    model, longest = tables(belief.model, 1), 2 * float(settings.unmatched_cost) / movie.spacing
    square = (1 + _A_HAIR) * longest**2 * model.first_precision[:, 0].mean(axis=1)  # along no axis in particular
    even = float(logsumexp(model.first_norm[:, 0] - 0.5 * square, b=model.shares))
    nothing = np.zeros(len(movie.number))
    return prior - prior[0] - even, Ends(nothing, nothing, ends.tie)


def against_unlinked(belief: Belief, settings: LinkSettings) -> np.ndarray:
    """Return what each link is worth against both its ends staying unlinked, in nats, float64 (edges,)."""
    if settings.unmatched_cost == "auto":
        return belief.weight
    graph, movie = belief.graph, belief.movie
    learned, ends = belief.shares.log_odds(movie.log_density), belief.ends
    prior, _ = in_force(belief, settings)
    return belief.weight + (prior - learned)[0] - ends.leaving[graph.tail] - ends.arriving[graph.head]


def allowed(graph: Graph, points: Points, movie: Ordered, settings: LinkSettings) -> np.ndarray:
    """Mark the links that are not longer, per frame, than search range and unmatched cost allow, bool (edges,)."""
    if settings.longest_a_frame == np.inf:
        return ~np.zeros(len(graph), bool, like=graph.head)
    if settings.predict is not None:  # steps are counted from where users expect a particle
        return movie.spacing * np.linalg.norm(graph.step, axis=1) <= settings.longest_a_frame * graph.lag
    at = np.asarray(points.positions_of(movie.row), like=graph.head)
    return np.linalg.norm(at[graph.head] - at[graph.tail], axis=1) <= settings.longest_a_frame * graph.lag


def within_reach(edges: Branches, points: Points, movie: Ordered, settings: LinkSettings) -> Branches:
    """Forbid links longer, per frame, than the search range or than twice the unmatched cost, where they are given."""
    if settings.longest_a_frame == np.inf:
        return edges
    near = allowed(edges.graph, points, movie, settings)

    weight = np.where(near, edges.weight, -np.inf)
    division, merge = (None if seconds is None else seconds.among(near) for seconds in (edges.division, edges.merge))
    return replace(edges, weight=weight, division=division, merge=merge)
