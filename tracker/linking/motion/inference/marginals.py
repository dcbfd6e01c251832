"""How probable each candidate link is, given the weights of all: belief propagation on the graph of the movie.

A link's weight is its log-likelihood against both its ends staying unlinked. The messages converge to the Bethe
approximation of the marginals (Chertkov, Kroc & Vergassola, 2008): over-confident on short cycles, but cheap.
"""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

import numpy as np

from .....matching.jit.compiled import compiled
from .....matching.jit.threads import side_by_side
from ..candidates.graph import Graph
from . import gpu_marginals


def link_marginals(
    graph: Graph,
    odds: np.ndarray,
    message: np.ndarray,
    rounds: int,
    tolerance: float,
    before: tuple[np.ndarray, float],
    probability: np.ndarray,
    arriving: np.ndarray,
) -> None:
    """Write the probability of each edge.

    Every sum leaves its largest term out, so that this is never taken off again: it would take all digits with it.

    Parameters
    ----------
    graph : Graph
    odds : float64 (edges,)
        The exponentials of the weights.
    message : float64 (edges,)
        From columns to rows, between 0 and 1; written to. Ones to start with, or those of an earlier sweep.
    rounds, tolerance : int, float
        When to stop: rounds at most, or when no message changes by more.
    before : float64 (edges,), float
        Earlier probabilities, and what they count in the new ones, which may take their place.
    probability, arriving : float64 (edges,)
        Written to; the second are the messages from rows to columns: the odds of each edge by all that its column does
        not know.
    """
    if graph.on_gpu:
        gpu_marginals.link_marginals(graph.ways, odds, message, rounds, tolerance, before, probability, arriving)
        return
    asked, answered = (graph.indptr, odds, message), (*graph.incoming, arriving, message)
    for _ in range(rounds):
        side_by_side(lambda piece: _ask(*piece[:2], *asked, arriving), graph.pieces)
        changes = side_by_side(lambda piece: _answer(*piece[:2], *answered), graph.pieces)
        if max(changes) < tolerance:
            break
    side_by_side(lambda piece: _conclude(*piece[:2], *asked, *before, probability), graph.pieces)


def cavities(
    graph: Graph,
    arriving: tuple[np.ndarray, np.ndarray],
    leaving: tuple[np.ndarray, np.ndarray],
    before: tuple[np.ndarray, np.ndarray, float],
) -> None:
    """Turn odds into the probability of each edge among those of its head, and among those of its tail, in place.

    Parameters
    ----------
    graph : Graph
    arriving, leaving : pair of float64 (edges,)
        Odds against staying unlinked, to be written to, and what they are to be multiplied by. They must not contain
        what they will be asked for: an edge to which its own probability comes back from its neighbours grows too sure.
    before : float64 (edges,), float64 (edges,), float
        Earlier probabilities of either kind, and what they count in the new ones.
    """
    if graph.on_gpu:
        gpu_marginals.cavities(graph.ways, arriving, leaving, before)
        return
    side_by_side(lambda piece: _shared_out(*piece[:2], *graph.ways, *arriving, *leaving, *before), graph.pieces)


@compiled(inline="always")
def _terms(of, indptr, odds, message):
    """Return one, for staying unlinked, and the terms of a row's edges but for the largest; and the largest."""
    rest, largest = 1.0, 0.0
    for e in range(np.uint64(indptr[of]), np.uint64(indptr[of + 1])):  # unsigned: see `graph._between`
        rest, largest = _beside_the_largest(odds[e] * message[e], rest, largest)
    return rest, largest


@compiled(inline="always")
def _beside_the_largest(term, rest, largest):
    """Return the sum of the terms but for the largest, and the largest, with a term more."""
    # Without a branch, and without a look for NaN: which of an edge's rivals is the largest cannot be predicted.
    is_less = term < largest
    return rest + (term if is_less else largest), largest if is_less else term


@compiled(error_model="numpy")
def _ask(first, last, indptr, odds, message, arriving):
    """Write what the edges of rows bring to their columns."""
    for i in range(first, last):
        rest, largest = _terms(i, indptr, odds, message)
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            arriving[e] = odds[e] / (rest + (largest - odds[e] * message[e]))


@compiled(error_model="numpy")
def _answer(first, last, in_ptr, in_edge, arriving, message):
    """Write what columns answer; return by how much an answer changes at most."""
    change = 0.0
    for j in range(first, last):
        rest, largest = 1.0, 0.0
        begin, end = np.uint64(in_ptr[j]), np.uint64(in_ptr[j + 1])
        for at in range(begin, end):
            rest, largest = _beside_the_largest(arriving[np.uint64(in_edge[at])], rest, largest)
        for at in range(begin, end):
            e = np.uint64(in_edge[at])
            new = 1.0 / (rest + (largest - arriving[e]))
            moved = abs(new - message[e])
            change = max(change, moved)
            message[e] = new
    return change


@compiled(error_model="numpy")
def _conclude(first, last, indptr, odds, message, before, damping, probability):
    for i in range(first, last):
        rest, largest = _terms(i, indptr, odds, message)
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            probability[e] = _damped(odds[e] * message[e] / (rest + largest), before[e], damping)


@compiled(error_model="numpy")
def _shared_out(
    first, last, indptr, in_ptr, in_edge, arriving, by_arriving, leaving, by_leaving, into, out_of, damping
):
    for i in range(first, last):
        came, went = 1.0, 1.0
        begin, end = np.uint64(in_ptr[i]), np.uint64(in_ptr[i + 1])
        for at in range(begin, end):
            e = np.uint64(in_edge[at])
            came += arriving[e] * by_arriving[e]
        for at in range(begin, end):
            e = np.uint64(in_edge[at])
            arriving[e] = _damped(arriving[e] * by_arriving[e] / came, into[e], damping)
        begin, end = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        for e in range(begin, end):
            went += leaving[e] * by_leaving[e]
        for e in range(begin, end):
            leaving[e] = _damped(leaving[e] * by_leaving[e] / went, out_of[e], damping)


@compiled
def _damped(now, before, damping):
    """Return a new value, and the old one as far as changes are damped."""
    return now * (1.0 - damping) + damping * before if damping > 0.0 else now
