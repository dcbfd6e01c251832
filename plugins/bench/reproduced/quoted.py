"""The tables of BENCHMARKS.md that come from kept records, each written below a comment that names its record.

A comment `<!-- records/h200/lap.json --repetitions 3 --without 'paper: *' -->` stands above the table's title, by which
the table is found among those that `auctrack bench lap --record FILE` prints with these options. `--rows`, where given,
are those that are kept; rows, columns and notes that match `--without` are left out.
`python -m auctrack.plugins.bench.reproduced.quoted` writes all of them anew.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from pathlib import Path
from textwrap import fill

from ....tracker.errors import InvalidInput
from ..benchmark import Effort, shown_tables
from ..draw.tables import Table
from ..measure.record import Record

CHECKOUT = Path(__file__).parents[3]
COLUMNS = 132
"""Of a line of text in BENCHMARKS.md."""
MODULES = {
    "auction": "assignment.auction",
    "cardinality": "reproduced.cardinality.cardinality",
    "correcting": "tracking.correcting",
    "lap": "reproduced.lap",
    "linking": "tracking.linking",
    "peers": "peers",
    "tracking": "tracking.tracking",
}
"""Of each benchmark, whose record and whose function have its name."""
_QUOTED = re.compile(
    r"^<!-- (?P<marker>records/[^>]+) -->\n"
    r"\*\*(?P<title>[^*]+)\*\*.*\n(?:.+\n)*"
    r"(?:\n(?:\|.*\n)+(?:\n(?:- .*\n(?:  .*\n)*)+)?)?",
    re.MULTILINE,
)
"""The comment, the title, and what was written below it: rows, and a list of notes."""


def refreshed(text: str, folder: Path) -> str:
    """Return a text with its marked tables as the records, named from `folder`, have them.

    Raises
    ------
    InvalidInput
        If there is no such record, or no table of that title comes of it.
    """
    read = cache(lambda name: Record.read(folder / name, Path(name).stem))

    @cache
    def tables(name: str, effort: Effort, left_out: int | None = None) -> dict[str, Table]:
        record = read(name)
        cells = {key: cell for key, cell in record.cells.items() if cell.session != left_out}
        module = import_module(f"..{MODULES[record.benchmark]}", __package__)
        benchmark = getattr(module, record.benchmark)(effort)
        return {table.title: table for table in shown_tables(benchmark, replace(record, cells=cells))}

    def quoted(found: re.Match[str]) -> str:
        given = _marker().parse_args(shlex.split(found["marker"]))
        title = " ".join(found["title"].split())
        effort = Effort(quick=given.quick, clock=given.clock, repetitions=given.repetitions, sizes=given.sizes)
        if title not in tables(given.record, effort):
            held = ", ".join(map(repr, tables(given.record, effort)))
            raise InvalidInput(f"{given.record} holds no table {title!r}, but {held}.")

        def part(left_out: int | None = None) -> Table:
            return _part(tables(given.record, effort, left_out).get(title), title, given.rows, given.without)

        return f"<!-- {found['marker']} -->\n{_written(part(), _when(read(given.record), part))}"

    return _QUOTED.sub(quoted, text)


def _marker() -> argparse.ArgumentParser:
    """The record, the options of its command that decide what a table shows, and what is quoted of the table."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("record")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--repetitions", type=int)
    parser.add_argument("--sizes", type=lambda sizes: tuple(map(int, sizes.split(","))), default=())
    parser.add_argument("--rows", action="append", default=[])
    parser.add_argument("--without", action="append", default=[])
    return parser


def _part(table: Table | None, title: str, rows: list[str], without: list[str]) -> Table:
    """Return the rows, columns and notes of a table that are quoted; of no table, none."""
    if table is None:
        return Table(title, (), ())

    def is_kept(name: str) -> bool:
        return not any(fnmatchcase(name, pattern) for pattern in without)

    shown = [i for i, column in enumerate(table.columns) if is_kept(column)]
    asked = [row for row in table.rows if not rows or any(fnmatchcase(row[0], pattern) for pattern in rows)]
    kept = [[row[i] for i in shown] for row in asked if is_kept(row[0])]
    return Table(title, [table.columns[i] for i in shown], kept, [*filter(is_kept, table.notes)])


def _when(record: Record, part: Callable[[int | None], Table]) -> str:
    """Return the days and commits of what is quoted: of the sessions without which it were another."""
    measured = sorted({cell.session for cell in record.cells.values() if cell.seconds})
    quoted = [record.sessions[k] for k in measured if part(k) != part(None)]
    return ", ".join(dict.fromkeys(part for s in quoted for part in (s["started"][:10], s["commit"]) if part))


def _written(table: Table, when: str) -> str:
    """Return a table as Markdown, days and commits behind its title, no line of text too long."""
    title, *rest = table.markdown().splitlines()
    rest = [line if line.startswith("|") else fill(line, COLUMNS, subsequent_indent="  ") for line in rest]
    return "\n".join([fill(f"{title} ({when})", COLUMNS), *rest, ""])


if __name__ == "__main__":
    page = CHECKOUT / "BENCHMARKS.md"
    page.write_text(refreshed(page.read_text(encoding="utf-8"), CHECKOUT), encoding="utf-8")
