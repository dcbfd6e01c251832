"""`auctrack bench auction`: large problems of every kind, on the GPU already or on the host, and the work they take.

Dense costs, point sets without a matrix, gates with a price of the lone, and batches; the instances are those on which
the other GPU solvers of `papers.gpu_peers` were measured.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from ...matching import cuda
from ...matching.assignment import Assignment
from ...matching.problem import Problem
from ...matching.solving import solve
from .benchmark import Benchmark, Effort
from .figures import draw_times
from .gated_pairs import GATES, gated_pair
from .harness import Case, Experiment, Facts, Variant
from .instance import Instance
from .lap_instances import DENSE_FAMILIES, point_pair, uniform_costs
from .papers import gpu_peers
from .record import Cell, Clock, Record
from .solver_variants import checked, missing_device, missing_solver
from .tables import NOTHING, Table, bytes_text, duration, grid, most_memory, significant, times_with_spread

LARGEST_MATRIX = 50_000
"""Rows above which a size is left out of the dense table: the costs would take more than 10 GB."""
COPIED = 2**30
"""Bytes of the array whose copy measures the memory's speed."""
BATCHES = ((1000, 500), (256, 256))
SMALL_BATCH = ((20, 50),)
"""(problems, rows of each)."""

NOISY, INDEPENDENT = "noisy copy", "independent set"

_TITLES = {
    "dense": "Dense costs, float32",
    "points": "Point sets against a noisy copy or an independent set: all pairs allowed, none stored",
    "gated": "Gates with a price of the lone, float32",
    "batch": "Batches of dense problems, costs in [0, 10n], int32",
}
_COUNTS = ("bids a row", "rows read by paths, a row", "rounds")


def auction(effort: Effort, gpu: str = "cuda") -> Benchmark:
    """Return the benchmark; `gpu` names the CUDA device of the GPU variants."""
    experiments = [_dense(effort, gpu), _points(effort, gpu), _gated(effort, gpu), _batch(effort, gpu), _copy(gpu)]
    return Benchmark(
        "auction", experiments, partial(_tables, experiments, effort), partial(_figures, experiments, effort)
    )


def _dense(effort: Effort, gpu: str) -> Experiment:
    sizes = [n for n in effort.of_sizes((5000, 10_000, 20_000), (600,)) if n <= LARGEST_MATRIX]
    cases = [_case(family, n, gpu, partial(_dense_problem, family, n)) for family in DENSE_FAMILIES for n in sizes]
    variants = [
        *(_on_gpu(solver, gpu) for solver in ("auction", "hungarian-tree", "hungarian-classical")),
        _on_cpu("auto"),
    ]
    return Experiment("dense", cases, variants, effort.times(5, 3))


def _points(effort: Effort, gpu: str) -> Experiment:
    sizes = effort.of_sizes((20_000, 100_000, 1_000_000), (2000,))
    makers = {NOISY: point_pair, INDEPENDENT: _independent_sets}
    cases = [_case(series, n, gpu, partial(_points_problem, make, n)) for series, make in makers.items() for n in sizes]
    return Experiment("points", cases, [_on_gpu("auction", gpu), _on_cpu("auction")], effort.times(5, 3))


def _gated(effort: Effort, gpu: str) -> Experiment:
    sizes = effort.of_sizes((20_000, 200_000, 1_000_000), (2000,))
    cases = [_case(name, n, gpu, partial(gated_pair, n, degree)) for name, degree in GATES.items() for n in sizes]
    variants = [_on_gpu("auction", gpu), _on_cpu("auction"), _on_cpu("sparse-jv")]
    return Experiment("gated", cases, variants, effort.times(5, 3))


def _batch(effort: Effort, gpu: str) -> Experiment:
    shapes = SMALL_BATCH if effort.quick else BATCHES
    cases = [_case(f"{count} problems", n, gpu, partial(_batch_problem, count, n)) for count, n in shapes]
    return Experiment("batch", cases, [_on_gpu("auction", gpu), _on_cpu("auto")], effort.times(5, 3))


def _copy(gpu: str) -> Experiment:
    """How fast the GPU's memory is: one array copied to another."""

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


def _case(series: str, n: int, gpu: str, make: Callable[[int], Problem]) -> Case:
    return Case(series, n, lambda seed: Instance(make(seed), gpu))


def _dense_problem(family: str, n: int, seed: int) -> Problem:
    return Problem.dense(DENSE_FAMILIES[family](n, seed).astype(np.float32))


def _points_problem(make: Callable[[int, int], tuple[np.ndarray, np.ndarray]], n: int, seed: int) -> Problem:
    return Problem.points(*make(n, seed))


