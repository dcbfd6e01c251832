"""Tables of what was measured: for the terminal and for Markdown, each figure with its unit and spread."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....tracker.calibrating.digits import significant
from ..measure.harness import Case, Experiment, cell_of
from ..measure.record import Cell, Clock, Record

if TYPE_CHECKING:
    from rich.table import Table as RichTable

NOTHING = "—"
TOO_LITTLE_TO_TELL = 50_000_000

CellText = Callable[[Cell], str]


@dataclass(frozen=True)
class Table:
    """A table ready to be shown.

    Attributes
    ----------
    title : str
    columns : sequence of str
    rows : sequence of sequence of str
    notes : sequence of str
        What stands below it.
    beside : int
        How many of the last columns were not measured here.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    beside: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing in it was measured."""
        return all(cell == NOTHING for row in self.rows for cell in row[1 : len(row) - self.beside])

    def rich(self) -> RichTable:
        """Return the table as the terminal shows it."""
        from rich.markup import escape
        from rich.table import Table as RichTable

        table = RichTable(title=self.title, caption="\n".join(map(escape, self.notes)) or None, caption_justify="left")
        for i, column in enumerate(self.columns):
            table.add_column(escape(column), justify="left" if i == 0 else "right", overflow="fold")
        for row in self.rows:
            table.add_row(*map(escape, row))
        return table

    def markdown(self) -> str:
        """Return the table as Markdown."""
        lines = [f"**{self.title}**", "", _markdown_row(self.columns)]
        lines.append(_markdown_row(["---", *["---:"] * (len(self.columns) - 1)]))
        lines += [_markdown_row(row) for row in self.rows]
        if self.notes:
            lines += ["", *(f"- {note}" for note in self.notes)]
        return "\n".join(lines) + "\n"


def grid(
    title: str,
    experiment: Experiment,
    record: Record,
    text: CellText,
    *,
    label: Callable[[Case], str],
    beside: Callable[[Case], Sequence[str]] = lambda _: (),
    beside_columns: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Table:
    """Return one row a case and one column a variant; `beside` adds the published columns.

    Cases that were not come to are left out. Variants without any figure are left out of the columns and named in the
    notes, with the reason.
    """
    cases = [case for case in experiment.cases if _was_come_to(case, experiment, record)]
    texts = {
        variant.name: [text(cell_of(record, experiment, case, variant.name)) for case in cases]
        for variant in experiment.variants
    }
    shown = [variant for variant in experiment.variants if any(t != NOTHING for t in texts[variant.name])]
    rows = [
        (label(case), *(texts[variant.name][i] for variant in shown), *beside(case)) for i, case in enumerate(cases)
    ]
    columns = ("", *(variant.name for variant in shown), *beside_columns)
    return Table(title, columns, rows, (*notes, *missing_notes(experiment, record)), len(beside_columns))


def _was_come_to(case: Case, experiment: Experiment, record: Record) -> bool:
    keys = ((experiment.name, case.series, case.size, variant.name) for variant in experiment.variants)
    return any(key in record.cells for key in keys)


def missing_notes(experiment: Experiment, record: Record) -> list[str]:
    """Return one sentence for each reason why variants have no figure; one for all that have none for one reason.

    What is here does not count, so that a record says the same on every machine.
    """
    lacking: dict[str, list[str]] = {}
    left_out: list[str] = []
    for variant in experiment.variants:
        cells = [cell_of(record, experiment, case, variant.name) for case in experiment.cases]
        why_not = [(cell, cell.why_not) for cell in cells if not cell.seconds and cell.why_not is not None]
        if len({why for _, why in why_not}) == 1 and not any(cell.seconds for cell in cells):
            lacking.setdefault(why_not[0][1], []).append(variant.name)
        else:
            left_out += [f"{variant.name} ({cell.series}, {cell.size}): {why}" for cell, why in why_not]
    return [*(f"{'; '.join(names)}: {why_not}" for why_not, names in lacking.items()), *left_out]


def times_with_spread(clock: Clock) -> CellText:
    """Return a text of the median time of a cell, see `with_spread`."""
    return lambda cell: with_spread(cell.times(clock))


def with_spread(times: Sequence[float]) -> str:
    """Return the median time and, from three repetitions on, half the width of the middle half in percent."""
    if not times:
        return NOTHING
    middle = statistics.median(times)
    if len(times) < 3:
        return duration(middle)
    low, _, high = statistics.quantiles(times, n=4, method="inclusive")
    return f"{duration(middle)} ± {_percent((high - low) / 2, middle)}"


def mean_times(clock: Clock) -> CellText:
    """Return a text of the mean time and its standard deviation in percent; each repetition has an input of its own."""

    def text(cell: Cell) -> str:
        times = cell.times(clock)
        if not times:
            return NOTHING
        mean = statistics.mean(times)
        return f"{duration(mean)} ± {_percent(statistics.stdev(times), mean)}" if len(times) > 1 else duration(mean)

    return text


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole else NOTHING


def fact_mean(fact: str, digits: int) -> CellText:
    """Return a text of the mean of a fact."""

    def text(cell: Cell) -> str:
        values = cell.values(fact)
        return f"{statistics.mean(values):.{digits}f}" if values else NOTHING

    return text


def most_memory(cell: Cell) -> str:
    """Return the most memory that a call took; on the host, compilers and caches hide little ones."""
    if cell.peak_bytes is None or not cell.seconds:
        return NOTHING
    if cell.device == "cpu" and cell.peak_bytes < TOO_LITTLE_TO_TELL:
        return f"under {TOO_LITTLE_TO_TELL / 1e6:.0f} MB"
    return bytes_text(cell.peak_bytes)


def duration(seconds: float) -> str:
    """Return a time with three significant digits and its unit.

    Examples
    --------
    >>> duration(0.01234)
    '12.3 ms'
    """
    value, unit = _in_unit(seconds)
    return f"{significant(value)} {unit}"


def round_time(seconds: float) -> str:
    """Return a time that is a round number, as on an axis, with its unit.

    Examples
    --------
    >>> round_time(0.01)
    '10 ms'
    """
    value, unit = _in_unit(seconds)
    return f"{value:.3g} {unit}"


def _in_unit(seconds: float) -> tuple[float, str]:
    """Return a time in the largest unit that leaves it 1 or more, nothing in seconds."""
    if seconds == 0:
        return 0.0, "s"
    unit, factor = next(
        (pair for pair in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)) if abs(seconds) * pair[1] >= 0.9995), ("ns", 1e9)
    )
    return seconds * factor, unit


def bytes_text(count: float) -> str:
    """Return a number of bytes with three significant digits and its unit.

    Examples
    --------
    >>> bytes_text(1_600_000_000)
    '1.60 GB'
    """
    unit, size = next((pair for pair in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)) if count >= 0.9995 * pair[1]), ("B", 1))
    return f"{significant(count / size)} {unit}"


def ratio(value: float | None, reference: float | None) -> str:
    """Return how many times `value` is `reference`; a dash if either is not there."""
    if not value or not reference:
        return NOTHING
    return f"{significant(value / reference)} ×"


def geometric_mean(values: Iterable[float]) -> float | None:
    """Return the geometric mean; None of nothing."""
    values = list(values)
    return statistics.geometric_mean(values) if values else None


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
