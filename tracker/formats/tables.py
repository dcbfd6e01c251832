"""Point and track tables in the column names of trackpy, laptrack, TrackMate, napari and celltrackR."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Never

import numpy as np
import pandas as pd

from ..calibrating.calibration import PIXEL, Calibration
from ..calibrating.stated import calibrate
from ..calibrating.units import is_pixel
from ..errors import Column, InvalidInput, InvalidSetting, InvalidTable, NothingInside, NoTracks, Row
from ..other_tables import what_came
from ..parent_columns import has_parents, parents_in, without_parents
from ..points import AXES, Points, Tracks, shown
from ..suffixes import TEXT_TABLES
from ..timeline import Timeline
from ..unknown_settings import refuse_unknown_arguments
from .columns.csv import line_of_row
from .columns.detection_parents import with_tracks_of_parents
from .columns.dialects import listed, names_in, naming, our_names, renamed
from .columns.laptrack import with_lineage
from .columns.table_units import load_table, self_stated, stated_beside
from .graph import refuse_circles
from .loaded import Loaded
from .registry import to_read
from .sidecar import Sidecar, read_sidecar

TRUE_COLUMN = "true_id"
TRACK_COLUMNS = ("track_id", "particle", "TRACK_ID", "TrackID", TRUE_COLUMN)
INDEX_COLUMNS = ("frame", *TRACK_COLUMNS)
_NUMBERS = ("int", "uint", "float", "bool")
"""How the types of columns begin that hold numbers."""


def read_points(
    source: str | Path | pd.DataFrame,
    *,
    columns: Mapping[str, str] | None = None,
    scale: Sequence[float] | None = None,
    unit: str | None = None,
    frame_interval: float | None = None,
    time_unit: str | None = None,
    frame_step: int | None = None,
    **unknown: Never,
) -> Points:
    """Read a table of points.

    Parameters
    ----------
    source : path or DataFrame
        A `.csv`, `.csv.gz`, `.tsv`, `.txt` or `.parquet` file; of a DataFrame also the index levels frame and track id.
        Recognised are the columns of auctrack and trackpy (frame, z, y, x; or frame, z_um, y_um, x_um), laptrack
        (frame, position_x, …), TrackMate (FRAME, POSITION_X, …, with one header row or four), Imaris (Time, Position X,
        …, with its title lines), napari tracks (t, z, y, x), celltrackR (these and id), motile-tracker (t or time, z,
        y, x, id, parent_id), btrack (t, z, y, x, ID, parent, root), ilastik (frame, Object_Center_2, …, or timestep,
        Center of the object_2, …), ThunderSTORM (frame, x [nm], …), SMAP (frame, xnm, …), napari points (axis-0, …; the
        first is the frame). The case of letters is free.
        Columns of a text file may be separated by commas, semicolons, tabs or spaces; with semicolons and tabs, numbers
        may have a decimal comma.
    columns : mapping of str to str, optional
        ``{"frame": "time", "x": "cx"}``: the table's name for each of frame, z, y, x (and track_id, and
        parent_track_id, which names the mother of a track: empty or negative = none), where it has its own.
    scale : sequence of float, optional
        Size of one coordinate step along z, y, x (or y, x), in `unit`, µm unless given. A table in µm needs none,
        and one whose columns say so (`z_um`; TrackMate's and Imaris' with their unit) takes none.
    unit : str, optional
        Unit of the positions. A table that auctrack wrote, one with physical positions beside those in voxels or in
        their place (`z_um, y_um, x_um`, or another unit of length for um), a TrackMate header with units, and names in
        `columns` that end in one (`Y (µm)`) bring their own; all others are in pixels unless this says otherwise.
    frame_interval, time_unit : optional
        Time between two frames whose numbers differ by one. A table with times beside its frames (`t_s`, or another
        unit of time) brings its own.
    frame_step : int, optional
        Difference between the numbers of two consecutive frames: 5 for a table of every fifth frame. A table that
        auctrack wrote knows its own; all others have 1 unless this says otherwise, and nothing is linked over frames
        that are missing.
    **unknown
        None: the message says which of the names above was meant.

    Returns
    -------
    Points
        Rows in the order of the table, all other columns kept. Missing frames are legal and stay missing.

    Raises
    ------
    InvalidInput
        If the file is missing, empty or damaged, columns are not found, positions are not finite numbers, or frames do
        not keep to `frame_step`.
    InvalidSetting
        If `columns` names what is not a column here, or the calibration makes no sense.
    """
    refuse_unknown_arguments(unknown, read_points)
    loaded = _load(source, columns)
    return _as_points(source, loaded, _Said(scale, unit, frame_interval, time_unit, frame_step))


def refuse_far_away(points: Points, source: str | Path, columns: Mapping[str, str] | None = None) -> None:
    """Refuse positions of some rows of a table too far away for distances to be numbers, by the table and its line.

    Raises
    ------
    InvalidTable
    """
    try:
        points.refuse_far_away(points.table.index)
    except InvalidTable as error:
        raise _placed(error, source, _load(source, columns)) from error


def read_tracks(
    source: str | Path | pd.DataFrame | tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame],
    *,
    columns: Mapping[str, str] | None = None,
    scale: Sequence[float] | None = None,
    unit: str | None = None,
    frame_interval: float | None = None,
    time_unit: str | None = None,
    frame_step: int | None = None,
    **unknown: Never,
) -> Tracks:
    """Read a table of tracks; parameters, formats and errors as in `read_points`.

    The track id is the first found of track_id, particle, TRACK_ID, true_id, and is called `track_id` afterwards.
    A point without one (an empty cell, or a negative id) becomes a track of its own, with an id above all others. The
    lineage comes from columns `parent_track_id` (and `parent_track_id_2` where tracks merge), which become `parents`,
    from the file that auctrack wrote beside the table, or from a column `parent_id` (empty or negative = none).
    Where a column `id` stands beside that, each detection names the one it comes from (motile-tracker), and these make
    the tracks. laptrack's tables of splits and merges are found beside its tracks, as `split_df.csv` and `merge_df.csv`
    beside `track_df.csv`; as DataFrames the three are given as laptrack returns them, in one tuple.
    TrackMate's edges are found in the same way, `edges.csv` beside `spots.csv`, and make the tracks.

    Raises
    ------
    InvalidInput
        As `read_points`; also if ids are not whole numbers, or one track has two points in one frame.
    """
    refuse_unknown_arguments(unknown, read_tracks)
    said = {"scale": scale, "unit": unit, "frame_interval": frame_interval, "time_unit": time_unit}
    return read_named_tracks(source, columns=columns, frame_step=frame_step, **said)[0]


def read_named_tracks(
    source: str | Path | pd.DataFrame | tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame],
    *,
    columns: Mapping[str, str] | None = None,
    **said: Any,
) -> tuple[Tracks, str]:
    """Read tracks, and return which column of `TRACK_COLUMNS` named them; parameters and errors as in `read_tracks`."""
    source, *splits_and_merges = source if isinstance(source, tuple) else (source,)
    loaded = _load(source, columns)
    if splits_and_merges:
        loaded = with_lineage(loaded, splits_and_merges, loaded.where)
    tracks = _as_tracks(source, loaded, _Said(**said))
    return tracks, next(name for name in TRACK_COLUMNS if name in loaded.table.columns)


def read_real_tracks(source: str | Path, *, columns: Mapping[str, str] | None = None, **said: Any) -> Tracks:
    """Read the tracks of a truth, without the rows whose id is negative, which are not real; as `read_tracks` else."""
    loaded = _load(source, columns)
    tracks = _as_tracks(source, loaded, _Said(**said))
    name = next(name for name in TRACK_COLUMNS if name in loaded.table.columns)
    is_real = ~(pd.to_numeric(loaded.table[name], errors="coerce") < 0).to_numpy(dtype=bool, na_value=False)
    return tracks if is_real.all() else replace(tracks, table=tracks.table[is_real].reset_index(drop=True))


def read_either(source: str | Path | pd.DataFrame, *, columns: Mapping[str, str] | None = None, **said: Any) -> Points:
    """Read tracks where the source has their ids, else points; parameters and errors as in `read_points`.

    A column `true_id` alone makes no tracks: simulated detections have one.
    """
    loaded = _load(source, columns)
    has_ids = any(name in loaded.table.columns for name in TRACK_COLUMNS if name != TRUE_COLUMN)
    return (_as_tracks if has_ids else _as_points)(source, loaded, _Said(**said))


@dataclass(frozen=True)
class _Said:
    """What the user says of a source; None leaves it to the source."""

    scale: Sequence[float] | None = None
    unit: str | None = None
    frame_interval: float | None = None
    time_unit: str | None = None
    frame_step: int | None = None


def _as_points(source: str | Path | pd.DataFrame, loaded: Loaded, said: _Said) -> Points:
    try:
        points = Points(loaded.table, timeline=_timeline(loaded, said.frame_step))
    except InvalidInput as error:
        raise _placed(error, source, loaded) from error
    return replace(points, calibration=_calibration(loaded, points.ndim, said))


def _as_tracks(source: str | Path | pd.DataFrame, loaded: Loaded, said: _Said) -> Tracks:
    try:
        tracks = Tracks(_with_track_ids(loaded.table), timeline=_timeline(loaded, said.frame_step))
        own = parents_in(tracks.table)
        parents = own if has_parents(tracks.table) else loaded.parents or own
        refuse_circles(parents)
    except InvalidInput as error:
        raise _placed(error, source, loaded) from error
    calibration = _calibration(loaded, tracks.ndim, said)
    drift = pd.DataFrame(loaded.drift) if loaded.drift else None
    table = _each_in_a_track(without_parents(tracks.table))
    return replace(tracks, table=table, calibration=calibration, parents=parents, drift=drift)


def _with_index_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with the levels of its index as columns that are a frame or a track id."""
    indexed = [name for name in table.index.names if name in INDEX_COLUMNS and name not in table.columns]
    return table.reset_index(level=indexed) if indexed else table


