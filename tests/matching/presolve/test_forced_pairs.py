"""Pairs that every complete matching holds are taken first, with duals that prove them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array, random_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from auctrack.matching import Assignment, Infeasible, NotConverged, Problem, solve, verify
from auctrack.matching.presolve import forced_pairs
from auctrack.matching.presolve.forced_pairs import by_forced_pairs

ROWS = 400


def _chain(rng: np.random.Generator) -> csr_array:
    """Row i may take columns i and i + 1, the second cheaper; all must take the first. In any order."""
    i, p, q = np.arange(ROWS), rng.permutation(ROWS), rng.permutation(ROWS)
    at = p[np.r_[i, i[:-1]]], q[np.r_[i, i[1:]]]
    return csr_array((np.r_[1 + rng.random(ROWS), rng.random(ROWS - 1) / 100], at), shape=(ROWS, ROWS))


def _tree_and_core(rng: np.random.Generator) -> csr_array:
    """Triangular costs, of which the last rows and columns are full: these are not forced."""
    full = random_array((ROWS, ROWS), density=0.02, rng=rng).toarray()
    costs = np.triu(full, 1) + np.diag(1 + rng.random(ROWS))
    costs[-60:, -60:] = rng.random((60, 60)) + 0.1
    return csr_array(costs[rng.permutation(ROWS)][:, rng.permutation(ROWS)])


@pytest.mark.parametrize("make", [_chain, _tree_and_core])
@pytest.mark.parametrize("kind", ["f8", "f4", "whole", "negative", "columns"])
def test_forced_pairs_and_the_rest_are_the_optimum_proven(make, kind):
    costs, below = make(np.random.default_rng(3)), 0.0
    if kind == "whole":
        costs.data = np.ceil(1000 * costs.data).astype(np.int64)
    elif kind == "negative":
        below = 5.0  # SciPy takes positive costs only
    elif kind == "columns":
        costs = csr_array(costs.T)
    elif kind == "f4":
        costs.data = costs.data.astype(np.float32)
    stated = costs.copy()
    stated.data = stated.data - stated.dtype.type(below)
    problem = Problem.sparse(stated)
    answer = by_forced_pairs(problem, lambda rest: solve(rest, "jv", device="cpu"))
    rows, cols = min_weight_full_bipartite_matching(csr_array(costs, dtype=np.float64))
    assert answer is not None
    assert answer.is_optimal
    assert verify(problem, answer).is_valid
    assert float(answer.cost) == pytest.approx(
        float(costs.astype(np.float64)[rows, cols].sum()) - below * ROWS, rel=1e-6
    )
    assert answer.stats["forced_pairs"] >= ROWS / 2


def test_a_chain_takes_no_search():
    answer = solve(Problem.sparse(_chain(np.random.default_rng(0))), device="cpu")
    assert answer.solver == "forced pairs"
    assert answer.stats["forced_pairs"] == ROWS


def test_what_is_hardly_forced_is_left_alone(monkeypatch):
    rng = np.random.default_rng(1)
    costs = csr_array(random_array((ROWS, ROWS), density=0.05, rng=rng) + eye_array(ROWS))
    assert by_forced_pairs(Problem.sparse(costs), solve) is None
    priced = Problem.sparse(_chain(rng), unmatched_cost=1.0)
    assert by_forced_pairs(priced, solve) is None
    monkeypatch.setattr(forced_pairs, "FEWEST", ROWS + 1)
    assert by_forced_pairs(Problem.sparse(_chain(rng)), solve) is None


@pytest.mark.parametrize("where", ["leaves", "rest"])
def test_what_cannot_be_matched_is_named_of_the_whole(where):
    rng = np.random.default_rng(2)
    costs = (_chain(rng) if where == "leaves" else _tree_and_core(rng)).tolil()
    if where == "leaves":
        lone = next(row for row in range(ROWS) if len(costs.rows[row]) == 1)
        other = next(row for row in range(ROWS) if row != lone)
        costs[other] = costs[lone]
    else:
        core = [row for row in range(ROWS) if len(costs.rows[row]) >= 60][:3]
        for row in core:
            first = costs.rows[core[0]][0]
            costs[row] = 0
            costs[row, first] = 1.0
    with pytest.raises(Infeasible) as error:
        solve(Problem.sparse(csr_array(costs.tocsr())), device="cpu")
    assert len(error.value.rows) > len(error.value.columns)
    partners = costs.rows if error.value.side == "rows" else costs.T.tolil().rows
    too_many, too_few = (error.value.rows, error.value.columns)[:: 1 if error.value.side == "rows" else -1]
    assert {member for each in too_many for member in partners[each]} <= set(too_few)


def _gives_up(rest: Problem) -> Assignment:
    raise NotConverged(f"{rest} is too hard")


def _dearest(rest: Problem) -> Assignment:
    return solve(rest, "jv", device="cpu", maximize=True)


@pytest.mark.parametrize("solve_rest", [_gives_up, _dearest])
def test_where_the_rest_is_not_proven_nothing_is(solve_rest):
    costs = _tree_and_core(np.random.default_rng(3))
    costs.data = np.ceil(1000 * costs.data).astype(np.int64)
    assert by_forced_pairs(Problem.sparse(costs), solve_rest) is None


@pytest.mark.parametrize("side", ["rows", "columns"])
def test_of_two_with_the_same_one_partner_one_is_forced(side):
    costs = np.array([[1.0, 0, 0], [1.0, 0, 0], [1.0, 1.0, 1.0]])
    costs = costs if side == "rows" else costs.T
    ways = forced_pairs._both_ways(Problem.sparse(csr_array(costs)))
    assert ways is not None
    row, col, _, count = forced_pairs._forced(*ways[:4])
    assert count == 2
    assert costs[row[:2], col[:2]].all()
    assert row[0] != row[1]
    assert col[0] != col[1]
