"""The neighbour grid against brute force: every pair within the radius, none beyond, to the last bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auctrack.matching.points.grid import (
    DENSE,
    _pairs_looked_at,
    build_grid,
    build_grids,
    cells_for,
    largest_square,
    more_pairs_than,
    pairs_in_grid,
    pairs_in_grids,
    pairs_within,
)


def _brute_force(x: np.ndarray, y: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    squares = np.zeros((len(x), len(y)))
    for axis in range(x.shape[1]):
        squares += (x[:, None, axis] - y[None, :, axis]) ** 2
    distance = np.sqrt(squares)
    near = distance <= radius
    return np.concatenate([[0], np.cumsum(near.sum(axis=1))]), np.nonzero(near)[1], distance[near]


def _assert_all_pairs(x: np.ndarray, y: np.ndarray, radius: float) -> int:
    """Compare with brute force; return the number of pairs."""
    indptr, indices, distance = pairs_within(x, y, radius)
    expected = _brute_force(x, y, radius)
    assert (indptr.dtype, indices.dtype, distance.dtype) == (np.int64, np.int32, np.float64)
    for found, right in zip((indptr, indices, distance), expected, strict=True):
        np.testing.assert_array_equal(found, right)
    return len(indices)


@pytest.mark.parametrize("d", [1, 2, 3])
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(0, 60), m=st.integers(0, 60), radius=st.floats(0, 2))
@settings(deadline=None, derandomize=True, max_examples=40)
def test_uniform_points(d: int, seed: int, n: int, m: int, radius: float):
    rng = np.random.default_rng(seed)
    _assert_all_pairs(rng.random((n, d)), rng.random((m, d)), radius)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("step", [1.0, 0.1, 1 / 3, 1e-3])
@pytest.mark.parametrize("offset", [0.0, -7.3, 1e6])
def test_ties_exactly_at_the_radius(d: int, step: float, offset: float):
    """On a lattice, neighbours lie exactly at the radius, or an ulp to either side of it."""
    lattice = np.stack(np.meshgrid(*[np.arange(6.0)] * d, indexing="ij"), axis=-1).reshape(-1, d) * step + offset
    for radius in (step, np.nextafter(step, 0), np.nextafter(step, 1), step * np.sqrt(d), 2 * step):
        _assert_all_pairs(lattice, lattice, float(radius))


@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_cluster_and_a_far_outlier_go_to_the_tree(d: int):
    rng = np.random.default_rng(0)
    y = np.concatenate([rng.normal(scale=1e-3, size=(400, d)), np.full((1, d), 1e5)])
    x = np.concatenate([rng.normal(scale=1e-3, size=(100, d)), np.full((1, d), 1e5), np.full((1, d), -1e5)])
    radius = 1e-4
    grid = build_grid(y, radius)
    assert grid.density > DENSE
    assert grid.cell > 2 * radius
    assert _assert_all_pairs(x, y, radius) > 1
    lattice = np.round(y, 4), np.round(x, 4)
    _assert_all_pairs(*lattice, radius)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("radius", [0.0, 0.5, 1.0])
def test_coincident_points(d: int, radius: float):
    x, y = np.ones((5, d)), np.concatenate([np.ones((300, d)), np.full((2, d), 2.0)])
    assert _assert_all_pairs(x, y, radius) >= 5 * 300


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("radius", [10.0, 1e9, np.inf])
def test_a_radius_beyond_the_extent_finds_all(d: int, radius: float):
    rng = np.random.default_rng(0)
    assert _assert_all_pairs(rng.random((40, d)), rng.random((300, d)), radius) == 40 * 300


def test_flat_and_elongated_sets():
    rng = np.random.default_rng(0)
    flat = rng.random((200, 3)) * [0.0, 1.0, 1.0]
    long = rng.random((200, 3)) * [1e-9, 1e-3, 1e6]
    for x in (flat, long, long + flat):
        _assert_all_pairs(x, np.roll(x, 1, axis=1), 0.1)
        _assert_all_pairs(x, x[::2] + 0.01, 0.1)


@pytest.mark.parametrize("scale", [1e-150, 1e-9, 1e9, 1e100])
def test_extreme_scales(scale: float):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 9, (30, 3)) * scale
    _assert_all_pairs(x, x, scale * 2)


def test_an_extent_that_vanishes_beside_float64_ends():
    x = np.arange(3.0)[:, None] * 5e-324
    assert _assert_all_pairs(x, x, 0.0) == 9, "the squares underflow, so all distances are 0"


def test_an_extent_beyond_all_floats():
    x = np.array([[-1.7e308, 0, 0], [1.7e308, 1, 1], [1.7e308, 1, 2], [0, 0, 0]])
    with np.errstate(over="ignore"):
        assert _assert_all_pairs(x, x[::-1], 1.0) == 6


@pytest.mark.parametrize(("n", "m"), [(0, 5), (5, 0), (0, 0), (1, 1)])
def test_few_points(n: int, m: int):
    assert _assert_all_pairs(np.zeros((n, 3)), np.zeros((m, 3)), 1.0) == n * m


def test_rows_asked_in_many_tasks_come_in_order():
    rng = np.random.default_rng(0)
    x, y = rng.random((120_000, 2)) * 100, rng.random((50, 2)) * 100
    assert _assert_all_pairs(x, y, 1.0) > 1000


@pytest.mark.parametrize("spread", ["even", "one place", "clusters and an outlier"])
@pytest.mark.parametrize("radius", [0.05, 0.3, 2.0])
def test_more_pairs_than_agrees_with_the_pairs_written_out(spread: str, radius: float):
    rng = np.random.default_rng(7)
    x, y = rng.random((300, 3)), rng.random((280, 3))
    if spread == "one place":
        x[:], y[:] = 0.5, 0.5
    elif spread == "clusters and an outlier":
        x, y = x * 0.5, y * 0.5
        y[0] = 1e6
    grid, pairs = build_grid(y, radius), len(pairs_within(x, y, radius)[1])
    assert (grid.density > DENSE) == (spread != "even" or radius == 2.0)
    assert not more_pairs_than(pairs, x, grid, radius)
    assert more_pairs_than(pairs - 1, x, grid, radius)


@given(radius=st.floats(0))
@settings(deadline=None, derandomize=True, max_examples=300)
def test_the_largest_square_tells_what_the_distance_would(radius: float):
    square = largest_square(radius)
    above = math.nextafter(square, math.inf)
    assert math.sqrt(square) <= radius
    assert above == square or math.sqrt(above) > radius


@given(seed=st.integers(0, 2**32 - 1), reach=st.floats(0.5, 40))
@settings(deadline=None, derandomize=True, max_examples=40)
def test_a_radius_of_many_cells(seed: int, reach: float):
    """A row's points lie on more lines of cells than its own and the next ones."""
    rng = np.random.default_rng(seed)
    x, y = rng.random((20, 3)) * 10, rng.random((60, 3)) * 10
    grid = build_grid(y, 0.1)
    indptr, places, distance = pairs_in_grid(x, grid, reach)
    expected = _brute_force(x, grid.points, reach)
    row = np.repeat(np.arange(len(x)), np.diff(indptr))
    order = np.lexsort((places, row))
    for found, right in zip((indptr, places[order], distance[order]), expected, strict=True):
        np.testing.assert_array_equal(found, right)


