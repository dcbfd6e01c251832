"""What people bring from SciPy and networkx: a greatest sum, (rows, columns), graphs with named nodes."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment as scipy_answer

import auctrack
from auctrack.matching import Infeasible, InvalidProblem, Problem, maximum_matching, solve, verify, verify_matching

from ..refusals import refused
from .cases import JV_FORMS

DRAWS = np.random.default_rng(0)


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (1, 1), (6, 6), (4, 9), (9, 4)])
@pytest.mark.parametrize("dtype", [float, np.float32, int, np.uint8, bool])
def test_pairs_are_those_of_scipy(shape, dtype, maximize):
    cost = (
        (DRAWS.random(shape) * 200).astype(np.float32).astype(dtype) if dtype is not bool else DRAWS.random(shape) > 0.5
    )
    rows, cols = auctrack.linear_sum_assignment(cost, maximize)
    expected = scipy_answer(cost, maximize)
    assert cost[rows, cols].sum() == pytest.approx(cost[expected].sum())
    assert rows.dtype == expected[0].dtype == cols.dtype
    if dtype is float:  # no two matchings have one sum
        np.testing.assert_array_equal((rows, cols), expected)


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("wrong", [[[np.nan]], [1, 2], np.zeros((2, 2, 2)), [["a"]], [[1j]]], ids=str)
def test_what_scipy_refuses_is_refused_and_a_value_error_too(wrong, maximize):
    with pytest.raises(InvalidProblem):
        auctrack.linear_sum_assignment(wrong, maximize)
    assert issubclass(InvalidProblem, ValueError)


def test_infinite_costs_forbid_where_they_are_worst_and_are_refused_where_they_are_best():
    cost = np.array([[5.0, np.inf], [1.0, 2.0]])
    assert auctrack.linear_sum_assignment(cost)[1].tolist() == [0, 1]
    assert auctrack.linear_sum_assignment(-cost, maximize=True)[1].tolist() == [0, 1]
    for wrong, maximize in ((cost, True), (-cost, False)):
        with pytest.raises(InvalidProblem):
            auctrack.linear_sum_assignment(wrong, maximize)
    for nowhere, maximize in ((np.inf, False), (-np.inf, True)):
        with pytest.raises(Infeasible):
            auctrack.linear_sum_assignment([[nowhere, nowhere], [1.0, 2.0]], maximize)


@pytest.mark.parametrize("size", [1, 2, 10])
def test_whole_numbers_are_exact_up_to_the_limit_that_is_documented(size):
    cost = np.ones((size, size), np.int64)
    cost[0, 0] = 2**62 // (4 + 2 * size)
    assert auctrack.linear_sum_assignment(cost)[0].tolist() == list(range(size))
    cost[0, 0] += 1
    with pytest.raises(InvalidProblem, match="exact arithmetic"):
        auctrack.linear_sum_assignment(cost)
    auctrack.linear_sum_assignment(cost.astype(float))


@pytest.mark.parametrize("solver", ["auction", *JV_FORMS], ids=str)
def test_a_greatest_sum_is_proven_in_the_users_own_sign(solver):
    value = DRAWS.integers(-9, 9, (5, 7))
    answer = solve(value, solver, "cpu", maximize=True)
    rows, cols = answer.edges()
    assert answer.cost == value[rows, cols].sum() == value[scipy_answer(value, True)].sum()
    r, v = answer.row_duals, answer.col_duals
    assert (value - r[:, None] - v <= 0).all()
    assert r.sum() + v.sum() == answer.cost
    assert (answer.gap, answer.maximize) == (0, True)
    found = verify(value, answer)
    assert found
    assert found.cost == answer.cost
    assert not verify(value, solve(value, maximize=True).negated())


def test_values_of_problems_batches_and_sparse_matrices_are_maximised_less_the_unmatched_costs():
    value = DRAWS.random((3, 4, 4))
    problem = Problem.dense(value, unmatched_cost=-0.3)  # staying unassigned is rewarded
    batch = solve(problem, maximize=True)
    assert verify(problem, batch)
    for block, part in zip(batch.blocks(), value, strict=True):
        rows, cols = block.edges()
        assert block.cost == pytest.approx(part[rows, cols].sum() + 0.3 * (8 - 2 * len(rows)))
        assert (part[rows, cols] > 0.6).all()
        assert block.maximize
    sparse = sp.csr_array(value[0])
    assert solve(sparse, maximize=True).cost == pytest.approx(solve(value[0], maximize=True).cost)
    masked = Problem.dense(value[0], forbidden=np.eye(4, dtype=bool))
    assert np.all(solve(masked, maximize=True).col_of_row != np.arange(4))


def test_the_lowest_int32_has_an_opposite():
    lowest = np.array([[np.iinfo(np.int32).min, 0], [0, 0]], dtype=np.int32)
    assert solve(lowest, maximize=True).cost == 0


def test_points_cannot_be_maximised():
    with pytest.raises(InvalidProblem, match="maximize"):
        solve(Problem.points([[0.0]], [[1.0]]), maximize=True)


@pytest.fixture
def graph():
    graph = nx.Graph()
    graph.add_nodes_from(["ann", "bob", "cay"], bipartite=0)
    graph.add_nodes_from(["x", "y"], bipartite=1)
    graph.add_weighted_edges_from([("ann", "x", 3), ("x", "bob", 1), ("y", "bob", 0), ("cay", "y", 4)])
    return graph


def test_a_graph_of_networkx_is_matched_in_its_own_order_of_nodes(graph):
    matching = maximum_matching(graph)
    assert (matching.size, matching.graph.shape) == (2, (3, 2))
    assert verify_matching(graph, matching)
    answer = solve(graph)
    assert answer.col_of_row.tolist() == [0, 1, -1]  # ann x, bob y: an edge of weight 0 is one
    assert answer.cost == 3
    assert answer.is_optimal
    assert solve(graph, maximize=True).cost == 7
    assert solve(Problem.sparse(graph, unmatched_cost=1)).cost == 0 + 3


def test_what_no_bipartite_graph_is_is_refused(graph):
    isolated, inside, unweighted = graph.copy(), graph.copy(), graph.copy()
    isolated.add_node("zoe")
    inside.add_edge("ann", "bob", weight=1)
    unweighted.add_edge("ann", "y")
    for wrong in (isolated, inside, nx.DiGraph(graph), nx.MultiGraph(graph)):
        for read in (maximum_matching, solve):
            with pytest.raises(InvalidProblem, match="graph"):
                read(wrong)
    assert maximum_matching(unweighted).size == 2
    with pytest.raises(InvalidProblem, match="weight"):
        solve(unweighted)
    for no_cost in ("3", 1j, [1.0], 2**70):
        unweighted.edges["ann", "y"]["weight"] = no_cost
        with refused(InvalidProblem, argument="weight"):
            solve(unweighted)


@pytest.mark.parametrize("wrong", [np.inf, np.nan])
def test_the_greatest_sum_is_refused_by_the_sign_that_was_given(wrong):
    gains = np.array([[1.0, -np.inf], [wrong, 2.0]])
    with refused(InvalidProblem, match=rf"-inf for forbidden .*\[1, 0\] is {wrong} \(1 such\)", argument="cost"):
        auctrack.solve(gains, maximize=True)
