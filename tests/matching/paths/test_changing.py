"""A problem that changes: optimal after every change, and exactly as before when it is taken back."""

import numpy as np
import pytest

from auctrack.matching.paths.changing import ChangingMatching
from auctrack.matching.problem import Problem
from auctrack.matching.solving import solve

KEPT = ("row_first", "col_first", "row_matched", "col_matched", "row_dual", "col_dual", "cost")


def changing(rng: np.random.Generator, rows: int, cols: int) -> ChangingMatching:
    """A random sparse problem, solved."""
    row, col = np.nonzero(rng.random((rows, cols)) < 0.5)
    cost = rng.normal(-1, 2, len(row))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows))])
    answer = solve(Problem.sparse((indptr, col.astype(np.int32), cost), unmatched_cost=0.0, shape=(rows, cols)))
    matched = np.flatnonzero(answer.col_of_row[row] == col)
    return ChangingMatching(row, col, cost, matched, (answer.row_duals, answer.col_duals))


def random_change(matching: ChangingMatching, rng: np.random.Generator) -> None:
    """Give a few edges other costs, forbid some, or add a row and a column with edges."""
    matching.begin()
    if rng.random() < 0.2 or matching.n_edges == 0:
        matching.add_members(1, 1)
        cols = np.flatnonzero(rng.random(matching.n_cols) < 0.5)
        matching.add_edges(np.full(len(cols), matching.n_rows - 1), cols, rng.normal(-1, 2, len(cols)))
        return
    edges = np.unique(rng.integers(0, matching.n_edges, rng.integers(1, 4)))
    matching.change(edges, np.where(rng.random(len(edges)) < 0.4, np.inf, rng.normal(-1, 2, len(edges))))


def state(matching: ChangingMatching) -> dict[str, np.ndarray]:
    sizes = {"row": matching.n_rows, "col": matching.n_cols, "cost": matching.n_edges}
    return {name: getattr(matching, name)[: sizes[name.split("_")[0]]].copy() for name in KEPT}


def assert_same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    for name in KEPT:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


@pytest.mark.parametrize("seed", range(30))
def test_every_change_is_proven_and_as_good_as_a_solve_from_scratch(seed: int):
    rng = np.random.default_rng(seed)
    matching = changing(rng, *rng.integers(1, 12, 2))
    for _ in range(20):
        random_change(matching, rng)
        proof = matching.proof()
        assert proof.is_optimal
        assert proof.cost == pytest.approx(solve(matching.problem()).cost, abs=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_taking_back_restores_identically_and_forth_again(seed: int):
    rng = np.random.default_rng(seed)
    matching = changing(rng, 9, 8)
    states, done = [state(matching)], []
    for _ in range(15):
        random_change(matching, rng)
        done.append(matching.changes())
        states.append(state(matching))
    undone = []
    for before in states[-2::-1]:
        undone.append(matching.take_back(done.pop()))
        assert_same(state(matching), before)
    for after in states[1:]:
        matching.take_back(undone.pop())
        assert_same(state(matching), after)


def test_only_what_a_change_reaches_is_written_to():
    blocks, size = 200, 3
    row = np.repeat(np.arange(blocks * size), size)
    col = np.tile(np.arange(size), blocks * size) + size * (row // size)
    cost = np.random.default_rng(0).normal(-2, 1, len(row))
    duals = np.zeros(blocks * size), np.full(blocks * size, cost.min())
    matching = ChangingMatching(
        row, col, np.full(len(row), np.inf), np.empty(0, int), (duals[0], np.zeros_like(duals[1]))
    )
    matching.change(np.arange(len(row)), cost)
    matching.begin()
    matching.change(matching.matched_edges()[:1], np.inf)
    assert matching.proof().is_optimal
    written = [places for name, places, _ in matching.changes().cells if name in ("row_dual", "row_matched")]
    assert max(np.concatenate(written)) < size
