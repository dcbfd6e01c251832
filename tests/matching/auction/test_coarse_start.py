"""Coarse initial prices: near the optimal ones on scales of many spacings, and never more than allowed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auctrack.matching import Auction, Problem, solve

from .coarse_twin import coarse_prices

RNG = np.random.default_rng(0)
FLAT = np.array([1.0, 1.0, 0.02])
SETS: dict[str, tuple[np.ndarray, np.ndarray]] = {
    "cube": (RNG.random((3000, 3)), RNG.random((3000, 3))),
    "plane": (RNG.random((3000, 2)), RNG.random((3000, 2))),
    "thin plate": (RNG.random((3000, 3)) * FLAT, RNG.random((3000, 3)) * FLAT),
    "cloud": (RNG.normal(size=(3000, 3)), RNG.normal(size=(3000, 3))),
    "cloud beside cloud": (RNG.normal(size=(1000, 3)), RNG.normal(size=(1000, 3)) + 0.5),
}


def _axes_first(points: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros((3 - points.shape[1], len(points))), points.T])


@pytest.mark.parametrize("metric", ["distance", "squared"])
@pytest.mark.parametrize("name", SETS)
def test_prices_resemble_the_optimal_ones(name: str, metric: Any):
    x, y = SETS[name]
    optimal = solve(Problem.points(x, y, metric=metric), Auction()).col_duals
    coarse = coarse_prices(_axes_first(x), _axes_first(y), metric == "squared")
    assert np.corrcoef(coarse, optimal)[0, 1] > 0.6
    assert np.std(coarse - optimal) < 0.8 * np.std(optimal)


@pytest.mark.parametrize("name", SETS)
def test_no_slope_exceeds_what_distances_allow(name: str):
    x, y = SETS[name]
    v = coarse_prices(_axes_first(x), _axes_first(y), False)
    first, second = RNG.integers(0, len(y), (2, 5000))
    steps = np.linalg.norm(y[first] - y[second], axis=1)
    assert (abs(v[first] - v[second]) <= np.sqrt(3) * steps + 1e-12).all()


def test_no_price_is_positive_where_columns_stay_unassigned():
    x, y = SETS["cube"]
    v = coarse_prices(_axes_first(x[:2800]), _axes_first(y), False)
    assert (v <= 0).all()
    assert (v < 0).any()


def test_equal_densities_need_no_prices():
    x, _ = SETS["cube"]
    np.testing.assert_array_equal(coarse_prices(_axes_first(x), _axes_first(x[::-1]), False), 0)


@pytest.mark.parametrize("power", [-450, 450])
@pytest.mark.parametrize("squared", [False, True])
def test_prices_scale_with_the_points(squared: bool, power: int):
    x, y = map(_axes_first, SETS["cloud beside cloud"])
    prices = np.ldexp(coarse_prices(x, y, squared), power * (1 + squared))
    scaled = coarse_prices(np.ldexp(x, power), np.ldexp(y, power), squared)
    np.testing.assert_allclose(scaled, prices, rtol=1e-6, atol=1e-9 * np.abs(prices).max())


@pytest.mark.parametrize("n", [1, 100])
def test_points_in_one_place_have_no_far(n: int):
    np.testing.assert_array_equal(coarse_prices(np.ones((3, n)), np.ones((3, n)), False), np.zeros(n))
