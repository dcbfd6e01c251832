"""What `auctrack bench auction` measures: problems of every kind, and the solvers for each.

The dense costs, point sets and gates are those on which the other GPU solvers of `papers.gpu_peers` were measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ....matching.certificate.assignment import Assignment
from ....matching.device import cuda
from ....matching.problem import Problem
from ..benchmark import Effort
from ..measure.harness import Case, Experiment, Facts, Variant
from .differing_points import CLUSTERED, DIFFERING, Make
from .gated_pairs import GATES, SCATTERED, SPACING, gate_with_a_shortage, gated_pair, scattered_pair
from .generated_costs import GeneratedCosts
from .hostile import hostile
from .lap_instances import DENSE_FAMILIES, POINT_SCALE, point_pair, uniform_costs
from .problem_variants import cases_of, on_cpu, on_gpu, problem_case, refusal, sizes_of
from .solver_variants import missing_device

LARGEST_MATRIX = 50_000
"""Rows above which a size is left out of the dense table: the costs would take more than 10 GB."""
UNMATCHED, UNMATCHED_IN_SPACINGS = 30.0, 0.4
"""Unmatched cost of each side: in units of the costs, and for point sets in distances of nearest neighbours."""
COPIED = 2**30
"""Bytes of the array whose copy measures the memory's speed."""
BATCHES = ((1000, 500), (256, 256), (4000, 100), (100, 1000))
SMALL_BATCH = ((20, 50),)
POINT_BATCHES = ((1000, 50), (200, 200), (100, 500))
SMALL_POINT_BATCH = ((20, 30),)
"""(problems, rows of each)."""
UNEQUAL = ((5000, 5001), (5000, 5250), (5000, 10_000), (1000, 10_000))
SMALL_UNEQUAL = ((100, 101), (100, 200))
"""(rows, columns)."""
CLUSTERED_SHAPES = ((3000, 3000), (3000, 3010), (3000, 4000))
SMALL_CLUSTERED_SHAPES = ((100, 100), (100, 110))
"""(rows, columns) of parts of one matrix."""
EXACT_ON_GPU = ("auction", "hungarian-tree", "hungarian-classical")

TITLES = {
    "dense": "Dense costs, float32",
    "unmatched": "Dense costs with an unmatched cost, float32",
    "differing-dense": "Dense distances of point sets from different distributions, float32; equal and unequal sides",
    "points": "Point sets against a noisy copy or an independent set: all pairs allowed, none stored",
    "differing-points": "Point sets from different distributions: all pairs allowed, none stored",
    "gated": "Gates with an unmatched cost, float32",
    "sparse": "Gates that must be matched whole, float32, 7.3 candidates unless said; noise in spacings",
    "short": "Such gates from which 1 % of the particles are gone, so that no matching is whole: time to prove that",
    "batch": "Batches of dense problems, costs in [0, 10n], int32",
    "point-batch": "Batches of independent point sets without a matrix",
    "unequal": "Unequal sides, without an unmatched cost",
    "hostile": "Dense costs that no solver was tuned for, float64: every solver of ours, `auto` and the peers",
    "largest": "A matrix that fills one GPU: costs in [0, n], float32, made on it",
}


def experiments_of(effort: Effort, gpu: str) -> list[Experiment]:
    """Return the experiments of `TITLES`, in that order."""
    return [
        _dense(effort, gpu),
        _unmatched(effort, gpu),
        _differing_dense(effort, gpu),
        *_points(effort, gpu),
        *_sparse_kinds(effort, gpu),
        *_batches(effort, gpu),
        _unequal(effort, gpu),
        hostile(effort, gpu),
        _largest(effort, gpu),
    ]


def copy_experiment(gpu: str) -> Experiment:
    """Return how fast the GPU's memory is: one array copied to another."""

    def arrays(size: int) -> tuple[np.ndarray, np.ndarray]:
        with cuda.using(gpu) as cp:
            return cp.zeros(size, np.uint8), cp.empty(size, np.uint8)

    def run(pair: tuple[np.ndarray, np.ndarray]) -> None:
        pair[1][...] = pair[0]

    copy = Variant("copy", run, _no_facts, prepare=arrays, device=gpu, missing=missing_device(gpu))
    return Experiment("memory", [Case("bytes", COPIED, lambda _: COPIED)], [copy], 20)


