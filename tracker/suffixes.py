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
