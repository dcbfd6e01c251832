"""Particles exactly where another one of the same frame is: a table may hold its rows twice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..points import Points

LOOKED_AT = 1_000_000
"""Rows that are searched: a table that holds its rows twice does so early."""


class RepeatedRows(NamedTuple):
    """How many there are, and the first of them.

    Attributes
    ----------
    rows : int
    frame : int
    place : str
        Its coordinates in the table, by their axes.
    """

    rows: int
    frame: int
    place: str

    def __str__(self) -> str:
        """Return the beginning of what is said of them."""
        one = "1 particle is" if self.rows == 1 else f"{self.rows} particles are"
        return f"{one} exactly where another one of the same frame is (first at frame {self.frame}, {self.place})"


def repeated_rows(points: Points, looked_at: int = LOOKED_AT) -> RepeatedRows | None:
    """Return particles at the very place of another in the same frame, among the first rows; None where none is."""
    along_x = np.sort(points.table["x"].to_numpy()[:looked_at])
    if (along_x[1:] > along_x[:-1]).all():
        return None
    places = points.table[["frame", *points.axes]].head(looked_at)
    repeated = places.duplicated().to_numpy()
    if not (rows := int(repeated.sum())):
        return None
    row = places.iloc[int(repeated.argmax())]
    return RepeatedRows(rows, int(row["frame"]), ", ".join(f"{axis} {row[axis]:.6g}" for axis in points.axes))
