"""`auctrack bench peers`: SciPy, scikit-image, lapx, trackpy, laptrack, btrack, where installed, on the same inputs."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...matching.cardinality import BipartiteGraph, maximum_matching
from ...matching.cardinality.matching import Matching
from ...matching.problem import Problem
from .assignment.gated_pairs import GATES, gated_pair
from .assignment.lap_instances import DENSE_FAMILIES, REAL_FAMILIES
from .assignment.peer_solvers import (
    DenseInput,
    GatedInput,
    check_columns,
    check_dense,
    check_gated,
    lapmod,
    lapx_dense,
    not_installed,
    scipy_dense,
    scipy_graph,
    scipy_matching,
    scipy_sparse,
)
from .assignment.solver_variants import missing_device, solver_variant
from .benchmark import Benchmark, Effort
from .draw.figures import draw_bars, draw_times
from .draw.tables import Table, fact_mean, grid, most_memory, ratio, with_spread
from .draw.time_lines import times_by_size
from .graphs.checking import checked, unseen
from .graphs.graph_families import PERMUTED
from .graphs.large_graphs import Recipe, make_graph
from .measure.harness import Case, Experiment, Variant, always, cell_of
from .measure.record import Cell, Clock, Record
from .tracking import peer_linkers
from .tracking.baselines import scipy_links
from .tracking.detectors import detection_case, detectors
from .tracking.linker_variants import by_hand, linked_by_us, movie_case

AS_THEY = "auctrack, their objective"
_DENSE = DENSE_FAMILIES | REAL_FAMILIES


def peers(effort: Effort, gpu: str = "cuda") -> Benchmark:
    """Return the benchmark; `gpu` names the CUDA device of our GPU variants."""
    experiments = [
        _assignment(effort, gpu),
        _gated(effort, gpu),
        _cardinality(effort, gpu),
        _detection(effort),
        _linking(effort, gpu),
    ]
    return Benchmark(
        "peers", experiments, partial(_tables, experiments, effort), partial(_figures, experiments, effort)
    )


def _assignment(effort: Effort, gpu: str) -> Experiment:
    sizes = effort.of_sizes((500, 1000, 2000, 4000), (200, 500))
    families = [name for name in _DENSE if not (effort.quick and name.endswith("float32"))]  # half the compilation
    cases = [Case(family, n, partial(_dense_input, family, n)) for family in families for n in sizes]
    costs: Callable[[DenseInput], np.ndarray] = lambda given: given.costs  # noqa: E731 - checking them counts
    rounded = partial(check_dense, tolerance=1e-6)
    variants = [
        solver_variant("auctrack", "auto", prepare=costs),
        solver_variant("auctrack, GPU", "auto", gpu, prepare=costs),
        solver_variant("auctrack auction", "auction", prepare=costs),
        solver_variant("auctrack auction, GPU", "auction", gpu, prepare=costs),
        Variant("SciPy", scipy_dense, check_dense, prepare=costs),
        Variant("lapx", lapx_dense, check_dense, prepare=_as(np.float64), missing=not_installed("lap", "lapx")),
        Variant("lapx float32", lapx_dense, rounded, prepare=_as(np.float32), missing=not_installed("lap", "lapx")),
    ]
    return Experiment("assignment", cases, variants, effort.times(7, 3))


def _dense_input(family: str, n: int, seed: int) -> DenseInput:
    return DenseInput(_DENSE[family](n, seed))


def _as(dtype: Any) -> Callable[[DenseInput], np.ndarray]:
    return lambda given: given.costs.astype(dtype)


def _gated(effort: Effort, gpu: str) -> Experiment:
    sizes = effort.of_sizes((2000, 10_000, 50_000, 200_000), (500, 2000))
    cases = [Case(name, n, partial(_gated_input, degree, n)) for name, degree in GATES.items() for n in sizes]
    problem: Callable[[GatedInput], Problem] = lambda given: given.problem  # noqa: E731
    variants = [
        solver_variant("auctrack", "auto", prepare=problem),
        solver_variant("auctrack auction", "auction", prepare=problem),
        solver_variant("auctrack auction, GPU", "auction", gpu, prepare=problem),
        Variant(
            "lapx lapmod", lapmod, check_gated, prepare=lambda given: given.square, missing=not_installed("lap", "lapx")
        ),
        Variant("SciPy sparse", scipy_sparse, check_gated, prepare=lambda given: given.square),
    ]
    return Experiment("gated", cases, variants, effort.times(7, 3))


def _gated_input(degree: float, n: int, seed: int) -> GatedInput:
    return GatedInput(gated_pair(n, degree, seed))


def _cardinality(effort: Effort, gpu: str) -> Experiment:
    sizes = effort.of_sizes((2**12, 2**13, 2**14), (2**11,))
    cases = [
        _graph_case(f"{name}{order}", n)
        for name in ("delaunay", "rmat", "rgg", "gate")
        for n in sizes
        for order in ("", PERMUTED)
    ]
    if not (effort.quick or effort.sizes):
        cases += [_graph_case(f"delaunay{order}", 2**17) for order in ("", PERMUTED)]
    variants = [
        _our_matching("auctrack", "cpu"),
        _our_matching("auctrack, GPU", gpu),
        Variant("SciPy", scipy_matching, check_columns, prepare=scipy_graph),
    ]
    return Experiment("cardinality", cases, variants, effort.times(5, 3))


def _graph_case(series: str, rows: int) -> Case:
    """A graph of `cardinality`, or one of so many rows: 2^k rows have the seed k there."""
    seed = rows.bit_length() - 1
    order_seed = seed if series.endswith(PERMUTED) else None
    recipe = Recipe(series.removesuffix(PERMUTED), rows, seed, order_seed)
    return Case(series, rows, lambda _: make_graph(recipe), seed_of=always(seed))


def _our_matching(label: str, device: str) -> Variant:
    """Our own choice on a graph in the host's memory: copying and transposing it count."""

    def run(graph: BipartiteGraph) -> Matching:
        return maximum_matching(unseen(graph), device=device)

    return Variant(label, run, checked, device=device, missing=missing_device(device))


