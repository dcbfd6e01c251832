"""Large tables of numbers are written as Arrow writes them, byte for byte."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv as arrow_csv

from auctrack.tracker.formats.columns import table_content
from auctrack.tracker.formats.columns.csv_rows import are_plain, csv_rows

N = 20_000
"""More rows than are written at once."""
RNG = np.random.default_rng(0)
FLOATS = {
    "every pattern of bits": lambda: RNG.integers(-(2**63), 2**63 - 1, N).view(np.float64),
    "powers of two, whose neighbour below is nearer": lambda: np.ldexp(1.0, RNG.integers(-1074, 1023, N)),
    "positions": lambda: RNG.uniform(0, 30, N),
    "few digits": lambda: np.round(RNG.uniform(-1000, 1000, N), 2),
    "around a power of ten": lambda: RNG.normal(size=N) * 10.0 ** RNG.integers(-12, 14, N),
    "whole numbers": lambda: RNG.integers(-100, 100, N) * 1e3,
    "zeros, and what is no number": lambda: np.resize([0.0, -0.0, np.inf, -np.inf, np.nan], N),
    "the least and the largest": lambda: np.resize(
        [5e-324, 9.5e-322, 2.225073858507201e-308, 2.0**-1022, -1.7976931348623157e308, 1e22, 1e23, 2.0**53 + 2], N
    ),
    "where powers of ten begin": lambda: np.resize([1e-6, 9.999999999999999e-7, 9999999999.999998, 1e10, -0.00005], N),
}
WHOLE = {
    "every size": lambda: RNG.integers(-(2**63), 2**63 - 1, N) >> RNG.integers(0, 63, N),
    "the least and the largest": lambda: np.resize([-(2**63), 2**63 - 1, 0, -1, 9, 10, 10**18, 10**18 - 1], N),
    "of 32 bits": lambda: RNG.integers(0, 2**32 - 1, N).astype(np.uint32),
    "of 8 bits": lambda: np.arange(N).astype(np.int8),
}


def by_arrow(table: pd.DataFrame) -> bytes:
    written = io.BytesIO()
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    arrow_csv.write_csv(arrow, written, arrow_csv.WriteOptions(include_header=False))
    return written.getvalue()


@pytest.mark.parametrize("numbers", [*FLOATS.values(), *WHOLE.values()], ids=[*FLOATS, *WHOLE])
def test_numbers_are_written_as_arrow_writes_them(numbers: Callable[[], np.ndarray]) -> None:
    table = pd.DataFrame({"frame": np.arange(N), "value": numbers(), "last": -1.5})
    assert are_plain(table)
    assert b"".join(bytes(text) for text in csv_rows(table)) == by_arrow(table)


@pytest.mark.parametrize("numbers", FLOATS.values(), ids=FLOATS)
def test_they_are_read_back_as_they_were_from_the_fewest_digits(numbers: Callable[[], np.ndarray]) -> None:
    values = numbers()
    text = b"".join(bytes(text) for text in csv_rows(pd.DataFrame({"value": values}))).decode().split("\n")[:-1]
    some = slice(0, 2000)
    assert [float(one or "nan") for one in text[some]] == pytest.approx(values[some], rel=0, abs=0, nan_ok=True)
    digits, fewest = (
        ["".join(filter(str.isdigit, one.partition("e")[0])).strip("0") for one in shown]
        for shown in (text[some], map(repr, values[some].tolist()))
    )
    assert list(map(len, digits)) == list(map(len, fewest))


@pytest.mark.parametrize(
    "column",
    [
        np.array([True, False]),
        np.array([0.5, 1.5], np.float32),
        np.array([2**64 - 1, 0], np.uint64),
        np.array(["a", "b"]),
        pd.array([1, None], dtype="Int64"),
        pd.to_datetime(["2026-01-01", "2026-01-02"]),
    ],
    ids=["flags", "float32", "uint64", "text", "missing", "dates"],
)
def test_other_columns_are_left_to_arrow(column: object) -> None:
    assert not are_plain(pd.DataFrame({"frame": [0, 1], "column": column}))


def test_a_large_table_has_its_header_and_no_row_less(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pd.DataFrame({"frame": np.arange(N), "a, b": RNG.uniform(size=N)}, index=np.arange(N)[::-1])
    ways = {}
    for worth in (N, N + 1):
        monkeypatch.setattr(table_content, "WORTH_COMPILING", worth)
        written = io.BytesIO()
        content = table_content.as_csv(table).content
        assert callable(content)
        content(written)
        ways[worth] = written.getvalue()
    assert ways[N] == ways[N + 1]
    assert ways[N].startswith(b'frame,"a, b"\n')
