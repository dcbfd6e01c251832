"""CSV and Parquet files as tables, in their own column names, or one clear sentence about what is wrong with them."""

from __future__ import annotations

import csv
import gzip
import itertools
import re
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd

from ...errors import InvalidInput
from ...regular_files import refuse_pipe
from ...suffixes import TABLES, TIFF
from ...zarr_attributes import is_image
from ..sidecar import Sidecar
from .bombs import Unpacked, require_honest_parquet
from .dialects import POSITIONAL, TRACKMATE
from .number_columns import large_csv, large_parquet

_TITLE_LINES = 5
"""Lines above the header, such as a title and a rule, that are looked for."""
_NUMBERED = (TRACKMATE.frame, "SPOT_SOURCE_ID")
"""Columns of TrackMate's spots and edges that have a number in every row, so that text tells rows of its header."""
_SEPARATORS = ",;\t"
_EXCELS_FIRST_LINE = re.compile(r"\"?sep=.\"?\s*", re.IGNORECASE)
_ROWS_LOOKED_AT = 100
"""Rows that tell whether a table has decimal commas: the first ones may be whole numbers."""

_MISSING = ["", "nan", "NaN", "NA", "N/A", "#N/A", "null", "NULL", "None"]
"""What stands for a number that is missing. In a column of text, as we wrote it, these are words like any other."""

# From 3.1 on pandas reads every float exactly, and warns when told to.
_READS_EXACTLY = tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1)
_EXACT_FLOATS: dict[str, Any] = {} if _READS_EXACTLY else {"float_precision": "round_trip"}

# What pandas and pyarrow raise, depending on where a file is damaged.
_DAMAGE = (
    ArithmeticError,
    EOFError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
    csv.Error,
    zlib.error,
)


def read_table_file(path: Path, sidecar: Sidecar | None) -> tuple[pd.DataFrame, Mapping[str, str]]:
    """Return a table as it stands in the file, and TrackMate's row of units."""
    name = path.name.lower()
    if not path.exists():
        raise InvalidInput(f"{path}: there is no such file.")
    if name.endswith(TIFF) or is_image(path):
        raise InvalidInput(f"{path}: is a movie, not a table; auctrack track finds and links its particles.")
    if path.is_dir():
        raise InvalidInput(f"{path}: is a folder; name one table in it ({', '.join(TABLES)}).")
    if not name.endswith(TABLES):
        raise InvalidInput(f"{path}: is not a kind of table that can be read; {', '.join(TABLES)} are. Save it as CSV.")
    refuse_pipe(path, "Save the table in one first; the commands link, measure and score read standard input as '-'.")
    try:
        return (_read_parquet(path), {}) if name.endswith(".parquet") else read_csv(path, sidecar)
    except InvalidInput:
        raise
    except (pd.errors.EmptyDataError, StopIteration) as error:
        raise InvalidInput(f"{path}: the file is empty.") from error
    except _DAMAGE as error:
        raise InvalidInput(f"{path}: cannot be read as a table; it is damaged ({fault(error)}).") from error
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read ({error.strerror or error}).") from error


def fault(error: Exception) -> str:
    """Return what pandas or pyarrow found wrong with a file, in a line and without what they were doing."""
    what, _, _ = str(error).partition("\n")  # some list the whole schema after it
    return what.removeprefix("Error tokenizing data. C error: ")


def line_of_row(path: Path, row: int) -> int:
    """Return the line of a CSV file, counted from 1, in which a row of its table ends; row 0 follows the header."""
    encoding = _wide_encoding(path) or "latin-1"  # which reads every file, and tells cells apart in UTF-8 too
    head = _head(path, encoding)
    with _opened(path, encoding) as file:
        reader = csv.reader(file, delimiter=head.separator)
        lines = (reader.line_num for cells in reader if len(cells) > 1 or "".join(cells).strip())  # pandas skips others
        return next(itertools.islice(lines, row + head.lines, None))


def _read_parquet(path: Path) -> pd.DataFrame:
    """Return the table; levels of its index that have a name, as pandas keeps them in the file, become columns."""
    require_honest_parquet(path)
    table = _first_of(partial(large_parquet, path), partial(pd.read_parquet, path, page_checksum_verification=True))
    named = [name for name in table.index.names if name is not None and name not in table.columns]
    return table.reset_index(level=named).reset_index(drop=True) if named else table


