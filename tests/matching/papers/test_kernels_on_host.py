"""The papers' own kernels, step by step, run on the host: the optimum on every small case, whosever turn it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auctrack.matching import Auction, HungarianClassical, HungarianTree, Infeasible, Problem, solve, verify

from ..auction.on_host import be_the_device, draw_turns

pytestmark = [pytest.mark.kernels, pytest.mark.usefixtures("host")]

RNG = np.random.default_rng(0)
PROBLEMS = {
    "ties": Problem.dense(RNG.integers(0, 4, (30, 30)).astype(np.int32)),
    "whole, wide": Problem.dense(RNG.integers(0, 200, (20, 40))),
    "real, tall": Problem.dense(RNG.random((40, 30))),
    "single precision": Problem.dense(RNG.random((35, 35), dtype=np.float32)),
    "unmatched cost": Problem.dense(RNG.integers(0, 90, (30, 34)), unmatched_cost=30),
    "forbidden": Problem.dense(RNG.integers(0, 90, (25, 30)), forbidden=RNG.random((25, 30)) < 0.5),
}
VARIANTS = {"classical": HungarianClassical(variant="paper"), "tree": HungarianTree(variant="paper")}


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> None:
    be_the_device(monkeypatch)


def assert_optimal(problem: Problem, answer: Any) -> None:
    assert verify(problem, answer)
    assert answer.cost == pytest.approx(solve(problem, "jv", "cpu").cost, rel=1e-12)


@pytest.mark.parametrize(("kind", "turns"), [*((kind, None) for kind in PROBLEMS), ("ties", 1), ("ties", 2)])
@pytest.mark.parametrize("name", VARIANTS)
def test_date_and_nagis_variants(name: str, kind: str, turns: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if turns is not None:
        draw_turns(monkeypatch, turns)
    answer = solve(PROBLEMS[kind], VARIANTS[name], "cuda")
    assert_optimal(PROBLEMS[kind], answer)
    assert answer.stats["searches"] > 0


@pytest.mark.parametrize("name", VARIANTS)
def test_date_and_nagis_variants_name_rows_that_cannot_be_matched(name: str) -> None:
    cost = RNG.random((12, 12))
    cost[np.ix_([2, 5, 7], np.arange(2, 12))] = np.inf
    with pytest.raises(Infeasible) as caught:
        solve(cost, VARIANTS[name], "cuda")
    assert (caught.value.rows, caught.value.columns) == ((2, 5, 7), (0, 1))


@pytest.mark.parametrize("convergence", ["counter", "reduction"])
@pytest.mark.parametrize(
    ("kind", "turns"),
    [("real, tall", None), ("single precision", None), ("unmatched cost in reals", None), ("real, tall", 1)],
)
def test_vasconcelos_and_rosenhahns_auction(
    kind: str, convergence: Any, turns: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if turns is not None:
        draw_turns(monkeypatch, turns)
    in_reals = Problem.dense(np.random.default_rng(1).random((30, 34)), unmatched_cost=0.2)
    problem = PROBLEMS.get(kind, in_reals)
    options = Auction(variant="paper", convergence=convergence)
    there, here = (solve(problem, options, device) for device in ("cuda", "cpu"))
    assert verify(problem, there).is_valid
    np.testing.assert_array_equal(there.col_of_row, here.col_of_row)
    assert there.stats["bids"] == here.stats["bids"]