def _no_facts(given: int, answer: None) -> Facts:
    del given, answer
    return {}


def _dense(effort: Effort, gpu: str) -> Experiment:
    sizes = [n for n in effort.of_sizes((5000, 10_000, 20_000), (600,)) if n <= LARGEST_MATRIX]
    makers = {family: partial(_dense_problem, family) for family in DENSE_FAMILIES}
    variants = [*on_gpu(EXACT_ON_GPU, gpu), on_cpu("auto")]
    return Experiment("dense", cases_of(makers, sizes, gpu), variants, effort.times(5, 3))


def _unmatched(effort: Effort, gpu: str) -> Experiment:
    """Unmatched costs at which most rows find a partner, and some do not."""
    makers = {
        f"uniform [0, 10n], unmatched cost {UNMATCHED:g}": lambda n, seed: _dense_problem(
            "uniform [0, 10n]", n, seed, UNMATCHED
        ),
        f"point sets, unmatched cost {UNMATCHED_IN_SPACINGS:g} spacings": lambda n, seed: _dense_problem(
            "point sets", n, seed, UNMATCHED_IN_SPACINGS * SPACING * n ** (-1 / 3) * POINT_SCALE
        ),
    }
    cases = cases_of(makers, effort.of_sizes((5000, 20_000), (600,)), gpu)
    return Experiment("unmatched", cases, [*on_gpu(EXACT_ON_GPU, gpu), on_cpu("auto")], effort.times(5, 3))


def _differing_dense(effort: Effort, gpu: str) -> Experiment:
    """Dense clusters: a row has many columns within reach, and most rows want the same few."""
    shapes = SMALL_CLUSTERED_SHAPES if effort.quick else CLUSTERED_SHAPES
    most = max(m for _, m in shapes)
    makers = {name: partial(_distances, make, most) for name, make in CLUSTERED.items()}
    return _of_shapes("differing-dense", makers, shapes, effort, gpu)


def _points(effort: Effort, gpu: str) -> list[Experiment]:
    alike = {"noisy copy": point_pair, "independent set": _independent_sets}
    sizes = effort.of_sizes((20_000, 100_000, 1_000_000), (2000,)), effort.of_sizes((4000, 20_000), (500,))
    variants = [*on_gpu(["auction"], gpu), on_cpu("auction")]
    return [
        Experiment(
            name,
            cases_of({series: partial(_points_problem, make) for series, make in makers.items()}, ns, gpu),
            variants,
            effort.times(5, 3),
        )
        for name, makers, ns in zip(("points", "differing-points"), (alike, DIFFERING), sizes, strict=True)
    ]


def _sparse_kinds(effort: Effort, gpu: str) -> list[Experiment]:
    sizes = effort.of_sizes((20_000, 200_000, 1_000_000), (2000,))
    gates = {name: partial(gated_pair, degree=degree) for name, degree in GATES.items()}
    whole = {name: partial(scattered_pair, how=how) for name, how in SCATTERED.items()}
    short = cases_of({"short gate": gate_with_a_shortage}, sizes, gpu)
    solvers = [*on_gpu(EXACT_ON_GPU, gpu), on_cpu("auction"), on_cpu("jv")]
    times = effort.times(5, 3)
    return [
        Experiment("gated", cases_of(gates, sizes, gpu), solvers, times),
        Experiment("sparse", cases_of(whole, sizes, gpu), solvers, times),
        Experiment("short", short, [refusal(variant) for variant in solvers], times),
    ]


