"""The Python code in sample_data/README.md writes the sample data again."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tifffile

from auctrack.tracker.formats.checksum import Checksum
from auctrack.tracker.formats.sidecar import read_sidecar

FOLDER = Path(__file__).parents[2] / "sample_data"
TABLES = ("movie.truth.csv", "points.csv", "points.truth.csv")


@pytest.fixture(scope="module")
def rewritten(tmp_path_factory) -> Path:
    """The folder that the README's code fills when it runs elsewhere."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "sample_data").mkdir()
    code = re.search(r"```python\n(.*?)```", (FOLDER / "README.md").read_text(encoding="utf-8"), re.DOTALL)[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(elsewhere)
        exec(code, {})
    return elsewhere / "sample_data"


def test_every_file_is_written_again(rewritten):
    kept = {file.name for file in FOLDER.iterdir() if file.is_file()}
    assert kept == {file.name for file in rewritten.iterdir()} | {"README.md"}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_comes_out_again(rewritten, name):
    pd.testing.assert_frame_equal(pd.read_csv(FOLDER / name), pd.read_csv(rewritten / name), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", TABLES)
def test_its_units_and_settings_come_out_again(rewritten, name):
    notes = [json.loads((folder / f"{name}.settings.json").read_text("utf-8")) for folder in (FOLDER, rewritten)]
    for note in notes:
        del note["auctrack"]  # the version that wrote it
        del note["table"]  # the last digits may differ between machines
    assert notes[0] == notes[1]


@pytest.mark.parametrize("name", TABLES)
def test_it_is_as_it_was_written(name):
    assert read_sidecar(FOLDER / name).table == Checksum.of(FOLDER / name)


def test_the_movie_comes_out_again(rewritten):
    np.testing.assert_array_equal(
        tifffile.imread(FOLDER / "movie.ome.tif"), tifffile.imread(rewritten / "movie.ome.tif")
    )


def test_the_folder_stays_small():
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 6e6
