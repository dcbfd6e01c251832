"""`auctrack measure` of several tables: one table of measures that names the file of each track, and a line a file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from ....tracker.calibrating.digits import in_digits
from ....tracker.errors import InvalidInput
from ....tracker.measuring.measures import measure_units
from ..terminal import console
from .one_input import failure_of

if TYPE_CHECKING:
    from ....tracker.calibrating.calibration import Calibration

FILE = "file"
_HEADINGS = ("file", "tracks", "detections", "median length", "median speed")


class Measured(NamedTuple):
    """The measures of one file, what calibrates it, and notes that are said once for all files."""

    measures: pd.DataFrame
    calibration: Calibration
    notes: list[str]


def shared_folder(tables: Sequence[Path]) -> Path:
    """Return the folder that holds all tables, in it or in folders of it."""
    parents = [os.path.abspath(table.parent) for table in tables]  # noqa: PTH100 - links are left as they are
    try:
        folder = Path(os.path.commonpath(parents))
    except ValueError:  # on several drives
        return Path()
    return folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder


def names_of(tables: Sequence[Path], folder: Path) -> dict[str, Path]:
    """Return each table once, by its name from a folder on."""
    once = {os.path.realpath(table): table for table in tables}.values()  # one may be given beside its folder
    return {_from(folder, table): table for table in once}


def _from(folder: Path, table: Path) -> str:
    try:
        return Path(os.path.relpath(table, folder)).as_posix()
    except ValueError:  # on another drive
        return table.as_posix()


def measure_each(
    tables: Mapping[str, Path], measure: Callable[[Path], Measured]
) -> tuple[dict[str, Measured], dict[str, str]]:
    """Measure every table; return the measures by name, and why the others could not be measured, which is said."""
    measured: dict[str, Measured] = {}
    failed: dict[str, str] = {}

    def add(name: str, table: Path) -> None:
        one = measure(table)
        if measured:
            _refuse_other_units(one, *next(iter(measured.items())))
        measured[name] = one

    for number, (name, table) in enumerate(tables.items(), 1):
        console.say(f"[{number}/{len(tables)}] {table}")
        failure = failure_of(str(table), lambda name=name, table=table: add(name, table))
        if failure is not None:
            failed[name] = failure.message
    return measured, failed


def _refuse_other_units(one: Measured, first: str, other: Measured) -> None:
    """Refuse a file whose numbers would stand in one column with those in another unit.

    Raises
    ------
    InvalidInput
    """
    its, theirs = (measure_units(each.calibration)["mean_speed"] for each in (one, other))
    if its != theirs:
        raise InvalidInput(
            f"its speeds are in {its}, those of {first} in {theirs}. Give --voxel, --unit or --frame-interval, "
            "which hold for all, or measure it in a call of its own."
        )


def in_one_table(measured: Mapping[str, Measured]) -> pd.DataFrame:
    """Return the measures of all files in one table; its first column names the file."""
    filled = {name: one.measures for name, one in measured.items() if len(one.measures)}
    filled = filled or {name: one.measures for name, one in [*measured.items()][:1]}
    named = [table.assign(**{FILE: name})[[FILE, *table.columns]] for name, table in filled.items()]
    return pd.concat(named, ignore_index=True)


def summary(name: str, measures: pd.DataFrame) -> dict[str, Any]:
    """Return what is said of one file, None where no track tells it."""
    speeds = measures["mean_speed"].dropna()
    return {
        "file": name,
        "tracks": len(measures),
        "detections": int(measures["length"].sum()),
        "median_length": float(measures["length"].median()) if len(measures) else None,
        "median_speed": float(speeds.median()) if len(speeds) else None,
    }


def show_lines(measured: Mapping[str, Measured], failed: Mapping[str, str], written: Path) -> None:
    """Show a line a file, and where the measures are."""
    unit = measure_units(next(iter(measured.values())).calibration)["mean_speed"]
    rows = [[*_HEADINGS[:-1], f"{_HEADINGS[-1]} ({unit})"]]
    for name, one in measured.items():
        _, tracks, detections, *medians = summary(name, one.measures).values()
        rows.append([name, f"{tracks}", f"{detections}", *("-" if m is None else in_digits(m) for m in medians)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *numbers in rows:
        cells = (f"{cell:>{width}}" for cell, width in zip(numbers, widths[1:], strict=True))
        console.show("  ".join(("", f"{name:<{widths[0]}}", *cells)))
    became = f"{len(measured)} measured" + (f", {len(failed)} failed" if failed else "")
    console.show(console.aligned([("tables", became), ("written", str(written))]))


def show_json(measured: Mapping[str, Measured], failed: Mapping[str, str], written: Path) -> None:
    """Print the same as JSON."""
    units = measure_units(next(iter(measured.values())).calibration)
    content = {
        "written": str(written),
        "units": {"median_speed": units["mean_speed"]},
        "files": [summary(name, one.measures) for name, one in measured.items()],
        "failed": [{"file": name, "message": message} for name, message in failed.items()],
    }
    console.show(json.dumps(content, indent=2, ensure_ascii=False))
