"""A benchmark as a whole: what is measured, and which tables and figures come of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from textwrap import fill

from ...tracker.errors import InvalidSetting
from .draw.tables import Table, missing_notes
from .measure.harness import Experiment, cell_of
from .measure.machine import one_line
from .measure.record import Clock, Record

LINE = 120
"""Letters of a line of text in Markdown."""


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How much is measured.

    Attributes
    ----------
    quick : bool
        Small sizes and few repetitions: under two minutes on two cores, compiling included.
    limit_s : float
        See `harness.measure`.
    repetitions : int, optional
        Instead of the paper's own number.
    sizes : sequence of int
        Instead of the default sizes; empty = the default.
    only : sequence of str
        What is measured, see `restricted`; empty = everything.
    clock : {"wall", "cpu"}
        The time that tables show; "cpu" is steadier on a machine that others use too.
    """

    quick: bool = False
    limit_s: float = 20.0
    repetitions: int | None = None
    sizes: tuple[int, ...] = ()
    only: tuple[str, ...] = ()
    clock: Clock = "wall"

    def times(self, full: int, quick: int) -> int:
        """Return the repetitions wanted."""
        return self.repetitions or (quick if self.quick else full)

    def of_sizes(self, full: Sequence[int], quick: Sequence[int]) -> tuple[int, ...]:
        """Return the sizes wanted."""
        return self.sizes or tuple(quick if self.quick else full)


@dataclass(frozen=True)
class Benchmark:
    """What `auctrack bench NAME` does.

    Attributes
    ----------
    name : str
    experiments : sequence of Experiment
    tables : callable
        tables(record) returns what is printed.
    figures : callable
        figures(record, folder) draws, and returns the files.
    times : str
        What the times are that it shows; "" for those of the harness, see `clock_words`.
    """

    name: str
    experiments: Sequence[Experiment]
    tables: Callable[[Record], list[Table]]
    figures: Callable[[Record, Path], list[Path]]
    times: str = ""


def restricted(experiments: Sequence[Experiment], patterns: Sequence[str]) -> list[Experiment]:
    """Return the experiments with those variants whose "experiment/variant" matches a pattern; all, without patterns.

    Raises
    ------
    InvalidSetting
        If a pattern matches nothing.
    """
    names = [f"{experiment.name}/{variant.name}" for experiment in experiments for variant in experiment.variants]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise InvalidSetting(
                f"needs names that are there; got {pattern!r}, and there are {', '.join(map(repr, names))}.",
                setting="only",
            )
    return [
        replace(experiment, variants=kept)
        for experiment in experiments
        if (kept := [v for v in experiment.variants if _is_wanted(f"{experiment.name}/{v.name}", patterns)])
    ]


def _is_wanted(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def markdown(benchmark: Benchmark, record: Record, effort: Effort) -> str:
    """Return the tables of a benchmark as Markdown, with the machine and the command that repeats them."""
    session = record.sessions[-1]
    made = f"{session['started'][:10]}, {one_line(session['machine'])}{code_words(record)}. "
    made += about_times(benchmark, effort)
    head = [f"    {session['command']}", "", fill(made, LINE), ""]
    return "\n".join([*head, *(table.markdown() for table in shown_tables(benchmark, record))])


def code_words(record: Record) -> str:
    """Say which commits were measured, to stand behind the versions; "" where they are unknown."""
    commits = record.commits
    return f"; commit{'s' if len(commits) > 1 else ''} {', '.join(commits)}" if commits else ""


def shown_tables(benchmark: Benchmark, record: Record) -> list[Table]:
    """Return the tables of a benchmark in which something was measured."""
    return [table for table in benchmark.tables(record) if not table.is_empty]


def is_measured(experiment: Experiment, record: Record) -> bool:
    """Whether any variant of an experiment has times."""
    return any(
        cell_of(record, experiment, case, variant.name).seconds
        for case in experiment.cases
        for variant in experiment.variants
    )


def why_unmeasured(experiments: Sequence[Experiment], record: Record) -> list[str]:
    """Return why there are experiments without any time, each reason once: no table of theirs could say it."""
    silent = [experiment for experiment in experiments if not is_measured(experiment, record)]
    return list(dict.fromkeys(note for experiment in silent for note in missing_notes(experiment, record)))


def about_times(benchmark: Benchmark, effort: Effort) -> str:
    """Say what the times of a benchmark are."""
    return benchmark.times or clock_words(effort.clock)


def clock_words(clock: Clock) -> str:
    """Say which time is shown."""
    shown = "CPU seconds of all threads" if clock == "cpu" else "wall time"
    return (
        f"Times are {shown} on the CPU and the time between two CUDA events on a GPU, after one call that does not "
        "count; every answer was verified."
    )