SPREADS = ("even", "ties", "one place", "clusters and an outlier", "flat")


def _scattered(rng: np.random.Generator, n: int, d: int, spread: str) -> np.ndarray:
    points = rng.random((n, d)) * 5
    if spread == "ties":
        return np.round(points)
    if spread == "one place":
        return np.full((n, d), 2.0)
    if spread == "clusters and an outlier":
        points = points * 1e-3
        points[:1] = 1e4
    return points * np.append(np.zeros(d - 1), 1.0) if spread == "flat" else points


@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.integers(1, 3),
    sets=st.lists(st.tuples(st.integers(0, 90), st.integers(0, 90), st.sampled_from(SPREADS)), min_size=1, max_size=8),
    radius=st.sampled_from([0.0, 1e-3, 0.3, 1.0, 30.0]),
    most=st.integers(0, 6000),
)
@settings(deadline=None, derandomize=True, max_examples=200)
def test_many_sets_at_once_are_each_alone(
    seed: int, d: int, sets: list[tuple[int, int, str]], radius: float, most: int
):
    rng = np.random.default_rng(seed)
    x, y = ([_scattered(rng, side[k], d, side[2]) for side in sets] for k in (0, 1))
    first, y_first = (np.concatenate([[0], np.cumsum([len(own) for own in of])]) for of in (x, y))
    grids = build_grids(np.concatenate(y), y_first, radius)
    asked, pairs = 0, []
    while asked < len(sets):
        rows = np.concatenate(x)[first[asked] :]
        indptr, places, distance = pairs_in_grids(rows, first[asked:] - first[asked], grids.after(asked), radius, most)
        done = max(int(np.searchsorted(first, first[asked] + len(indptr) - 1, side="right")) - 1, asked + 1)
        assert len(places) == len(distance) == indptr[-1]
        is_alone = np.count_nonzero(np.diff(first[asked : done + 1])) == 1
        assert len(places) <= most or is_alone, "only a set alone may have more than there is room for"
        for s in range(asked, done):
            begin, end = first[[s, s + 1]] - first[asked]
            own = slice(*indptr[[begin, end]])
            pairs.append((indptr[begin : end + 1] - indptr[begin], places[own], distance[own]))
        asked = done
    for s, found in enumerate(pairs):
        own = slice(*y_first[[s, s + 1]])
        if min(len(x[s]), len(y[s])) == 0:
            assert len(found[1]) == 0
            continue
        grid = build_grid(y[s], radius)
        np.testing.assert_array_equal(grids.order[own], grid.order)
        np.testing.assert_array_equal(grids.points[own], grid.points)
        for values, alone in zip(found, pairs_in_grid(x[s], grid, radius), strict=True):
            np.testing.assert_array_equal(values, alone)


