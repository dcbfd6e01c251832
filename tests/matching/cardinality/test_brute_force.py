"""On all small graphs that hypothesis can think of, the answers equal those of trying everything."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as stn

from auctrack.matching.cardinality import (
    ALGORITHMS,
    INITIAL_MATCHINGS,
    BipartiteGraph,
    edges_in_no_maximum_matching,
    hall_violator,
    maximum_matching,
    verify_matching,
)

MASKS = st.tuples(st.integers(0, 5), st.integers(0, 5)).flatmap(lambda shape: stn.arrays(bool, shape))
few = settings(deadline=None, max_examples=60, derandomize=True)


def maximum_matchings(mask):
    """Every maximum matching, as sets of (row, column)."""
    pairs = list(zip(*np.nonzero(mask), strict=True))
    for size in range(min(mask.shape), -1, -1):
        found = [
            set(zip(rows, columns, strict=True))
            for rows in combinations(range(mask.shape[0]), size)
            for columns in permutations(range(mask.shape[1]), size)
            if all(mask[i, j] for i, j in zip(rows, columns, strict=True))
        ]
        if found:
            return found
    raise AssertionError(pairs)


@few
@given(MASKS)
def test_every_algorithm_reaches_the_maximum(mask):
    size = len(maximum_matchings(mask)[0])
    for algorithm in ALGORITHMS:
        for initial in INITIAL_MATCHINGS:
            matching = maximum_matching(mask, algorithm, initial, "cpu")
            assert verify_matching(mask, matching) == size, (algorithm, initial)


@few
@given(MASKS)
def test_edges_in_no_maximum_matching(mask):
    used = set().union(*maximum_matchings(mask))
    graph = BipartiteGraph.from_any(mask)
    unused = edges_in_no_maximum_matching(graph, maximum_matching(graph, device="cpu"))
    edges = list(zip(*(axis.tolist() for axis in np.nonzero(mask)), strict=True))
    assert {edge for edge, flag in zip(edges, unused, strict=True) if flag} == set(edges) - used


@few
@given(MASKS)
def test_hall_violator_is_the_deficiency(mask):
    deficiency = mask.shape[0] - len(maximum_matchings(mask)[0])
    graph = BipartiteGraph.from_any(mask)
    rows, columns = hall_violator(graph, maximum_matching(graph, device="cpu"))
    assert len(rows) - len(columns) == deficiency
    assert (len(rows) == 0) == (deficiency == 0)
    assert set(np.flatnonzero(mask[rows].any(axis=0))) == set(columns)
