"""The tree of boxes answers as trying all pairs does."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from auctrack.matching import Problem
from auctrack.matching.points.box_tree import build_tree, cheapest_columns, nearest
from auctrack.matching.points.hilbert import hilbert_orders
from auctrack.matching.points.pricing import contradictions
from auctrack.matching.problem import costs

RNG = np.random.default_rng(0)
SIZES = [(1, 1), (9, 3), (300, 70), (500, 600)]


def ordered(n: int, m: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    x, y = RNG.random((n, d)), RNG.random((m, d)) ** 3
    row_order, col_order = hilbert_orders(x, y)
    assert sorted(row_order) == list(range(n))
    return x[row_order], y[col_order]


def test_hilbert_neighbours_are_neighbours_in_space():
    grid = np.stack(np.meshgrid(*[np.arange(8.0)] * 3), -1).reshape(-1, 3)
    order, _ = hilbert_orders(grid, grid)
    steps = abs(np.diff(grid[order], axis=0)).sum(axis=1)
    assert (steps == 1).all()


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize(("n", "m"), SIZES)
def test_nearest_are_those_of_a_kd_tree(n: int, m: int, d: int):
    x, y = ordered(n, m, d)
    k = min(5, m)
    places, squares = nearest(build_tree(y), build_tree(x).points, k, n)
    expected = cKDTree(y).query(x, range(1, k + 1))[0]
    np.testing.assert_allclose(np.sqrt(squares), expected, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(cdist(x, y)[np.arange(n)[:, None], places], expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize(("n", "m"), SIZES)
def test_cheapest_columns_are_those_of_all_pairs(n: int, m: int, d: int, squared: bool):
    x, y, v = RNG.random((n, d)), RNG.random((m, d)), RNG.normal(size=m)
    cost = costs.pair_costs(x, y, "squared" if squared else "distance")
    cols = cheapest_columns(x, y, v, squared)
    np.testing.assert_array_equal((cost - v)[np.arange(n), cols], (cost - v).min(axis=1))


def test_row_duals_are_the_same_through_the_tree_and_through_all_pairs(monkeypatch: pytest.MonkeyPatch):
    problem = Problem.points(RNG.random((300, 3)), RNG.random((310, 3)))
    v = -RNG.random(310)
    expected = costs.best_row_duals(problem, v)
    monkeypatch.setattr(costs, "ALL_PAIRS", 0)
    found = costs.best_row_duals(problem, v)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("squared", [False, True])
def test_contradictions_are_the_pairs_of_negative_slack(squared: bool):
    x, y = ordered(200, 220, 3)
    cost = costs.pair_costs(x, y, "squared" if squared else "distance")
    v = RNG.normal(scale=0.1, size=220)
    r = (cost - v).min(axis=1) + RNG.uniform(-0.02, 0.05, 200)
    r[::7] = -np.inf
    columns, counts = contradictions(build_tree(y), build_tree(x).points, r, v, squared, 300)
    for i in range(200):
        assert set(columns[i, : counts[i]]) == set(np.flatnonzero(cost[i] - v < r[i]))
        slack = (cost[i] - v)[columns[i, : counts[i]]]
        assert (np.diff(slack) >= 0).all()


@pytest.mark.parametrize("squared", [False, True])
def test_a_contradiction_is_whatever_is_more_than_rounding(squared: bool):
    """What a weaker bound lets pass is a wrong edge: 1e-12 of the costs is seen, their own rounding is not."""
    x, y = np.random.default_rng(6).random((2, 80, 3))
    cost = ((x[:, None] - y) ** 2).sum(axis=-1) if squared else np.linalg.norm(x[:, None] - y, axis=-1)
    v = np.random.default_rng(7).random(80)
    least = (cost - v).min(axis=1)
    tree, rows = build_tree(y), build_tree(x).points
    assert not contradictions(tree, rows, least, v, squared, 4)[1].any()
    assert (contradictions(tree, rows, least + 1e-12, v, squared, 4)[1] >= 1).all()


def test_only_the_worst_contradictions_of_a_row_are_kept():
    x, y = ordered(50, 60, 2)
    cost = costs.pair_costs(x, y, "distance")
    columns, counts = contradictions(build_tree(y), build_tree(x).points, np.full(50, 9.0), np.zeros(60), False, 4)
    assert (counts == 4).all()
    np.testing.assert_array_equal(np.sort(cost, axis=1)[:, :4], cost[np.arange(50)[:, None], columns])


def test_tolerance_lets_small_contradictions_pass():
    x, y = ordered(50, 60, 3)
    cost = costs.pair_costs(x, y, "distance")
    r = cost.min(axis=1) + 0.01
    question = build_tree(y), build_tree(x).points, r, np.zeros(60), False, 4
    assert contradictions(*question)[1].all()
    assert not contradictions(*question, tolerance=0.011)[1].any()


def test_near_contradictions_are_found_and_known_pairs_left_out():
    x, y = ordered(50, 60, 3)
    cost = costs.pair_costs(x, y, "distance")
    order = np.argsort(cost, axis=1)
    r = cost.min(axis=1)
    known = np.arange(51), order[:, 0].astype(np.int32)
    columns, counts = contradictions(
        build_tree(y), build_tree(x).points, r, np.zeros(60), False, 60, tolerance=-0.1, known=known
    )
    for i in range(50):
        near = np.flatnonzero(cost[i] < r[i] + 0.1)
        assert set(columns[i, : counts[i]]) == set(near) - {order[i, 0]}


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("longest", [0.0, 0.01, 0.3])
def test_contradictions_end_at_the_longest_pair_meant(longest, squared):
    x, y = ordered(50, 60, 3)
    squares = costs.pair_costs(x, y, "squared")
    rows, tree = build_tree(x).points, build_tree(y)
    _, counts = contradictions(tree, rows, np.full(50, 9.0), np.zeros(60), squared, 60, longest=longest)
    np.testing.assert_array_equal(counts, (squares <= longest).sum(axis=1))