def _calibration(loaded: Loaded, ndim: int, said: _Said) -> Calibration:
    """Return the calibration; in pixels when neither the table nor the user says anything."""
    unit = PIXEL if said.scale is None and said.unit is None and loaded.stated.unit is None else said.unit
    calibration = calibrate(
        loaded.stated,
        ndim,
        scale=said.scale,
        unit=unit,
        frame_interval=said.frame_interval,
        time_unit=said.time_unit,
    )
    _refuse_voxels(loaded, said)
    return calibration


def _refuse_voxels(loaded: Loaded, said: _Said) -> None:
    """Refuse sizes of voxels, and pixels, where a table's columns say that its positions are lengths already."""
    if loaded.named_unit is None:
        return
    named = ", ".join(loaded.names.get(axis, axis) for axis in AXES if axis in loaded.table)
    held = f"does not go with positions that are in {loaded.named_unit} already ({named}); leave it out."
    if said.scale is not None and any(size != 1 for size in said.scale):
        raise InvalidSetting(held, setting="scale")
    if said.unit is not None and is_pixel(said.unit):
        raise InvalidSetting(held, setting="unit")


def _timeline(loaded: Loaded, frame_step: int | None) -> Timeline:
    """Return the frames that the table knows; a step that the user states goes before it."""
    return loaded.timeline if frame_step in (None, loaded.timeline.step) else Timeline(frame_step)