def _batches(effort: Effort, gpu: str) -> list[Experiment]:
    shapes, sets = (SMALL_BATCH, SMALL_POINT_BATCH) if effort.quick else (BATCHES, POINT_BATCHES)
    dense = [problem_case(f"{count} problems", n, gpu, partial(_batch_problem, count, n)) for count, n in shapes]
    points = [problem_case(f"{count} pairs", n, gpu, partial(_point_batch, count, n, n)) for count, n in sets]
    count, most = (20, 30) if effort.quick else (2000, 59)
    points.append(problem_case(f"{count} pairs, 1 to n a side", most, gpu, partial(_point_batch, count, 1, most)))
    times = effort.times(5, 3)
    return [
        Experiment("batch", dense, [*on_gpu(EXACT_ON_GPU, gpu), on_cpu("auto")], times),
        Experiment("point-batch", points, [*on_gpu(["auction"], gpu), on_cpu("auction")], times),
    ]


def _unequal(effort: Effort, gpu: str) -> Experiment:
    makers = {"point sets without a matrix": _unequal_points, "[0, 10n]": _unequal_costs}
    return _of_shapes("unequal", makers, SMALL_UNEQUAL if effort.quick else UNEQUAL, effort, gpu)


def _of_shapes(
    name: str,
    makers: Mapping[str, Callable[[int, int, int], Problem]],
    shapes: Sequence[tuple[int, int]],
    effort: Effort,
    gpu: str,
) -> Experiment:
    """Return the experiment with problems of (rows, columns), which make(rows, columns, seed) returns."""
    cases = [
        problem_case(f"{kind}, {n:,} rows", m, gpu, partial(make, n, m))
        for kind, make in makers.items()
        for n, m in shapes
    ]
    return Experiment(name, cases, [*on_gpu(EXACT_ON_GPU, gpu), on_cpu("auto")], effort.times(5, 3))


def _largest(effort: Effort, gpu: str) -> Experiment:
    """One problem that is made, solved and checked on the GPU."""
    sizes = effort.of_sizes((150_000,), (600,))
    cases = [Case("uniform [0, n]", n, lambda seed, n=n: GeneratedCosts(n, "n", seed)) for n in sizes]
    (solver,) = on_gpu(["hungarian-classical"], gpu)

    def check(given: GeneratedCosts, answer: Assignment) -> Facts:
        return {**given.checked(answer, [gpu]), **sizes_of(given.n, given.n_bytes)}

    variant = replace(solver, check=check, prepare=lambda given: given.on([gpu]))
    return Experiment("largest", cases, [variant], effort.times(3, 3))


def _dense_problem(family: str, n: int, seed: int, unmatched_cost: float | None = None) -> Problem:
    return Problem.dense(DENSE_FAMILIES[family](n, seed).astype(np.float32), unmatched_cost=unmatched_cost)


def _distances(make: Make, most: int, n: int, m: int, seed: int) -> Problem:
    """Return the distances of n of `most` points to m of as many others."""
    from scipy.spatial.distance import cdist

    x, y = make(most, seed)
    return Problem.dense(cdist(x[:n], y[:m]).astype(np.float32))


def _points_problem(make: Make, n: int, seed: int) -> Problem:
    return Problem.points(*make(n, seed))


def _independent_sets(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two sets that know nothing of each other: the hard case."""
    return point_pair(n, seed)[0], point_pair(n, seed + 1)[0]


def _unequal_points(n: int, m: int, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    return Problem.points(rng.random((n, 3)), rng.random((m, 3)))


def _unequal_costs(n: int, m: int, seed: int) -> Problem:
    return Problem.dense(uniform_costs(m, "10n", seed)[:n].astype(np.float32))


def _batch_problem(count: int, n: int, seed: int) -> Problem:
    return Problem.dense(np.stack([uniform_costs(n, "10n", seed + k) for k in range(count)]))


def _point_batch(count: int, fewest: int, most: int, seed: int) -> Problem:
    """Return pairs of sets in the unit box, with so many points a side."""
    rng = np.random.default_rng(seed)
    sides = rng.integers(fewest, most + 1, (count, 2))
    return Problem.batch([Problem.points(rng.random((n, 3)), rng.random((m, 3))) for n, m in sides])