def _detection(effort: Effort) -> Experiment:
    cases = [detection_case(planes) for planes in effort.of_sizes((8, 32), (4,))]
    return Experiment("detection", cases, detectors(), effort.times(7, 3))


def _linking(effort: Effort, gpu: str) -> Experiment:
    sizes = effort.of_sizes((500, 2000, 10_000, 50_000, 200_000), (300, 1000))
    cases = [movie_case("10 frames, 5 % missed, 5 % false", n, missed=0.05, false=0.05) for n in sizes]
    as_unmatched_cost = linked_by_us(
        AS_THEY, lambda given: given.search_range, unmatched_cost=lambda given: given.search_range / 2
    )
    variants = [
        linked_by_us("auctrack", lambda given: given.search_range),
        linked_by_us("auctrack, GPU", lambda given: given.search_range, device=gpu),
        as_unmatched_cost,
        by_hand("SciPy by hand", scipy_links),
        # What a peer raises (trackpy: SubnetOversizeException; btrack: a library that does not load) is its result.
        *(
            by_hand(name, run, missing=not_installed(name), failures=(Exception,))
            for name, run in peer_linkers.LINKERS.items()
        ),
    ]
    return Experiment("linking", cases, variants, effort.times(5, 2))


_TITLES = {
    "assignment": "Dense assignment to the proven optimum",
    "gated": "Candidate links within a gate, with an unmatched cost, to the proven optimum",
    "cardinality": "Maximum cardinality, start and transposing included",
    "detection": "Detection in a frame of so many planes of 512 × 512 voxels, 94 spots a plane",
    "linking": "Linking a movie of 10 frames",
}
_COPIES = "inputs lie in the host's memory: checking them, and copying them to a GPU, counts"
_NOTES = {
    "assignment": (
        _COPIES,
        "lapx float32 gets costs rounded to float32, and may miss the optimum of real ones by a millionth",
    ),
    "gated": (
        _COPIES,
        "the peers get the square problem without an unmatched cost ready made; making it is not in their times",
    ),
    "cardinality": (_COPIES,),
    "detection": (
        "one size of spots, known to all; the filters alone are gaussian_laplace and maximum_filter, in float32",
    ),
    "linking": (_COPIES, "search range 0.78 spacings for all, mean step 0.3 spacings"),
}


