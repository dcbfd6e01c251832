"""Weak scaling beyond the paper's sizes: problems that are made on the GPUs, up to 320 GB; no single one holds them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from functools import partial

from ..assignment.generated_costs import GeneratedCosts
from ..benchmark import Effort, is_measured
from ..draw.tables import NOTHING, Table, bytes_text, missing_notes
from ..measure.harness import Case, Experiment
from ..measure.record import Cell, Record
from .lap_scaling import GPUS, METHODS, Method, gpus_text, ratio, time_text, variant

ROWS = {
    100_000: (100_000, 141_421, 200_000),
    130_000: (130_000, 183_848, 260_000),
    141_421: (141_421, 200_000, 282_843),
}
"""By the rows on one GPU, 40, 68 and 80 GB, those on each of `GPUS`: every GPU of several has as many costs."""
RANGES = ("n", "10n")
OURS = METHODS[2:]


def large(effort: Effort) -> list[Experiment]:
    """Return an experiment for each method and number of GPUs: the costs of one at a time lie on the GPUs."""
    sizes = effort.of_sizes(tuple(ROWS), (600,))
    return [
        Experiment(
            f"large-{gpus}-{method.label}",
            [_case(cost_range, rows(n, gpus)) for cost_range in RANGES for n in sizes],
            [variant(method, gpus)],
            effort.times(3, 3),
        )
        for method in OURS
        for gpus in GPUS
    ]


def rows(of_one: int, gpus: int) -> int:
    """Return how many rows make so many GPUs hold as many costs each as one does."""
    return ROWS[of_one][GPUS.index(gpus)] if of_one in ROWS else round(of_one * math.sqrt(gpus))


def _case(cost_range: str, n: int) -> Case:
    return Case(f"costs in [0, {cost_range}]", n, partial(GeneratedCosts, n, cost_range))


def table(experiments: Sequence[Experiment], effort: Effort, record: Record) -> Table:
    """Return times, efficiencies and the memory in use."""
    sizes = effort.of_sizes(tuple(ROWS), (600,))
    shown = [
        method for method in OURS if any(e.name.endswith(method.label) and is_measured(e, record) for e in experiments)
    ]
    lines = [_line(shown, cost_range, n, gpus, record) for cost_range in RANGES for n in sizes for gpus in GPUS]
    names = [name for method in shown for name in (method.label, f"{method.label}: memory of each GPU")]
    return Table(
        "Weak scaling of large problems: median times (efficiencies)",
        ("", *names),
        [line for line in lines if any(text != NOTHING for text in line[1:])],
        (
            "efficiency: t(n on one) / t(n·√p on p), where each GPU has as many costs",
            "float32 costs, made on the GPUs and never on the host; duals and links of each answer checked over all "
            "pairs, which were made anew for it",
            "memory: all that was in use on the fullest GPU after the first run, costs included",
            *(note for experiment in experiments for note in missing_notes(experiment, record)),
        ),
    )


def _line(shown: Sequence[Method], cost_range: str, of_one: int, gpus: int, record: Record) -> tuple[str, ...]:
    n = rows(of_one, gpus)
    texts: list[str] = []
    for method in shown:
        cell = _cell(record, method, cost_range, n, gpus)
        one = _median(_cell(record, method, cost_range, of_one, 1))
        used = cell.values("gpu_bytes")
        texts += [time_text(_median(cell), ratio(one, _median(cell))), bytes_text(max(used[0])) if used else NOTHING]
    size = bytes_text(GeneratedCosts(n, cost_range, 1).n_bytes)
    return (f"[0, {cost_range}], n = {n:,} ({size}), {gpus_text(gpus)}", *texts)


def _cell(record: Record, method: Method, cost_range: str, n: int, gpus: int) -> Cell:
    return record.cell(f"large-{gpus}-{method.label}", f"costs in [0, {cost_range}]", n, method.name(gpus))


def _median(cell: Cell) -> float | None:
    return statistics.median(cell.seconds) if cell.seconds else None
