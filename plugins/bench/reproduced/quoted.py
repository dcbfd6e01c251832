"""The tables of BENCHMARKS.md that come from kept records, each written below a comment that names its record.

A comment `<!-- records/h200/lap.json --repetitions 3 --without 'paper: *' -->` stands above the table's title, by which
the table is found among those that `auctrack bench lap --record FILE` prints with these options; rows, columns and
notes that match a pattern are left out. `python -m auctrack.plugins.bench.reproduced.quoted` writes all of them anew.
"""

from __future__ import annotations

import argparse
import re
import shlex
from dataclasses import replace
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from textwrap import fill

from ....tracker.errors import InvalidInput
from ..benchmark import Benchmark, Effort, shown_tables
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
    return _QUOTED.sub(lambda found: _quoted(found["marker"], " ".join(found["title"].split()), folder), text)


def _quoted(marker: str, title: str, folder: Path) -> str:
    given = _marker().parse_args(shlex.split(marker))
    name = Path(given.record).stem
    effort = Effort(quick=given.quick, clock=given.clock, repetitions=given.repetitions, sizes=given.sizes)
    benchmark = getattr(import_module(f"..{MODULES[name]}", __package__), name)(effort)
    record = Record.read(folder / given.record, name)
    tables = _tables(benchmark, record)
    if title not in tables:
        raise InvalidInput(f"{given.record} holds no table {title!r}, but {', '.join(map(repr, tables))}.")
    first, *rest = _without(tables[title], given.without).markdown().splitlines()
    first = fill(f"{first} ({_when(benchmark, record, tables[title])})", COLUMNS)
    rest = [line if line.startswith("|") else fill(line, COLUMNS, subsequent_indent="  ") for line in rest]
    return "\n".join([f"<!-- {marker} -->", first, *rest, ""])


def _tables(benchmark: Benchmark, record: Record) -> dict[str, Table]:
    return {table.title: table for table in shown_tables(benchmark, record)}


def _when(benchmark: Benchmark, record: Record, table: Table) -> str:
    """Return the days and commits of a table's cells: of the sessions without which it were another."""
    said: list[str] = []
    for k, session in enumerate(record.sessions):
        others = {key: cell for key, cell in record.cells.items() if cell.session != k}
        if _tables(benchmark, replace(record, cells=others)).get(table.title) != table:
            said += [session["started"][:10], session["commit"]]
    return ", ".join(dict.fromkeys(filter(None, said)))


def _marker() -> argparse.ArgumentParser:
    """The record, the options of its command that decide what a table shows, and what is left out of the table."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("record")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--repetitions", type=int)
    parser.add_argument("--sizes", type=lambda sizes: tuple(map(int, sizes.split(","))), default=())
    parser.add_argument("--without", action="append", default=[])
    return parser


def _without(table: Table, patterns: list[str]) -> Table:
    def is_kept(name: str) -> bool:
        return not any(fnmatchcase(name, pattern) for pattern in patterns)

    shown = [i for i, column in enumerate(table.columns) if is_kept(column)]
    rows = [[row[i] for i in shown] for row in table.rows if is_kept(row[0])]
    return Table(table.title, [table.columns[i] for i in shown], rows, [*filter(is_kept, table.notes)])


if __name__ == "__main__":
    page = CHECKOUT / "BENCHMARKS.md"
    page.write_text(refreshed(page.read_text(encoding="utf-8"), CHECKOUT), encoding="utf-8")
