"""How probable each candidate link is, given the weights of all: belief propagation on the graph of the movie.

A link's weight is its log-likelihood against both its ends staying alone. The messages converge to the Bethe
approximation of the marginals (Chertkov, Kroc & Vergassola, 2008): over-confident on short cycles, but cheap.
"""

# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def link_marginals(tail, head, n, odds, message, rounds, tolerance, probability, arriving):
    """Write the probability of each edge.

    Every sum leaves its largest term out, so that this is never taken off again: it would take all digits with it.

    Parameters
    ----------
    tail, head : int32 (edges,)
        Edges of a graph of `n` rows and as many columns.
    n : int
    odds : float64 (edges,)
        The exponentials of the weights.
    message : float64 (edges,)
        From columns to rows, between 0 and 1; written to. Ones to start with, or those of an earlier sweep.
    rounds, tolerance : int, float
        When to stop: rounds at most, or when no message changes by more.

    probability, arriving : float64 (edges,)
        Written to; the second are the messages from rows to columns: the odds of each edge by all that its column does
        not know.
    """
    # Per row and per column: one, for staying alone, and the terms of its edges but for the largest; the largest.
    rows, cols = np.empty((n, 2)), np.empty((n, 2))
    _clear(rows)
    for e in range(len(head)):
        _add(rows, tail[e], odds[e] * message[e])
    for _ in range(rounds):
        _clear(cols)
        for e in range(len(head)):
            arriving[e] = odds[e] / _others(rows, tail[e], odds[e] * message[e])
            _add(cols, head[e], arriving[e])
        _clear(rows)
        change = 0.0
        for e in range(len(head)):
            new = 1.0 / _others(cols, head[e], arriving[e])
            change = max(change, abs(new - message[e]))
            message[e] = new
            _add(rows, tail[e], odds[e] * new)
        if change < tolerance:
            break
    for e in range(len(head)):
        probability[e] = odds[e] * message[e] / (rows[tail[e], 0] + rows[tail[e], 1])


@njit(cache=True, nogil=True)
def _clear(sums):
    for i in range(len(sums)):
        sums[i, 0], sums[i, 1] = 1.0, 0.0


@njit(cache=True, nogil=True)
def _add(sums, i, term):
    """Add a term, without a branch: which of an edge's rivals is the largest cannot be foretold."""
    largest = sums[i, 1]
    sums[i, 0] += min(term, largest)
    sums[i, 1] = max(term, largest)


@njit(cache=True, nogil=True)
def _others(sums, i, term):
    """Return the sum of all terms but this one."""
    return sums[i, 0] + (sums[i, 1] - term)


@njit(cache=True, nogil=True, error_model="numpy")
def cavities(tail, head, n, arriving, leaving):
    """Turn odds into the probability of each edge among those of its head, and among those of its tail, in place.

    `arriving`, `leaving` are odds against staying alone, float64 (edges,), which must not contain what they will be
    asked for: an edge that hears its own voice from its neighbours grows too sure of itself.
    """
    rows, cols = np.ones(n), np.ones(n)
    for e in range(len(head)):
        rows[tail[e]] += leaving[e]
        cols[head[e]] += arriving[e]
    for e in range(len(head)):
        arriving[e] /= cols[head[e]]
        leaving[e] /= rows[tail[e]]
