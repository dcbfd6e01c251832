"""The files in which corrections that no other file holds outlive a crash, found by the detections they are of."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import numpy as np

from ....matching.errors import AuctrackError
from ....tracker.editing.record import read_acts
from ....tracker.points import Points

_ENDING = ".corrections.json"


@dataclass(frozen=True)
class Left:
    """What was left of corrections of some detections.

    Attributes
    ----------
    path : Path or None
        The newest file that can be read.
    n : int
        How many corrections it holds.
    problem : str
        Which newer ones cannot be read, in sentences; empty without any.
    """

    path: Path | None
    n: int
    problem: str


def free_file(folder: Path, points: Points) -> Path:
    """Return a file for corrections of these very detections, in this order, that is not there yet."""
    name = _name(points)
    names = (name if n == 1 else f"{name}-{n}" for n in count(1))
    return next(path for path in (folder / f"{one}{_ENDING}" for one in names) if not path.exists())


def find_left(folder: Path, points: Points, own: Collection[Path]) -> Left:
    """Return what was left of corrections of these very detections in files other than one's own."""
    files = [path for path in folder.glob(f"{_name(points)}*{_ENDING}") if path not in own]
    problems: list[str] = []
    for path in sorted(files, key=lambda path: path.stat().st_mtime_ns, reverse=True):
        try:
            return Left(path, len(read_acts(path, points)), " ".join(problems))
        except AuctrackError as error:
            problems.append(
                "Corrections of these tracks were not saved when napari ended, and the file that keeps them cannot be "
                f"read. {error} It stays there, and new corrections are kept in another file. Repair the "
                "file, or delete it to stop this message."
            )
    return Left(None, 0, " ".join(problems))


def _name(points: Points) -> str:
    places = np.ascontiguousarray(points.table[["frame", *points.axes]].to_numpy(np.float64))
    return hashlib.blake2b(places.tobytes(), digest_size=8).hexdigest()
