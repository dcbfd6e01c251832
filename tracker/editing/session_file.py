"""A session of corrections as one file: what it began with, what was done since, and the tracks as they stand."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from ..errors import InvalidInput, InvalidSetting, damage
from ..formats.graph import edges_of
from ..formats.programs.session_tracks import FORMAT, TRACKS, unpacked
from ..formats.registry import FORMATS
from ..formats.sidecar import SUFFIX, read_sidecar
from ..formats.tables import read_tracks
from ..formats.write import require_path, write_tracks, write_whole
from ..linking.constraints import constraints_of
from ..linking.link import link_points
from ..linking.result import Linking
from ..linking.settings import LinkSettings
from ..points import Tracks
from ..settings import Settings
from ..suffixes import ends_in
from .change import Link
from .reopened import reopened
from .session import Session

ENDING = FORMATS["session"].endings[0]
_BEGUN, _ACTS, _KEPT = "begun.csv", "corrections.json", "session.json"


@dataclass(frozen=True)
class SavedSession:
    """A session as it was left.

    Attributes
    ----------
    session : Session
        With its corrections in effect; those that had been undone are gone.
    looked_at : frozenset of (source, target)
        Links that somebody had looked at, as ids of detections.
    settings : Settings
        Of the run that it began with.
    place : tuple of float or None
        Frame and position z, y, x (or y, x) that somebody worked at last, in the table's coordinates.
    """

    session: Session
    looked_at: frozenset[Link]
    settings: Settings
    place: tuple[float, ...] | None = None


def write_session(
    session: Session,
    path: str | Path,
    *,
    settings: Settings | None = None,
    looked_at: Collection[Link] = (),
    place: Sequence[float] | None = None,
    overwrite: bool = False,
) -> None:
    """Write a session into one file, a zip whose tables other programs can read.

    Parameters
    ----------
    session : Session
    path : str or Path
        Its name ends in `.auctrack`, by which `read_tracks`, `auctrack convert` and napari know it.
    settings : Settings, optional
        Of the run: input and detection. How it was linked is known.
    looked_at : collection of (source, target)
        Links that somebody has looked at, as ids of detections.
    place : sequence of float, optional
        Frame and position z, y, x (or y, x) that somebody worked at last, in the table's coordinates.
    overwrite : bool
        Whether a file that stands there may be replaced.

    Raises
    ------
    InvalidInput
        If something other than a session is given.
    InvalidSetting
        If the name has another ending.
    OutputExists, OutputFailed
        As of `write_tracks`.
    """
    if not isinstance(session, Session):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"session needs a Session, as auctrack.Session(linking); got {type(session).__name__}.")
    require_path(path)
    if not ends_in(Path(path).name, ENDING):
        raise InvalidSetting(f"needs a name that ends in {ENDING}; got {str(path)!r}.", setting="path")
    run = replace(settings or Settings(), link=session.begun.settings)
    record = {"effective": run.to_mapping()}
    with TemporaryDirectory() as made:
        folder = Path(made)
        write_tracks(session.begun.tracks, folder / _BEGUN, settings=record)
        write_tracks(session.linking().tracks, folder / TRACKS, settings=record)
        session.save(folder / _ACTS)
        kept = {
            "auctrack_session": FORMAT,
            "looked_at": sorted([int(a), int(b)] for a, b in looked_at),
            "lacked": [[int(a), int(b)] for a, b in session.begun.lacked],
            "place": None if place is None else [float(coordinate) for coordinate in place],
        }
        (folder / _KEPT).write_text(json.dumps(kept), encoding="utf-8")
        write_whole({Path(path): partial(_pack, folder)}, overwrite=overwrite)


def read_session(path: str | Path) -> SavedSession:
    """Return a session as it was left: linked again from its beginning, with its corrections in effect.

    Raises
    ------
    InvalidInput
        If the file is not a session, or is damaged.
    InvalidEdit
        If a correction in it does not fit its beginning.
    InvalidSetting
        If the path is no name of a file.
    """
    require_path(path)
    with unpacked(Path(path)) as folder:
        begun, settings = _begun(folder, path)
        looked_at, lacked, place = _kept(folder / _KEPT, begun.ndim, path)
        session = Session.load(folder / _ACTS, _linked_again(begun, settings.link, lacked))
        return SavedSession(session, looked_at, settings, place)


def _pack(folder: Path, file: BinaryIO) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for member in sorted(folder.iterdir()):
            packed.write(member, member.name)


def _begun(folder: Path, path: str | Path) -> tuple[Tracks, Settings]:
    sidecar = read_sidecar(folder / _BEGUN)
    effective: Any = None if sidecar is None else sidecar.settings.get("effective")
    if not isinstance(effective, Mapping):
        raise InvalidInput(f"{path}: {_BEGUN}{SUFFIX} in it does not say how the tracks were linked.")
    return read_tracks(folder / _BEGUN), Settings.from_mapping(effective)


def _linked_again(begun: Tracks, settings: LinkSettings, lacked: frozenset[Link] | None) -> Linking:
    """Return the linking that a session began with; where it would be another one today, its links are held.

    `lacked` as of `Linking`; None if the file does not say: all that is forbidden was then taken for it.
    """
    if settings.linking != "auctrack":
        return reopened(begun)
    open_ = replace(settings, pinned=None, forbidden=None)
    forbidden = _pairs(constraints_of(begun, settings).forbidden.tolist())
    lacked = forbidden if lacked is None else forbidden & lacked
    linking = replace(link_points(begun, open_, editable=True), tracks=begun, settings=settings)
    linking = replace(linking, lacked=tuple(sorted(lacked)))
    if _links(Session(linking).linking().tracks) == _links(begun):
        return linking
    linking, asked_for = reopened(begun, settings), forbidden - lacked
    forbidden = asked_for.union(linking.lacked)
    settings = replace(linking.settings, forbidden=sorted(forbidden))
    return replace(linking, settings=settings, lacked=tuple(sorted(forbidden - asked_for)))


def _links(tracks: Tracks) -> set[Link]:
    return {(source, target) for source, target in edges_of(tracks).tolist()}


def _kept(
    kept: Path, ndim: int, path: str | Path
) -> tuple[frozenset[Link], frozenset[Link] | None, tuple[float, ...] | None]:
    """Return the links that were looked at, those that tracks lacked, and the place; older files have less."""
    try:
        content = json.loads(kept.read_text(encoding="utf-8"))
        lacked, place = content.get("lacked"), content.get("place")
        return (
            _pairs(content["looked_at"]),
            None if lacked is None else _pairs(lacked),
            None if place is None else _place(place, 1 + ndim),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{path}: {_KEPT} in it is damaged ({damage(error)}).") from error


def _pairs(links: Any) -> frozenset[Link]:
    return frozenset((int(source), int(target)) for source, target in links)


def _place(coordinates: Any, count: int) -> tuple[float, ...]:
    place = tuple(float(coordinate) for coordinate in coordinates)
    if len(place) != count or not all(map(math.isfinite, place)):
        raise ValueError(f"the place needs {count} numbers, got {coordinates!r}")
    return place
