"""Scores against a truth that has only some of the particles, as the Biohub cell tracking competition takes them.

What was found where nothing is annotated counts neither for nor against it. A found link is judged where its source is
a real particle that is followed on, or its target one that is followed back; a found division where its cell is
followed on. A division may come a frame early or late.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from ..calibrating.lengths import require_length
from ..points import Points, Tracks, require
from .agreement import share
from .comparison import Comparison
from .lineages import Lineages
from .names import names_of, real_particles, whole_numbers
from .point_matching import best_match, close_pairs, require_comparable

NODE_WEIGHT = 0.1
"""What too many detections take from the edge Jaccard."""

Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Counts:
    """What is right, what is wrong, and what is missing."""

    right: int
    wrong: int
    missed: int

    @property
    def judged(self) -> int:
        """All of them."""
        return self.right + self.wrong + self.missed

    @property
    def jaccard(self) -> float:
        """Right / (right + wrong + missed); NaN where there is nothing to judge."""
        return share(self.right, self.judged)


@dataclass(frozen=True)
class SparseScore:
    """Agreement with a truth that has only some of the particles.

    Parameters
    ----------
    edges, divisions : Counts
    detections : int
        All that were found, judged or not.
    node_recall : float
        Share of the annotated detections that were found.
    estimated_nodes : float
        How many detections there are in the whole movie, annotated or not; NaN where unknown.
    """

    edges: Counts
    divisions: Counts
    detections: int
    node_recall: float
    estimated_nodes: float = math.nan

    @property
    def adjusted_edge_jaccard(self) -> float:
        """The edge Jaccard, less a tenth for every time that as many detections as there are were found too many."""
        excess = (self.detections - self.estimated_nodes) / self.estimated_nodes if self.estimated_nodes else math.nan
        adjusted = self.edges.jaccard * (1 - NODE_WEIGHT * excess)
        return adjusted if math.isnan(adjusted) else max(0.0, adjusted)

    def summary(self) -> dict[str, float | int | None]:
        """Return every figure by name; None where it is undefined, as JSON wants it."""
        values: dict[str, float | int] = {
            "edge_jaccard": self.edges.jaccard,
            "division_jaccard": self.divisions.jaccard,
        }
        values |= {"adjusted_edge_jaccard": self.adjusted_edge_jaccard, "node_recall": self.node_recall}
        for name, of in (("edges", self.edges), ("divisions", self.divisions)):
            values |= {f"right_{name}": of.right, f"wrong_{name}": of.wrong, f"missed_{name}": of.missed}
        values |= {"predicted_nodes": self.detections}
        return {name: None if math.isnan(value) else value for name, value in values.items()}


def score_sparse(
    tracks: Tracks, truth: Points, *, tolerance: float = 7.0, estimated_nodes: float = math.nan
) -> SparseScore:
    """Score tracks against a truth that has only some of the particles.

    Parameters
    ----------
    tracks : Tracks
        The prediction. Rows with a negative `track_id` are detections without a track.
    truth : Points
        Annotated particles, named by `track_id` or, without that column, by `true_id`, and who divides into whom
        (`parents`, where it is `Tracks`); rows with a negative name are left out.
    tolerance : float
        Longest distance between a detection and its particle, in the unit of the calibration; the competition's is
        7 µm.
    estimated_nodes : float
        How many detections the whole movie has, for the adjusted edge Jaccard.

    Returns
    -------
    SparseScore
        With the counts of the competition's own program. As there, a frame's pairs are as many as can be, at the
        greatest sum of 1 / (1 + distance).

    Raises
    ------
    InvalidInput
        If a track or a particle is twice in one frame, names are missing, or the tables' units or dimensions differ.
    InvalidSetting
        If the tolerance is not a finite length above zero.

    Examples
    --------
    >>> from auctrack import read_tracks, score_sparse
    >>> truth = read_tracks("sample_data/movie.truth.csv")
    >>> score_sparse(truth, truth).edges.jaccard
    1.0
    """
    require(Tracks, tracks)
    require(Points, truth, "truth")
    require_length("tolerance", tolerance)
    require_comparable(tracks, truth)
    truth = real_particles(truth)
    found, real = Lineages.of(tracks, whole_numbers(tracks, "track_id")), Lineages.of(truth, names_of(truth))
    rows, columns, distance = close_pairs(tracks, truth, tolerance)
    pairs = rows, columns, distance / (1 + distance)
    compared = Comparison(found, real, _match(pairs, len(found)))
    matched = int((compared.match >= 0).sum())
    return SparseScore(
        edges=_edges(compared),
        divisions=_divisions(compared, pairs),
        detections=len(found),
        node_recall=matched / len(real) if len(real) else math.nan,
        estimated_nodes=estimated_nodes,
    )


def _match(pairs: Pairs, n: int) -> np.ndarray:
    """Pair as many as can be: staying unpaired costs two, a pair at most one."""
    return best_match(*pairs, n, 2.0)


def _edges(compared: Comparison) -> Counts:
    """Judge the found links that touch what is annotated."""
    real, match = compared.real, compared.match
    goes_on = np.append(real.out_degree > 0, False)[match]
    comes_from = np.append(real.in_degree > 0, False)[match]
    source, target = compared.found.edges.T
    judged = int((goes_on[source] | comes_from[target]).sum())
    right = int(compared.found_edge.sum())
    return Counts(right, judged - right, len(real.edges) - right)


def _divisions(compared: Comparison, pairs: Pairs) -> Counts:
    """Pair real divisions with found ones in the same part of the graph, each once."""
    found, real = compared.found, compared.real
    by_column = np.argsort(pairs[1], kind="stable")
    starts = np.searchsorted(pairs[1], np.arange(len(real) + 1), sorter=by_column)
    around = [_surroundings(real, mother) for mother in real.dividing.tolist()]
    near = [np.concatenate([by_column[starts[node] : starts[node + 1]] for node in nodes]) for nodes in around]
    rows: list[int] = []
    columns: list[int] = []
    divisions = zip(real.dividing.tolist(), around, _each_best(near, pairs), strict=True)
    for number, (mother, nodes, made) in enumerate(divisions):
        trees = _trees_that_divide(found, real, (pairs[0][made], pairs[1][made]), mother, nodes)
        dividing = np.flatnonzero(np.isin(found.tree[found.dividing], trees))
        rows += [number] * len(dividing)
        columns += dividing.tolist()
    graph = coo_array((np.ones(len(rows), bool), (rows, columns)), shape=(len(real.dividing), len(found.dividing)))
    right = int((maximum_bipartite_matching(graph.tocsr()) >= 0).sum()) if rows else 0
    at = compared.match[found.dividing]
    seen = int((real.out_degree[at[at >= 0]] > 0).sum())
    return Counts(right, max(0, seen - right), len(real.dividing) - right)


def _each_best(near: list[np.ndarray], pairs: Pairs) -> list[np.ndarray]:
    """Return of the pairs near each division, places among all, those that are best by themselves."""
    if not near:
        return []
    sizes, at = [len(own) for own in near], np.concatenate(near)
    which = np.repeat(np.arange(len(near)), sizes)
    ends = (which * (ends.max(initial=0) + 1) + ends[at] for ends in pairs[:2])  # each division has ends of its own
    row, column = (np.unique(own, return_inverse=True)[1] for own in ends)
    is_made = _match((row, column, pairs[2][at]), int(row.max(initial=-1)) + 1)[row] == column
    return [own[made] for own, made in zip(near, np.split(is_made, np.cumsum(sizes)[:-1]), strict=True)]


def _surroundings(real: Lineages, mother: int) -> list[int]:
    """Return the nodes of a division: the mother, what she was, her daughters, and what they become."""
    daughters = real.successors(mother)
    after = [node for daughter in daughters for node in real.successors(daughter)]
    return sorted({*real.predecessors(mother), mother, *daughters, *after})


def _trees_that_divide(
    found: Lineages, real: Lineages, matched: tuple[np.ndarray, np.ndarray], mother: int, nodes: list[int]
) -> list[int]:
    """Return the found trees that have the cell before its division, and both daughters or what they become.

    `matched` are found nodes and the real ones that they are.
    """
    frames, counts = np.unique(real.frame[nodes], return_counts=True)
    alone = frames[counts == 1]
    lines = [{daughter, *real.successors(daughter)} for daughter in real.successors(mother)]
    seen: dict[int, list[int]] = {}
    for tree, node in zip(found.tree[matched[0]].tolist(), matched[1].tolist(), strict=True):
        seen.setdefault(tree, []).append(node)
    return [
        tree
        for tree, of in seen.items()
        if np.isin(real.frame[of], alone).any() and sum(not line.isdisjoint(of) for line in lines) >= 2
    ]
