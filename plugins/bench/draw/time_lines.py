"""What was measured as lines of a figure: the time of each variant against the size."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from ..measure.harness import Experiment, cell_of
from ..measure.record import Clock, Record

TimeLine = list[tuple[float, float]]
"""(size, seconds), as the cases follow each other."""


def times_by_size(
    experiment: Experiment,
    record: Record,
    clock: Clock,
    *,
    series: str | None = None,
    average: Callable[[Sequence[float]], float] = statistics.median,
) -> dict[str, TimeLine]:
    """Return the average time of each variant against the size, empty where it has none.

    Parameters
    ----------
    experiment : Experiment
    record : Record
    clock : {"wall", "cpu"}
    series : str, optional
        Of these cases only.
    average : callable
        The median, or the mean where every repetition has an input of its own.
    """
    cases = [case for case in experiment.cases if series in (None, case.series)]
    return {
        variant.name: [
            (case.size, average(times))
            for case in cases
            if (times := cell_of(record, experiment, case, variant.name).times(clock))
        ]
        for variant in experiment.variants
    }
