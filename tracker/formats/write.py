"""Points and tracks in every format of the table of formats: whole or not at all."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import BinaryIO

import pandas as pd

from ... import __version__
from ..calibrating.calibration import Calibration
from ..errors import InvalidInput, InvalidSetting, OutputExists, OutputFailed
from ..points import Points, Tracks, require
from ..timeline import Timeline
from .checksum import Checksum
from .content import Folder
from .leftovers import marked_as_in_use, new_token, remove_leftovers, temporary_name
from .registry import to_write
from .sidecar import Sidecar, read_sidecar, sidecar_path

_LONGEST_NAME = 255  # bytes, of nearly every file system
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class PendingSidecar:
    """A sidecar to be written after its table, whose size and checksum belong in it."""

    table: Path
    sidecar: Sidecar

    def of(self, written: Path) -> bytes:
        """Return its content for the table as it was written."""
        return replace(self.sidecar, table=Checksum.of(written)).to_json(__version__)


Content = bytes | Callable[[BinaryIO], None] | Folder | PendingSidecar
"""What a file holds, what writes it, or what fills a folder."""


def write_points(
    points: Points,
    path: str | Path,
    *,
    settings: Mapping[str, object] | None = None,
    overwrite: bool = False,
    format: str | None = None,  # noqa: A002
) -> None:
    """Write points, and their units and settings beside them in ``<name>.settings.json``.

    CSV and Parquet carry the positions twice where their unit is known: in voxels (`z, y, x`) and in the unit (`z_um,
    y_um, x_um`, or `z_nm`, …), and the time of each frame where the interval is known (`t_s`, or `t_min`, …), so that
    the table says its units without the file beside it.

    Parameters
    ----------
    points : Points
    path : str or Path
        Its ending chooses the format: `.csv`, `.parquet`, `.napari.csv`, `.xml`, … (`tracker.formats.registry`).
    settings : mapping, optional
        The effective settings of the run, such as `TrackingResult.settings.to_mapping()`; anything that JSON knows,
        NumPy values, paths and dataclasses.
    overwrite : bool
        Whether a file that stands there may be replaced.
    format : str, optional
        Name of a format in `tracker.formats.registry`, which overrides the ending. "napari" is the CSV of a napari
        Points layer: index, axis-0 (the frame), axis-1, ….

    Raises
    ------
    OutputExists
        If a result stands there and `overwrite` is False.
    OutputFailed
        If the disk is full, or the folder may not be written to. One that is missing is made.
    InvalidSetting
        If the format is not known, or a setting cannot be written.
    InvalidInput
        If a column mixes types or has one that the file cannot hold (lists in a CSV file), or a name comes twice.

    Notes
    -----
    What a format cannot hold is left out without a word; `tracker.formats.losses.loss_note` says what that is, as
    `auctrack convert` does.

    Both files are written under temporary names in the same folder, brought to disk and only then renamed, so that
    a crash leaves either the old result or the new one. Reading the table back gives the same values and types; of CSV
    those of numbers, flags and texts (empty ones and "NA" are read as missing).
    """
    require(Points, points)
    plain = Points(points.table, points.calibration, timeline=points.timeline)
    _write(plain, path, format, settings, overwrite=overwrite)


def write_tracks(
    tracks: Tracks,
    path: str | Path,
    *,
    settings: Mapping[str, object] | None = None,
    overwrite: bool = False,
    format: str | None = None,  # noqa: A002
) -> None:
    """Write tracks; parameters, errors and guarantees as in `write_points`.

    The lineage stands in ``<name>.settings.json`` under "parents"; in CSV and Parquet also in a column
    `parent_track_id`, where any track has a parent (`parent_track_id_2` where tracks merge). A drift that was
    subtracted stands there under "drift". "napari" is the CSV of a napari Tracks layer: track_id, t (the frame), z, y,
    x, then the features; give the layer the scale from the file beside it.
    """
    require(Tracks, tracks)
    _write(tracks, path, format, settings, overwrite=overwrite)


def require_path(path: object) -> None:
    """Refuse what names no file.

    Raises
    ------
    InvalidSetting
    """
    if not isinstance(path, (str, os.PathLike)):
        raise InvalidSetting(f"needs the name of a file, as a text or a Path; got {path!r}.", setting="path")


def _write(
    points: Points,
    path: str | Path,
    given: str | None,
    settings: Mapping[str, object] | None,
    *,
    overwrite: bool,
) -> None:
    require_path(path)
    if not isinstance(settings, Mapping | None):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidSetting(
            f"needs a mapping of names to values, such as result.settings.to_mapping(); got {type(settings).__name__}.",
            setting="settings",
        )
    place, record = Path(path), settings or {}
    written = to_write(place, given).write(points, record)
    parents, drift = (points.parents, points.drift) if isinstance(points, Tracks) else ({}, None)
    lineage = parents if written.parents is None else written.parents
    calibration = written.calibration or points.calibration
    beside = sidecar_beside(place, written.table, calibration, record, lineage, points.timeline, drift)
    write_whole({place: written.content, **beside}, overwrite=overwrite)


def sidecar_beside(
    path: Path,
    table: pd.DataFrame,
    calibration: Calibration,
    settings: Mapping[str, object],
    parents: Mapping[int, Sequence[int]] | None = None,
    timeline: Timeline | None = None,
    drift: pd.DataFrame | None = None,
) -> dict[Path, PendingSidecar]:
    """Return the sidecar of a table that goes to `path`, as `write_whole` takes it."""
    columns = {str(name): str(dtype) for name, dtype in table.dtypes.items()}
    taken_off = {} if drift is None else {str(name): of.tolist() for name, of in drift.items()}
    sidecar = Sidecar(calibration, columns, parents or {}, settings, timeline or Timeline(), drift=taken_off)
    return {sidecar_path(path): PendingSidecar(path, sidecar)}


def plain_table(table: pd.DataFrame, kind: str) -> bytes:
    """Return a table that holds no points as the content of a file, "csv" or "parquet"."""
    return table.to_parquet() if kind == "parquet" else table.to_csv(index=False, lineterminator="\n").encode()


def write_whole(contents: Mapping[Path, Content], *, overwrite: bool = False) -> None:
    """Write files that belong together, each whole or not at all.

    Parameters
    ----------
    contents : mapping of Path to bytes, callable or PendingSidecar
        What each file holds, or what writes it; a record comes after its table. The last one marks the result as
        complete: the old one goes first, the new comes last.
    overwrite : bool

    Raises
    ------
    OutputExists
        If one of the files exists and `overwrite` is False, but for a record without its table; nothing is written.
    OutputFailed
        If the system refuses; files that stood there are untouched and no temporary file is left. Should it refuse
        between two renames, the new table stands without its mark.
    """
    try:
        require_names(contents)
        if not overwrite:
            _refuse_to_replace(contents)
        require_files([path for path, content in contents.items() if not isinstance(content, Folder)])
        require_folders([path for path, content in contents.items() if isinstance(content, Folder)])
        for path in contents:
            path.parent.mkdir(parents=True, exist_ok=True)
            remove_leftovers(path)
        with _temporary_names(contents) as temporary, contextlib.ExitStack() as until_renamed:
            for path, content in contents.items():
                if isinstance(content, Folder):
                    _fill_folder(temporary[path], content)
                    continue
                with temporary[path].open("xb") as file:
                    until_renamed.enter_context(marked_as_in_use(file))
                    _fill(file, content, temporary)
                    file.flush()
                    os.fsync(file.fileno())
            _beyond_ctrl_c(partial(_rename, temporary))
        _LOG.info("written: %s", ", ".join(map(str, contents)))
    except (OutputExists, OutputFailed):
        raise
    except OSError as error:
        raise OutputFailed(
            f"{next(iter(contents))} cannot be written: {error.strerror or error}. Nothing half-written was left."
        ) from error


def _fill(
    file: BinaryIO, content: bytes | Callable[[BinaryIO], None] | PendingSidecar, temporary: Mapping[Path, Path]
) -> None:
    if isinstance(content, PendingSidecar):
        file.write(content.of(temporary[content.table]))
    elif isinstance(content, bytes):
        file.write(content)
    else:
        content(file)


def _fill_folder(folder: Path, content: Folder) -> None:
    """Make a folder with its content, and bring what it holds to disk."""
    content.make(folder)
    for file in folder.rglob("*"):
        if file.is_file():
            with file.open("rb") as opened:
                os.fsync(opened.fileno())


def require_writable(folder: Path) -> None:
    """Find out whether files can be written into a folder, by writing one of no name into it; nothing is left.

    A folder that is not there yet is asked for by the nearest one above it; it is not made.

    Raises
    ------
    OutputFailed
        If it is a file, or the system refuses.
    """
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not there.is_dir():
        raise OutputFailed(f"{there} is a file; results need a folder there.")
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        place = "the current folder" if there == Path() else str(there)
        raise OutputFailed(
            f"{place} cannot be written into ({error.strerror or error}); choose another folder."
        ) from error


def require_names(paths: Iterable[Path]) -> None:
    """Refuse names that are too long for a file, or for the temporary one that it is written as.

    Raises
    ------
    OutputFailed
    """
    for path in paths:
        spare = _LONGEST_NAME - len(os.fsencode(temporary_name(path, new_token()).name))
        if spare < 0:
            raise OutputFailed(f"{path}: the name is too long by {-spare} bytes to be written; choose a shorter one.")


def require_files(paths: Iterable[Path]) -> None:
    """Refuse to put a file in the place of a folder or of a device, such as /dev/null.

    Raises
    ------
    OutputFailed
    """
    for path in paths:
        if path.exists() and not path.is_file():
            what = "folder" if path.is_dir() else "device or pipe"
            raise OutputFailed(f"{path} is a {what}, and results need a file; choose another name.")


def require_folders(paths: Iterable[Path]) -> None:
    """Refuse to put a folder in the place of a file, or of a folder that is not a result of ours.

    Raises
    ------
    OutputFailed
    """
    for path in paths:
        if path.exists() and not (path.is_dir() and sidecar_path(path).is_file()):
            what = "folder that auctrack did not write" if path.is_dir() else "file"
            raise OutputFailed(f"{path} is a {what}, and results need its place; choose another name, or remove it.")


def _refuse_to_replace(paths: Mapping[Path, object]) -> None:
    table = next(iter(paths))
    present = [path for path in paths if path.exists() and not (path == sidecar_path(table) and _stands_alone(table))]
    if present:
        raise OutputExists(
            f"{present[0]} exists.", in_python="Say overwrite=True to replace it, or choose another name."
        )


def _stands_alone(table: Path) -> bool:
    """Whether a record of ours has lost its table, as where a workflow removes the result that it is to make again."""
    try:
        return not table.exists() and read_sidecar(table) is not None
    except InvalidInput:
        return False


def _beyond_ctrl_c(work: Callable[[], None]) -> None:
    """Do what takes a moment in a thread that no Ctrl-C reaches: one that comes meanwhile is heard once it is done."""
    with ThreadPoolExecutor(1) as other_thread:
        try:
            other_thread.submit(int).result()  # so that it runs, and is waited for, whenever a Ctrl-C comes
        except RuntimeError:  # none can begin any more, as Python is ending
            work()
        else:
            other_thread.submit(work).result()


def _rename(temporary: Mapping[Path, Path]) -> None:
    """Put the new files in place; the old mark goes first, so that it never stands beside a newer table."""
    first, *others = temporary
    mark = others[-1] if others else first
    aside = temporary[mark].with_suffix(".old")
    marked = bool(others) and mark.exists()
    if marked:
        mark.replace(aside)
    try:
        _put_in_place(temporary[first], first)
    except OSError:
        if marked:
            aside.replace(mark)
        raise
    aside.unlink(missing_ok=True)
    for path in others:
        temporary[path].replace(path)
    _sync_folder(mark.parent)


def _put_in_place(new: Path, path: Path) -> None:
    """Rename a file or folder to its name; a folder that stands there goes once the new one is in its place."""
    if not path.is_dir():
        new.replace(path)
        return
    old = new.with_suffix(".old")
    path.replace(old)
    try:
        new.replace(path)
    except OSError:
        old.replace(path)
        raise
    shutil.rmtree(old)


@contextlib.contextmanager
def _temporary_names(paths: Mapping[Path, object]) -> Generator[dict[Path, Path]]:
    """Yield a name in the same folder for each path, and remove whatever is left under it."""
    token = new_token()
    temporary = {path: temporary_name(path, token) for path in paths}
    try:
        yield temporary
    finally:
        for name in temporary.values():
            if name.is_dir():
                shutil.rmtree(name)
            name.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Bring the renames to disk. Windows and some network disks have no such call; the files are whole without it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