def read_csv(path: Path, sidecar: Sidecar | None) -> tuple[pd.DataFrame, Mapping[str, str]]:
    """Return a table of text as it stands in the file, however it is separated, and TrackMate's row of units.

    What is wrong with the file is raised as pandas says it; one without a line raises StopIteration.
    """
    wide = _wide_encoding(path)
    if wide is not None:
        return _decoded_csv(path, sidecar, wide)
    try:
        return _decoded_csv(path, sidecar, "utf-8-sig")
    except UnicodeDecodeError:
        return _decoded_csv(path, sidecar, "latin-1")


def _wide_encoding(path: Path) -> str | None:
    """Return "utf-16" where a file begins as such, as spreadsheets save "Unicode text"; None elsewhere."""
    with _opened(path, "latin-1") as file:
        return "utf-16" if file.read(2) in ("ÿþ", "þÿ") else None  # the byte order marks, read as Latin-1


def _decoded_csv(path: Path, sidecar: Sidecar | None, encoding: str) -> tuple[pd.DataFrame, Mapping[str, str]]:
    head = _head(path, encoding)
    if any("\0" in name for name in head.names):
        raise InvalidInput(f"{path}: is not text, so it cannot be read as a table; save it as CSV.")
    types = _dtypes(sidecar, head.names)
    with warnings.catch_warnings(), np.errstate(invalid="raise"):  # a number that its recorded type cannot hold
        warnings.simplefilter("error", pd.errors.ParserWarning)  # rows with more cells than the header has
        warnings.simplefilter("error", pd.errors.DtypeWarning)
        try:
            table = _typed_where_it_holds(path, encoding, head, types)
        except pd.errors.ParserWarning as error:
            raise InvalidInput(
                f"{path}: its rows have more cells than its first line, {', '.join(head.names)}, which must name the "
                "columns. Remove what stands above them."
            ) from error
    table = _each_once(table, head.names, path)
    if sidecar is None:  # names of others: "frame, y, x" means frame, y and x
        table = table.rename(columns=lambda name: name.strip() or name)
    table = _without_last_rows(table)
    return _without_row_numbers(_without_last_comma(table, head.names), head.names), head.units


def _typed_where_it_holds(path: Path, encoding: str, head: _Head, types: Mapping[str, str]) -> pd.DataFrame:
    """Return the rows in the types that they were written with; where an edit left others, as of any other table.

    Who empties an id in a spreadsheet takes a point out of its track: no whole numbers are left in that column.
    """
    try:
        return _parsed(path, encoding, head, types)
    except (UnicodeDecodeError, pd.errors.ParserError):
        raise
    except ValueError:
        texts = {name: kind for name, kind in types.items() if kind == "str"}
        if texts == types:
            raise
        return _parsed(path, encoding, head, texts)


def _parsed(path: Path, encoding: str, head: _Head, types: Mapping[str, str], *, in_parts: bool = True) -> pd.DataFrame:
    """Return the rows as pandas reads them, part by part unless that mixes numbers and text in a column."""
    texts = {name for name, kind in types.items() if kind == "str"}
    options: dict[str, Any] = {
        "sep": head.separator,
        "decimal": head.decimal_sign,
        "encoding": encoding,
        "skiprows": head.skipped,
        "dtype": types or None,
        "keep_default_na": not texts,
        "na_values": {name: "" if name in texts else _MISSING for name in head.names} if texts else None,
        **_EXACT_FLOATS,
        "index_col": False,
    }

    def whole() -> pd.DataFrame:
        with _as_pandas_takes(path) as source:
            return pd.read_csv(source, **options, low_memory=in_parts)

    try:
        return _first_of(partial(large_csv, path, **options), whole) if in_parts else whole()
    except pd.errors.DtypeWarning:  # some parts have numbers where others have text: the whole says what it is
        return _parsed(path, encoding, head, types, in_parts=False)


