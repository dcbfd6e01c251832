"""The instances: what they are made to be, and the same everywhere."""

from __future__ import annotations

import functools
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from auctrack.matching import Infeasible, solve, verify
from auctrack.matching.cardinality import maximum_matching
from auctrack.plugins.bench.assignment import generated_costs
from auctrack.plugins.bench.assignment.differing_points import CLUSTERED, DIFFERING, WIDTH
from auctrack.plugins.bench.assignment.gated_pairs import (
    SCATTERED,
    Scatter,
    gate_with_a_shortage,
    gated_pair,
    scattered_pair,
)
from auctrack.plugins.bench.assignment.hostile import HOSTILE, SOLVERS
from auctrack.plugins.bench.assignment.hostile_peers import check_peer, peer_inputs, scipy
from auctrack.plugins.bench.assignment.instance import Instance
from auctrack.plugins.bench.assignment.lap_instances import (
    RANGES,
    point_costs,
    point_distances,
    point_pair,
    uniform_block,
    uniform_costs,
    uniform_reals,
)
from auctrack.plugins.bench.assignment.peer_solvers import (
    DenseInput,
    GatedInput,
    check_dense,
    check_gated,
    scipy_dense,
    scipy_sparse,
)
from auctrack.plugins.bench.graphs.graph_families import FAMILIES, permuted
from auctrack.plugins.bench.measure.harness import WrongAnswer
from auctrack.plugins.bench.tracking.movies import checked_links, simulated


@pytest.mark.parametrize(("cost_range", "largest"), [("n/10", 40), ("n", 400), ("10n", 4000)])
def test_uniform_costs_fill_their_range_evenly(cost_range, largest):
    costs = uniform_costs(400, cost_range, seed=1)
    assert costs.min() == 0
    assert costs.max() == largest
    counts = np.histogram(costs, bins=10, range=(0, largest + 1))[0]
    assert abs(counts - costs.size / 10).max() < 0.03 * costs.size


def test_every_seed_and_range_is_another_instance():
    assert set(RANGES) == {"n/10", "n", "10n"}
    assert (uniform_costs(50, "n", 1) != uniform_costs(50, "n", 2)).any()


@pytest.mark.parametrize(
    ("make", "n", "optimum"),
    [
        (lambda n: uniform_costs(n, "n", 1), 5000, 5742),
        (lambda n: uniform_costs(n, "10n", 1), 1000, 16084),
        (lambda n: point_costs(n, 1), 1000, 47511107),
    ],
)
def test_instances_are_the_same_everywhere_so_that_optima_can_be_quoted(make, n, optimum):
    assert solve(make(n), device="cpu").cost == optimum


def test_the_second_point_set_is_the_first_after_noise_in_another_order():
    x, y = point_pair(500, seed=3)
    assert x.min() >= 0
    assert x.max() <= 1
    links = solve(np.linalg.norm(x[:, None] - y[None], axis=2), device="cpu")
    assert links.cost / 500 < 0.6 * 500 ** (-1 / 3)


@pytest.mark.parametrize("family", FAMILIES)
def test_permuting_changes_the_order_and_nothing_else(family):
    graph = FAMILIES[family](2**8, 8)
    other = permuted(graph, 1)
    assert other.shape == graph.shape
    assert other.n_edges == graph.n_edges
    assert (other.indices != graph.indices).any()
    sizes = [maximum_matching(g, device="cpu").size for g in (graph, other)]
    assert sizes[0] == sizes[1] > 0.7 * graph.n_rows


def test_meshes_are_symmetric_and_gates_have_their_degree():
    for family in ("delaunay", "rgg", "rmat", "road"):
        graph = FAMILIES[family](2**8, 8)
        assert np.array_equal(graph.indices, graph.transposed.indices), family
    gate = FAMILIES["gate"](2**13, 13)
    assert 5 < gate.n_edges / gate.n_rows < 8


def test_every_point_is_a_corner_of_the_triangulation():
    assert np.diff(FAMILIES["delaunay"](2**8, 8).indptr).min() >= 2