def _tables(experiments: Sequence[Experiment], effort: Effort, record: Record) -> list[Table]:
    detection, linking = experiments[-2:]
    memory = "Linking: the most memory of a call beyond its input"
    return [
        *(_times(experiment, record, effort.clock) for experiment in experiments),
        grid(
            "Detection: share of the particles found",
            detection,
            record,
            fact_mean("recall", 3),
            label=_label,
        ),
        _linking_accuracy(linking, record),
        grid(memory, linking, record, most_memory, label=_label),
    ]


def _label(case: Case) -> str:
    return f"{case.series}: {case.size:,}"


def _times(experiment: Experiment, record: Record, clock: Clock) -> Table:
    """Every median, and how many times the first variant's of the same run it is."""
    ours = experiment.variants[0].name

    def text(cell: Cell) -> str:
        times = cell.times(clock)
        reference = record.cell(cell.experiment, cell.series, cell.size, ours).times(clock)
        if not times or not reference or cell.variant == ours:
            return with_spread(times)
        return f"{with_spread(times)}, {ratio(statistics.median(times), statistics.median(reference))}"

    title = f"{_TITLES[experiment.name]}: median (± half the middle half), and as a multiple of {ours}'s"
    return grid(title, experiment, record, text, label=_label, notes=_NOTES[experiment.name])


def _linking_accuracy(experiment: Experiment, record: Record) -> Table:
    title = "Linking: F1 of links (mean over the repetitions, fewer where the limit ended them)"
    return grid(title, experiment, record, fact_mean("f1", 4), label=_label)


def _figures(experiments: Sequence[Experiment], effort: Effort, record: Record, folder: Path) -> list[Path]:
    *others, linking = experiments
    paths: list[Path] = []
    for experiment in others:
        path, bars = folder / f"peers-{experiment.name}.png", _multiples_of_ours(experiment, record, effort.clock)
        paths += draw_bars(path, _TITLES[experiment.name], bars, y="time as a multiple of auctrack's")
    lines = times_by_size(linking, record, effort.clock)
    lines.pop(AS_THEY)  # hardly distinguishable from ours
    title = f"{_TITLES['linking']}: {'CPU seconds' if effort.clock == 'cpu' else 'wall time'}"
    path = folder / f"peers-{linking.name}.png"
    return paths + draw_times(path, title, lines, x="particles in each frame", bold=("auctrack", "auctrack, GPU"))


def _multiples_of_ours(experiment: Experiment, record: Record, clock: Clock) -> dict[str, dict[str, float]]:
    """Return how many times as long as the first variant the others take, on the largest case of each series.

    Of the cases on which it and any other was measured.
    """
    largest: dict[str, tuple[str, dict[str, float]]] = {}
    for case in sorted(experiment.cases, key=lambda case: case.size):
        medians = _medians(experiment, case, record, clock)
        ours = medians.pop(experiment.variants[0].name, None)
        if ours is not None and medians:
            multiples = {name: seconds / ours for name, seconds in medians.items()}
            largest[case.series] = _label(case), multiples
    return dict(largest.values())


def _medians(experiment: Experiment, case: Case, record: Record, clock: Clock) -> dict[str, float]:
    """Return the median seconds of those variants that were measured."""
    return {
        variant.name: statistics.median(times)
        for variant in experiment.variants
        if (times := cell_of(record, experiment, case, variant.name).times(clock))
    }
