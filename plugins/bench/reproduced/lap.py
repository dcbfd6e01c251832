"""`auctrack bench lap`: tables and figures of Date & Nagi 2016, Hungarian methods on GPUs, with ours beside them."""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

from ....matching.problem import Problem
from ..assignment.lap_instances import RANGES, uniform_costs
from ..assignment.solver_variants import solver_variant
from ..benchmark import Benchmark, Effort
from ..draw.figures import draw_stacks, draw_times
from ..draw.steps import step_seconds, steps_text
from ..draw.tables import NOTHING, Table, duration, grid, times_with_spread
from ..draw.time_lines import times_by_size
from ..measure.harness import Case, Experiment, Variant, cell_of
from ..measure.record import Record
from . import date_nagi_2016 as paper
from . import lap_large, lap_scaling

INSTANCES, RUNS = 3, 5
"""Of each size, as in the paper."""

TREE, CLASS = "CU-TREE", "CU-CLASS"
THREADS = min(8, max(2, os.cpu_count() or 1))
"""The paper's eight, where there are as many cores."""
OMP = f"OMP-{THREADS}"
OURS = ("auctrack, CPU", "classical, GPU")
"""What `solve` takes of itself on either device."""
SEARCHES = (0, 1, 5, 10, 15, 20, 25, 30, 35, 40)
"""Edges of Table 2's columns: the first search, searches 2–5, 6–10, …"""


def lap(effort: Effort, gpu: str = "cuda") -> Benchmark:
    """Return the benchmark; `gpu` names the CUDA device of the GPU variants."""
    small = effort.of_sizes(tuple(paper.TABLE_1), (200, 400))
    large = effort.of_sizes((5000, 10_000, 15_000, 20_000), (600,))
    times = effort.times(INSTANCES * RUNS, 3)
    variants = _variants(gpu)
    experiments = [
        Experiment("table-1", [_case("n", n) for n in small], variants, times),
        Experiment("table-3", [_case(r, n) for r in RANGES for n in large], variants[1:], times),
        lap_scaling.scaling(effort),
        *lap_large.large(effort),
    ]
    return Benchmark("lap", experiments, partial(_tables, experiments, effort), partial(_figures, experiments, effort))


def _case(cost_range: str, n: int) -> Case:
    """The instances take turns, so that three repetitions see all of them."""
    series = f"costs in [0, {cost_range}]"
    return Case(series, n, partial(_costs, cost_range, n), seed_of=lambda repetition: 1 + repetition % INSTANCES)


def _costs(cost_range: str, n: int, seed: int) -> Problem:
    return Problem.dense(uniform_costs(n, cost_range, seed))


def _variants(gpu: str) -> list[Variant]:
    return [
        solver_variant("OMP-1", "hungarian-tree", threads=1),
        solver_variant(OMP, "hungarian-tree", threads=THREADS),
        solver_variant("classical, CPU", "hungarian-classical"),
        solver_variant(CLASS, "hungarian-classical", gpu, variant="paper"),
        solver_variant(TREE, "hungarian-tree", gpu, variant="paper"),
        solver_variant(OURS[1], "hungarian-classical", gpu),
        solver_variant("tree, GPU", "hungarian-tree", gpu),
        solver_variant(OURS[0], "auto"),
        solver_variant("auction, GPU", "auction", gpu),
    ]


def _of_threads_held(experiment: Experiment, record: Record) -> Experiment:
    """Return an experiment with the numbers of threads that its record holds, which another machine may have had."""
    several = _several_threads(name for part, _, _, name in record.cells if part == experiment.name) or [OMP]
    variants = [
        replace(variant, name=name)
        for variant in experiment.variants
        for name in (several if variant.name == OMP else [variant.name])
    ]
    return replace(experiment, variants=variants)


def _several_threads(names: Iterable[str]) -> list[str]:
    return sorted({name for name in names if name.startswith("OMP-")} - {"OMP-1"})


def _range_of(case: Case) -> str:
    return case.series.removeprefix("costs in [0, ").removesuffix("]")


def _label(case: Case) -> str:
    return f"{case.series}, n = {case.size:,}"


def _tables(experiments: Sequence[Experiment], effort: Effort, record: Record) -> list[Table]:
    small, large, scaling, *shared = [_of_threads_held(experiment, record) for experiment in experiments]
    text = times_with_spread(effort.clock)
    what = f"median over up to {small.repetitions} runs (± half the middle half)"
    hardware = f"paper's hardware: {paper.HARDWARE}; its times are means"
    whole = (
        f"repetitions go through {INSTANCES} instances; costs start on the host, as in the paper: copying them counts"
    )
    return [
        grid(
            f"Table 1: uniform integer costs in [0, n], {what}",
            small,
            record,
            text,
            label=_label,
            beside=partial(_beside_1, small, record),
            beside_columns=("objective", *(f"paper: {name}" for name in ("objective", "OMP-1", "OMP-8", CLASS, TREE))),
            notes=(hardware, whole, f"{CLASS} and {TREE}, where on the left, are the paper's algorithms step by step"),
        ),
        _table_2(small, record),
        grid(
            f"Table 3: large instances, {what}",
            large,
            record,
            text,
            label=_label,
            beside=partial(_beside_3, large, record),
            beside_columns=("objective", *(f"paper: {name}" for name in ("OMP-8", CLASS, TREE))),
            notes=(
                hardware,
                whole,
                "the paper prints the objectives of [0, n] for [0, 10n] too; ours are the optima of our own instances",
            ),
        ),
        _steps(large, effort, record),
        *lap_scaling.tables(scaling, record),
        lap_large.table(shared, effort, record),
    ]


