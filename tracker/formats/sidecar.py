"""The JSON file beside a written table: its units, the settings that made it, its lineage."""

from __future__ import annotations

import errno
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..calibrating.calibration import Calibration
from ..errors import InvalidInput, InvalidSetting, damage
from ..timeline import Timeline
from .checksum import Checksum

SUFFIX = ".settings.json"


@dataclass(frozen=True)
class Sidecar:
    """What stands beside a table.

    Parameters
    ----------
    calibration : Calibration
    columns : mapping of str to str
        dtype of each column, under the names in the file.
    parents : mapping of int to list of int
        Lineage, `{child track: [parent tracks]}`.
    settings : mapping
        Effective settings of the run.
    timeline : Timeline
        The frames that were looked at, and the file of each where every frame is one.
    table : Checksum or None
        Of the table as it was written; None where it is not known.
    pictures : mapping of str to Checksum
        Of pictures of the table as they were drawn, by the names of their files.
    drift : mapping of str to sequence of float
        Columns of the drift that was subtracted from tracks (`Tracks.drift`); empty for none.
    """

    calibration: Calibration
    columns: Mapping[str, str]
    parents: Mapping[int, Sequence[int]]
    settings: Mapping[str, Any]
    timeline: Timeline = field(default_factory=Timeline)
    table: Checksum | None = None
    pictures: Mapping[str, Checksum] = field(default_factory=dict)
    drift: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def to_json(self, version: str) -> bytes:
        """Return the content of the file, UTF-8; a name that is none is escaped, and read back as it was.

        Raises
        ------
        InvalidSetting
            If a setting has no JSON form.
        """
        scale, unit = self.calibration.scale, self.calibration.unit
        content = {
            "auctrack": version,
            "calibration": asdict(self.calibration),
            **({} if self.table is None else {"table": asdict(self.table)}),
            **({"pictures": {name: asdict(of) for name, of in self.pictures.items()}} if self.pictures else {}),
            "positions": f"z, y, x times scale {list(scale)} are in {unit}",
            "frames": _frames(self.timeline),
            "columns": dict(self.columns),
            "parents": {str(child): list(map(int, of)) for child, of in self.parents.items()},
            **({"drift": {name: list(of) for name, of in self.drift.items()}} if self.drift else {}),
            "settings": dict(self.settings),
        }
        try:
            text = json.dumps(content, indent=2, ensure_ascii=False, default=_plain) + "\n"
        except (TypeError, ValueError) as error:
            raise InvalidSetting(f"settings cannot be written as JSON ({error}).") from error
        return text.encode(errors="backslashreplace")


def plain_json(settings: Mapping[str, object]) -> str:
    """Return settings as JSON in one line of ASCII, for formats that keep them inside; raises `InvalidSetting`."""
    try:
        return json.dumps(dict(settings), default=_plain)
    except (TypeError, ValueError) as error:
        raise InvalidSetting(f"settings cannot be written as JSON ({error}).") from error


def sidecar_path(table: Path) -> Path:
    """Return where the sidecar of a table stands: `tracks.csv.settings.json` beside `tracks.csv`."""
    return table.parent / f"{table.name}{SUFFIX}"


def read_sidecar(table: Path) -> Sidecar | None:
    """Return the sidecar of a table, None if it has none.

    Raises
    ------
    InvalidInput
        If there is one and it is damaged.
    """
    path = sidecar_path(table)
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))  # some editors write a mark before the text
        return _understood(content)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:  # no file has that name
            return None
        raise InvalidInput(f"{path}: cannot be read ({error.strerror or error}).") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(
            f"{path}: is damaged ({damage(error)}). It holds the units of {table.name}, which is in pixels without it."
        ) from error


def own_calibration(table: Path) -> Calibration | None:
    """Return the calibration that stands beside a table, None where none does; raises as `read_sidecar`."""
    beside = read_sidecar(table)
    return None if beside is None else beside.calibration


def _understood(content: Any) -> Sidecar:
    """Return what a parsed file says; whatever it raises, the file is damaged."""
    known, columns, settings = content["calibration"], content["columns"], content["settings"]
    if not isinstance(settings, dict) or not all(isinstance(kind, str) for kind in columns.values()):
        raise TypeError("settings need names, and columns the names of types")
    return Sidecar(
        calibration=Calibration(tuple(known["scale"]), known["unit"], known["frame_interval"], known["time_unit"]),
        columns=columns,
        parents={int(child): [int(parent) for parent in of] for child, of in content["parents"].items()},
        settings=settings,
        timeline=_timeline(content["frames"]) if "frames" in content else Timeline(),
        table=Checksum(**content["table"]) if "table" in content else None,
        pictures={name: Checksum(**of) for name, of in content.get("pictures", {}).items()},
        drift=_drift(content.get("drift", {})),
    )


def _frames(timeline: Timeline) -> dict[str, Any]:
    """Return a timeline as JSON: its step; of a movie also its runs of frames, first and last, and their files."""
    content: dict[str, Any] = {"step": timeline.step}
    if timeline.numbers is not None:
        content["looked_at"] = timeline.runs()
    if timeline.files:
        content["files"] = {str(number): file for number, file in timeline.files.items()}
    return content


def _timeline(frames: Any) -> Timeline:
    """Return the timeline that `_frames` wrote."""
    step, runs = frames["step"], frames.get("looked_at")
    numbers = None if runs is None else tuple(n for first, last in runs for n in range(first, last + 1, step))
    return Timeline(step, numbers, {int(number): file for number, file in frames.get("files", {}).items()})


def _drift(columns: Any) -> dict[str, list[float]]:
    """Return the columns of a drift, all of which are of the same frames."""
    if columns and any(len(of) != len(columns["frame"]) for of in (columns["n"], *columns.values())):
        raise ValueError("the columns of drift need a number for each frame")
    return dict(columns)


def _plain(value: object) -> object:
    """Return what JSON knows in place of a NumPy value, a path, a slice or a dataclass."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, slice):
        return {"start": value.start, "stop": value.stop, "step": value.step}
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"{value!r} of type {type(value).__name__}")
