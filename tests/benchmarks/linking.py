"""Linking measured: CPU-seconds, memory and F1 on the movies of the peers' tables. A benchmark, not a test.

    python tests/benchmarks/linking.py speed      # 200,000 points a frame × 10 frames, beside SciPy
    python tests/benchmarks/linking.py accuracy   # 10,000 a frame, five seeds, against SciPy's optimum

The movies come from ../shared/recipes/persistent_walks.py (or --recipe FILE): persistence 0.9, mean step 0.3
spacings, 5 % missed and 5 % false detections.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

RECIPE = Path(__file__).parents[2] / "../shared/recipes/persistent_walks.py"
GATES = (0.78, 1.05, 1.35, 1.8)


def load_recipe(path: Path):
    spec = importlib.util.spec_from_file_location("persistent_walks", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def as_points(coordinates) -> pd.DataFrame:
    frames = np.repeat(np.arange(len(coordinates)), [len(c) for c in coordinates])
    return pd.DataFrame(np.vstack(coordinates), columns=["z", "y", "x"]).assign(frame=frames)


def scipy_links(coordinates, radius: float) -> np.ndarray:
    """The same objective (squared distance, radius² for two lone particles) by KD-tree, components and dense SciPy."""
    from scipy.optimize import linear_sum_assignment
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    links, first = [], 0
    trees = [cKDTree(c) for c in coordinates]
    for a, b in itertools.pairwise(trees):
        n, m = a.n, b.n
        d = a.sparse_distance_matrix(b, radius, output_type="coo_matrix")
        graph = coo_matrix((np.ones(d.nnz), (d.row, d.col + n)), shape=(n + m, n + m))
        _, label = connected_components(graph, directed=False)
        order = np.argsort(label[d.row], kind="stable")
        row, col, cost = d.row[order], d.col[order], d.data[order] ** 2
        cuts = np.flatnonzero(np.diff(label[row])) + 1
        for i, j, c in zip(np.split(row, cuts), np.split(col, cuts), np.split(cost, cuts), strict=True):
            rows, ri = np.unique(i, return_inverse=True)
            cols, ci = np.unique(j, return_inverse=True)
            worth = np.zeros((len(rows), len(cols)))
            worth[ri, ci] = c - radius**2
            r, k = linear_sum_assignment(worth)
            linked = worth[r, k] < 0
            links.append(np.c_[rows[r][linked] + first, cols[k][linked] + first + n])
        first += n
    return np.vstack(links)


def accuracy(recipe, n: int, seeds: int) -> None:
    from auctrack.tracker.link import LinkSettings, link_points
    from auctrack.tracker.points import Points

    print(f"{n} a frame, 10 frames; F1 of links between consecutive frames")
    print("seed   SciPy's optimum   ours, same objective   " + "   ".join(f"default at {g}" for g in GATES))
    rows = []
    for seed in range(seeds):
        coordinates, ids, spacing = recipe.simulate(n, 10, 0.9, True, seed)
        points, radius = Points(as_points(coordinates)), 0.78 * spacing

        def f1(links, coordinates=coordinates, ids=ids) -> float:
            return recipe.score(links, coordinates, ids)["f1_adj"]

        def ours(points=points, f1=f1, **settings) -> float:
            linking = link_points(points, LinkSettings(**settings))
            assert linking.report["is_optimal"]
            return f1(linking.links[["source", "target"]].to_numpy())

        same = ours(search_range=radius, unmatched_cost=radius / 2)
        rows.append([f1(scipy_links(coordinates, radius)), same, *(ours(search_range=g * spacing) for g in GATES)])
        print(f"{seed:4}   " + "   ".join(f"{value:.4f}" for value in rows[-1]), flush=True)
    print("mean   " + "   ".join(f"{value:.4f}" for value in np.mean(rows, axis=0)))
    print("least  " + "   ".join(f"{value:.4f}" for value in np.min(rows, axis=0)))


def speed(recipe, n: int, repeats: int) -> None:
    coordinates, _, spacing = recipe.simulate(n, 10, 0.9, True, 0)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "points.pickle"  # read without the buffers that Arrow would leave behind
        as_points(coordinates).to_pickle(table)
        # A process of its own, so that memory is linking's and not the simulator's.
        subprocess.run(
            [
                sys.executable,
                __file__,
                "worker",
                "--n",
                str(repeats),
                "--table",
                str(table),
                "--range",
                str(0.78 * spacing),
            ],
            check=True,
        )
    began = time.process_time()
    scipy_links(coordinates, 0.78 * spacing)
    print(f"KD-tree + components + dense SciPy: {time.process_time() - began:.2f} CPU-s")


def worker(table: str, search_range: float, repeats: int) -> None:
    from auctrack import LinkSettings, Points, link_points

    points = Points(pd.read_pickle(table))
    seconds, linking = [], None
    for _ in range(repeats + 1):
        del linking
        began = time.process_time()
        linking = link_points(points, LinkSettings(search_range))
        seconds.append(time.process_time() - began)
    assert linking.report["is_optimal"]
    first, *rest = seconds
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures = linking.report
    print(f"{len(points)} points, {figures['candidate_links']} candidates, {figures['links']} links, proven optimal")
    spread = f"least {min(rest):.2f}, most {max(rest):.2f}"
    median = statistics.median(rest)
    print(f"auctrack: first {first:.2f}, then median {median:.2f} ({spread}) CPU-s, peak {peak:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["speed", "accuracy", "worker"])
    parser.add_argument("--recipe", type=Path, default=RECIPE)
    parser.add_argument("--n", type=int)
    parser.add_argument("--table")
    parser.add_argument("--range", type=float)
    given = parser.parse_args()
    if given.what == "worker":
        worker(given.table, given.range, given.n)
    elif given.what == "speed":
        speed(load_recipe(given.recipe), given.n or 200_000, repeats=5)
    else:
        accuracy(load_recipe(given.recipe), given.n or 10_000, seeds=5)


if __name__ == "__main__":
    main()
