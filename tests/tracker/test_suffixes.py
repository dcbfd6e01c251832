"""How names end, in capitals or not."""

from __future__ import annotations

import pytest

from auctrack.tracker.formats.registry import FORMATS
from auctrack.tracker.suffixes import MOVIES, TABLES, without_ending


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("cells.ome.tif", "cells"),
        ("cells.OME.TIFF", "cells"),
        ("cells.Tif", "cells"),
        ("cells.ome", "cells.ome"),
        ("cells.tif.tif", "cells.tif"),
        ("tif", "tif"),
        (".tif", ""),
    ],
)
def test_one_ending_of_a_movie_is_left_out(name: str, stem: str) -> None:
    assert without_ending(name, MOVIES) == stem


@pytest.mark.parametrize("name", ["points.csv.gz", "points.CSV", "points.parquet", "points.txt"])
def test_so_is_one_of_a_table(name: str) -> None:
    assert without_ending(name, TABLES) == "points"


def test_endings_in_capitals_of_their_own_are_left_out_too() -> None:
    """Folders of the Cell Tracking Challenge end in _RES."""
    endings = tuple(ending for known in FORMATS.values() for ending in known.endings)
    assert "_RES" in endings
    assert without_ending("01_RES", endings) == "01"
