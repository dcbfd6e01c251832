"""The Hungarian methods of one GPU where there is none: their own kernels on the host, every kind of problem proven."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auctrack.matching import Infeasible, Problem, solve, verify
from auctrack.matching.device import cuda
from auctrack.matching.hungarian import gpu, gpu_batch
from auctrack.matching.problem.convert import as_sparse

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
