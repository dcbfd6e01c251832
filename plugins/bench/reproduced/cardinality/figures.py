"""The figures of `bench cardinality`: profiles, speed-ups, large graphs, levels of each search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ...draw.figures import TIME, draw_bars, draw_lines, draw_profiles
from ...draw.profiles import performance_profile, speed_up_profile
from ...measure.harness import Case, Experiment, cell_of
from ...measure.record import Record
from .. import cardinality_peers as peers
from .record import (
    G_PR,
    G_PR_FORMS,
    OURS,
    PARALLEL,
    RELABELLING,
    SEQUENTIAL,
    fastest_sequential,
    geometric,
    in_common,
    label_of,
    mean_speed_up,
    originals,
    relabelling_name,
    sets_of,
    time_of,
)

Bars = dict[str, dict[str, float]]


def figures(experiments: Mapping[str, Experiment], record: Record, folder: Path) -> list[Path]:
    """Draw what was measured, and return the files."""
    algorithms, levels = experiments["algorithms"], experiments["figure-2"]
    paths = [path for name in ("original", "permuted") for path in _draw_profiles(name, algorithms, record, folder)]
    for name, title, y, bars in _bars(experiments, record):
        paths += draw_bars(folder / f"cardinality-{name}.png", title, bars, y=y)
    for case in levels.cases:
        paths += _draw_levels(folder / f"cardinality-figure-2-{case.series}.png", case, levels, record)
    return paths


def _draw_profiles(name: str, experiment: Experiment, record: Record, folder: Path) -> list[Path]:
    """Draw the profiles over one set of graphs; unlike in the papers, a sequential algorithm may be the best."""
    cases = sets_of(experiment)[name]
    times = {v: [time_of(record, experiment, case, v) for case in cases] for v in (*PARALLEL, *SEQUENTIAL, *OURS)}
    times = {v: row for v, row in times.items() if any(row)}
    if not times:
        return []
    paths: list[Path] = []
    for reference in (fastest_sequential(name), "PR"):
        slow = times.get(reference, [])
        both = [k for k, t in enumerate(slow) if t]
        rows = {v: [row[k] for k in both] for v, row in times.items() if v not in SEQUENTIAL}
        path = folder / f"cardinality-speed-up-{name}-{reference.lower()}.png"
        title, x = f"Speed-up over {reference}, {name} graphs", f"speed-up over {reference} of at least"
        paths += draw_profiles(path, title, speed_up_profile(rows, [slow[k] or 0.0 for k in both]), x=x, bold=OURS)
    solved = [k for k in range(len(cases)) if any(row[k] for row in times.values())]
    curves = performance_profile({v: [row[k] for k in solved] for v, row in times.items()})
    path = folder / f"cardinality-performance-{name}.png"
    title = f"Performance profile, {name} graphs (auctrack: start and search)"
    return paths + draw_profiles(path, title, curves, x="time within this multiple of the best", bold=OURS)


def _bars(experiments: Mapping[str, Experiment], record: Record) -> Iterator[tuple[str, str, str, Bars]]:
    """Yield (file, title, y axis, bars) of every figure of bars."""
    algorithms = experiments["algorithms"]
    title = "Euro-Par 2013, Figure 5: geometric-mean speed-up"
    yield "figure-5", title, "times as fast", _mean_speed_ups(algorithms, record)
    title = "ICPP 2013, Figure 4: speed-up over PR on each graph"
    yield "figure-4", title, "times as fast", _each_speed_up(algorithms, record)
    title = "ICPP 2013, Figure 1: G-PR by relabelling, geometric mean"
    yield "figure-1", title, TIME, _by_relabelling(experiments["figure-1"], record)
    if "large-gpu" in experiments:
        title = f"Large graphs on a GPU; matchmaker2 and ECL-MM: {peers.GPU_HARDWARE}"
        yield "large-gpu", title, TIME, _beside_peers(experiments["large-gpu"], record)


def _mean_speed_ups(experiment: Experiment, record: Record) -> Bars:
    return {
        f"{name}, over {reference}": {
            v: ratio
            for v in (*PARALLEL, *OURS)
            if (ratio := mean_speed_up(record, experiment, cases, v, reference)) is not None
        }
        for name, cases in sets_of(experiment).items()
        for reference in ("PFP", "HK")
    }


def _each_speed_up(experiment: Experiment, record: Record) -> Bars:
    return {
        label_of(case): {
            v: ratio for v in (G_PR, *OURS) if (ratio := mean_speed_up(record, experiment, [case], v, "PR")) is not None
        }
        for case in originals(experiment.cases)
    }


def _by_relabelling(experiment: Experiment, record: Record) -> Bars:
    cases = in_common(record, experiment, experiment.cases, [v.name for v in experiment.variants])
    return {
        f"{how[0]}, {how[1]:g}": {
            form: mean
            for form in G_PR_FORMS
            if (mean := geometric(record, experiment, cases, relabelling_name(form, how))) is not None
        }
        for how in RELABELLING
    }


def _beside_peers(experiment: Experiment, record: Record) -> Bars:
    bars: Bars = {}
    for case in experiment.cases:
        ours, row = time_of(record, experiment, case, OURS[1]), peers.GPU[case.series]
        if ours:
            bars[case.series] = {OURS[1]: ours, "matchmaker2": row.matchmaker2}
            bars[case.series] |= {"ECL-MM": row.ecl_mm} if row.ecl_mm else {}
    return bars


def _draw_levels(path: Path, case: Case, experiment: Experiment, record: Record) -> list[Path]:
    lines: dict[str, list[tuple[float, float]]] = {}
    for variant in experiment.variants:
        levels = cell_of(record, experiment, case, variant.name).values("levels")
        lines[variant.name] = [(i + 1, n) for i, n in enumerate(levels[0])] if levels else []
    title = f"Levels of each search: {label_of(case)}"
    return draw_lines(path, title, lines, x="search", y="levels", log=(False, True))
