"""How the names of movies and of tables end, in lower case."""

from __future__ import annotations

OME_TIFF = (".ome.tif", ".ome.tiff")
TIFF = (".tif", ".tiff")
OME_ZARR = (".ome.zarr", ".zarr")
MOVIES = (*OME_TIFF, *TIFF, *OME_ZARR)

TEXT_TABLES = (".csv.gz", ".csv", ".tsv", ".txt")
TABLES = (*TEXT_TABLES, ".parquet")
"""Tables of points or tracks that are read."""
PLAIN_TABLES = (".csv", ".parquet")
"""Tables of figures, or of a truth, that are written."""
TRUTH = ".truth.csv"
CORRECTIONS = ".corrections.json"


def ends_in(name: str, *endings: str) -> bool:
    """Whether the name of a file or folder has one of these endings, those in small letters in capitals too."""
    return name.endswith(endings) or name.lower().endswith(endings)


def without_ending(name: str, endings: tuple[str, ...]) -> str:
    """Return a name without the first of some endings that it has, as `ends_in` tells."""
    return next((name[: -len(ending)] for ending in endings if ends_in(name, ending)), name)
