"""TrackMate's "Export tracks to XML file": tracks alone, particles of detections `t x y z`, in units that it states."""

from __future__ import annotations

from pathlib import Path

from ...calibrating.stated import usable
from ...calibrating.units import in_its_unit, unit_name
from ..loaded import Loaded, steps_of_one
from .isbi import tracks_of
from .xml_file import parsed


def read(path: Path) -> Loaded:
    """Return the tracks, numbered from 0; splits and merges are no part of such files."""
    root, _ = parsed(path)
    unit = unit_name(root.get("spaceUnits", "pixel"))
    time = in_its_unit(_interval(root.get("frameInterval", "")), root.get("timeUnits", ""))
    stated = steps_of_one(unit, *time, "TrackMate's file of tracks")
    return Loaded(tracks_of(list(root.iterfind("particle")), path), stated, str(path))


def _interval(text: str) -> float | None:
    """Return a time between frames, None where it is none."""
    try:
        interval = float(text)
    except ValueError:
        return None
    return interval if usable(interval) else None
