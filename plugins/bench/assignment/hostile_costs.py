"""Costs that break one method or another: dense matrices, seeded. `hostile` gives them names and sizes."""

from __future__ import annotations

import numpy as np


def machol_wien(n: int, seed: int) -> np.ndarray:
    """Return (i + 1)(j + 1), which takes Hungarian methods O(n²) augmentations (Machol and Wien, 1976)."""
    del seed
    numbers = np.arange(1.0, n + 1)
    return np.outer(numbers, numbers)


def squared_on_a_line(n: int, seed: int) -> np.ndarray:
    """Return squared distances of two independent sets on a line: sorting solves it, duals do not see how."""
    x, y = np.random.default_rng(seed).random((2, n))
    return (x[:, None] - y) ** 2


def roots_on_a_line(n: int, seed: int) -> np.ndarray:
    """Return √|x − y| of two sorted sets: a concave cost, whose optimum nests instead of sorting."""
    x, y = np.sort(np.random.default_rng(seed).random((2, n)), axis=1)
    return np.sqrt(np.abs(x[:, None] - y))


def inner_products(n: int, seed: int) -> np.ndarray:
    """Return inner products of rank 3: every row ranks the columns by one direction in space."""
    x, y = np.random.default_rng(seed).normal(size=(2, n, 3))
    return x @ y.T


def dense_clusters(n: int, seed: int) -> np.ndarray:
    """Return distances of points in 8³ dense clusters, drawn separately for each side, whose sizes differ by a few."""
    rng = np.random.default_rng(seed)
    centres = np.stack(np.meshgrid(*[np.arange(8.0)] * 3), axis=-1).reshape(-1, 3)
    x, y = (centres[rng.integers(len(centres), size=n)] + 1e-3 * rng.normal(size=(n, 3)) for _ in range(2))
    return _distances(x, y)


def two_blobs(n: int, seed: int) -> np.ndarray:
    """Return squared distances of two normal blobs, 3 standard deviations apart."""
    x, y = np.random.default_rng(seed).normal(size=(2, n, 3))
    y[:, 0] += 3.0
    return _distances(x, y) ** 2


def ball_to_shell(n: int, seed: int) -> np.ndarray:
    """Return distances of a ball's points to a sphere's: all must move outwards."""
    rng = np.random.default_rng(seed)
    x, y = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in rng.normal(size=(2, n, 3)))
    return _distances(x * rng.random((n, 1)) ** (1 / 3), y)


def power_law(n: int, seed: int) -> np.ndarray:
    """Return independent costs over twelve decades."""
    return 10.0 ** np.random.default_rng(seed).uniform(-6, 6, (n, n))


def near_ties(n: int, seed: int) -> np.ndarray:
    """Return costs of 1, 2 or 3 that differ by 1e-12: what decides is twelve digits down."""
    rng = np.random.default_rng(seed)
    return rng.integers(1, 4, (n, n)) + 1e-12 * rng.random((n, n))


def permuted_blocks(n: int, seed: int) -> np.ndarray:
    """Return cheap blocks of 50 rows, shuffled, in a matrix of dear costs; 5 % of the rows sit in the wrong block."""
    rng = np.random.default_rng(seed)
    row_block, col_block = np.arange(n) // 50, rng.permutation(n) // 50
    moved = rng.random(n) < 0.05
    row_block[moved] = rng.permutation(row_block[moved])
    return rng.random((n, n)) + 100.0 * (row_block[:, None] != col_block)


def one_far_point(n: int, seed: int) -> np.ndarray:
    """Return squared distances in a unit box, with one point of a side a thousand boxes away."""
    x, y = np.random.default_rng(seed).random((2, n, 3))
    y[0] += 1000.0
    return _distances(x, y) ** 2


def cubes(n: int, seed: int) -> np.ndarray:
    """Return cubed distances of two independent sets in the plane: few long links decide."""
    x, y = np.random.default_rng(seed).random((2, n, 2))
    return _distances(x, y) ** 3


def plane(n: int, seed: int) -> np.ndarray:
    """Return distances of two independent sets in the plane: searches are the longer the more points there are."""
    x, y = np.random.default_rng(seed).random((2, n, 2))
    return _distances(x, y)


def arcs(n: int, seed: int) -> np.ndarray:
    """Return arcs between independent points on a circle: the last searches go round it."""
    x, y = np.random.default_rng(seed).random((2, n))
    straight = np.abs(x[:, None] - y)
    return np.minimum(straight, 1 - straight)


def two_densities(n: int, seed: int) -> np.ndarray:
    """Return distances of points all over a square to others that lie close to two of its sides: many must go far."""
    x, y = np.random.default_rng(seed).random((2, n, 2))
    return _distances(x, y**2)


def city_blocks(n: int, seed: int) -> np.ndarray:
    """Return the same along both axes: of the pairs one way of each other, all exchanges cost the same."""
    x, y = np.random.default_rng(seed).random((2, n, 2))
    return np.abs(x[:, None] - y**2).sum(axis=2)


def letters(n: int, seed: int) -> np.ndarray:
    """Return squared distances of the pixels of an ampersand to those of an at sign, drawn to have n pixels or more."""
    rng = np.random.default_rng(seed)
    x, y = (_pixels_of(letter, n, rng) for letter in "&@")
    return _distances(x, y) ** 2


def photographs(n: int, seed: int) -> np.ndarray:
    """Return squared distances in colour between pixels of a photograph and of its negative: many are alike."""
    from matplotlib.cbook import get_sample_data
    from matplotlib.image import imread

    rng = np.random.default_rng(seed)
    portrait = np.asarray(imread(str(get_sample_data("grace_hopper.jpg", asfileobj=False))), float).reshape(-1, 3)
    x = portrait[rng.choice(len(portrait), n, replace=False)]
    y = portrait[rng.choice(len(portrait), n, replace=False)]
    return _distances(x, 255 - y) ** 2


def _pixels_of(letter: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return n pixels within the outline of a letter that has hardly more of them, whatever its size."""
    from matplotlib.path import Path
    from matplotlib.textpath import TextPath

    outline: Path = TextPath((0, 0), letter, size=100)
    low, high = outline.vertices.min(axis=0), outline.vertices.max(axis=0)
    across = 8
    while True:
        grid = np.stack(np.meshgrid(*(np.arange(across) + 0.5,) * 2), axis=-1).reshape(-1, 2)
        inside = grid[outline.contains_points(low + (high - low) * grid / across)]
        if len(inside) >= n:
            return inside[np.sort(rng.choice(len(inside), n, replace=False))]
        across += 1 + across // 16


def _distances(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import cdist

    return cdist(x, y)
