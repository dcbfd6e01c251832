"""The column names of other programs (trackpy, TrackMate, Imaris, …), and how a table is recognised by them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from ...calibrating.digits import in_digits
from ...calibrating.units import LENGTHS, in_one_unit, is_pixel
from ...errors import InvalidInput, InvalidSetting, UnknownColumns
from ...parent_columns import PARENT
from ...points import AXES
from .physical_columns import length_names

ROLES = ("frame", *AXES, "track_id")
_MAY_BE_NAMED = (*ROLES, PARENT)
_FRAME_WORDS = frozenset({"frame", "frames", "t", "time", "timepoint", "slice", "imagenumber"})
_NUMBERS = re.compile(r"[-+.,;e\s]*\d[-+.,;e\s\d]*", re.IGNORECASE)
_SAME = 1e-6  # of how long a movie is, two times are apart that differ by rounding alone
_EVEN = 0.01  # of a step, others differ from a multiple of it at most
_AXIS_WORDS = frozenset({"pos", "position", "centroid", "center", "centre"})


@dataclass(frozen=True)
class Dialect:
    """How a program names the columns that matter."""

    program: str
    frame: str
    z: str | None
    y: str
    x: str
    unit: str | None = field(default=None, compare=False)
    """Of the positions, where the names of the columns say it."""
    sizes: Mapping[str, float] = field(default_factory=dict, compare=False)
    """How large a step along an axis is, in that unit, where names of the columns say different ones."""
    beside: tuple[str, ...] = ()
    """Columns that tell the program, where those of frame and position are anyone's."""
    track_id: str | None = None
    """Column of track ids, where other programs call something else by its name."""

    @property
    def needed(self) -> tuple[str, ...]:
        """Columns without which this is not the dialect; z is needed only where it tells 3D from 2D."""
        return (self.frame, self.y, self.x, *self.beside)


TRACKMATE = Dialect("TrackMate", "FRAME", "POSITION_Z", "POSITION_Y", "POSITION_X")
IMARIS = Dialect("Imaris", "Time", "Position Z", "Position Y", "Position X")
BTRACK = Dialect("btrack", "t", "z", "y", "x", beside=("ID", "parent", "root"), track_id="ID")
ILASTIK = Dialect(
    "ilastik",
    "frame",
    "Object_Center_2",
    "Object_Center_1",
    "Object_Center_0",
    beside=("trackId", "parentTrackId"),
    track_id="trackId",
)
NAPARI_POINTS = (
    Dialect("napari points", "axis-0", "axis-1", "axis-2", "axis-3"),
    Dialect("napari points, 2D", "axis-0", None, "axis-1", "axis-2"),
)
PHYSICAL = tuple(
    Dialect(f"positions in {unit}", "frame", names["z"], names["y"], names["x"], unit)
    for unit, names in ((unit, length_names(AXES, unit)) for unit in LENGTHS)
)
DIALECTS = (
    Dialect("auctrack, trackpy", "frame", "z", "y", "x"),
    Dialect("laptrack", "frame", "position_z", "position_y", "position_x"),
    TRACKMATE,
    IMARIS,
    BTRACK,
    ILASTIK,
    Dialect(
        "ilastik's objects", "timestep", "Center of the object_2", "Center of the object_1", "Center of the object_0"
    ),
    Dialect("napari-track-edit, motile-tracker", "t", "z", "y", "x", beside=("id", "parent_id")),
    Dialect("celltrackR", "t", "z", "y", "x", beside=("id",), track_id="id"),
    Dialect("napari tracks", "t", "z", "y", "x"),
    Dialect("napari-track-edit, motile-tracker", "time", "z", "y", "x", beside=("id", "parent_id")),
    Dialect("motile-tracker", "Time", "z", "y", "x", beside=("ID", "Parent ID")),
    *NAPARI_POINTS,
    *PHYSICAL,
    Dialect("ThunderSTORM", "frame", "z [nm]", "y [nm]", "x [nm]", "nm"),
    Dialect("SMAP", "frame", "znm", "ynm", "xnm", "nm"),
)

_UNIT_AT_THE_END = re.compile(r"[(\[]([^)\]]+)[)\]]\s*$|(?<=[^\W_])[_ ]([^\W\d_]+)$")

_ARE_EDGES = {"spot_source_id", "spot_target_id"}
"""Columns of TrackMate's links, in small letters."""

POSITIONAL = frozenset(name for of in DIALECTS for name in (of.frame, of.z, of.y, of.x) if name is not None)
"""Columns that say where and when, in any dialect."""


