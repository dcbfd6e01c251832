"""Files in which unsaved corrections outlive a crash, found by the detections that they correct.

The name of each also has the process that keeps it: while that runs, its corrections are still being made.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import numpy as np
import psutil

from ....matching.errors import AuctrackError
from ....tracker.editing.record import read_acts
from ....tracker.points import Points
from ....tracker.suffixes import CORRECTIONS

_SAME_S = 60  # by which the system may tell the beginning of one process differently, as its clock is set


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
    """Return a file of this process for corrections of these very detections, in this order, that is not there yet."""
    process = psutil.Process()
    name = f"{_name(points)}-{process.pid}-{process.create_time():.0f}"
    names = (name if n == 1 else f"{name}-{n}" for n in count(1))
    return next(path for path in (folder / f"{one}{CORRECTIONS}" for one in names) if not path.exists())


def take_over(path: Path, points: Points) -> Path:
    """Have this process keep a file that was left, and return it under its new name."""
    return path.rename(free_file(path.parent, points))


def find_left(folder: Path, points: Points) -> Left:
    """Return what was left of corrections of these very detections in files that no process keeps any longer."""
    files = [path for path in folder.glob(f"{_name(points)}*{CORRECTIONS}") if not _is_kept(path)]
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


def _is_kept(path: Path) -> bool:
    """Whether the process that a file is named by still runs."""
    _, *process = path.name.removesuffix(CORRECTIONS).split("-")
    try:
        pid, began, *_ = map(int, process)
        return abs(psutil.Process(pid).create_time() - began) < _SAME_S
    except (ValueError, psutil.Error):  # ValueError: named before files had a process
        return False


def _name(points: Points) -> str:
    places = np.ascontiguousarray(points.table[["frame", *points.axes]].to_numpy(np.float64))
    return hashlib.blake2b(places.tobytes(), digest_size=8).hexdigest()