def test_the_pairs_of_an_rmat_graph_are_drawn_by_quadrants():
    """A pair is drawn with the product of the shares of the quadrants that it lies in, at one bit after another."""
    share = functools.reduce(np.kron, [np.array([[0.57, 0.19], [0.19, 0.05]])] * 8)
    expected = 1 - (1 - share - share.T) ** (48 * 2**8)
    np.fill_diagonal(expected, 0)
    assert FAMILIES["rmat"](2**8, 8).n_edges == pytest.approx(expected.sum(), rel=0.02)


def test_a_gated_pair_has_its_degree_and_its_gate_is_twice_the_unmatched_cost():
    problem = gated_pair(2000, 10.0)
    assert problem.data.dtype == np.float32
    assert problem.n_edges / problem.n_rows == pytest.approx(10, rel=0.15)
    assert problem.data.max() <= 2 * problem.row_unmatched[0]


def test_differing_point_sets_are_what_their_names_say():
    clusters, others = DIFFERING["different clusters"](4000, 1)
    assert np.linalg.norm(clusters[:, None] - others[None, :200], axis=2).min(axis=0).mean() > WIDTH
    box, clustered = CLUSTERED["a box and clusters"](2000, 1)
    boxes_of_a_tenth = [len(np.unique(np.floor(10 * points), axis=0)) for points in (box, clustered)]
    assert boxes_of_a_tenth[0] > 5 * boxes_of_a_tenth[1]
    left, right = DIFFERING["clouds side by side"](100, 1)
    assert left[:, 0].max() < right[:, 0].min()
    cube, slab = DIFFERING["a cube and a slab"](100, 1)
    assert np.ptp(cube[:, 2]) > 5 * np.ptp(slab[:, 2])


def test_steps_longer_than_the_gate_end_within_it():
    assert (solve(scattered_pair(500, Scatter(3.0)), device="cpu").col_of_row >= 0).all()


@pytest.mark.parametrize("name", SCATTERED)
def test_scattered_pairs_can_be_matched_whole_and_short_ones_cannot(name):
    problem = scattered_pair(1000, SCATTERED[name])
    assert solve(problem, "jv", "cpu").n_matched == 1000
    assert problem.n_cols == 1000 + round(1000 * SCATTERED[name].extra)
    with pytest.raises(Infeasible):
        solve(gate_with_a_shortage(2000), "jv", "cpu")


def test_a_matrix_made_in_blocks_is_the_whole_one(monkeypatch):
    whole = uniform_costs(90, "10n", 2)
    np.testing.assert_array_equal(uniform_block(np, 90, "10n", 2, range(20, 50), range(7, 90)), whole[20:50, 7:])
    monkeypatch.setattr(generated_costs, "STRIPE", 2000)
    block = generated_costs.GeneratedCosts(90, "10n", 2).block(np, range(90), range(7, 90))
    np.testing.assert_array_equal(block, whole[:, 7:])


@pytest.mark.parametrize("places", [1, 3])
def test_a_certificate_in_stripes_is_that_of_verify_and_finds_wrong_ones(monkeypatch, places):
    monkeypatch.setattr(generated_costs, "STRIPE", 2000)
    given, problem = generated_costs.GeneratedCosts(90, "n", 1), uniform_costs(90, "n", 1)
    answer = solve(problem, "jv", "cpu")
    here = [nullcontext()] * places
    assert given.checked_in_stripes(np, answer, here)["cost"] == verify(problem, answer).cost
    swapped = answer.col_of_row[[1, 0, *range(2, 90)]]
    doubled = answer.col_of_row[[0, 0, *range(2, 90)]]
    lower = answer.row_duals - (np.arange(90) == 5)
    wrong = (
        {"col_of_row": swapped},
        {"col_of_row": doubled},
        {"row_duals": lower},
        {"col_duals": answer.col_duals + 1},
    )
    for change in wrong:
        with pytest.raises(WrongAnswer):
            given.checked_in_stripes(np, replace(answer, **change), here)


def test_the_square_problem_of_the_peers_has_the_same_optimum():

    given = GatedInput(gated_pair(60, 6.0))
    indptr, indices, data = given.square
    full = np.full((len(indptr) - 1,) * 2, 1e3)
    full[np.repeat(np.arange(len(indptr) - 1), np.diff(indptr)), indices] = data
    cost = full[linear_sum_assignment(full)].sum()
    assert given.cost_of(cost) == pytest.approx(given.optimum, rel=1e-12)


