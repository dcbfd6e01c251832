"""The figures of `bench cardinality`: profiles, times, levels of each search."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from .cardinality_record import OURS, PARALLEL, SEQUENTIAL, fastest_sequential, label_of, sets_of, time_of
from .figures import draw_bars, draw_lines, draw_profiles
from .harness import Case, Experiment
from .profiles import performance_profile, speed_up_profile
from .record import Record


def figures(experiments: Mapping[str, Experiment], record: Record, folder: Path) -> list[Path]:
    """Draw what was measured, and return the files."""
    algorithms, levels = experiments["algorithms"], experiments["figure-2"]
    paths = [path for name in ("original", "permuted") for path in _draw_profiles(name, algorithms, record, folder)]
    title = "Search after the cheap start (ours: start and search)"
    paths += draw_bars(folder / "cardinality-times.png", title, _bars(algorithms, record), y="seconds", log=True)
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
        paths += draw_profiles(path, title, speed_up_profile(rows, [slow[k] or 0.0 for k in both]), x=x)
    solved = [k for k in range(len(cases)) if any(row[k] for row in times.values())]
    curves = performance_profile({v: [row[k] for k in solved] for v, row in times.items()})
    path = folder / f"cardinality-performance-{name}.png"
    title = f"Performance profile, {name} graphs"
    return paths + draw_profiles(path, title, curves, x="time within this multiple of the best")


def _bars(experiment: Experiment, record: Record) -> dict[str, dict[str, float]]:
    return {
        label_of(case): {v.name: t for v in experiment.variants if (t := time_of(record, experiment, case, v.name))}
        for case in experiment.cases
    }


def _draw_levels(path: Path, case: Case, experiment: Experiment, record: Record) -> list[Path]:
    lines: dict[str, list[tuple[float, float]]] = {}
    for variant in experiment.variants:
        levels = record.cell(experiment.name, case.series, case.size, variant.name).values("levels")
        lines[variant.name] = [(i + 1, n) for i, n in enumerate(levels[0])] if levels else []
    title = f"Levels of each search: {label_of(case)}"
    return draw_lines(path, title, lines, x="search", y="levels", log=(False, True))
