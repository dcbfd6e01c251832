"""Damage within the pages of a Parquet file is seen where there are checksums of them, as in all that is written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet

from auctrack.tracker.errors import InvalidInput
from auctrack.tracker.formats.columns import number_columns
from auctrack.tracker.formats.tables import read_points
from auctrack.tracker.formats.write import write_points
from auctrack.tracker.points import Points

RANDOM = np.random.default_rng(0)
TABLE = pd.DataFrame({"frame": np.repeat(np.arange(10), 100), **{axis: RANDOM.random(1000) for axis in "zyx"}})


@pytest.mark.parametrize("in_parts", [False, True])
@pytest.mark.parametrize("column", range(4))
def test_a_bit_that_fell_over_in_a_column_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: int, in_parts: bool
) -> None:
    if in_parts:
        monkeypatch.setattr(number_columns, "WORTH_PARTS", 0)
    path = tmp_path / "t.parquet"
    write_points(Points(TABLE), path)
    assert len(read_points(path)) == len(TABLE)
    chunk = parquet.read_metadata(path).row_group(0).column(column)
    damaged = bytearray(path.read_bytes())
    begins = chunk.dictionary_page_offset or chunk.data_page_offset
    damaged[begins + chunk.total_compressed_size - 1] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(InvalidInput, match=r"t\.parquet"):
        read_points(path)


def test_files_without_checksums_are_read(tmp_path: Path) -> None:
    TABLE.to_parquet(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(read_points(tmp_path / "t.parquet").table, TABLE)