def _independent_sets(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two sets that know nothing of each other: the hard case."""
    return point_pair(n, seed)[0], point_pair(n, seed + 1)[0]


def _batch_problem(count: int, n: int, seed: int) -> Problem:
    return Problem.dense(np.stack([uniform_costs(n, "10n", seed + k) for k in range(count)]))


def _on_gpu(solver: str, gpu: str) -> Variant:
    return replace(_on_cpu(solver, gpu), name=f"{solver}, GPU", prepare=lambda given: given.on_device)


def _on_cpu(solver: str, device: str = "cpu") -> Variant:
    return Variant(
        f"{solver}, CPU",
        run=lambda problem: solve(problem, solver, device),
        check=_checked,
        prepare=lambda given: given.problem,
        device=device,
        missing=missing_solver(solver, device),
    )


def _checked(given: Instance, answer: Assignment) -> Facts:
    facts = checked(given.problem, answer)
    return {**facts, "rows": given.problem.n_rows, "instance_bytes": given.n_bytes}


def _label(case: Case) -> str:
    return f"{case.series}, n = {case.size:,}"


def _tables(experiments: Sequence[Experiment], effort: Effort, record: Record) -> list[Table]:
    dense, *others, memory = experiments
    text = times_with_spread(effort.clock)
    peers = f"the others' own code on {gpu_peers.HARDWARE}, November 2026; not part of this run"
    bytes_per_second = _bytes_per_second(memory, record)
    tables = [
        grid(
            _TITLES["dense"],
            dense,
            record,
            text,
            label=_label,
            beside=_beside_peers,
            beside_columns=gpu_peers.PEERS,
            notes=(peers,),
        ),
        *(grid(_TITLES[part.name], part, record, text, label=_label) for part in others),
    ]
    return [*tables, _work((dense, *others), record, effort.clock, bytes_per_second)]


def _beside_peers(case: Case) -> tuple[str, ...]:
    row = gpu_peers.SECONDS.get((case.series, case.size), (None,) * len(gpu_peers.PEERS))
    return tuple(NOTHING if seconds is None else duration(seconds) for seconds in row)


def _bytes_per_second(memory: Experiment, record: Record) -> float | None:
    """Return what a copy reads and writes on the GPU; None if there is none."""
    (case,), (variant,) = memory.cases, memory.variants
    times = record.cell(memory.name, case.series, case.size, variant.name).seconds
    return 2 * COPIED / statistics.median(times) if times else None


def _work(parts: Sequence[Experiment], record: Record, clock: Clock, bytes_per_second: float | None) -> Table:
    """Say what each solution took: bids, paths, rounds, memory, beside the time that reading the instance needs."""
    rows: list[tuple[str, ...]] = []
    for part in parts:
        for case in part.cases:
            for variant in part.variants:
                cell = record.cell(part.name, case.series, case.size, variant.name)
                if cell.seconds:
                    rows.append((f"{_label(case)}: {variant.name}", *_work_of(cell, clock, bytes_per_second)))
    speed = "" if bytes_per_second is None else f", {bytes_per_second / 1e12:.2f} TB/s by copying {COPIED:,} bytes"
    return Table(
        "The work: counts of the solvers, medians",
        ("", "time", *_COUNTS, "instance", "reading it once", "memory beyond it"),
        rows,
        (f"reading it once: at the speed of the GPU's memory{speed}: no solver can be faster",),
    )


def _work_of(cell: Cell, clock: Clock, bytes_per_second: float | None) -> tuple[str, ...]:
    n, size = cell.values("rows")[0], cell.values("instance_bytes")[0]
    per_row = (None if (count := cell.median(name)) is None else count / n for name in ("bids", "rows_scanned"))
    rounds = cell.median("rounds")
    on_gpu = cell.device != "cpu" and bytes_per_second is not None
    return (
        duration(statistics.median(cell.times(clock))),
        *(NOTHING if count is None else significant(count) for count in per_row),
        NOTHING if rounds is None else f"{rounds:,.0f}",
        bytes_text(size),
        duration(size / bytes_per_second) if on_gpu and bytes_per_second else NOTHING,
        most_memory(cell),
    )


def _figures(experiments: Sequence[Experiment], effort: Effort, record: Record, folder: Path) -> list[Path]:
    paths: list[Path] = []
    for part in experiments[:3]:
        paths.append(folder / f"auction-{part.name}.png")
        lines = {
            f"{series}, {variant.name.removeprefix('hungarian-')}": [
                (case.size, statistics.median(times))
                for case in part.cases
                if case.series == series
                and (times := record.cell(part.name, series, case.size, variant.name).times(effort.clock))
            ]
            for series in dict.fromkeys(case.series for case in part.cases)
            for variant in part.variants
        }
        draw_times(paths[-1], _TITLES[part.name], lines, x="rows")
    return paths
