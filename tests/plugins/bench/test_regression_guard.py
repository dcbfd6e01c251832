"""Work that must not grow: counts on fixed instances and ratios between them, never seconds.

The ceilings leave half again of what was counted when they were set (2026-11-21), so that a change of order or of a
tie does not break them and a lost idea does.
"""

from __future__ import annotations

import pytest

from auctrack.matching import Problem, solve
from auctrack.matching.cardinality import BipartiteGraph, maximum_matching
from auctrack.matching.solvers import SOLVERS
from auctrack.plugins.bench.assignment.gated_pairs import gated_pair
from auctrack.plugins.bench.assignment.hostile_costs import one_far_point
from auctrack.plugins.bench.assignment.lap_instances import point_costs, point_pair, uniform_costs
from auctrack.plugins.bench.graphs.graph_families import FAMILIES, permuted

UNIFORM_CEILINGS = {
    ("jv", "n"): 8,
    ("jv", "10n"): 9,
    ("auction", "n"): 21,
    ("auction", "10n"): 20,
    ("hungarian-classical", "n"): 8.6,
    ("hungarian-classical", "10n"): 13.5,
    ("hungarian-tree", "n"): 16,
    ("hungarian-tree", "10n"): 28.5,
}
"""Reads a row, by solver and cost range, of 400 × 400 costs."""
GATED_CEILINGS = {7.3: 2.0, 28.8: 3.3}
"""Reads a row, by mean degree."""
GATED_SOLVERS = ("jv", "auction")


def row_reads(answer) -> float:
    """How often a row of costs is read, by bids and by shortest paths, per row."""
    return (answer.stats.get("bids", 0) + answer.stats["rows_scanned"]) / len(answer.col_of_row)


def graph_in(family: str, order: str) -> BipartiteGraph:
    """A graph of 4,096 rows, in its own order or not."""
    graph = FAMILIES[family](2**12, 12)
    return permuted(graph, 12) if order == "permuted" else graph


def test_every_solver_is_guarded():
    assert {solver for solver, _ in UNIFORM_CEILINGS} | set(GATED_SOLVERS) == set(SOLVERS)


@pytest.mark.parametrize("solver", GATED_SOLVERS)
@pytest.mark.parametrize("degree", GATED_CEILINGS)
def test_gated_pairs_are_read_a_few_times_only(solver, degree):
    assert row_reads(solve(gated_pair(5000, degree), solver, device="cpu")) < GATED_CEILINGS[degree]


@pytest.mark.parametrize(("solver", "family"), UNIFORM_CEILINGS)
def test_uniform_costs(solver, family):
    assert row_reads(solve(uniform_costs(400, family, 1), solver, device="cpu")) < UNIFORM_CEILINGS[solver, family]


@pytest.mark.parametrize("solver", ["jv", "auction"])
def test_point_sets_as_a_matrix(solver):
    assert row_reads(solve(point_costs(400, 1), solver, device="cpu")) < 4.5


@pytest.mark.parametrize(("rows", "reads"), [(100, 10), (200, 700)])
def test_an_auction_that_one_far_point_keeps_bidding_ends_its_phases(rows, reads):
    answer = solve(one_far_point(rows, 1), "auction", device="cpu")
    assert answer.is_optimal
    assert row_reads(answer) < reads


@pytest.mark.parametrize(("seed", "bids"), [(1, 4), (2, 50)], ids=["a noisy copy", "an independent set"])
def test_point_sets_without_a_matrix_look_at_few_pairs(seed, bids):
    x, y = point_pair(2000, 1)[0], point_pair(2000, seed)[1]
    stats = solve(Problem.points(x, y), "auction", device="cpu").stats
    assert stats["edges"] < 20 * len(x)
    assert stats["pricings"] <= 10
    assert stats["bids"] < bids * len(x)


@pytest.mark.parametrize(("solver", "searches"), [("hungarian-tree", 21), ("hungarian-classical", 9)])
def test_a_hungarian_search_finds_many_paths(solver, searches):
    assert solve(uniform_costs(400, "n", 1), solver, device="cpu").stats["searches"] < searches


@pytest.mark.parametrize(
    ("algorithm", "ceiling"), [("hopcroft-karp", 36), ("hkdw", 20), ("pothen-fan", 17), ("apfb", 17), ("apsb", 45)]
)
@pytest.mark.parametrize("order", ["original", "permuted"])
def test_searches_for_a_maximum_matching_end_after_few_phases(algorithm, ceiling, order):
    assert maximum_matching(graph_in("gate", order), algorithm, "cheap", "cpu").stats["phases"] < ceiling


@pytest.mark.parametrize(("family", "ceiling"), [("gate", 4.0), ("road", 4.5)])
@pytest.mark.parametrize("order", ["original", "permuted"])
def test_push_relabel_pushes_a_few_times_a_row(family, ceiling, order):
    graph = graph_in(family, order)
    matching = maximum_matching(graph, "push-relabel", "cheap", "cpu")
    assert matching.stats["pushes"] < ceiling * graph.n_rows


def test_gates_cost_no_more_per_row_when_they_grow():
    small, large = (row_reads(solve(gated_pair(n, 7.3), "jv", device="cpu")) for n in (1000, 8000))
    assert large < 1.3 * small


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("problem", "bids", "rounds"),
    [
        (lambda: Problem.dense(uniform_costs(5000, "n", 1)), 20, 200),
        (lambda: Problem.dense(point_costs(5000, 1)), 13, 90),
        (lambda: Problem.points(*point_pair(20_000, 1)), 14, 135),
        (lambda: Problem.points(point_pair(20_000, 1)[0], point_pair(20_000, 2)[1]), 57, 2800),
        (lambda: gated_pair(200_000, 7.3), 2.0, 62),
        (lambda: gated_pair(200_000, 28.8), 3.2, 262),
    ],
    ids=["uniform", "point sets", "no matrix", "independent sets", "gate of 7.3", "gate of 28.8"],
)
def test_the_auction_on_a_gpu_ends_after_few_bids_and_rounds(problem, bids, rounds):
    answer = solve(problem(), "auction", device="cuda")
    assert answer.stats["bids"] < bids * len(answer.col_of_row)
    assert answer.stats["rounds"] < rounds


@pytest.mark.gpu
@pytest.mark.parametrize(("solver", "ceiling"), [("hungarian-classical", 55), ("hungarian-tree", 29)])
def test_hungarian_methods_on_a_gpu_read_few_rows(solver, ceiling):
    answer = solve(uniform_costs(5000, "n", 1), solver, device="cuda")
    assert answer.stats["rows_scanned"] < ceiling * len(answer.col_of_row)
