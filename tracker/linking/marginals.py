"""How probable each candidate link is, given the weights of all: belief propagation on the graph of the movie.

A link's weight is its log-likelihood against both its ends staying alone. The messages converge to the Bethe
approximation of the marginals (Chertkov, Kroc & Vergassola, 2008): over-confident on short cycles, but cheap.
"""

# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

import numpy as np
from numba import njit

LARGEST = 300.0
"""Weights in nats beyond which all are as sure as this."""


@njit(cache=True, nogil=True)
def link_marginals(indptr, head, weight, message, rounds, tolerance):
    """Return the probability of each edge.

    Parameters
    ----------
    indptr, head : int (n + 1,), (edges,)
        CSR graph; as many columns as rows.
    weight : float64 (edges,)
        In nats.
    message : float64 (edges,)
        From columns to rows, between 0 and 1; written to. Ones to start with, or those of an earlier sweep.
    rounds, tolerance : int, float
        When to stop: rounds at most, or when no message changes by more.

    Returns
    -------
    probability, arriving : float64 (edges,)
        And the messages from rows to columns: the odds of each edge by all that its column does not know.
    """
    n = len(indptr) - 1
    odds = np.exp(np.minimum(np.maximum(weight, -LARGEST), LARGEST))
    alpha = np.empty(len(head))
    rest = np.empty(n)
    top = np.empty(n)
    best = np.empty(n, np.int64)
    for _ in range(rounds):
        rest[:], top[:], best[:] = 1.0, 0.0, -1
        for i in range(n):
            _row_messages(indptr[i], indptr[i + 1], odds, message, alpha)
            for e in range(indptr[i], indptr[i + 1]):
                j = head[e]
                if alpha[e] > top[j]:
                    rest[j] += top[j]
                    top[j], best[j] = alpha[e], e
                else:
                    rest[j] += alpha[e]
        change = 0.0
        for e in range(len(head)):
            j = head[e]
            others = rest[j] if best[j] == e else rest[j] + top[j] - alpha[e]
            new = 1.0 / max(others, 1.0)
            change = max(change, abs(new - message[e]))
            message[e] = new
        if change < tolerance:
            break
    probability = np.empty(len(head))
    for i in range(n):
        total = 1.0
        for e in range(indptr[i], indptr[i + 1]):
            total += odds[e] * message[e]
        for e in range(indptr[i], indptr[i + 1]):
            probability[e] = odds[e] * message[e] / total
    return probability, alpha


@njit(cache=True, nogil=True, inline="always")
def _row_messages(first, last, odds, message, alpha):
    """Write alpha = odds / (1 + the row's others); the largest is left out of the sum, never taken off again."""
    rest, top, best = 1.0, 0.0, -1
    for e in range(first, last):
        x = odds[e] * message[e]
        if x > top:
            rest += top
            top, best = x, e
        else:
            rest += x
    for e in range(first, last):
        others = rest if e == best else rest + top - odds[e] * message[e]
        alpha[e] = odds[e] / max(others, 1.0)


@njit(cache=True, nogil=True)
def cavities(indptr, in_ptr, in_edge, arriving, leaving):
    """Return the probability of each edge among those of its head, and among those of its tail.

    `arriving`, `leaving` are odds against staying alone, float64 (edges,), which must not contain what they will be
    asked for: an edge that hears its own voice from its neighbours grows too sure of itself.
    """
    into, out = np.empty(len(arriving)), np.empty(len(arriving))
    for i in range(len(indptr) - 1):
        total = 1.0
        for e in range(indptr[i], indptr[i + 1]):
            total += leaving[e]
        for e in range(indptr[i], indptr[i + 1]):
            out[e] = leaving[e] / total
        total = 1.0
        for at in range(in_ptr[i], in_ptr[i + 1]):
            total += arriving[in_edge[at]]
        for at in range(in_ptr[i], in_ptr[i + 1]):
            into[in_edge[at]] = arriving[in_edge[at]] / total
    return into, out
