"""Prices that a sample's optimum leaves: near those of all points, and worth their while."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from auctrack.matching import Auction, Problem, solve
from auctrack.matching.auction import matrix_free
from auctrack.matching.auction.matrix_free import match_points
from auctrack.matching.auction.options import AuctionOptions
from auctrack.matching.auction.sampled_start import sampled_duals
from auctrack.matching.points.hilbert import hilbert_orders

RNG = np.random.default_rng(0)
SETS: dict[str, tuple[np.ndarray, np.ndarray]] = {
    "cube": (RNG.random((1500, 3)), RNG.random((1500, 3))),
    "plane": (RNG.random((1500, 2)), RNG.random((1500, 2))),
    "blobs": (RNG.normal(size=(1500, 3)), RNG.normal([3, 0, 0], 1.0, (1500, 3))),
    "more columns": (RNG.random((1500, 3)), 2 * RNG.random((1600, 3))),
}
METRICS = ("distance", "squared")


def _duals(name: str, metric: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the points along the Hilbert curve, and the duals of their sample."""
    x, y = (side[order] for side, order in zip(SETS[name], hilbert_orders(*SETS[name]), strict=True))
    return x, y, sampled_duals(x, y, metric, partial(match_points, options=AuctionOptions()))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", SETS)
def test_prices_are_near_the_optimal_ones(name: str, metric: Any):
    x, y, v = _duals(name, metric)
    optimal = solve(Problem.points(x, y, metric=metric), Auction()).col_duals
    assert np.corrcoef(v, optimal)[0, 1] > (0.97 if name == "blobs" else 0.5)


def test_no_price_is_positive_where_columns_stay_unassigned():
    _, _, v = _duals("more columns", "distance")
    assert (v <= 0).all()
    assert (v < 0).any()


def test_a_sample_spares_bids(monkeypatch: pytest.MonkeyPatch):
    problem = Problem.points(*SETS["plane"])
    sampled = solve(problem, Auction())
    monkeypatch.setattr(matrix_free, "sampled_duals", lambda _, y, *__: np.zeros(len(y)))
    from_zero = solve(problem, Auction())
    assert sampled.stats["bids"] < 0.7 * from_zero.stats["bids"]
    assert sampled.cost == pytest.approx(from_zero.cost, rel=1e-12)


def test_blobs_apart_are_matched_without_their_matrix():
    """Neighbours alone do not tell how they match; the sample's prices do."""
    answer = solve(Problem.points(*SETS["blobs"], metric="squared"), Auction(matrix=False))
    assert answer.is_optimal
    assert answer.stats["edges"] < 0.1 * 1500**2
