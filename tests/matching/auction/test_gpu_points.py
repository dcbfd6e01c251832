"""Point sets without a matrix on a GPU: near or far, differing, batched, dense."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auctrack.matching import Problem, solve
from auctrack.matching.auction import gpu_points
from auctrack.matching.device import cuda
from auctrack.matching.points import gpu_coarse
from auctrack.plugins.bench.assignment.hostile_problems import points_of_clusters

from . import coarse_twin
from .on_gpu import assert_optimal

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("metric", ["distance", "squared"])
@pytest.mark.parametrize("sizes", [(3000, 3000), (2500, 3000), (3000, 2500)], ids=str)
def test_points_need_no_matrix(sizes: tuple[int, int], metric: Any) -> None:
    rng = np.random.default_rng(16)
    x, y = rng.random((sizes[0], 3)), rng.random((sizes[1], 3))
    answer = assert_optimal(Problem.points(x, y, metric=metric))
    assert answer.n_matched == min(sizes)
    assert answer.stats["pricing_rounds"] >= 1


def test_independent_sets_take_coarse_initial_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    coarse = gpu_points.coarse_prices

    def counted(cp: Any, rows: Any, cols: Any, *, squared: bool) -> Any:
        calls.append(len(rows))
        return coarse(cp, rows, cols, squared=squared)

    monkeypatch.setattr(gpu_points, "coarse_prices", counted)
    x, y = np.random.default_rng(30).random((2, 20_000, 3))
    assert_optimal(Problem.points(x, y))
    assert calls == [20_000]


@pytest.mark.parametrize("squared", [False, True])
def test_coarse_initial_prices_are_those_of_the_cpu(squared: bool) -> None:
    """But for the order in which cells are relaxed."""
    x, y = np.random.default_rng(31).random((2, 3000, 3))
    with cuda.using("cuda") as cp:
        found = cuda.to_host(gpu_coarse.coarse_prices(cp, cp.asarray(x), cp.asarray(y), squared=squared))
    expected = coarse_twin.coarse_prices(x.T.copy(), y.T.copy(), squared)
    assert np.corrcoef(found, expected)[0, 1] > 0.99
    assert np.std(found - expected) < 0.05 * np.std(expected)


def test_dense_clusters_are_solved_from_a_sample() -> None:
    assert "matrix" not in assert_optimal(points_of_clusters(5000, 0)).stats


@pytest.mark.parametrize("kind", ["fifty times as wide", "clusters onto others", "a cloud beside a cloud"])
def test_matrix_is_made_where_neighbours_say_little(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_points, "SAMPLED_READS", 0)
    rng = np.random.default_rng(32)
    x, y = rng.random((2, 400, 2))
    if kind == "clusters onto others":
        x, y = (rng.random((2, 4, 1, 2)) + 0.01 * rng.normal(size=(2, 4, 100, 2))).reshape(2, 400, 2)
    y = {"fifty times as wide": 50 * y, "clusters onto others": y, "a cloud beside a cloud": y + 5}[kind]
    assert assert_optimal(Problem.points(x, y)).stats["matrix"] == 1


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 1.0), (50.0, 0.0)], ids=["beside", "fifty times as wide"])
def test_differing_sets_leave_few_dual_phases(scale: float, shift: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Phases of the matrix's own scale bring nearly all rows where they belong, or it would take a phase for each."""
    monkeypatch.setattr(gpu_points, "SAMPLED_READS", 0)
    x, y = np.random.default_rng(36).random((2, 2000, 3))
    stats = assert_optimal(Problem.points(x, scale * y + [shift, 0, 0])).stats
    assert stats["matrix"] == 1
    assert stats["dual_phases"] < 60


def test_unmatched_costs_that_let_nearly_all_be_matched() -> None:
    """Matched edges that a hundred searches left with slack have none in the end."""
    rng = np.random.default_rng(33)
    answer = assert_optimal(Problem.points(rng.random((3000, 3)), rng.random((3001, 3)), unmatched_cost=0.3))
    assert answer.n_matched == 3000


def test_parts_state_their_seconds() -> None:
    rng = np.random.default_rng(34)
    stats = solve(Problem.points(*rng.random((2, 3000, 3))), "auction", "cuda").stats
    parts = ("graph_s", "phases_s", "final_bids_s", "paths_s", "forest_s", "check_s", "certificate_s")
    assert all(stats[part] > 0 for part in parts)
    assert sum(stats[part] for part in parts) < stats["solve_s"]


def test_points_of_two_frames_with_unmatched_cost() -> None:
    rng = np.random.default_rng(17)
    x = rng.random((20_000, 2))
    y = x[:19_000] + rng.normal(0, 2e-3, (19_000, 2))
    answer = assert_optimal(Problem.points(x, y, unmatched_cost=2e-3))
    assert 15_000 < answer.n_matched < 19_000


def _point_blocks(seed: int, sizes: list[tuple[int, int]]) -> list[Problem]:
    rng = np.random.default_rng(seed)
    scales = rng.choice([1e-3, 1, 50], len(sizes))
    return [
        Problem.points(scale * rng.random((n, 2)), scale * rng.random((m, 2)))
        for (n, m), scale in zip(sizes, scales, strict=True)
    ]


@pytest.mark.parametrize(
    "sizes",
    [
        [(40, 40)] * 30,
        [(n, n + k) for n, k in ((0, 3), (1, 0), (7, 2), (8, 0), (9, 1), (64, 0), (65, 1), (513, 9), (600, 0))],
        [(4, 7), (7, 4), (5, 5), (300, 20), (20, 300), (1, 1), (0, 2), (2, 0)],
        [(5000, 5000), (3, 3), (70, 70), (900, 900)],
    ],
    ids=["alike", "wide", "tall and wide", "large beside small"],
)
def test_batch_of_points_is_its_blocks(sizes: list[tuple[int, int]]) -> None:
    blocks = _point_blocks(22, sizes)
    answer = assert_optimal(Problem.batch(blocks))
    costs = [solve(block, "auction", "cpu").cost for block in blocks]
    np.testing.assert_allclose(answer.cost, costs, rtol=1e-12, atol=1e-300)


def test_batch_of_points_with_unmatched_costs() -> None:
    rng = np.random.default_rng(23)
    blocks = [
        Problem.points(rng.random((n, 3)), rng.random((m, 3)), unmatched_cost=0.1)
        for n, m in ((30, 20), (0, 4), (200, 250))
    ]
    answer = assert_optimal(Problem.batch(blocks))
    np.testing.assert_allclose(answer.cost, [solve(block, "jv", "cpu").cost for block in blocks], rtol=1e-12)


def test_points_are_searched_in_one_launch_whatever_the_number_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs: list[int] = []
    build = gpu_points.neighbour_graph
    monkeypatch.setattr(
        gpu_points, "neighbour_graph", lambda cp, problem, *rest: graphs.append(1) or build(cp, problem, *rest)
    )
    solve(Problem.batch(_point_blocks(24, [(20, 25)] * 500)), "auction", "cuda")
    assert len(graphs) == 1


@pytest.mark.parametrize("spread", [0.0, 1e-3], ids=["all in one place", "clusters far apart"])
def test_dense_points(spread: float) -> None:
    rng = np.random.default_rng(18)
    x, y = (rng.integers(0, 4, (800, 3)) * (spread > 0) + spread * rng.random((800, 3)) for _ in range(2))
    assert assert_optimal(Problem.points(x, y)).n_matched == 800
