"""Which tables of tracks the arguments of a command stand for: tables, folders of them, quoted patterns."""

from __future__ import annotations

import glob
import shlex
from collections.abc import Sequence
from pathlib import Path

from ....tracker.errors import InvalidInput
from ....tracker.formats.registry import READ, holds_points
from ....tracker.formats.sidecar import SUFFIX, read_sidecar
from ....tracker.suffixes import ends_in, without_ending
from ...words.errors import sentence
from ..terminal import console
from .inputs import OF_MEASURE, product_of

_NO_TRACKS = (".points", *OF_MEASURE)
"""What our commands put behind the names of tables that hold no tracks."""


def names_one_table(given: Path) -> bool:
    """Whether an argument is the name of a table, be it there or not, rather than a folder or pattern of tables."""
    if given.is_dir():
        return holds_points(given)
    return given.exists() or not glob.has_magic(str(given))


def all_tables(given: Sequence[Path]) -> tuple[list[Path], bool]:
    """Return the tables of all arguments, and whether one of several has none, which is said."""
    tables: list[Path] = []
    without = False
    for each in given:
        try:
            tables += _tables(each)
        except InvalidInput as error:
            if len(given) == 1:
                raise
            console.fail(sentence(error))
            without = True
    return tables, without


def _tables(given: Path) -> list[Path]:
    """Return a table, those of a folder that settings stand beside, or those that a pattern names."""
    if names_one_table(given):
        return [given]
    if not given.is_dir():
        return _matching(given)
    found = _in_folder(given)
    if not found:
        pattern = shlex.quote(str(given / "*.csv"))
        raise InvalidInput(
            f"{given}: is a folder without a table of tracks that has its settings beside it (TABLE{SUFFIX}). Give "
            f"others by name, or by a pattern, such as {pattern}."
        )
    return found


def _matching(pattern: Path) -> list[Path]:
    """Return the tables that a pattern names, without those of other kinds that our commands write beside tracks."""
    named = [Path(name) for name in sorted(glob.glob(str(pattern)))]  # noqa: PTH207 - it may hold a folder too
    found: list[Path] = []
    for each in named:
        if each.is_dir() and not holds_points(each):
            found += _in_folder(each)
        elif holds_points(each) and not ends_in(without_ending(each.name, READ), *_NO_TRACKS):
            found.append(each)
    if not found:
        raise InvalidInput(f"{pattern}: no table of tracks matches this name.")
    return found


def _in_folder(folder: Path) -> list[Path]:
    """Return the tables of tracks in a folder, and say which are left out, as nothing beside them says their units."""
    beside = [path.with_name(path.name.removesuffix(SUFFIX)) for path in sorted(folder.glob(f"*{SUFFIX}"))]
    found = [table for table in beside if table.exists() and _holds_tracks(table)]
    bare = [file for file in sorted(folder.iterdir()) if _is_called_tracks(file) and file not in beside]
    if found and bare:
        are = f"and {len(bare) - 1} more are" if len(bare) > 1 else "is"
        console.note(
            f"{bare[0]} {are} left out, for no settings stand beside ({bare[0].name}{SUFFIX}): tables without them are "
            f"given by name, or by a pattern such as {shlex.quote(str(folder / '*.csv'))}."
        )
    return found


def _is_called_tracks(file: Path) -> bool:
    return ends_in(file.name, *READ) and product_of(file.name) == ".tracks"


def _holds_tracks(table: Path) -> bool:
    """Whether a table is the tracks of a run, by its settings and the name of its kind.

    One whose settings are damaged is taken for such by its name, and then fails by it.
    """
    if product_of(table.name) not in ("", ".tracks"):
        return False
    try:
        sidecar = read_sidecar(table)
    except InvalidInput:
        return product_of(table.name) == ".tracks"
    return sidecar is not None and "effective" in sidecar.settings
