"""Point sets matched within a radius without writing its pairs out: as the matrix of all that are allowed says."""

import numpy as np
import pytest

from auctrack.matching import Problem, solve, within_reach
from auctrack.matching.auction.matrix_free import LEAST_EDGES
from auctrack.matching.points.grid import largest_square
from auctrack.matching.problem.costs import pair_costs
from auctrack.matching.within_reach import solve_within


def uniform(rng, n, m, axes):
    return rng.random((n, axes)) * 9, rng.random((m, axes)) * 9


def apart(rng, n, m, axes):
    return rng.normal(size=(n, axes)) * 2, rng.normal(size=(m, axes)) * 2 + 3


def pixels(rng, n, m, axes):
    return tuple(np.round(points / 2) for points in uniform(rng, n, m, axes))


def one_place(_, n, m, axes):
    return np.ones((n, axes)), np.ones((m, axes))


def costs_within(x, y, metric, radius, forbidden):
    """All costs, +inf where a pair is not allowed."""
    costs = pair_costs(x, y, metric)
    costs[pair_costs(x, y, "squared") > largest_square(radius)] = np.inf
    costs[tuple(forbidden.T)] = np.inf
    return costs


def drawn(rng, sets, radii=(0.5, 1.0, 3**0.5, 4.0, 20.0), unmatched_costs=(0.3, 3.0, 50.0, 1e5, 1e15)):
    """Point sets, a radius, what staying unmatched costs, forbidden pairs, all of a row's among them now and then."""
    n, m = rng.integers(1, 60, 2)
    x, y = sets(rng, n, m, rng.integers(1, 4))
    forbidden = np.stack([rng.integers(0, n, 12), rng.integers(0, m, 12)], axis=1)
    if rng.random() < 0.3:
        forbidden = np.concatenate([forbidden, np.stack([np.zeros(m, np.int64), np.arange(m)], axis=1)])
    return x, y, float(rng.choice(radii)), float(rng.choice(unmatched_costs)), forbidden[rng.integers(13) :]


@pytest.mark.parametrize("metric", ["squared", "distance"])
@pytest.mark.parametrize("sets", [uniform, apart, pixels, one_place])
@pytest.mark.parametrize("most_edges", [0, np.inf])
@pytest.mark.parametrize("seed", range(12))
def test_the_optimum_and_its_proof_are_those_of_all_pairs_within_reach(seed, most_edges, sets, metric):
    x, y, radius, unmatched_cost, forbidden = drawn(np.random.default_rng(seed), sets)
    costs = costs_within(x, y, metric, radius, forbidden)
    stated = Problem.points(x, y, unmatched_cost=unmatched_cost, metric=metric)
    answer = solve_within(stated, radius, forbidden, most_edges)[1]
    whole = solve(Problem.dense(costs, unmatched_cost=unmatched_cost), device="cpu")
    assert np.isfinite(costs[answer.edges()]).all()
    assert answer.cost == pytest.approx(whole.cost, rel=1e-9, abs=0)
    assert len(answer.edges()[0]) == len(whole.edges()[0])
    assert answer.is_optimal
    slack = costs - answer.row_duals[:, None] - answer.col_duals
    assert slack.min(initial=0) >= -1e-12 * max(1.0, abs(answer.row_duals).max())
    if sets in (uniform, apart) and x.shape[1] > 1:
        np.testing.assert_array_equal(answer.col_of_row, whole.col_of_row)


@pytest.mark.parametrize("lost", ["a matched pair", "prices"])
@pytest.mark.parametrize("seed", range(10))
def test_what_a_pair_within_reach_contradicts_is_not_proven(monkeypatch, seed, lost):
    """The search is made to forget its best pair, or its prices: proofs look at all pairs within reach."""
    x, y = uniform(np.random.default_rng(seed), 50, 50, 2)
    stated, radius = Problem.points(x, y, unmatched_cost=40.0, metric="squared"), 4.0
    best = solve_within(stated, radius)[1]
    match = within_reach.match_within

    def forgetful(problem, reach):
        pair = np.flatnonzero(best.col_of_row >= 0)[:1]
        pair = np.stack([pair, best.col_of_row[pair]], axis=1)
        found, graph = match(problem, reach._replace(forbidden=pair) if lost == "a matched pair" else reach)
        if lost == "prices":
            found.col_duals[:] = 40.0
        return found, graph

    monkeypatch.setattr(within_reach, "match_within", forgetful)
    monkeypatch.setattr(within_reach, "refined", lambda _, answer: answer)
    answer = solve_within(stated, radius)[1]
    assert not answer.is_optimal
    assert answer.cost - answer.gap <= best.cost