def _first_of(in_parts: Callable[[], pd.DataFrame | None], whole: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """Return a table as it is read part by part; else whole, which also says what is wrong with it."""
    with suppress(*_DAMAGE, OSError):
        table = in_parts()
        if table is not None:
            return table
    return whole()


@dataclass(frozen=True)
class _Head:
    """What the first lines of a CSV file tell of the others."""

    separator: str
    decimal_sign: str
    names: Sequence[str]
    skipped: Sequence[int]
    """Numbers, from 0, of the lines beside the header that are not rows: titles, TrackMate's names and units."""
    lines: int
    """Lines above the first row, empty ones left out."""
    units: Mapping[str, str]


def _head(path: Path, encoding: str) -> _Head:
    with _opened(path, encoding) as file:
        lines = ((number, line) for number, line in enumerate(file) if line.strip())
        first, *others = next(lines), *itertools.islice(lines, _TITLE_LINES + _ROWS_LOOKED_AT)
    titles = _title_lines([line for _, line in (first, *others)])
    (place, header), *following = [first, *others][titles:]
    below = [line for _, line in following]
    is_parted = any(sign in header for sign in _SEPARATORS)
    separator = max(_SEPARATORS if is_parted else " |", key=header.count)
    names, *rows = csv.reader([header, *below], delimiter=separator)
    names = [name.strip() for name in names]
    numbered = next((names.index(name) for name in _NUMBERED if name in names), None)
    four_rows = numbered is not None and _is_text_below(numbered, rows[:3])
    units = dict(zip(names, rows[2], strict=False)) if four_rows else {}
    skipped = [*range(place), *(range(place + 1, place + 4) if four_rows else ())]
    return _Head(separator, _decimal_sign(separator, rows), names, skipped, titles + (4 if four_rows else 1), units)


def _title_lines(lines: Sequence[str]) -> int:
    """Return how many lines stand above the header, as Imaris exports it: lines of one cell above one of several.

    Excel's line `sep=;`, which says what parts cells, is one of them.
    """
    several = (
        any(sign in line for sign in _SEPARATORS) and not _EXCELS_FIRST_LINE.fullmatch(line)
        for line in lines[: _TITLE_LINES + 1]
    )
    return next((number for number, has_several in enumerate(several) if has_several), 0)


def _decimal_sign(separator: str, rows: Sequence[Sequence[str]]) -> str:
    """Return a comma where the first rows have numbers with one and none with a point, as spreadsheets write them."""
    cells = [cell for row in rows for cell in row]
    has_comma, has_point = (any(re.fullmatch(rf"[+-]?\d+{sign}\d+", cell) for cell in cells) for sign in (",", r"\."))
    return "," if separator != "," and has_comma and not has_point else "."


def _as_pandas_takes(path: Path) -> AbstractContextManager[Any]:
    return Unpacked(path) if path.suffix.lower() == ".gz" else nullcontext(path)


def _opened(path: Path, encoding: str) -> TextIO:
    return gzip.open(path, "rt", encoding=encoding) if path.suffix.lower() == ".gz" else path.open(encoding=encoding)


def _is_text_below(column: int, rows: Sequence[Sequence[str]]) -> bool:
    """Whether the three rows under the header carry no number there: TrackMate's long names, short names, units."""
    return len(rows) == 3 and all(len(row) > column and not _is_number(row[column]) for row in rows)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _dtypes(sidecar: Sidecar | None, names: Sequence[str]) -> dict[str, str]:
    """Return the types that a table of ours was written with, so that ids and flags come back as they were."""
    if sidecar is None:
        return {}
    plain = ("int", "uint", "float", "bool", "str", "Int", "UInt", "Float")
    return {name: kind for name, kind in sidecar.columns.items() if name in names and kind.startswith(plain)}


def _each_once(table: pd.DataFrame, names: Sequence[str], path: Path) -> pd.DataFrame:
    """Drop columns that are there twice, as trackpy's filter_stubs leaves frames as index and as a column.

    Raises
    ------
    InvalidInput
        If columns of one name differ, of which pandas would take the first.
    """
    again: list[int] = []
    for name in sorted(POSITIONAL):
        first, *others = [column for column, each in enumerate(names) if each == name] or [0]
        if not all(table.iloc[:, first].equals(table.iloc[:, other]) for other in others):
            raise InvalidInput(f"{path}: has several columns {name!r} that differ; rename or drop the others.")
        again.extend(others)
    return table.drop(columns=table.columns[again])


def _without_last_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Drop rows of empty cells at the end, as spreadsheets leave them below a table."""
    if not len(table) or table.iloc[-1].notna().any():
        return table
    filled = np.flatnonzero(table.notna().any(axis=1))
    return table.iloc[: filled[-1] + 1 if len(filled) else 0]


def _without_last_comma(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Drop the empty column that a comma at the end of every line makes, as Imaris writes it."""
    return table.iloc[:, :-1] if not names[-1] and table.iloc[:, -1].isna().all() else table


def _without_row_numbers(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Drop the row numbers that pandas and napari write as a first column, if that is what they are."""
    first, numbers = table.columns[0], {""} | ({"index"} if "axis-0" in names else set())
    if names[0] in numbers and np.array_equal(table[first], np.arange(len(table))):
        return table.drop(columns=first)
    return table
