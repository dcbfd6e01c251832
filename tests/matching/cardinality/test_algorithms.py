"""Every algorithm finds the maximum, from every start, on every named graph, and proves it."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.matching.cardinality import (
    ALGORITHMS,
    INITIAL_MATCHINGS,
    BipartiteGraph,
    maximum_matching,
    verify_matching,
)
from auctrack.matching.errors import InvalidProblem

from ...refusals import refused

VARIANTS = [
    *((name, {}) for name in ALGORITHMS),
    *(("auto", {"kind": kind}) for kind in ("uneven", "thin", "ordered", "general")),
    ("push-relabel", {"k": 0.01}),
    ("push-relabel", {"first_relabel": False, "pushes_per_level": 1.0}),
    *(("push-relabel", {"k": 0.02, "few": 1.0, "first_relabel": exact}) for exact in (False, True)),
    ("p-dbfs", {"threads": 1}),
    ("parallel-pothen-fan", {"threads": 1}),
    ("parallel-hopcroft-karp", {"threads": 1}),
    *((name, {"threads": 5}) for name in ("p-dbfs", "parallel-pothen-fan", "parallel-hopcroft-karp")),
    *(
        (name, {"bfs": bfs, "launch": launch})
        for name in ("apfb", "apsb")
        for bfs in ("gpubfs", "gpubfs-wr")
        for launch in ("ct", "mt")
    ),
    *(
        ("g-pr", {"form": form, "strategy": strategy})
        for form in ("first", "active", "shrink")
        for strategy in (("adaptive", 0.3), ("fix", 5))
    ),
    ("g-pr", {"gap": True, "strategy": ("fix", 1000)}),
]


def _id(variant):
    name, options = variant
    return " ".join([name, *(f"{key}={value}" for key, value in options.items())])


@pytest.mark.parametrize("variant", VARIANTS, ids=_id)
def test_finds_and_proves_the_maximum(edges, maximum, variant):
    algorithm, options = variant
    matching = maximum_matching(edges, algorithm, device="cpu", **options)
    assert matching.size == maximum
    assert verify_matching(edges, matching) == maximum


@pytest.mark.parametrize("initial", INITIAL_MATCHINGS)
@pytest.mark.parametrize("algorithm", ["auto", "hopcroft-karp", "push-relabel", "apfb", "g-pr"])
def test_the_start_changes_the_way_not_the_size(edges, maximum, algorithm, initial):
    matching = maximum_matching(edges, algorithm, initial, "cpu")
    assert matching.initial == initial
    assert verify_matching(edges, matching) == maximum


@pytest.mark.parametrize("initial", [name for name in INITIAL_MATCHINGS if name != "none"])
def test_starts_are_maximal(edges, maximum, initial):
    graph = BipartiteGraph.from_any(edges)
    col_of_row, row_of_col = np.full(graph.n_rows, -1, np.int32), np.full(graph.n_columns, -1, np.int32)
    INITIAL_MATCHINGS[initial](graph, col_of_row, row_of_col)
    pairs = edges.tocoo()
    assert not np.any((col_of_row[pairs.row] < 0) & (row_of_col[pairs.col] < 0)), "an edge joins two free vertices"
    rows = np.flatnonzero(col_of_row >= 0)
    assert np.array_equal(row_of_col[col_of_row[rows]], rows)
    assert 2 * len(rows) >= maximum


@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if "parallel" not in name and name != "p-dbfs"])
def test_sequential_algorithms_are_deterministic(edges, algorithm):
    first, second = (maximum_matching(edges, algorithm, device="cpu") for _ in range(2))
    assert np.array_equal(first.col_of_row, second.col_of_row)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_given_matching_is_extended(edges, maximum, algorithm):
    """Augmenting keeps matched vertices matched, so the rows of the start stay matched (pushes may move rows)."""
    start = maximum_matching(edges, "hopcroft-karp", "cheap").col_of_row.copy()
    start[::2] = -1
    matching = maximum_matching(edges, algorithm, start, "cpu")
    assert matching.initial == "given"
    assert matching.stats["initial_size"] == np.count_nonzero(start >= 0)
    assert verify_matching(edges, matching) == maximum


def test_the_start_is_not_written_to():
    start = np.full(3, -1)
    maximum_matching(np.ones((3, 3), bool), initial=start, device="cpu")
    assert np.all(start == -1)


@pytest.mark.parametrize(
    ("start", "named"),
    [
        ([0, 0, -1], r"0 and 1 .* 0"),
        ([1, -1, -1], r"\(0, 1\)"),
        ([3, -1, -1], r"\[-1, 3\)"),
        ([-2, -1, -1], r"\[-1, 3\)"),
        ([0, 1], r"\(2,\)"),
        ([0.0, 1.0, 2.0], "float64"),
    ],
)
def test_a_start_that_is_no_matching_is_refused(start, named):
    with refused(InvalidProblem, argument="initial", match=named):
        maximum_matching(np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1]], bool), initial=start, device="cpu")


@pytest.mark.parametrize(
    "call",
    [
        {"algorithm": "blossom"},
        {"initial": "lucky"},
        {"initial": [[0], [0, 1]]},
        {"device": "tpu"},
        {"device": "cuda:x"},
        {"device": ["cuda:0", "cuda:1"]},
        {"algorithm": "hopcroft-karp", "k": 2},
        {"algorithm": "push-relabel", "form": "first"},
        {"algorithm": "pothen-fan", "max_visits": 0},
        {"kind": "odd"},
        {"algorithm": "push-relabel", "k": 0},
        {"algorithm": "push-relabel", "k": "x"},
        {"algorithm": "push-relabel", "pushes_per_level": -1},
        {"algorithm": "push-relabel", "few": float("nan")},
        {"algorithm": "apfb", "bfs": "dfs"},
        {"algorithm": "apsb", "launch": "xt"},
        {"algorithm": "g-pr", "form": "last"},
        {"algorithm": "g-pr", "strategy": ("adaptive", 0)},
        {"algorithm": "g-pr", "strategy": "fix"},
        {"algorithm": "g-pr", "strategy": ("fix", "x")},
        {"algorithm": "p-dbfs", "threads": 0},
        {"algorithm": "p-dbfs", "threads": 1.5},
    ],
)
def test_wrong_options_are_named(call):
    with refused(InvalidProblem, argument=list(call)[-1]):
        maximum_matching(np.ones((2, 2), bool), **{"device": "cpu", **call})


def test_results_say_what_ran():
    matching = maximum_matching(np.eye(3, dtype=bool), "hopcroft-karp", device="cpu")
    assert (matching.algorithm, matching.initial, matching.device) == ("hopcroft-karp", "cheap", "cpu")
    assert set(matching.stats["seconds"]) == {"initial", "search"}
    assert matching.stats["phases"] == 1