def test_no_more_pairs_are_held_than_stated():
    """Clouds side by side want most pairs of all; a graph that may not hold them is thinned out on the way."""
    x, y = apart(np.random.default_rng(0), 900, 800, 3)
    stated = Problem.points(x, y, unmatched_cost=500.0, metric="squared")
    (_, free), (_, bounded) = (solve_within(stated, 10.0, most_edges=most) for most in (np.inf, 0))
    least = LEAST_EDGES * sum(stated.shape)
    assert free.stats["edges"] > 1.5 * least > bounded.stats["edges"]
    assert bounded.is_optimal
    np.testing.assert_array_equal(bounded.col_of_row, free.col_of_row)


@pytest.mark.parametrize("radius", [30.0, 100.0, 3000.0])
def test_points_of_a_line_whose_distances_all_tie_are_proven(radius):
    """Any two pairs that overlap can be exchanged at no cost: too many pairs have no slack to be looked at, each."""
    x, y = np.random.default_rng(1).random((2, 300, 1)) * 300
    stated = Problem.points(x, y, unmatched_cost=5000.0, metric="distance")
    answer = solve_within(stated, radius, most_edges=0)[1]
    whole = solve(Problem.dense(costs_within(x, y, "distance", radius, np.empty((0, 2), int)), unmatched_cost=5000.0))
    assert answer.is_optimal
    assert answer.cost == pytest.approx(whole.cost, rel=1e-9)


def test_not_all_pairs_of_points_in_one_place_are_looked_at():
    x, y = one_place(None, 300, 250, 2)
    stated = Problem.points(x, y, unmatched_cost=3.0, metric="distance")
    graph, answer = solve_within(stated, 1.0, most_edges=0)
    assert answer.is_optimal
    assert graph.n_edges < 3 * LEAST_EDGES * sum(stated.shape) < 300 * 250


@pytest.mark.parametrize("metric", ["squared", "distance"])
@pytest.mark.parametrize("seed", [0, 1, 13, 16, 17, 28, 31, 41])
def test_points_of_all_magnitudes_are_refined_until_proven(seed, metric):
    """Small costs are lost in duals that large ones set: a first answer is often a doubt, a second one too."""
    rng = np.random.default_rng(seed)
    x, y = (np.exp(rng.normal(size=(size, 2)) * 6) for size in rng.integers(20, 200, 2))
    radius = 0.5 * float(np.ptp(np.concatenate([x, y]), axis=0).max())
    unmatched_cost = 3 * radius ** (2 if metric == "squared" else 1)
    answer = solve_within(Problem.points(x, y, unmatched_cost=unmatched_cost, metric=metric), radius)[1]
    costs = costs_within(x, y, metric, radius, np.empty((0, 2), int))
    whole = solve(Problem.dense(costs, unmatched_cost=unmatched_cost), device="cpu")
    assert answer.is_optimal
    assert answer.cost == pytest.approx(whole.cost, rel=1e-13)


@pytest.mark.parametrize("unmatched_cost", [0.3, 3.0, 1e15])
@pytest.mark.parametrize("unit", [1e-12, 1e12])
@pytest.mark.parametrize("seed", range(6))
def test_in_any_unit(seed, unit, unmatched_cost):
    rng = np.random.default_rng(seed)
    x, y = apart(rng, *rng.integers(20, 60, 3)[:2], 2)
    first, scaled = (
        solve_within(Problem.points(x * of, y * of, unmatched_cost=unmatched_cost * of, metric="distance"), 4.0 * of)[1]
        for of in (1.0, unit)
    )
    assert scaled.is_optimal
    assert len(scaled.edges()[0]) == len(first.edges()[0])
    assert scaled.cost == pytest.approx(first.cost * unit, rel=1e-9, abs=0)
    if unmatched_cost == 1e15:
        rows, cols = scaled.edges()
        best = np.linalg.norm(x[first.edges()[0]] - y[first.edges()[1]], axis=1).sum()
        assert np.linalg.norm(x[rows] - y[cols], axis=1).sum() == pytest.approx(best, rel=1e-9)
