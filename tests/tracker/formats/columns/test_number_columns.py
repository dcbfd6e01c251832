"""Large tables of numbers are read part by part as pandas reads them whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.formats.columns import number_columns
from auctrack.tracker.formats.columns.csv import read_table_file
from auctrack.tracker.formats.columns.number_columns import large_csv, large_parquet

N = 50
RNG = np.random.default_rng(0)
NUMBERS = {"frame": np.arange(N), "y": RNG.normal(size=N), "x": np.where(np.arange(N) % 7, RNG.random(N), np.nan)}
PLAIN = {
    "numbers": pd.DataFrame(NUMBERS),
    "small ones": pd.DataFrame(NUMBERS).astype({"frame": np.int16, "y": np.float32}),
    "rows that become shorter": pd.DataFrame(
        {"frame": np.arange(N) // 40, "x": np.where(np.arange(N) < 5, 1e-17 / 3, 1.5)}
    ),
}
OTHERS = {
    "text": pd.DataFrame({**NUMBERS, "name": "a"}),
    "text in the end": pd.DataFrame({**NUMBERS, "name": [*map(str, range(N - 1)), "b"]}),
    "flags": pd.DataFrame({**NUMBERS, "is_seen": np.arange(N) > 3}),
    "an index of its own": pd.DataFrame(NUMBERS, index=np.arange(N) + 5),
    "a named index": pd.DataFrame(NUMBERS).set_index("frame"),
    "numbers that may be missing": pd.DataFrame({**NUMBERS, "near": pd.array([1, None] * (N // 2), dtype="Int64")}),
}
CHANGING = {
    "text": OTHERS["text"],
    "text in the end": OTHERS["text in the end"],
    "whole at first": pd.DataFrame({**NUMBERS, "z": np.where(np.arange(N) < 40, 1.0, 0.5)}),
}


@pytest.fixture(autouse=True)
def _parts_of_a_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(number_columns, "WORTH_PARTS", 0)
    monkeypatch.setattr(number_columns, "_ROWS_AT_ONCE", 7)


@pytest.mark.parametrize("table", PLAIN.values(), ids=PLAIN)
def test_tables_of_numbers_are_read_part_by_part_and_as_they_are_whole(table: pd.DataFrame, tmp_path: Path) -> None:
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_parquet(tmp_path / "t.parquet")
    of_text, of_parquet = large_csv(tmp_path / "t.csv"), large_parquet(tmp_path / "t.parquet")
    assert of_text is not None
    assert of_parquet is not None
    pd.testing.assert_frame_equal(of_text, pd.read_csv(tmp_path / "t.csv"), check_exact=True)
    pd.testing.assert_frame_equal(of_parquet, table, check_exact=True)


@pytest.mark.parametrize("table", OTHERS.values(), ids=OTHERS)
def test_all_others_are_read_whole(table: pd.DataFrame, tmp_path: Path) -> None:
    table.to_parquet(tmp_path / "t.parquet")
    assert large_parquet(tmp_path / "t.parquet") is None
    read, _ = read_table_file(tmp_path / "t.parquet", None)
    whole = table.reset_index() if table.index.name else table
    pd.testing.assert_frame_equal(read, whole, check_exact=True)


@pytest.mark.parametrize("table", CHANGING.values(), ids=CHANGING)
def test_text_and_columns_that_change_are_read_whole(table: pd.DataFrame, tmp_path: Path) -> None:
    table.to_csv(tmp_path / "t.csv", index=False, float_format="%g")
    assert large_csv(tmp_path / "t.csv") is None
    read, _ = read_table_file(tmp_path / "t.csv", None)
    pd.testing.assert_frame_equal(read, pd.read_csv(tmp_path / "t.csv"), check_exact=True)


def test_what_is_wrong_in_a_late_part_is_said_as_of_the_whole(tmp_path: Path) -> None:
    rows = "\n".join(f"{k},1.5,2" for k in range(30))
    (tmp_path / "t.csv").write_text(f"frame,y,x\n{rows}\n30,1,2,3,4\n")
    said: list[str] = []
    for worth in (0, 1 << 30):
        number_columns.WORTH_PARTS = worth
        with pytest.raises(ValueError, match="line 32") as refused:
            read_table_file(tmp_path / "t.csv", None)
        said.append(str(refused.value))
    assert said[0] == said[1]