def _objective(experiment: Experiment, record: Record, case: Case) -> str:
    """The mean optimum over the repetitions of whichever variant solved them."""
    for variant in experiment.variants:
        values = cell_of(record, experiment, case, variant.name).values("cost")
        if values:
            return f"{statistics.mean(values):,.1f}"
    return NOTHING


def _beside_1(experiment: Experiment, record: Record, case: Case) -> tuple[str, ...]:
    objective, row = _objective(experiment, record, case), paper.TABLE_1.get(case.size)
    if row is None:
        return (objective, *[NOTHING] * 5)
    return (objective, f"{row.objective:,.1f}", *map(duration, (row.omp_1, row.omp_8, row.cu_class, row.cu_tree)))


def _beside_3(experiment: Experiment, record: Record, case: Case) -> tuple[str, ...]:
    objective, row = _objective(experiment, record, case), paper.TABLE_3.get((_range_of(case), case.size))
    if row is None:
        return (objective, *[NOTHING] * 3)
    return (objective, *map(duration, (row.omp_8, row.cu_class, row.cu_tree)))


def _table_2(experiment: Experiment, record: Record) -> Table:
    rows: list[tuple[str, ...]] = []
    for case in experiment.cases:
        for name in (TREE, *_several_threads(variant.name for variant in experiment.variants)):
            found = cell_of(record, experiment, case, name).values("paths_of_search")
            if not found:
                continue
            counts = (str(sum(found[0][a:b])) for a, b in pairwise(SEARCHES))
            rows.append((f"n = {case.size:,} ({name})", *counts))
            if case.size in paper.TABLE_2:
                row = [str(n) for n in paper.TABLE_2[case.size]]
                rows.append((f"n = {case.size:,} (paper)", *row, *[NOTHING] * (len(SEARCHES) - 1 - len(row))))
            break
    columns = ("", "1", *(f"{a + 1}–{b}" for a, b in pairwise(SEARCHES[1:])))
    return Table(
        "Table 2: paths found by search (first instance)",
        columns,
        rows,
        (
            "the paper's first column is the initial assignment, before its iterations 1–5, 6–10, …; ours is the first "
            "search, from which later ones go on",
        ),
    )


def _steps(experiment: Experiment, effort: Effort, record: Record) -> Table:
    """The steps of Table 3, as the solvers tell them."""
    rows: list[tuple[str, ...]] = []
    for case in experiment.cases:
        row = paper.TABLE_3.get((_range_of(case), case.size))
        for variant in experiment.variants:
            said = steps_text(cell_of(record, experiment, case, variant.name), effort.clock)
            if said:
                rows.append((f"{_label(case)}: {variant.name}", said, _papers_steps(row, variant.name)))
    what = "shares of their wall time on the CPU, seconds on a GPU" if effort.clock == "cpu" else "wall seconds"
    title = f"Table 3, Figure 3: the steps, as the solvers tell them (medians, {what})"
    return Table(title, ("", "steps", "paper"), rows, beside=1)


def _papers_steps(row: paper.LargeInstance | None, variant: str) -> str:
    if row is None or row.tree_forward is None or row.tree_dual_update is None:
        return NOTHING
    if variant == TREE:
        return f"forward pass {duration(row.tree_forward)}, dual update {duration(row.tree_dual_update)}"
    if variant == CLASS and row.class_compression and row.class_forward and row.class_dual_update:
        return (
            f"matrix compression {duration(row.class_compression)}, forward pass {duration(row.class_forward)}, "
            f"dual update {duration(row.class_dual_update)}"
        )
    return NOTHING


def _figures(experiments: Sequence[Experiment], effort: Effort, record: Record, folder: Path) -> list[Path]:
    small, large, scaling, *_ = experiments
    lines = times_by_size(small, record, effort.clock)
    if any(lines.values()):
        lines |= {
            f"paper: {name}": [(n, row[k]) for n, row in paper.TABLE_1.items()]
            for k, name in ((2, "OMP-8"), (3, CLASS), (4, TREE))
        }
    largest = max(case.size for case in large.cases)
    stacks = {
        f"{variant.name}\n[0, {_range_of(case)}]": steps
        for case in large.cases
        for variant in large.variants
        if case.size == largest and (steps := step_seconds(cell_of(record, large, case, variant.name)))
    }
    title = "Uniform integer costs in [0, n]"
    return [
        *draw_times(folder / "lap-figure-2.png", title, lines, x="rows", bold=OURS),
        *draw_stacks(folder / "lap-figure-3.png", f"Steps, n = {largest:,}", stacks, y="wall time"),
        *lap_scaling.figures(scaling, record, folder),
    ]
