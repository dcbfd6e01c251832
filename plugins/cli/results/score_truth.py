"""The truth that tracks are scored against: read in their units, cut to their frames."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....tracker.errors import InvalidInput, InvalidSetting, InvalidTable
from ...words.errors import sentence
from ..arguments.command_settings import input_beside
from ..terminal import console
from ..terminal.standard_input import table_file

if TYPE_CHECKING:
    from ....tracker.points import Points, Tracks

TRUTH_OPTIONS = {"scale": "truth-voxel", "columns": "truth-columns"}
"""What `auctrack score` calls settings of the truth."""


def read_truth(path: Path, tracks: Path, found: Tracks, given: Any, *, as_tracks: bool) -> Points:
    """Read the real particles of the frames that were tracked.

    Parameters
    ----------
    path, tracks : Path
        Tables of the truth, and of the tracks; `-` is standard input.
    found : Tracks
        What the tracks hold.
    given : InputSettings
        Columns, voxel size and frames of the truth, where they were stated.
    as_tracks : bool
        Whether it is read with its lineage; it needs `track_id` then.
    """
    from ....tracker.ranges import parse_frames

    with _naming_options_of_truth(), table_file(path) as file:
        real = _read_truth(file, found, given, as_tracks=as_tracks)
        _require_names(real, path, given.columns or {})
    beside = input_beside(tracks)
    tracked = None if beside is None else beside.frames
    if given.frames is None and tracked is not None:
        real = real.cut(parse_frames(tracked))
        console.note(f"only the frames that were tracked count (--frames {tracked}).")
    else:
        real = real.cut(given.frame_slice)
    return _in_step(real, found)


def in_frames_that_count(found: Tracks, real: Points, frames: slice | None) -> Tracks:
    """Return the tracks of the frames that the user says count; a step counts from the truth's first, as there."""
    if frames is None:
        return found
    begin = int(real.frames.min()) if frames.start is None and frames.step is not None and len(real) else frames.start
    try:
        return found.cut(slice(begin, frames.stop, frames.step))
    except InvalidSetting:  # nothing was found in frames that the truth has
        return found.only(found.frames < found.frames.min())


@contextmanager
def _naming_options_of_truth() -> Generator[None]:
    """Have errors name the options of this command, which are about the truth."""
    try:
        yield
    except (InvalidInput, InvalidSetting) as error:
        raise InvalidInput(sentence(error, TRUTH_OPTIONS)) from None


def _read_truth(path: Path, found: Tracks, given: Any, *, as_tracks: bool) -> Points:
    """Read the truth; without units of its own it is in the coordinates of the tracks."""
    from ....tracker.formats.tables import read_points, read_real_tracks

    read = read_real_tracks if as_tracks else read_points
    real = read(path, columns=given.columns, scale=given.scale)
    calibration = found.calibration
    if real.calibration.is_physical or not calibration.is_physical:
        return real
    sizes = calibration.scale[3 - real.ndim :]
    console.note(
        f"{path} does not say its units; its positions are taken to be in the voxels of the tracks, "
        f"{' × '.join(f'{size:g}' for size in sizes)} {calibration.unit} ({','.join(real.axes)}). "
        "If not, give --truth-voxel."
    )
    return read(path, columns=given.columns, scale=sizes, unit=calibration.unit)


def _require_names(real: Points, path: Path, columns: Mapping[str, str]) -> None:
    """Refuse a truth that does not name its particles, by the name that its column has in the file."""
    from ....tracker.scoring.names import names_of

    try:
        names_of(real)
    except InvalidTable as error:
        raise error.in_file(columns).of(path) from error
    except InvalidInput as error:
        raise error.of(path) from error


def _in_step(real: Points, found: Tracks) -> Points:
    """Cut the truth to the frames that tracks of every k-th frame can have."""
    step = found.frame_step
    if step <= real.frame_step or not len(found):
        return real
    console.note(f"the tracks are of one frame in {step}, and only those frames of the truth count.")
    return real.cut(slice(int(found.frames.min()) % step, None, step))