def our_names(
    table: pd.DataFrame, columns: Mapping[str, str] | None, where: str
) -> tuple[pd.DataFrame, Dialect | None]:
    """Rename the columns that matter to frame, z, y, x (and track_id and parent_track_id where the user named them).

    The dialect has the unit in which the names of all positions end that the user named, if they do.
    """
    if columns is not None and not isinstance(columns, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidSetting(f'needs names such as {{"frame": "Time"}}; got {columns!r}.', setting="columns")
    if table.columns.nlevels > 1:
        raise InvalidInput(
            f"{where}: needs names of columns in one level; it has {table.columns.nlevels}, such as "
            f"{table.columns[0]!r}. Take one of them: table.columns = table.columns.get_level_values(-1)."
        )
    given = dict(columns or {})
    require_roles(given)
    absent = [name for name in given.values() if name not in table.columns]
    if absent:
        names = f"column{'s' * (len(absent) > 1)} {' and '.join(map(repr, absent))}"
        raise InvalidInput(f"{where}: has no {names}; it has {listed(table)}.")
    table = renamed(table, {name: role for role, name in given.items()})
    dialect, names = _recognised(table)
    if dialect is None:
        raise _unrecognised(table, where)
    if given.keys() & {*AXES}:
        sizes, unit = _sizes_by_name({role: name for name, role in names.items()} | given)
        dialect = replace(dialect, unit=unit or dialect.unit, sizes=sizes)
    return renamed(table, names), dialect


def _unrecognised(table: pd.DataFrame, where: str) -> InvalidInput:
    """Return what is said of a table in which frames and positions are not found: what it may be, what helps."""
    if _are_data(table.columns):
        return InvalidInput(
            f"{where}: its line of column names seems to be missing, as the first has {listed(table)}. Put one on top, "
            "such as frame,z,y,x."
        )
    if {str(name).casefold() for name in table.columns} >= _ARE_EDGES:
        return InvalidInput(
            f"{where}: is TrackMate's table of edges, which has no positions. Give that of its spots, and leave this "
            "one beside it, as edges.csv beside spots.csv, for splits and merges."
        )
    times = _times(table)
    likely = _likely([name for name in map(str, table.columns) if name not in times])
    unit = _unit_in(likely)
    unknown = UnknownColumns(
        f"{where}: its columns of frame and position were not all recognised; it has {listed(table)}. Needed are "
        f"frame, y, x (and z when 3D).{_on_times(table, times) if likely['frame'] == '…' else ''}",
        **naming(likely, "auctrack.read_points", unit),
    )
    unknown.has = tuple(map(str, table.columns))
    unknown.unit = unit
    unknown.likely = {role: name for role, name in likely.items() if name in unknown.has}
    return unknown


def _are_data(names: Iterable[object]) -> bool:
    """Whether names of columns are numbers, as of a file without names, whatever parts them."""
    are_numbers = [isinstance(name, str) and _NUMBERS.fullmatch(name) is not None for name in names]
    return bool(are_numbers) and all(are_numbers)


def require_roles(columns: Mapping[str, str]) -> None:
    """Refuse columns that are none of ours, or one for two of them."""
    unknown = sorted(set(columns) - set(_MAY_BE_NAMED))
    if unknown:
        raise InvalidSetting(f"names {', '.join(unknown)}; it can name {', '.join(_MAY_BE_NAMED)}.", setting="columns")
    for name in columns.values():
        roles = [role for role, named in columns.items() if named == name]
        if len(roles) > 1:
            raise InvalidSetting(
                f"names {name!r} for {' and '.join(roles)}; each needs a column of its own.", setting="columns"
            )


def naming(names: Mapping[str, str], reader: str, unit: str = "") -> dict[str, Any]:
    """Return how to name columns by hand, in Python by `reader`, for an `InvalidInput`."""
    python = ", ".join(f'"{role}": "{name}"' for role, name in names.items())
    stated = f', unit="{unit}"' if unit else ""
    return {
        "in_python": f"Say which is which: {reader}(…, columns={{{python}}}{stated}).",
        "setting": "columns",
        "examples": names,
    }


def _times(table: pd.DataFrame) -> list[str]:
    """Return the columns that sound like frames and are no whole numbers, so that they cannot be: times, or dates."""
    named = [(name, column.dropna()) for name, column in table.items() if _sounds_like(str(name), "frame")]
    return [str(name) for name, column in named if column.dtype.kind in "mM" or not _are_whole(column)]


def _are_whole(column: pd.Series) -> bool:
    return bool((pd.to_numeric(column, errors="coerce") % 1 == 0).all())


def _on_times(table: pd.DataFrame, times: Sequence[str]) -> str:
    """Return what is said of times where nothing else may be the frames; how far they are apart where that is even."""
    if not times:
        return ""
    apart = _apart(table[times[0]])
    here = "" if apart is None else f", here {in_digits(apart)},"
    return (
        f" {times[0]!r} has times, and frames are counted: number them in a column of their own, and give the time "
        f"between two{here} as the frame interval."
    )


def _apart(times: pd.Series) -> float | None:
    """Return the least time between two that differ, of which all others are multiples; None where they are not."""
    if times.dtype.kind in "mM":
        return None
    numbers = pd.to_numeric(times, errors="coerce").to_numpy(np.float64)
    steps = np.diff(np.unique(numbers[np.isfinite(numbers)]))
    steps = steps[steps > _SAME * steps.sum()]
    if not len(steps):
        return None
    counts = steps / steps.min()
    return float(steps.min()) if np.abs(counts - counts.round()).max() < _EVEN else None


def _likely(names: Sequence[str]) -> dict[str, str]:
    """Return for frame, z, y, x the column that has such a name, "…" where none has; z only where there is one."""
    found = {
        role: next((name for name in sorted(names, key=lambda name: name != role) if _sounds_like(name, role)), "…")
        for role in ROLES
    }
    if {found[axis] for axis in AXES} == {"…"}:
        found |= _numbered(names)
    return {role: found[role] for role in ("frame", *AXES) if role != "z" or found[role] != "…"}


def _numbered(names: Sequence[str]) -> dict[str, str]:
    """Return columns that are numbered by the axes of an image, as `centroid-0`, for y and x, of three for z too."""
    stems = (name.removesuffix("0") for name in names if re.search(r"[^\d]0$", name))
    for stem in stems:
        of_axes = [f"{stem}{number}" for number in range(4) if f"{stem}{number}" in names]
        if len(of_axes) in (2, 3):
            return dict(zip(AXES[-len(of_axes) :], of_axes, strict=True))
    return {}


def _unit_in(likely: Mapping[str, str]) -> str:
    """Return the unit of length in which the names of all columns of positions end, as `Y (µm)` and `y_um` do."""
    sizes, unit = _sizes_by_name(likely)
    return "" if sizes else unit or ""


def _sizes_by_name(names: Mapping[str, str]) -> tuple[dict[str, float], str | None]:
    """Return the unit in which names of positions end, and how large a step along each axis is where that differs."""
    ends = {axis: _UNIT_AT_THE_END.search(name) for axis, name in names.items() if axis in AXES}
    units = {axis: (end[1] or end[2]) if end else "" for axis, end in ends.items()}
    steps = dict.fromkeys(units, 1.0)
    sizes, unit = in_one_unit(steps, units)
    return {} if sizes == steps else sizes, unit


def _sounds_like(name: str, role: str) -> bool:
    words = re.findall(r"[^\W_]+", name.casefold())
    words = [word for word in words if len(words) == 1 or not is_pixel(word)]  # of `Y (px)` px is no x
    if role == "frame":
        return not _FRAME_WORDS.isdisjoint(words)
    return any(word == role or (word.endswith(role) and (len(word) == 2 or word[:-1] in _AXIS_WORDS)) for word in words)


def _recognised(table: pd.DataFrame) -> tuple[Dialect | None, dict[str, str]]:
    """Return the first dialect that fits, and `{column: role}`; exact names go before names in another case."""
    exact = {str(name): str(name) for name in table.columns}
    folded = {str(name).casefold(): str(name) for name in reversed(table.columns)}
    for actual, spelt in ((exact, str), (folded, str.casefold)):
        for dialect in DIALECTS:
            wanted = {"frame": dialect.frame, "z": dialect.z, "y": dialect.y, "x": dialect.x}
            if all(spelt(name) in actual for name in dialect.needed) and not _lacks_z(dialect, actual):
                if "track_id" not in table.columns:
                    wanted["track_id"] = dialect.track_id
                found = {role: actual.get(spelt(name)) for role, name in wanted.items() if name is not None}
                return dialect, {name: role for role, name in found.items() if name is not None}
    return None, {}


def _lacks_z(dialect: Dialect, names: Mapping[str, str]) -> bool:
    """Whether y and x are in one unit, and z in another."""
    units_of_z = [known.unit for known in PHYSICAL if known.z in names]
    return dialect in PHYSICAL and bool(units_of_z) and dialect.unit not in units_of_z


def renamed(table: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Rename columns; one that already has a name now needed by another steps aside as "file_<name>"."""
    names = {old: new for old, new in names.items() if old != new}
    aside = {new: f"file_{new}" for new in names.values() if new in table.columns and new not in names}
    return table.rename(columns={**aside, **names}) if names else table


def names_in(table: pd.DataFrame, named: pd.DataFrame) -> dict[str, str]:
    """Return what a table calls the columns that have another name in `named`, which are the same in their order."""
    pairs = zip(map(str, named.columns), map(str, table.columns), strict=True)
    return {ours: theirs for ours, theirs in pairs if ours != theirs}


def listed(table: pd.DataFrame) -> str:
    """Return the names of a table's columns for a message."""
    return ", ".join(map(str, table.columns)) or "none"
