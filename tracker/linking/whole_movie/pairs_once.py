"""No pair twice: where particles may both divide and merge, two copies of one link would fit into an assignment.

A pair would be the second link out of the one and the second into the other at once, and count twice, which no matching
problem forbids. Where that would pay, the candidates that hang together with such a pair are an integer program. One
copy of each of their pairs is struck out, never one that the program's answer has; then no pair can be taken twice, and
the matching problem that is left has that answer.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, vstack

from ....matching.certificate.assignment import Assignment
from .groups import groups

Edges = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Rows and columns, int64 (edges,), those of second links counted on from the number of detections, and weights."""
MOST_PROGRAMMED = 5_000
"""Candidates of a group up to which it is made an integer program. Of larger ones the cheaper copy is struck out."""


def pairs_taken_twice(proof: Assignment, n: int) -> np.ndarray:
    """Return the pairs of detections that two links of an answer join, as source · n + target, int64 (pairs,)."""
    return _twice(_pair(*proof.edges(), n))


def each_once(edges: Edges, n: int, solve: Callable[[Edges], Assignment]) -> tuple[Edges, float]:
    """Strike out copies of links until no pair is taken twice.

    Parameters
    ----------
    edges : tuple
    n : int
        Detections.
    solve : callable
        Returns the best links among some edges.

    Returns
    -------
    tuple, float
        The edges that are left; and what links among all of them, no pair taken twice, could be worth more than the
        best among those that are left: 0, unless a group was too large for an integer program.
    """
    row, col, weight = edges
    pair, group, copy = _pair(row, col, n), groups(row % n, col % n), (row >= n) | (col >= n)
    keep, asked = np.ones(len(row), bool), weight.copy()
    made = _made(edges, keep, n, solve)
    doubled = np.unique(group[np.isin(pair, _twice(pair[made]))])
    is_large = np.isin(group, doubled) & (np.bincount(group)[group] > MOST_PROGRAMMED)
    relaxed = float(weight[made & is_large].sum())
    for of in (np.flatnonzero(group == number) for number in np.setdiff1d(doubled, group[is_large])):
        asked[of[_program(row[of], col[of], pair[of], weight[of])]] = np.inf
        keep[_cheapest_of_each(pair, asked, of[copy[of]])] = False
    while len(twice := _twice(pair[made := _made(edges, keep, n, solve)])):
        keep[_cheapest_of_each(pair, weight, np.flatnonzero(np.isin(pair, twice) & copy & keep))] = False
    return (row[keep], col[keep], weight[keep]), relaxed - float(weight[made & is_large].sum())


def _pair(row: np.ndarray, col: np.ndarray, n: int) -> np.ndarray:
    return (row % n) * n + col % n


def _twice(pairs: np.ndarray) -> np.ndarray:
    pair, times = np.unique(pairs, return_counts=True)
    return pair[times > 1]


def _made(edges: Edges, keep: np.ndarray, n: int, solve: Callable[[Edges], Assignment]) -> np.ndarray:
    """Mark the best links among some of the edges."""
    row, col, weight = edges
    links = solve((row[keep], col[keep], weight[keep])).edges()
    return keep & np.isin(row * (2 * n) + col, links[0] * (2 * n) + links[1])


def _program(row: np.ndarray, col: np.ndarray, pair: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Mark the best links of a group, no row, no column and no pair twice."""
    members = [np.unique(member, return_inverse=True)[1] for member in (row, col, pair)]
    ones, edge = np.ones(len(row), np.int64), np.arange(len(row))
    limits = LinearConstraint(vstack([csr_array((ones, (member, edge))) for member in members]), ub=1)
    found = milp(-weight, integrality=ones, bounds=Bounds(0, 1), constraints=limits, options={"mip_rel_gap": 0.0})
    assert found.x is not None  # no link at all is an answer too
    return found.x > 0.5


def _cheapest_of_each(pair: np.ndarray, weight: np.ndarray, copies: np.ndarray) -> np.ndarray:
    """Return, of pairs that have two copies, the one worth less."""
    copies = copies[np.lexsort((weight[copies], pair[copies]))]
    follows = pair[copies[1:]] == pair[copies[:-1]]
    return copies[:-1][follows]
