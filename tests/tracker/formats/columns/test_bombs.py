"""Packed tables that claim far more than they are end in a sentence before they fill the memory."""

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from auctrack.tracker.errors import InvalidInput
from auctrack.tracker.formats.columns import bombs
from auctrack.tracker.formats.tables import read_points


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """A megabyte is much here."""
    monkeypatch.setattr(bombs, "ALWAYS_UNPACKED", 2**20)


def test_a_csv_of_zeros_by_the_million(tmp_path):
    with gzip.open(tmp_path / "t.csv.gz", "wt") as file:
        file.write("frame,y,x\n" + "0,0,0\n" * 2_000_000)
    with pytest.raises(InvalidInput, match="unpack"):
        read_points(tmp_path / "t.csv.gz")


def test_a_parquet_of_one_number_by_the_million(tmp_path):
    column = pa.array(np.zeros(5_000_000))
    parquet.write_table(pa.table({"frame": column, "y": column, "x": column}), tmp_path / "t.parquet")
    with pytest.raises(InvalidInput, match="unpack"):
        read_points(tmp_path / "t.parquet")


@pytest.mark.parametrize("name", ["t.csv.gz", "t.parquet"])
def test_a_table_of_measured_particles_is_read(tmp_path, name):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"frame": np.repeat(np.arange(10), 10_000), "y": rng.random(100_000), "x": rng.random(100_000)}
    )
    (table.to_parquet if name.endswith("parquet") else table.to_csv)(tmp_path / name, index=False)
    assert (tmp_path / name).stat().st_size > 2**19
    np.testing.assert_array_equal(read_points(tmp_path / name).table["x"], table["x"])
