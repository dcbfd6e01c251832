"""`auctrack bench auction`: large problems of every kind, on the GPU already or on the host, and the work they take."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from pathlib import Path

from ....tracker.calibrating.digits import significant
from ..benchmark import Benchmark, Effort
from ..draw.figures import draw_times
from ..draw.steps import steps_text
from ..draw.tables import NOTHING, Table, bytes_text, duration, grid, most_memory, times_with_spread
from ..draw.time_lines import TimeLine, times_by_size
from ..measure.harness import Case, Experiment, cell_of
from ..measure.record import Cell, Clock, Record
from ..papers import gpu_peers
from .auction_cases import COPIED, TITLES, copy_experiment, experiments_of

DRAWN = ("dense", "points", "gated", "sparse")
_COUNTS = ("bids a row", "rows read by paths, a row", "rounds")


def auction(effort: Effort, gpu: str = "cuda") -> Benchmark:
    """Return the benchmark; `gpu` names the CUDA device of the GPU variants."""
    experiments, memory = experiments_of(effort, gpu), copy_experiment(gpu)
    return Benchmark(
        "auction",
        [*experiments, memory],
        partial(_tables, experiments, memory, effort),
        partial(_figures, experiments, effort),
    )


def _label(experiment: Experiment, case: Case) -> str:
    if experiment.name in {"unequal", "differing-dense"}:
        return f"{case.series}, {case.size:,} columns"
    return f"{case.series}, n = {case.size:,}"


def _tables(experiments: Sequence[Experiment], memory: Experiment, effort: Effort, record: Record) -> list[Table]:
    bytes_per_second = _bytes_per_second(memory, record)
    return [
        *(_times(experiment, effort, record) for experiment in experiments),
        _work(experiments, record, effort.clock, bytes_per_second),
        _steps(experiments, record, effort.clock),
    ]


def _times(experiment: Experiment, effort: Effort, record: Record) -> Table:
    """Return the times of an experiment, those of dense costs beside the other GPU solvers'."""
    text, label = times_with_spread(effort.clock), partial(_label, experiment)
    if experiment.name != "dense":
        return grid(TITLES[experiment.name], experiment, record, text, label=label)
    return grid(
        TITLES["dense"],
        experiment,
        record,
        text,
        label=label,
        beside=_beside_peers,
        beside_columns=gpu_peers.PEERS,
        notes=(f"the others' own code on {gpu_peers.HARDWARE}, November 2026; not part of this run",),
    )


def _beside_peers(case: Case) -> tuple[str, ...]:
    row = gpu_peers.SECONDS.get((case.series, case.size), (None,) * len(gpu_peers.PEERS))
    return tuple(NOTHING if seconds is None else duration(seconds) for seconds in row)


def _bytes_per_second(memory: Experiment, record: Record) -> float | None:
    """Return what a copy reads and writes on the GPU; None if there is none."""
    (case,), (variant,) = memory.cases, memory.variants
    times = cell_of(record, memory, case, variant.name).seconds
    return 2 * COPIED / statistics.median(times) if times else None


def _cells(experiments: Sequence[Experiment], record: Record) -> Iterator[tuple[str, Cell]]:
    """Yield what was measured, each with its name."""
    for experiment in experiments:
        for case in experiment.cases:
            for variant in experiment.variants:
                cell = cell_of(record, experiment, case, variant.name)
                if cell.seconds:
                    yield f"{_label(experiment, case)}: {variant.name}", cell


def _work(experiments: Sequence[Experiment], record: Record, clock: Clock, bytes_per_second: float | None) -> Table:
    """Say what each solution took: bids, paths, rounds, memory, beside the time that reading the instance needs."""
    notes: list[str] = []
    if bytes_per_second is not None:
        speed = f"{bytes_per_second / 1e12:.2f} TB/s by copying {COPIED:,} bytes"
        notes.append(f"reading it once: at the speed of the GPU's memory, {speed}: no solver can be faster")
    return Table(
        "The work: counts of the solvers, medians",
        ("", "time", *_COUNTS, "instance", "reading it once", "memory beyond it"),
        [(name, *_work_of(cell, clock, bytes_per_second)) for name, cell in _cells(experiments, record)],
        notes,
    )


def _work_of(cell: Cell, clock: Clock, bytes_per_second: float | None) -> tuple[str, ...]:
    n, size = cell.values("rows")[0], cell.values("instance_bytes")[0]
    per_row = (None if (count := cell.median(name)) is None else count / n for name in ("bids", "rows_scanned"))
    rounds = cell.median("rounds")
    return (
        duration(statistics.median(cell.times(clock))),
        *(NOTHING if count is None else significant(count) for count in per_row),
        NOTHING if rounds is None else f"{rounds:,.0f}",
        bytes_text(size),
        NOTHING if cell.device == "cpu" or bytes_per_second is None else duration(size / bytes_per_second),
        most_memory(cell),
    )


def _steps(experiments: Sequence[Experiment], record: Record, clock: Clock) -> Table:
    said = [(name, steps_text(cell, clock)) for name, cell in _cells(experiments, record)]
    what = "wall seconds; shares on the CPU" if clock == "cpu" else "wall seconds"
    return Table(
        f"The steps, as the solvers tell them (medians, {what})", ("", "steps"), [row for row in said if row[1]]
    )


def _figures(experiments: Sequence[Experiment], effort: Effort, record: Record, folder: Path) -> list[Path]:
    paths: list[Path] = []
    for part in experiments:
        if part.name not in DRAWN:
            continue
        lines = {
            f"{series}, {name.removeprefix('hungarian-')}": line
            for series in dict.fromkeys(case.series for case in part.cases)
            for name, line in times_by_size(part, record, effort.clock, series=series).items()
        }
        if part.name == "dense":
            lines |= _best_of_others({size for line in lines.values() for size, _ in line})
        paths += draw_times(folder / f"auction-{part.name}.png", TITLES[part.name], lines, x="rows")
    return paths


def _best_of_others(sizes: Collection[float]) -> dict[str, TimeLine]:
    """Return a line a family of dense costs: the least time of another GPU solver, at the sizes that were measured."""
    lines: dict[str, TimeLine] = {}
    for (family, n), row in gpu_peers.SECONDS.items():
        if n in sizes:
            line = lines.setdefault(f"{family}, best other", [])
            line.append((n, min(seconds for seconds in row if seconds is not None)))
    return lines
