"""Linkers by hand, for comparison: SciPy on the components of the gate, the paper's assignment, greedy links."""

from __future__ import annotations

import itertools

import numpy as np

from ....matching.problem import Problem
from ....matching.solving import solve
from .movies import LinkingInput


def scipy_links(given: LinkingInput) -> np.ndarray:
    """Link by squared distance, two unassigned points at the squared range: KD-tree, components, dense SciPy on each.

    Returns
    -------
    int64 (links, 2)
        Rows of the table.
    """
    from scipy.optimize import linear_sum_assignment
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    links: list[np.ndarray] = []
    trees = [cKDTree(given.positions[rows]) for rows in given.frames]
    for (a, b), (a_rows, b_rows) in zip(itertools.pairwise(trees), itertools.pairwise(given.frames), strict=True):
        pairs = a.sparse_distance_matrix(b, given.search_range, output_type="coo_matrix")
        size = a.n + b.n
        graph = coo_matrix((np.ones(pairs.nnz), (pairs.row, pairs.col + a.n)), shape=(size, size))
        label = connected_components(graph, directed=False)[1][pairs.row]
        edges = np.bincount(label, minlength=1)[label]
        single = edges == 1  # two particles with no other within reach: nothing to solve
        links.append(np.column_stack([a_rows[pairs.row[single]], b_rows[pairs.col[single]]]))
        order = np.flatnonzero(~single)
        order = order[np.argsort(label[order], kind="stable")]
        cuts = np.flatnonzero(np.diff(label[order])) + 1
        for part in np.split(order, cuts) if len(order) else ():
            rows, i = np.unique(pairs.row[part], return_inverse=True)
            cols, j = np.unique(pairs.col[part], return_inverse=True)
            worth = np.zeros((len(rows), len(cols)))
            worth[i, j] = pairs.data[part] ** 2 - given.search_range**2
            r, c = linear_sum_assignment(worth)
            linked = worth[r, c] < 0
            links.append(np.column_stack([a_rows[rows[r][linked]], b_rows[cols[c][linked]]]))
    return np.concatenate(links)


def full_assignment_links(given: LinkingInput) -> np.ndarray:
    """Link as Vasconcelos & Rosenhahn do: every point of the smaller frame goes to some point of the other."""
    links: list[np.ndarray] = []
    for a, b in itertools.pairwise(given.frames):
        rows, cols = solve(Problem.points(given.positions[a], given.positions[b]), device="cpu").edges()
        links.append(np.column_stack([a[rows], b[cols]]))
    return np.concatenate(links)


def greedy_links(given: LinkingInput) -> np.ndarray:
    """Link the closest pair of points first, then the closest of those that are left, within the range."""
    from scipy.spatial import cKDTree

    links: list[np.ndarray] = []
    trees = [cKDTree(given.positions[rows]) for rows in given.frames]
    for (a, b), (a_rows, b_rows) in zip(itertools.pairwise(trees), itertools.pairwise(given.frames), strict=True):
        pairs = a.sparse_distance_matrix(b, given.search_range, output_type="coo_matrix")
        taken_a, taken_b = np.zeros(a.n, np.bool_), np.zeros(b.n, np.bool_)
        for k in np.argsort(pairs.data, kind="stable"):
            i, j = pairs.row[k], pairs.col[k]
            if not taken_a[i] and not taken_b[j]:
                taken_a[i] = taken_b[j] = True
                links.append(np.array([[a_rows[i], b_rows[j]]]))
    return np.concatenate(links)
