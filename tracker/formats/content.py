"""What a format makes of points: the content of a file or folder, and the columns that are in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pandas as pd

from ..calibrating.calibration import Calibration


@dataclass(frozen=True)
class Folder:
    """The content of a result that is a folder.

    Parameters
    ----------
    make : callable
        Makes the folder that it is given, which is not there yet, and all in it.
    """

    make: Callable[[Path], None]


@dataclass(frozen=True)
class Written:
    """Points in one format.

    Parameters
    ----------
    content : bytes, callable or Folder
        What the file holds, what writes it, or what fills the folder.
    table : DataFrame
        As it stands in the file; the types of its columns are recorded.
    parents : mapping of int to sequence of int, optional
        The lineage, where the file renumbers tracks; left out, the numbers are those of the points.
    calibration : Calibration, optional
        Of the positions in the file, where they are not those of the points.
    """

    content: bytes | Callable[[BinaryIO], None] | Folder
    table: pd.DataFrame
    parents: Mapping[int, Sequence[int]] | None = None
    calibration: Calibration | None = None
