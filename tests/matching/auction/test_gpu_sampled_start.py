"""A second start on the GPU from a sample's prices, run on the host by its own kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auctrack.matching import Auction, Problem, solve, verify
from auctrack.matching.auction import gpu_points
from auctrack.matching.auction.gpu_sampled_start import sampled_prices
from auctrack.matching.auction.gpu_scaling import TOO_HARD
from auctrack.matching.certificate.gpu_certificate import certify
from auctrack.matching.problem.costs import pair_costs
from auctrack.matching.problem.gpu_graph import CostGraph, DeviceSolution

pytestmark = [pytest.mark.kernels, pytest.mark.usefixtures("host")]

RNG = np.random.default_rng(0)
SETS = {
    "space": (RNG.random((48, 3)), RNG.random((48, 3))),
    "plane": (RNG.random((48, 2)), RNG.random((48, 2)) + np.array([1.0, 0.0])),
    "one column more": (RNG.random((120, 3)), 2 * RNG.random((121, 3))),
}


@pytest.mark.parametrize(
    ("name", "metric"), [("space", "squared"), ("plane", "distance"), ("one column more", "distance")]
)
def test_prices_are_the_most_that_a_sample_leaves(name: str, metric: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    samples: list[tuple[Any, CostGraph, DeviceSolution]] = []
    starts: list[Any] = []

    def watched(problem: Problem, pairs: Any, solve_sample: Any) -> Any:
        def remembered(sample: Problem) -> tuple[CostGraph, DeviceSolution]:
            samples.append((sample, *solve_sample(sample)))
            return samples[-1][1:]

        v = sampled_prices(problem, pairs, remembered)
        starts.append(np.array(v))  # bids change it
        return v

    monkeypatch.setattr(gpu_points, "BIDS_OF_NEIGHBOURS", 1)
    monkeypatch.setattr(gpu_points, "sampled_prices", watched)
    x, y = SETS[name]
    problem = Problem.points(x, y, metric=metric)
    answer = solve(problem, Auction(), "cuda")
    assert verify(problem, answer)
    assert answer.cost == pytest.approx(solve(problem, "jv", "cpu").cost, rel=1e-12)
    sample, graph, matching = samples[-1]  # a sample may have one of its own, which ends before
    rows = np.asarray(sample.x)[:, 3 - x.shape[1] :]
    assert len(rows) == -(-len(x) // 6)
    assert (matching.col_of_row >= 0).all()
    r = np.asarray(certify(graph, matching, matching.v).row_duals)
    least = (pair_costs(rows, y, metric).reshape(len(rows), len(y)) - r[:, None]).min(axis=0)
    np.testing.assert_array_equal(starts[-1], least if len(x) == len(y) else np.minimum(least, 0.0))


@pytest.mark.parametrize(("bids", "is_hard"), [(1, False), (10**6, False), (10**6, True)])
def test_a_sample_is_asked_only_where_bids_or_searches_are_many(
    bids: int, is_hard: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    search = gpu_points.search_free
    monkeypatch.setattr(gpu_points, "BIDS_OF_NEIGHBOURS", bids)
    monkeypatch.setattr(gpu_points, "search_free", lambda *given: TOO_HARD if is_hard and not asked else search(*given))
    monkeypatch.setattr(
        gpu_points, "sampled_prices", lambda p, *rest: asked.append(p.n_rows) or sampled_prices(p, *rest)
    )
    answer = solve(Problem.points(*SETS["space"]), Auction(matrix=False), "cuda")
    assert answer.is_optimal
    assert (48 in asked) == (bids == 1 or is_hard)


@pytest.mark.parametrize(("lacking", "matrices"), [(-1.0, 1), (1.0, 0)])
def test_where_rows_lack_pairs_to_the_last_no_search_is_begun(
    lacking: float, matrices: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_points, "BIDS_OF_NEIGHBOURS", 1)
    monkeypatch.setattr(gpu_points, "LACKING", lacking)
    searched: list[int] = []
    search = gpu_points.search_free
    monkeypatch.setattr(gpu_points, "search_free", lambda g, *rest: searched.append(g.n_rows) or search(g, *rest))
    problem = Problem.points(*SETS["space"])
    answer = solve(problem, Auction(), "cuda")
    assert verify(problem, answer)
    assert answer.stats.get("matrix", 0) == matrices
    assert (48 in searched) == (matrices == 0)
