"""How names end, in capitals or not."""

from __future__ import annotations

import pytest

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