def test_what_a_peer_answers_is_held_against_the_optimum():
    given = GatedInput(gated_pair(60, 6.0))
    columns = scipy_sparse(given.square)
    assert check_gated(given, columns)["cost"] == pytest.approx(given.optimum, rel=1e-12)
    with pytest.raises(WrongAnswer, match="share"):
        check_gated(given, np.where(columns == columns[0], columns[1], columns))
    n, m = given.problem.shape
    alone = np.concatenate([m + np.arange(n), np.arange(m)])
    with pytest.raises(WrongAnswer, match="optimum"):
        check_gated(given, alone)
    with pytest.raises(WrongAnswer, match="outside"):
        check_gated(given, np.roll(alone, 1))


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
def test_a_peers_dense_answer_must_reach_the_optimum_of_real_costs_too(dtype):
    given = DenseInput((uniform_reals(40, 1) * 1000).astype(dtype))
    columns = scipy_dense(given.costs)
    assert check_dense(given, columns)["cost"] == pytest.approx(given.optimum, rel=1e-12)
    with pytest.raises(WrongAnswer, match="optimum"):
        check_dense(given, np.roll(columns, 1))


def test_costs_below_zero_are_held_against_their_optimum_too():
    given = DenseInput(-np.random.default_rng(0).random((30, 30)))
    assert check_dense(given, scipy_dense(given.costs))["cost"] == pytest.approx(given.optimum, rel=1e-12)


def test_distances_are_those_of_the_point_pair():
    x, y = point_pair(50, seed=2)
    assert np.allclose(point_distances(50, 2), np.linalg.norm(x[:, None] - y[None], axis=2))
    assert 0 <= uniform_reals(50, 2).min() <= uniform_reals(50, 2).max() < 1


def test_links_are_scored_against_the_truth_and_two_of_a_detection_are_no_links():
    given = simulated(0, particles=40, frames=3)
    identity = given.points.table["true_id"].to_numpy()
    truth = np.array([(a, b) for a in range(80) for b in range(a + 1, 120) if identity[a] == identity[b]])
    truth = truth[given.points.frames[truth[:, 1]] - given.points.frames[truth[:, 0]] == 1]
    assert checked_links(given, truth)["f1"] == 1
    assert checked_links(given, truth[:40])["recall"] == 0.5
    with pytest.raises(WrongAnswer, match="two links"):
        checked_links(given, np.vstack([truth, truth[0] + [0, 1]]))
    with pytest.raises(WrongAnswer, match="next"):
        checked_links(given, [[0, 119]])


def squared_objective(given, links):
    """Return Σ (d² - r²): what trackpy and laptrack minimise, unassigned points at r² for two."""
    source, target = np.asarray(links, np.int64).reshape(-1, 2).T
    steps = given.positions[target] - given.positions[source]
    return float(((steps**2).sum(axis=1) - given.search_range**2).sum())


def test_scipy_by_hand_reaches_the_least_objective():
    from auctrack.plugins.bench.tracking.baselines import greedy_links, scipy_links
    from auctrack.tracker.linking.link import link_points
    from auctrack.tracker.linking.settings import LinkSettings

    given = simulated(1, particles=200, frames=4, missed=0.05, false=0.05, range_in_spacings=1.2)
    settings = LinkSettings(given.search_range, given.search_range / 2, device="cpu", motion="none")
    ours = link_points(given.points, settings).links[["source", "target"]].to_numpy()
    best, by_hand, greedy = (
        squared_objective(given, links) for links in (ours, scipy_links(given), greedy_links(given))
    )
    assert by_hand == pytest.approx(best, rel=1e-12)
    assert greedy > best


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_problems_are_seeded_and_every_solver_proves_the_same_optimum(name):
    make = HOSTILE[name][0]
    n = 3 if name.startswith("batch") else 64
    problem, again = make(n, 1), make(n, 1)
    for part in ("data", "x", "y"):
        np.testing.assert_array_equal(getattr(problem, part), getattr(again, part))
    given = Instance(problem, "cuda")
    by_scipy = [scipy(costs) for costs in peer_inputs(given)]
    optimum = check_peer(given, by_scipy)["cost"]
    for solver in SOLVERS:
        answer = solve(problem, solver, "cpu")
        assert verify(problem, answer)
        assert np.sum(answer.cost) == pytest.approx(optimum, rel=1e-12)
