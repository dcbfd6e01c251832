"""The answer: one exact assignment for the whole movie, links over all numbers of frames side by side.

Rows are detections as tails, columns as heads. Where particles may divide, each row has a copy whose links are the
second ones of a mother; where they may merge, each column has one. A copy's link is worth no more than the same link of
the original, so a copy is taken only where the original is taken too, and the assignment stays exact.

With both kinds of copies a pair could be taken twice, which no assignment can forbid: `pairs_once` sees to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....matching.certificate.assignment import Assignment
from ....matching.problem import Problem
from ....matching.solving import solve
from ..motion.candidates.graph import Graph
from ..motion.candidates.matching_problem import matching_problem
from ..trust.margins import link_margins
from .pairs_once import Edges, each_once, pairs_taken_twice


@dataclass(frozen=True)
class Answer:
    """The best links of a movie, and the proof.

    Attributes
    ----------
    source, target : int64 (links,)
        Detections.
    margin : float64 (links,)
        What the best answer without the link loses, in the unit of the weights.
    is_second : bool (links,)
        Whether it is the second link out of its source, or into its target.
    problem : Problem
        Rows and columns are detections as tails and heads, then their copies.
    proof : Assignment
        With duals and gap; what remains of the copies included.
    shortfall : float
        What other links could be worth more at most, where a pair would have been taken twice; 0 elsewhere.
    """

    source: np.ndarray
    target: np.ndarray
    margin: np.ndarray
    is_second: np.ndarray
    problem: Problem
    proof: Assignment
    shortfall: float = 0.0


def best_links(
    graph: Graph,
    weight: np.ndarray,
    division: np.ndarray | None = None,
    merge: np.ndarray | None = None,
    *,
    closed: tuple[np.ndarray, np.ndarray] | None = None,
    solver: str = "auto",
    device: str = "auto",
) -> Answer:
    """Return the links whose weights have the largest sum.

    Parameters
    ----------
    graph : Graph
    weight : float64 (edges,)
        What a link is worth against both its ends staying unlinked there.
    division, merge : float64 (edges,), optional
        What it is worth as the second link out of its tail, or into its head; −inf where it cannot be one. Not given:
        nothing divides, or merges.
    closed : bool (rows,), bool (columns,), optional
        Members that are not to be linked, copies included: a confirmed link has their place.
    solver, device : str
        See `auctrack.matching.solve`.

    Returns
    -------
    Answer
    """
    shape = graph.n * (1 + (division is not None)), graph.n * (1 + (merge is not None))
    closed = closed or (np.zeros(shape[0], bool), np.zeros(shape[1], bool))
    links = _open(_layers(graph, weight, division, merge), closed)
    return best_of(*links, graph.n, closed, solver=solver, device=device)


def _layers(
    graph: Graph, weight: np.ndarray, division: np.ndarray | None, merge: np.ndarray | None
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return rows, columns and weights of first links, and of second ones out of a tail and into a head."""
    layers = [(graph.tail, graph.head, weight)]
    if division is not None:
        layers.append((graph.tail + np.int64(graph.n), graph.head, np.minimum(division, weight)))
    if merge is not None:
        layers.append((graph.tail, graph.head + np.int64(graph.n), np.minimum(merge, weight)))
    return layers


def best_of(
    row: np.ndarray,
    col: np.ndarray,
    weight: np.ndarray,
    n: int,
    closed: tuple[np.ndarray, np.ndarray],
    *,
    solver: str = "auto",
    device: str = "auto",
) -> Answer:
    """Return the best of links that are worth something, between open ends.

    Parameters
    ----------
    row, col : int32 or, with second links, int64 (edges,)
        Sorted; those of second links counted on from `n`.
    weight : float64 (edges,)
    n : int
        Detections.
    closed : bool (rows,), bool (columns,)
    solver, device : str
    """

    def solved(edges: Edges) -> tuple[Problem, Assignment]:
        problem = matching_problem(*edges, (len(closed[0]), len(closed[1])))
        return problem, solve(problem, solver, device)

    edges, shortfall = (row, col, weight), 0.0
    problem, proof = solved(edges)
    if n and len(pairs_taken_twice(proof, n)):
        edges, shortfall = each_once(edges, n, lambda edges: solved(edges)[1])
        problem, proof = solved(edges)
    margin = link_margins(problem, proof) if max(problem.shape) == n else _margins_of_pairs(edges, proof, n)
    row, col = proof.edges()
    source, target = row % max(n, 1), col % max(n, 1)
    # Where both are worth the same, the copy may have been taken alone: then its link is the first.
    first_taken = (proof.col_of_row >= 0) | closed[0], (proof.row_of_col >= 0) | closed[1]
    first_taken = first_taken[0][source], first_taken[1][target]
    is_second = ((row >= n) & first_taken[0]) | ((col >= n) & first_taken[1])
    return Answer(source, target, margin, is_second, problem, proof, shortfall)


def _margins_of_pairs(edges: Edges, proof: Assignment, n: int) -> np.ndarray:
    """Return what the best answer loses without each pair, neither as a first link nor as a second, float64 (links,).

    A first link that could be the second one instead would lose next to nothing, and look unsure. Other links of its
    kind keep their places meanwhile: where first and second links are worth different things, it may lose less.
    """
    row, col, weight = edges
    links, shape = proof.edges(), (len(proof.col_of_row), len(proof.row_of_col))
    place, made = (ends[0] * shape[1] + ends[1] for ends in ((row, col), links))
    pair, pair_made = ((ends[0] % n) * n + ends[1] % n for ends in ((row, col), links))
    is_second = (links[0] >= n) | (links[1] >= n)
    margin = np.empty(len(made))
    for of in (is_second, ~is_second):
        keep = np.isin(place, made[of]) | ~np.isin(pair, pair_made[of])
        margin[of] = link_margins(matching_problem(row[keep], col[keep], weight[keep], shape), proof)[of]
    return margin


def _open(
    layers: list[tuple[np.ndarray, np.ndarray, np.ndarray]], closed: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, columns and weights of the links between open ends that are worth something, sorted."""
    worth = [weight > 0 for _, _, weight in layers]
    for side in (0, 1):
        if closed[side].any():
            worth = [mask & ~closed[side][layer[side]] for mask, layer in zip(worth, layers, strict=True)]
    parts = [[column[mask] for column in layer] for layer, mask in zip(layers, worth, strict=True)]
    if len(parts) == 1:
        row, col, weight = parts[0]
        return row, col, weight
    row, col, weight = map(np.concatenate, zip(*parts, strict=True))
    order = np.lexsort((col, row))
    return row[order], col[order], weight[order]