@pytest.mark.parametrize("radius", [0.0, 0.02, 0.1, 0.4, 3.0, 1e300])
@pytest.mark.parametrize("sizes", [[400], [300, 0, 1, 700], [0], [1, 1]])
@pytest.mark.parametrize("stretch", [(1, 1, 1), (0, 1, 1), (1e-9, 1, 300), (0, 0, 0)])
def test_how_many_pairs_are_looked_at_is_known_beforehand(radius: float, sizes: list[int], stretch: tuple[int, ...]):
    points = np.random.default_rng(1).random((sum(sizes), 3)) * stretch
    first = np.concatenate([[0], np.cumsum(sizes)])
    grids = build_grids(points, first, radius)
    cells = grids.first, grids.origin, grids.cell, grids.dims, grids.cells, grids.starts, grids.points
    expected = _pairs_looked_at(points, first, 0, radius, largest_square(radius), *cells)
    indptr, _, _ = pairs_in_grids(points, first, grids, radius, sum(n * n for n in sizes))
    assert indptr[-1] / 2 <= expected <= sum(n * n for n in sizes)
    if radius > 300 or not any(stretch):
        assert expected == sum(n * n for n in sizes)


def test_cells_are_the_same_to_the_last_bit_as_python_and_compiled():
    """NumPy's own powers of integers are an ulp off on some processors."""
    extents = np.random.default_rng(2).random((2000, 3)) * [1, 30, 100]
    for number, extent in enumerate(extents):
        found = cells_for(extent, np.int64(7 * number + 1), 0.01)
        expected = cells_for.py_func(extent, np.int64(7 * number + 1), 0.01)
        assert found[0] == expected[0]
        np.testing.assert_array_equal(found[1], expected[1])