def _load(source: str | Path | pd.DataFrame, columns: Mapping[str, str] | None) -> Loaded:
    """Return the table under our column names, with what is stated about its units."""
    if isinstance(source, pd.DataFrame):
        own = _with_index_columns(source)
        named, dialect = our_names(own, columns, "the table")
        loaded = self_stated(named.reset_index(drop=True), dialect, "the table")
        return _followed(replace(loaded, names=names_in(own, named)), source)
    if not isinstance(source, (str, Path)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"source needs a DataFrame of pandas, or the path of a table; {what_came(source)}")
    path = Path(source)
    known = to_read(path)
    if known is None:
        return _followed(load_table(path, columns), path)
    if columns:
        raise InvalidSetting(
            f"applies to plain tables only; {path} is from {known.program}, which has its own names.", setting="columns"
        )
    try:
        loaded = known.read(path)
    except NothingInside:
        if (sidecar := read_sidecar(path)) is None:
            raise
        return _none_as_beside(sidecar, path)
    return _with_beside(loaded, path)


def _followed(loaded: Loaded, source: str | Path | pd.DataFrame) -> Loaded:
    """Return a table with its tracks, where its detections name those that they come from."""
    try:
        return with_tracks_of_parents(loaded)
    except InvalidInput as error:
        raise _placed(error, source, loaded) from error


