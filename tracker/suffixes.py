"""How the names of movies and of tables end, in lower case."""

from __future__ import annotations

OME_TIFF = (".ome.tif", ".ome.tiff")
TIFF = (".tif", ".tiff")
MOVIES = (*OME_TIFF, *TIFF)

TEXT_TABLES = (".csv.gz", ".csv", ".tsv", ".txt")
TABLES = (*TEXT_TABLES, ".parquet")
"""Tables of points or tracks that are read."""
PLAIN_TABLES = (".csv", ".parquet")
"""Tables of figures, or of a truth, that are written."""
TRUTH = ".truth.csv"
CORRECTIONS = ".corrections.json"


def without_ending(name: str, endings: tuple[str, ...]) -> str:
    """Return a name without the first of some endings that it has, in capitals or not."""
    return next((name[: -len(ending)] for ending in endings if name.lower().endswith(ending)), name)
