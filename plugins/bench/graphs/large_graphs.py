"""The graphs of 10^5 to 4·10^6 rows that solvers are compared on by name, and a folder that keeps what takes long.

R-MAT has the parameters of the collection's kron_g500 graphs, but is another draw: its matchings have other sizes.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ....matching.cardinality import BipartiteGraph
from .graph_families import FAMILIES, PERMUTED, permuted

KEPT_FROM = 100_000
"""Rows from which a graph takes longer to make than to read."""


class Recipe(NamedTuple):
    """How a graph is made; `order_seed` permutes its rows and columns, None leaves them."""

    family: str
    rows: int
    seed: int
    order_seed: int | None = None


_NATURAL = {
    "delaunay_n17": Recipe("delaunay", 2**17, 17),
    "delaunay_n20": Recipe("delaunay", 2**20, 20),
    "delaunay_n22": Recipe("delaunay", 2**22, 22),
    "rmat_18": Recipe("rmat", 2**18, 18),
    "rmat_20": Recipe("rmat", 2**20, 20),
    "rgg_n_2_20": Recipe("rgg", 2**20, 20),
    "3-out, both sides": Recipe("k-out", 10**6, 8),
    "gate_1e5": Recipe("gate", 10**5, 9),
    "gate_1e6": Recipe("gate", 10**6, 10),
}

_ORDER_SEEDS = {
    "delaunay_n17": 1160,
    "delaunay_n20": 1154,
    "rmat_18": 636,
    "rgg_n_2_20": 863,
    "3-out, both sides": 1230,
    "gate_1e5": 715,
    "gate_1e6": 716,
}

LARGE: dict[str, Recipe] = _NATURAL | {
    f"{name}{PERMUTED}": _NATURAL[name]._replace(order_seed=seed) for name, seed in _ORDER_SEEDS.items()
}
"""By the name of the graph."""


def make_graph(recipe: Recipe, folder: Path | None = None) -> BipartiteGraph:
    """Make a graph; large ones are kept in a folder, and taken from there.

    Parameters
    ----------
    recipe : Recipe
    folder : Path, optional
        Where ``FAMILY-ROWS-SEED.npz`` is read, or written; without one nothing is kept.
    """
    graph = _natural(recipe.family, recipe.rows, recipe.seed, folder)
    return graph if recipe.order_seed is None else permuted(graph, recipe.order_seed)


@lru_cache(maxsize=1)
def _natural(family: str, rows: int, seed: int, folder: Path | None) -> BipartiteGraph:
    """Make or read a graph in its own order; its permuted twin often follows."""
    if folder is None or rows < KEPT_FROM:
        return FAMILIES[family](rows, seed)
    path = folder / f"{family}-{rows}-{seed}.npz"
    if not path.exists():
        _keep(path, FAMILIES[family](rows, seed))
    with np.load(path) as kept:
        return BipartiteGraph.from_any((kept["indptr"], kept["indices"], tuple(kept["shape"])))


def _keep(path: Path, graph: BipartiteGraph) -> None:
    """Write a graph; a reader sees the whole file or none, and two that write it do not meet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    with unfinished.open("wb") as file:
        np.savez(file, indptr=graph.indptr, indices=graph.indices, shape=np.array(graph.shape))
    unfinished.replace(path)
