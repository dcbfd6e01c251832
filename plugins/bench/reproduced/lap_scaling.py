"""Tables 4 and 5 and Figures 4 and 5 of Date & Nagi 2016: one problem on several GPUs, ours beside the paper's."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ....matching.device import cuda
from ....matching.solving import solve
from ..assignment.generated_costs import GeneratedCosts
from ..assignment.solver_variants import missing_device
from ..benchmark import Effort
from ..draw.figures import draw_lines
from ..draw.tables import NOTHING, Table, duration, missing_notes
from ..measure.harness import Case, Experiment, Variant
from ..measure.record import Record
from . import date_nagi_2016 as paper

SIZES, GPUS = (10_000, 14_142, 20_000), (1, 2, 4)
SERIES = "costs in [0, 10n]"
RUNS = 5


@dataclass(frozen=True)
class Method:
    """One of our solvers, and the paper's times of the same name."""

    label: str
    solver: str
    options: Mapping[str, Any]
    axis: int
    published: int

    def name(self, gpus: int) -> str:
        """Return the name of the variant on so many GPUs."""
        return f"{self.label}, {gpus_text(gpus)}"


def gpus_text(gpus: int) -> str:
    """Return "1 GPU", "2 GPUs", …."""
    return f"{gpus} GPU{'s' if gpus > 1 else ''}"


CLASS, TREE = (
    Method("CU-CLASS", "hungarian-classical", {"variant": "paper"}, 0, 2),
    Method("CU-TREE", "hungarian-tree", {"variant": "paper"}, 1, 4),
)
METHODS = (
    CLASS,
    TREE,
    Method("classical", "hungarian-classical", {}, 0, 2),
)


def scaling(effort: Effort) -> Experiment:
    """Return the experiment of both tables: costs made on the devices, which split them as the solver does."""
    cases = [Case(SERIES, n, partial(GeneratedCosts, n, "10n")) for n in effort.of_sizes(SIZES, (600,))]
    variants = [variant(method, gpus) for method in METHODS for gpus in GPUS]
    return Experiment("table-5", cases, variants, effort.times(RUNS, 3))


def variant(method: Method, gpus: int) -> Variant:
    """Return a method on the first GPUs, for `GeneratedCosts`."""
    names = [f"cuda:{number}" for number in range(gpus)]

    def run(costs: Any) -> Any:
        return solve(costs, method.solver, names[0] if gpus == 1 else names, **method.options)

    return Variant(
        method.name(gpus),
        run=run,
        check=lambda given, answer: given.checked(answer, names),
        prepare=lambda given: given.on(names, method.axis),
        device=names[0],
        missing=_missing(gpus),
    )


def _missing(gpus: int) -> str | None:
    there = len(cuda.devices())
    if there and there < gpus:
        return f"needs {gpus} CUDA devices; there are {there}"
    return missing_device("cuda")


Efficiency = Callable[[Callable[[int, int], float | None], int, int], float | None]
"""efficiency(time of n on p GPUs, n, p)."""


def _weak(time: Callable[[int, int], float | None], n: int, gpus: int) -> float | None:
    return ratio(time(SIZES[0], 1), time(n, gpus))


def _strong(time: Callable[[int, int], float | None], n: int, gpus: int) -> float | None:
    gained = ratio(time(n, 1), time(n, gpus))
    return None if gained is None else gained / gpus


def ratio(one: float | None, many: float | None) -> float | None:
    """Return how often the second time goes into the first, if both are known."""
    return None if one is None or many is None else one / many


def _ours(experiment: Experiment, record: Record, method: Method, n: int, gpus: int) -> float | None:
    times = record.cell(experiment.name, SERIES, n, method.name(gpus)).times("wall")
    return statistics.median(times) if times else None


def _papers(table: Mapping[tuple[int, int], paper.Scaling], method: Method, n: int, gpus: int) -> float | None:
    row = table.get((n, gpus))
    return None if row is None else row[method.published]


def tables(experiment: Experiment, record: Record) -> list[Table]:
    """Return Tables 4 and 5: times, and efficiencies beside them."""
    what = f"{SERIES}, median times (efficiencies)"
    notes = (
        f"paper's hardware: {paper.HARDWARE}, one GPU a node, up to 16; its times are means with host work",
        f"auctrack's: medians over up to {experiment.repetitions} runs; float32 costs, made on the devices as the "
        "solver splits them; every answer checked there over all pairs, which were made anew for it",
        "weak efficiency: t(10,000 on one) / t(n on p); strong: t(n on one) / (p t(n on p))",
        *missing_notes(experiment, record),
    )
    return [
        _table(f"Table 4: weak scaling, {what}", paper.TABLE_4, _weak, experiment, record, notes),
        _table(f"Table 5: strong scaling, {what}", paper.TABLE_5, _strong, experiment, record, notes),
    ]


def _table(
    title: str,
    published: Mapping[tuple[int, int], paper.Scaling],
    efficiency: Efficiency,
    experiment: Experiment,
    record: Record,
    notes: Sequence[str],
) -> Table:
    columns = [partial(_ours, experiment, record, method) for method in METHODS]
    columns += [partial(_papers, published, method) for method in (CLASS, TREE)]
    rows = [
        (f"n = {n:,}, {gpus_text(gpus)}", *(time_text(time(n, gpus), efficiency(time, n, gpus)) for time in columns))
        for n, gpus in published
        if gpus in GPUS
    ]
    names = (*(method.label for method in METHODS), *(f"paper: {method.label}" for method in (CLASS, TREE)))
    return Table(title, ("", *names), rows, notes, beside=2)


def time_text(seconds: float | None, efficiency: float | None) -> str:
    """Return a time, and the efficiency behind it."""
    if seconds is None:
        return NOTHING
    return duration(seconds) if efficiency is None else f"{duration(seconds)} ({efficiency:.2f})"


def figures(experiment: Experiment, record: Record, folder: Path) -> list[Path]:
    """Draw Figures 4 and 5: efficiencies by the number of GPUs."""
    if not any(_ours(experiment, record, method, n, gpus) for method in METHODS for n, gpus in paper.TABLE_5):
        return []
    weak = _lines(experiment, record, paper.TABLE_4, _weak, list(paper.TABLE_4))
    largest = [(n, gpus) for n, gpus in paper.TABLE_5 if n == SIZES[-1]]
    strong = _lines(experiment, record, paper.TABLE_5, _strong, largest)
    title = f"Strong scaling efficiency, n = {SIZES[-1]:,}"
    log, x = (True, False), "GPUs"
    return [
        *draw_lines(folder / "lap-figure-4.png", "Weak scaling efficiency", weak, x=x, y="t₁ / tₚ", log=log),
        *draw_lines(folder / "lap-figure-5.png", title, strong, x=x, y="t₁ / (p·tₚ)", log=log),
    ]


def _lines(
    experiment: Experiment,
    record: Record,
    published: Mapping[tuple[int, int], paper.Scaling],
    efficiency: Efficiency,
    points: Sequence[tuple[int, int]],
) -> dict[str, list[tuple[float, float]]]:
    times = {method.label: partial(_ours, experiment, record, method) for method in METHODS}
    times |= {f"paper: {method.label}": partial(_papers, published, method) for method in (CLASS, TREE)}
    return {
        name: [(gpus, found) for n, gpus in points if (found := efficiency(time, n, gpus)) is not None]
        for name, time in times.items()
    }
