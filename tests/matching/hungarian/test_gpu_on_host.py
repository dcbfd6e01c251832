"""The Hungarian methods of one GPU where there is none: their own kernels on the host, every kind of problem proven."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auctrack.matching import Infeasible, NotConverged, Problem, choice, solve, solving, verify
from auctrack.matching.device import cuda
from auctrack.matching.hungarian import gpu, gpu_batch
from auctrack.matching.problem.convert import as_sparse
from auctrack.plugins.bench.assignment.hostile_costs import (
    ball_to_shell,
    cubes,
    dense_clusters,
    inner_products,
    letters,
    machol_wien,
    photographs,
    plane,
    roots_on_a_line,
    two_blobs,
    two_densities,
)

from ..auction.on_host import be_the_device
from .host_kernels import EmulatedCosts

pytestmark = [pytest.mark.kernels, pytest.mark.usefixtures("host")]

RNG = np.random.default_rng(3)
COST = RNG.integers(0, 300, (24, 30)).astype(np.int32)


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> None:
    be_the_device(monkeypatch)
    device = cuda.Device(index=0, name="host", compute_capability=(9, 0), total_bytes=2**30, multiprocessors=8)
    monkeypatch.setattr(cuda, "devices", lambda: (device,))
    monkeypatch.setattr(gpu, "DeviceCosts", EmulatedCosts)
    monkeypatch.setattr(gpu_batch, "fits_a_block", lambda shape: min(shape) > 0)


def many_scales(*shape: int) -> np.ndarray:
    """Return costs of eighteen decades, a row of one: rounding leaves slack on their matched edges."""
    rng = np.random.default_rng(2)
    return rng.random(shape) * 10.0 ** rng.integers(-9, 9, (*shape[:-1], 1))


PROBLEMS = {
    "wide": Problem.dense(COST),
    "tall": Problem.dense(COST.T.copy()),
    "unmatched cost": Problem.dense(COST, unmatched_cost=40),
    "no column": Problem.dense(np.zeros((3, 0)), unmatched_cost=1.0),
    "many scales": Problem.dense(many_scales(40, 40)),
    "batch": Problem.dense(RNG.integers(0, 300, (3, 20, 24)).astype(np.int32)),
    "batch, many scales": Problem.dense(many_scales(3, 40, 40)),
    "batch of shapes": Problem.batch([Problem.dense(COST), Problem.dense(COST.T.copy()), Problem.dense(COST + 1)]),
    "sparse": as_sparse(Problem.dense(COST)),
    "sparse, tall": as_sparse(Problem.dense(COST.T.copy())),
    "sparse, many scales": as_sparse(Problem.dense(many_scales(40, 40))),
    "points, unmatched cost": Problem.points(RNG.random((20, 3)), RNG.random((25, 3)), unmatched_cost=0.2),
}


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("solver", ["hungarian-classical", "hungarian-tree"])
def test_the_optimum_is_found_and_proven(solver: str, kind: str) -> None:
    problem = PROBLEMS[kind]
    answer = solve(problem, solver, "cuda")
    assert verify(problem, answer)
    np.testing.assert_allclose(answer.cost, solve(problem, "jv", "cpu").cost, rtol=1e-12)


@pytest.mark.parametrize("kind", [kind for kind in PROBLEMS if "many scales" in kind])
@pytest.mark.parametrize("solver", ["hungarian-classical", "hungarian-tree"])
def test_edges_that_rounding_left_slack_are_matched_again_on_the_device(solver: str, kind: str) -> None:
    assert solve(PROBLEMS[kind], solver, "cuda").stats["refinements"] > 0


@pytest.mark.parametrize("solver", ["hungarian-classical", "hungarian-tree"])
@pytest.mark.parametrize(("at", "side"), [(1, "rows"), (2, "columns")])
def test_the_block_that_cannot_be_matched_is_named(solver: str, at: int, side: str) -> None:
    blocks: list[Any] = [COST * 1.0, COST * 1.0, COST.T * 1.0]
    (blocks[at] if side == "rows" else blocks[at].T)[4] = np.inf
    with pytest.raises(Infeasible) as caught:
        solve(Problem.batch(blocks), solver, "cuda")
    error = caught.value
    assert (error.block, error.side) == (at, side)
    assert ((error.rows, error.columns) if side == "rows" else (error.columns, error.rows)) == ((4,), ())


N = 256
FEW = N // choice.ROWS_A_HARD_BLOCK


@pytest.mark.parametrize(
    ("costs", "is_hard"),
    [
        *((costs, True) for costs in (inner_products, two_blobs, photographs, machol_wien, letters, two_densities)),
        *((costs, False) for costs in (plane, cubes, dense_clusters, ball_to_shell, roots_on_a_line)),
    ],
)
def test_the_share_of_rows_left_tells_soon_whether_a_matrix_is_hard(costs: Any, is_hard: bool, monkeypatch: Any):
    """With a margin: neither 0.9 nor 1.1 times as many rows left would change what is said."""
    monkeypatch.setattr(gpu_batch, "fits_a_block", lambda _: False)
    limits = choice.first_on_gpu(400)
    few_left = limits["few_left"] * (11 if is_hard else 9) // 10
    try:
        answer = solve(costs(400, 1), "hungarian-classical", "cuda", **{**limits, "few_left": few_left})
    except NotConverged:
        assert is_hard
    else:
        assert not is_hard
        assert answer.is_optimal


LIMITS = choice.first_on_gpu(N)


def independent(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((n, n))


def of_kinds(*kinds: Any) -> Problem:
    return Problem.batch([Problem.dense(kind(N, seed)) for seed, kind in enumerate(kinds)])


def test_matrices_that_take_long_at_once_are_named():
    easy_and_hard = of_kinds(independent, two_blobs, roots_on_a_line, photographs, independent, machol_wien)
    with pytest.raises(NotConverged, match="most_updates") as caught:
        solve(easy_and_hard, "hungarian-classical", "cuda", **LIMITS)
    np.testing.assert_array_equal(caught.value.blocks, [1, 3, 5])


@pytest.mark.parametrize(
    ("hard", "by"),
    [
        ([two_blobs] * FEW, ["hungarian-classical", "auction"]),
        ([machol_wien] * (FEW + 2), ["hungarian-classical", "sorting"]),
        ([machol_wien] * (choice.FEW_LARGE + 1), ["hungarian-classical", "sorting"]),
        ([two_blobs] * (FEW + 1), ["hungarian-classical"]),
        ([two_blobs] * FEW + [machol_wien] * 2, ["hungarian-classical", "auction", "sorting"]),
        ([two_blobs] * FEW + [machol_wien] * (choice.FEW_LARGE + 1), ["hungarian-classical", "sorting"]),
    ],
    ids=["few", "few to be sorted", "to be sorted", "many", "few and some to be sorted", "many, some to be sorted"],
)
def test_hard_matrices_are_taken_from_those_at_once_where_that_is_sooner_done(hard: list[Any], by: list[str]):
    problem = of_kinds(independent, *hard, independent)
    answer = solve(problem, device="cuda")
    assert answer.solver.split(",") == by
    assert verify(problem, answer)
    np.testing.assert_allclose(answer.cost, solve(problem, "jv", "cpu").cost, rtol=1e-12)


def test_easy_matrices_are_solved_at_once_and_but_once(monkeypatch: pytest.MonkeyPatch):
    solved, seen = solving._solved, list[int]()
    monkeypatch.setattr(solving, "_solved", lambda *given: seen.append(given[0].n_blocks) or solved(*given))
    _ = solve(of_kinds(independent, roots_on_a_line, independent), device="cuda")
    assert seen == [3]


def test_shapes_and_sides_keep_their_places_beside_hard_matrices():
    costs = [COST * 1.0, machol_wien(N, 0), COST.T * 2.0, independent(N, 1), machol_wien(N, 1) + 1.0, COST + 5.0]
    problem = Problem.batch([Problem.dense(cost) for cost in costs])
    answer = solve(problem, device="cuda")
    assert verify(problem, answer)
    np.testing.assert_allclose(answer.cost, [solve(cost, device="cpu").cost for cost in costs], rtol=1e-12)


def test_the_block_that_cannot_be_matched_is_named_beside_hard_ones():
    costs = [independent(N, 1), machol_wien(N, 0), independent(N, 2)]
    costs[2][:, 7] = np.inf
    with pytest.raises(Infeasible) as caught:
        solve(Problem.batch([Problem.dense(cost) for cost in costs]), device="cuda")
    assert caught.value.block == 2
