"""A session as a file: the acts in effect, as JSON, and where the detections are that they name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from ..calibrating.digits import counted
from ..errors import InvalidInput, damage
from ..formats.write import write_whole
from ..points import Points
from .acts import named, problem_among, renamed

FORMAT = 2
"""Raised when a file of before could no longer be read as it is."""

_SESSIONS = (
    "A session, whose name ends in .auctrack, is opened like a table: in napari by File > Open…, in Python by "
    "auctrack.read_session."
)

SAME_PLACE = 1e-6
"""Of the largest coordinate: how far a detection may be from where a file has it, as some formats round."""


def write_acts(path: Path, acts: Sequence[Mapping[str, Any]], points: Points, *, overwrite: bool) -> None:
    """Write acts on the detections of a table; `overwrite` and errors as of `formats.write.write_whole`."""
    rows = sorted(row for row in {*chain.from_iterable(map(named, acts))} if row < len(points))
    content = {"auctrack_corrections": FORMAT, "detections": len(points)}
    places = dict(zip(map(str, rows), _places(points)[rows].tolist(), strict=True))
    members = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in content.items()]
    members += [_block("places", [f"{json.dumps(row)}: {json.dumps(place)}" for row, place in places.items()], "{}")]
    members += [_block("acts", [json.dumps(dict(act)) for act in acts], "[]")]
    text = "{\n  " + ",\n  ".join(members) + "\n}\n"
    write_whole({path: text.encode()}, overwrite=overwrite)


def read_acts(path: Path, points: Points) -> list[dict[str, Any]]:
    """Return the acts of a file, on the rows that the detections they name have in a table.

    Raises
    ------
    InvalidInput
        If it cannot be read, is of another kind, or names a detection that the table does not have.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
        kind, made_on, acts = content["auctrack_corrections"], content["detections"], content["acts"]
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read ({error.strerror or error}).") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{path}: is not a file of corrections that auctrack wrote. {_SESSIONS}") from error
    if kind != FORMAT:
        raise InvalidInput(f"{path}: needs corrections of format {FORMAT}; got {kind!r}.")
    if problem := problem_among(acts):
        raise InvalidInput(f"{path}: is damaged; {problem}")
    try:
        places = {int(row): [float(value) for value in place] for row, place in content["places"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"{path}: is damaged; it does not say where detections are ({damage(error)}).") from error
    rows = _rows_at(places, points, path)
    try:
        return [renamed(act, lambda one: rows[one] if one < made_on else one - made_on + len(points)) for act in acts]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"{path}: is damaged; it has corrections of detections without a place.") from error


def _block(name: str, lines: Sequence[str], brackets: str) -> str:
    """Return a member of the file that has a line for each of its own."""
    inside = ",\n    ".join(lines)
    return f"{json.dumps(name)}: {brackets[0]}\n    {inside}\n  {brackets[1]}" if lines else f'"{name}": {brackets}'


def _places(points: Points) -> np.ndarray:
    """Return frame and position of every row, in the table's coordinates, float64 (n, 1 + d)."""
    return np.column_stack([points.frames, points.table[list(points.axes)].to_numpy(np.float64)])


def _rows_at(places: Mapping[int, Sequence[float]], points: Points, path: Path) -> dict[int, int]:
    """Return the row of each detection by the row it had, which it keeps where it is still there."""
    here = _places(points)
    other = next((len(place) - 1 for place in places.values() if len(place) != here.shape[1]), None)
    if other is not None:
        raise InvalidInput(
            f"{path}: its corrections were made on detections with {counted(other, 'coordinate')}; these have "
            f"{points.ndim} ({', '.join(points.axes)})."
        )
    there = np.array([*places.values()], np.float64).reshape(len(places), here.shape[1])
    apart = min(0.5, SAME_PLACE * (1 + np.abs(here[:, 1:]).max(initial=0.0)))  # frames are 1 apart and more
    rows = {row: row for row, place in zip(places, there, strict=True) if _is_at(here, row, place, apart)}
    if len(rows) < len(places):
        reach, found = cKDTree(here).query(there, p=np.inf, distance_upper_bound=apart)
        if not np.isfinite(reach).all():
            raise _not_there(path, there[np.argmax(reach)].tolist(), points.axes)
        rows = {**dict(zip(places, np.asarray(found).tolist(), strict=True)), **rows}
    return rows


def _is_at(here: np.ndarray, row: int, place: np.ndarray, apart: float) -> bool:
    return row < len(here) and bool(np.abs(here[row] - place).max() <= apart)


def _not_there(path: Path, place: Sequence[float], axes: Sequence[str]) -> InvalidInput:
    frame, *position = place
    return InvalidInput(
        f"{path}: names a detection in frame {frame:.0f} at {', '.join(axes)} = "
        f"{', '.join(f'{one:.2f}' for one in position)}, which is not among these. Corrections fit the detections that "
        "they were made on; tracks that were saved with them in effect hold them already."
    )
