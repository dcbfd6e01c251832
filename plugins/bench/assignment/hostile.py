"""Problems that no solver was tuned for: what breaks one method or another, named and seeded.

A library is judged by its worst answer, so the table shows every solver of ours, what `auto` takes, and the peers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....matching.problem import Problem
from ..benchmark import Effort
from ..measure.harness import Case, Experiment, Facts, Variant
from . import hostile_costs, hostile_problems
from .hostile_peers import Costs, check_peer, each, emd, lapx, peer_inputs, scipy
from .instance import Instance
from .peer_solvers import not_installed
from .problem_variants import on_cpu, on_gpu, problem_case, sizes_of

Make = Callable[[int, int], Problem]
"""make(n, seed)."""


def _dense(costs: Callable[[int, int], np.ndarray]) -> Make:
    return lambda n, seed: Problem.dense(costs(n, seed))


HOSTILE: dict[str, tuple[Make, int]] = {
    "Machol and Wien": (_dense(hostile_costs.machol_wien), 2000),
    "squares on a line": (_dense(hostile_costs.squared_on_a_line), 4000),
    "roots on a line": (_dense(hostile_costs.roots_on_a_line), 4000),
    "inner products of rank 3": (_dense(hostile_costs.inner_products), 5000),
    "8³ dense clusters": (_dense(hostile_costs.dense_clusters), 5000),
    "two blobs apart": (_dense(hostile_costs.two_blobs), 5000),
    "a ball and a shell": (_dense(hostile_costs.ball_to_shell), 5000),
    "twelve decades": (_dense(hostile_costs.power_law), 5000),
    "near-ties": (_dense(hostile_costs.near_ties), 3000),
    "permuted blocks": (_dense(hostile_costs.permuted_blocks), 5000),
    "one far point": (_dense(hostile_costs.one_far_point), 3000),
    "cubes in the plane": (_dense(hostile_costs.cubes), 4000),
    "distances in the plane": (_dense(hostile_costs.plane), 4500),
    "arcs of a circle": (_dense(hostile_costs.arcs), 4500),
    "two densities": (_dense(hostile_costs.two_densities), 4000),
    "two densities by city block": (_dense(hostile_costs.city_blocks), 4000),
    "two letters": (_dense(hostile_costs.letters), 4000),
    "colours of a photograph": (_dense(hostile_costs.photographs), 4000),
    "one column more": (hostile_problems.one_more_column, 4000),
    "Machol and Wien, one more": (hostile_problems.machol_wien_one_more, 2000),
    "squares on a line, five more": (hostile_problems.squares_five_more, 3000),
    "blobs with an unmatched cost": (hostile_problems.blobs_with_unmatched_cost, 4000),
    "far point, high unmatched cost": (hostile_problems.far_point_with_unmatched_cost, 3000),
    "sparse: wide gate, whole": (hostile_problems.wide_gate, 40_000),
    "sparse: heavy columns": (hostile_problems.heavy_columns, 40_000),
    "sparse: nearly full": (hostile_problems.nearly_full, 2000),
    "points of a line": (hostile_problems.points_of_a_line, 20_000),
    "points of two blobs": (hostile_problems.points_of_blobs, 20_000),
    "points of clusters": (hostile_problems.points_of_clusters, 20_000),
    "points of a lattice": (hostile_problems.points_of_a_lattice, 27_000),
    "points of a cube and a slab": (hostile_problems.points_of_a_slab, 20_000),
    "batch of blocks of 100": (hostile_problems.mixed_batch, 400),
    "batch of large blocks": (hostile_problems.large_batch, 2500),
}
"""make(n, seed), and the largest n, by the name of the series."""

SMALL = 100
SOLVERS = ("auto", "jv", "auction", "hungarian-classical", "hungarian-tree")


def hostile(effort: Effort, gpu: str) -> Experiment:
    """Return the experiment: every solver of ours on both devices, and the peers.

    Each series grows to its size in two doublings, so that a solver that is far too slow is not tried on the largest.
    """
    cases = [case for name, (make, n) in HOSTILE.items() for case in _sizes(name, make, n, effort, gpu)]
    peers = [
        _peer("SciPy", scipy),
        _peer("lapx", lapx, not_installed("lap", "lapx")),
        _peer("POT", emd, not_installed("ot", "POT")),
    ]
    ours = [*(on_cpu(solver) for solver in SOLVERS), *on_gpu([s for s in SOLVERS if "jv" not in s], gpu)]
    return Experiment("hostile", cases, [*ours, *peers], effort.times(3, 1))


def _sizes(name: str, make: Make, n: int, effort: Effort, gpu: str) -> list[Case]:
    sizes = effort.of_sizes((n // 4, n // 2, n), (SMALL,))
    return [problem_case(name, k, gpu, lambda seed, k=k: make(k, seed)) for k in sizes]


def _peer(name: str, solve: Callable[[Costs], np.ndarray], missing: str | None = None) -> Variant:
    def check(given: Instance, columns: list[np.ndarray]) -> Facts:
        return {**check_peer(given, columns), **sizes_of(given.problem.n_rows, given.n_bytes)}

    return Variant(name, each(solve), check, prepare=peer_inputs, missing=missing)