def _with_beside(loaded: Loaded, path: Path) -> Loaded:
    """Return what a file holds, with what only the settings beside it say: units, frame interval, frames looked at."""
    sidecar = read_sidecar(path)
    if sidecar is None:
        return loaded
    beside, stated = stated_beside(sidecar), loaded.stated
    if stated.unit is None:
        stated = replace(beside, frame_interval=stated.frame_interval, time_unit=stated.time_unit)
    if stated.frame_interval is None:
        stated = replace(stated, frame_interval=beside.frame_interval, time_unit=beside.time_unit)
    table = loaded.table.assign(**_typed(loaded.table, sidecar.columns))
    parents = loaded.parents or sidecar.parents
    timeline, drift = sidecar.timeline, sidecar.drift
    return replace(loaded, table=table, stated=stated, parents=parents, timeline=timeline, drift=drift)


def _none_as_beside(sidecar: Sidecar, path: Path) -> Loaded:
    """Return the empty table of a file that we wrote without particles, as the settings beside it say it was."""
    kinds = {name: kind if kind.startswith(_NUMBERS) else "object" for name, kind in sidecar.columns.items()}
    table = pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in kinds.items()})
    return Loaded(table, stated_beside(sidecar), str(path), timeline=sidecar.timeline)


def _typed(table: pd.DataFrame, kinds: Mapping[str, str]) -> dict[str, np.ndarray]:
    """Return the columns of numbers that can have the type that they were written with, without a change."""
    typed: dict[str, np.ndarray] = {}
    for name, kind in kinds.items():
        if kind.startswith(_NUMBERS) and name in table and table[name].dtype.kind in "iuf":
            values = table[name].to_numpy()
            if (kind.startswith("float") or np.isfinite(values).all()) and str(values.dtype) != kind:
                as_written = values.astype(kind)
                if np.array_equal(as_written, values, equal_nan=kind.startswith("float")):
                    typed[name] = as_written
    return typed


def _placed(error: InvalidInput, source: str | Path | pd.DataFrame, loaded: Loaded) -> InvalidInput:
    """Return the error in the words of the table: its name, and its columns; of a text file also the line for the row.

    Lines are counted as editors do.
    """
    if isinstance(error, InvalidTable):
        line: Callable[[int], int] | None = None
        if not isinstance(source, pd.DataFrame) and str(source).lower().endswith(TEXT_TABLES):
            line = partial(line_of_row, Path(source))
        error = error.in_file(loaded.names, line)
    return error.of(loaded.where)


# --- tracks ------------------------------------------------------------------------------------------------------


def _with_track_ids(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with a whole `track_id` in every row, below 0 where a point has none."""
    name = next((name for name in TRACK_COLUMNS if name in table.columns), None)
    if name is None:
        raise NoTracks(
            f"no column of track ids was found (known are {', '.join(TRACK_COLUMNS)}); it has {listed(table)}. "
            "Particles that are not linked yet are to be linked first (auctrack link).",
            **naming({"track_id": "…"}, "auctrack.read_tracks"),
        )
    whole = _whole_numbers(table[name])
    table = renamed(table, {name: "track_id"})
    return table if table["track_id"].dtype == whole.dtype else table.assign(track_id=whole)


def _each_in_a_track(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with a track of its own for each point that has none."""
    ids = table["track_id"].to_numpy()
    is_unlinked = ids < 0
    if not is_unlinked.any():
        return table
    return table.assign(track_id=np.where(is_unlinked, ids.max(initial=-1) + np.cumsum(is_unlinked), ids))


_EXACT = 2**53  # from which float64 leaves whole numbers out


def _whole_numbers(column: pd.Series) -> np.ndarray:
    """Return a column of track ids as int64 (n,), −1 where it is empty."""
    if column.dtype == np.int64 and column.min() > -_EXACT and column.max() < _EXACT:
        return column.to_numpy()
    ids = pd.to_numeric(column, errors="coerce")
    absent = ids.isna().to_numpy()
    text = absent & column.notna().to_numpy()
    values = np.where(absent, -1, ids.to_numpy(dtype=np.float64, na_value=np.nan))
    bad = np.flatnonzero(text | (values != np.floor(values)) | (np.abs(values) >= _EXACT))
    if len(bad):
        raise InvalidTable(
            Column(str(column.name)),
            " needs whole numbers below 2**53 (empty or negative for a point without a track; names are to be "
            "numbered, in Python by pandas.factorize); ",
            *(Row(int(bad[0])), f" has {shown(column.iloc[bad[0]])}."),
        )
    return values.astype(np.int64)
