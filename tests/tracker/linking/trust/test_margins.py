"""The margin of a link is what the best assignment without it costs more: recomputed by solving without the link."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial import KDTree

from auctrack.matching import Problem, solve
from auctrack.tracker.linking.trust import margins, near_pairs
from auctrack.tracker.linking.trust.margins import link_margins


def graph(n, m, share, seed):
    rng = np.random.default_rng(seed)
    keep = rng.random((n, m)) < share
    rows, cols = np.nonzero(keep)
    return rows, cols, rng.random(len(rows)) * 10


def problem_of(n, m, rows, cols, cost, unmatched_cost):
    return Problem.sparse(sparse.csr_array((cost, (rows, cols)), shape=(n, m)), unmatched_cost=unmatched_cost)


@pytest.mark.parametrize("unmatched_cost", [1.0, 4.0, 20.0])
@pytest.mark.parametrize(("n", "m", "share"), [(6, 6, 0.5), (8, 5, 0.7), (5, 9, 0.4), (7, 7, 1.0)])
def test_margin_equals_the_cost_of_solving_again_without_the_link(n, m, share, unmatched_cost):
    for seed in range(5):
        rows, cols, cost = graph(n, m, share, seed)
        problem = problem_of(n, m, rows, cols, cost, unmatched_cost)
        answer = solve(problem)
        margins = link_margins(problem, answer)
        assert len(margins) == answer.n_matched
        for i, j, margin in zip(*answer.edges(), margins, strict=True):
            without = ~((rows == i) & (cols == j))
            again = solve(problem_of(n, m, rows[without], cols[without], cost[without], unmatched_cost))
            assert margin == pytest.approx(again.cost - answer.cost, abs=1e-9)


@pytest.mark.parametrize("costs", [1, 2, 4])
def test_many_that_are_as_near_have_the_margins_of_solving_again(costs):
    """Where a search reaches many rows before the one that leads back."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        cost = rng.integers(0, costs, (60, 60)).astype(float)
        problem = Problem.dense(cost, unmatched_cost=9.0)
        answer = solve(problem)
        for i, j, margin in zip(*answer.edges(), link_margins(problem, answer), strict=True):
            is_link = np.zeros_like(cost, bool)
            is_link[i, j] = True
            again = solve(Problem.dense(cost, unmatched_cost=9.0, forbidden=is_link))
            assert margin == pytest.approx(again.cost - answer.cost, abs=1e-9)


def test_a_single_pair_is_as_sure_as_both_ends_are_dear():
    problem = problem_of(1, 1, [0], [0], [3.0], 5.0)
    assert link_margins(problem, solve(problem)).tolist() == [7.0]


def test_a_tie_has_no_margin():
    problem = Problem.sparse(sparse.csr_array(np.ones((2, 2))), unmatched_cost=10.0)
    assert link_margins(problem, solve(problem)).tolist() == [0.0, 0.0]


def test_blocks_do_not_mix():
    first = Problem.sparse(sparse.csr_array(np.array([[1.0, 2.0], [2.0, 1.0]])), unmatched_cost=9.0)
    second = Problem.sparse(sparse.csr_array(np.array([[4.0]])), unmatched_cost=9.0)
    batch = Problem.batch([first, second])
    apart = [link_margins(p, solve(p)) for p in (first, second)]
    assert link_margins(batch, solve(batch)).tolist() == np.concatenate(apart).tolist()


@pytest.mark.parametrize("kind", ["dense", "points"])
def test_every_kind_of_problem_has_the_margins_of_its_edges(kind):
    rng = np.random.default_rng(1)
    x, y = rng.random((6, 2)), rng.random((7, 2))
    cost = np.linalg.norm(x[:, None] - y, axis=2)
    sparse_form = Problem.sparse(sparse.csr_array(cost), unmatched_cost=0.4)
    stated = Problem.dense(cost, unmatched_cost=0.4) if kind == "dense" else Problem.points(x, y, unmatched_cost=0.4)
    margins = link_margins(stated, solve(stated))
    assert margins.min() > 0
    np.testing.assert_allclose(margins, link_margins(sparse_form, solve(sparse_form)), atol=1e-12)


@pytest.mark.parametrize("kind", ["dense", "points"])
@pytest.mark.parametrize("unmatched_cost", [0.02, 10.0])
def test_pairs_too_many_to_write_out_are_thinned_without_a_change(monkeypatch, kind, unmatched_cost):
    """Particles that moved a little: the repair of a link goes through near pairs, at any unmatched cost."""
    rng = np.random.default_rng(2)
    x = rng.random((200, 3))
    y = (x + rng.normal(0, 0.03, x.shape))[:190]
    cost = ((x[:, None] - y) ** 2).sum(axis=2)
    stated = (
        Problem.dense(cost, unmatched_cost=unmatched_cost)
        if kind == "dense"
        else Problem.points(x, y, unmatched_cost=unmatched_cost, metric="squared")
    )
    answer = solve(stated)
    written = link_margins(stated, answer)
    monkeypatch.setattr(near_pairs, "MOST_PAIRS", 0)
    assert near_pairs.with_near_pairs(stated, answer).n_edges < cost.size / 2
    np.testing.assert_allclose(link_margins(stated, answer), written, atol=1e-12)


def test_no_link_no_margin():
    problem = problem_of(1, 1, [0], [0], [30.0], 5.0)
    assert link_margins(problem, solve(problem)).tolist() == []


class Counted:
    """An array that counts how often one of its elements is read."""

    def __init__(self, array):
        self.array, self.reads = array, 0

    def __getitem__(self, at):
        self.reads += 1
        return self.array[at]


def test_a_search_among_particles_as_near_as_each_other_ends_after_a_few_edges(monkeypatch):
    """In the middle of a swarm the nearest 32 cost nearly the same."""
    rng = np.random.default_rng(5)
    x = rng.uniform(0, 1, (500, 3))
    y = x + rng.normal(0, 0.1, x.shape)
    distance, near = KDTree(y).query(x, k=32)
    rows = np.repeat(np.arange(500), 32)
    problem = problem_of(500, 500, rows, near.ravel(), distance.ravel() ** 2, 0.02)
    answer = solve(problem)
    searches, reads = margins._margins.py_func, []

    def counting(rows, cols, indptr, indices, *graph):
        found = searches(rows, cols, indptr, counted := Counted(indices), *graph)
        reads.append(counted.reads)
        return found

    expected = link_margins(problem, answer)
    monkeypatch.setattr(margins, "_margins", counting)
    assert link_margins(problem, answer).tolist() == expected.tolist()
    assert sum(reads) <= 400 * answer.n_matched
