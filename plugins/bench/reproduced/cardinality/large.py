"""Large graphs by name, ours beside what others' own code took for them."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Sequence

from ...draw.tables import NOTHING, Table, geometric_mean, missing_notes, ratio, with_spread
from ...measure.harness import Case, Experiment, cell_of
from ...measure.record import Record
from .. import cardinality_peers as peers
from .findings import findings
from .record import OURS, any_facts, seconds, time_of, time_text


def tables_on_gpu(experiment: Experiment, record: Record) -> list[Table]:
    """Ours beside matchmaker2 and ECL-MM, and the papers' own algorithms in our hands."""
    title = "What the papers found, and what we find on large graphs: how many times as fast"
    return [
        _beside_gpu_peers(experiment, record),
        _papers_algorithms(experiment, record),
        findings(title, experiment, experiment, record),
    ]


def table_on_cpu(experiment: Experiment, record: Record) -> Table:
    """Ours on one core beside the best public code of each kind, whose times are CPU seconds too."""
    theirs = {name: [t for t in times if t] for name, times in peers.CPU.items()}
    measured = {case: cell_of(record, experiment, case, OURS[0]).cpu_seconds for case in experiment.cases}
    rows = [
        (*_ours(experiment, record, case, times, min(theirs[case.series])), *map(seconds, peers.CPU[case.series]))
        for case, times in measured.items()
    ]
    rows.append(_mean_row(measured.values(), [min(t) for t in theirs.values()], columns=len(peers.CPU_PEERS)))
    return Table(
        "Large graphs on a CPU: CPU seconds of start, search and transposing",
        ("", "edges", "MM", OURS[0], "best of theirs", "as a multiple of auctrack", *peers.CPU_PEERS),
        rows,
        (
            f"others' own code on {peers.CPU_HARDWARE}; measured earlier, not in this run; — where it did not finish",
            *missing_notes(experiment, record),
        ),
        beside=len(peers.CPU_PEERS),
    )


def _beside_gpu_peers(experiment: Experiment, record: Record) -> Table:
    beside = ("matchmaker2 APFB-WR", "matchmaker2 APsB-WR", "its start on the CPU", "ECL-MM")
    measured = {case: cell_of(record, experiment, case, OURS[1]).values("whole_s") for case in experiment.cases}
    rows: list[tuple[str, ...]] = []
    for case, times in measured.items():
        row = peers.GPU[case.series]
        theirs = map(seconds, (row.apfb, row.apsb, row.start, row.ecl_mm))
        rows.append((*_ours(experiment, record, case, times, row.best), *theirs))
    rows.append(_mean_row(measured.values(), [row.best for row in peers.GPU.values()], columns=len(beside)))
    matchmaker = seconds(geometric_mean(row.matchmaker2 for row in peers.GPU.values()))
    return Table(
        "Large graphs on a GPU: start and search, the graph on the device",
        ("", "edges", "MM", OURS[1], "best of theirs", "as a multiple of auctrack", *beside),
        rows,
        (
            f"others' own code on {peers.GPU_HARDWARE}; measured earlier, not in this run; the best with its start; "
            f"geometric mean of matchmaker2 alone {matchmaker}",
            *missing_notes(experiment, record),
        ),
        beside=len(beside),
    )


def _papers_algorithms(experiment: Experiment, record: Record) -> Table:
    """Search only, one row an algorithm."""
    rows: list[tuple[str, ...]] = []
    for variant in experiment.variants:
        if variant.name not in OURS:
            times = [time_of(record, experiment, case, variant.name) for case in experiment.cases]
            mean = geometric_mean(t for t in times if t) if all(times) else None
            texts = (time_text(record, experiment, case, variant.name) for case in experiment.cases)
            rows.append((variant.name, seconds(mean), *texts))
    title = "Large graphs on a GPU: the papers' algorithms in our hands, search after the cheap start"
    return Table(title, ("", "geometric mean", *(case.series for case in experiment.cases)), rows)


def _ours(experiment: Experiment, record: Record, case: Case, times: Sequence[float], best: float) -> tuple[str, ...]:
    """Return the graph's name and sizes, our time, the best of theirs, and how many times ours that is."""
    facts = any_facts(record, experiment, case)
    sizes = (f"{facts[key]:,}" if key in facts else NOTHING for key in ("edges", "maximum"))
    return case.series, *sizes, with_spread(times), *_beside(times, best)


def _mean_row(measured: Collection[Sequence[float]], best: Sequence[float], *, columns: int) -> tuple[str, ...]:
    mean = geometric_mean(map(statistics.median, measured)) if all(measured) else None
    ours = () if mean is None else (mean,)
    theirs = _beside(ours, statistics.geometric_mean(best))
    return "geometric mean", NOTHING, NOTHING, seconds(mean), *theirs, *[NOTHING] * columns


def _beside(ours: Sequence[float], best: float) -> tuple[str, str]:
    """Return their best time and its ratio to our median; nothing where there is none of ours."""
    return (seconds(best), ratio(best, statistics.median(ours))) if ours else (NOTHING, NOTHING)
