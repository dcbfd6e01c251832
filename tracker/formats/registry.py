"""The table of formats: which file endings each has, what it can hold, and what reads and writes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, InvalidSetting
from ..points import Points
from ..regular_files import refuse_pipe
from ..suffixes import TABLES, ends_in
from ..zarr_attributes import is_image
from .content import Written
from .loaded import Loaded
from .programs.xml_file import root_of

EVERYTHING = frozenset(
    {"positions", "voxels", "unit", "interval", "ids", "lineage", "merges", "gaps", "numbers", "features"}
)
"""What points and tracks carry: exact positions, the size of a voxel, unit of length, frame interval, track ids, who
descends from whom, descent from two parents, missing frames, columns of numbers, and all other columns."""


@dataclass(frozen=True)
class Format:
    """One way to keep points and tracks in a file or folder.

    Parameters
    ----------
    name : str
        What `format=` calls it.
    program : str
        Whose it is, for readers of help pages.
    endings : tuple of str
        How names of such files end, in capital letters too; the first is what we write. Capital letters of an ending
        count.
    reads : str or None
        `module:function` in this package, from a path to `Loaded`; None for tables, which `tables` reads, and for
        what is only written.
    writes : str or None
        `module:function`, from points and settings to `Written`; None for what is only read.
    holds : frozenset of str
        What of `EVERYTHING` the file itself can hold.
    root : str or None
        Root element that tells an XML format.
    marks : tuple of str
        Files of which one is in every folder of a format that is a folder.
    """

    name: str
    program: str
    endings: tuple[str, ...]
    reads: str | None = None
    writes: str | None = None
    holds: frozenset[str] = EVERYTHING
    root: str | None = None
    marks: tuple[str, ...] = ()

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder rather than a file."""
        return bool(self.marks)

    def read(self, path: Path) -> Loaded:
        """Return what a file holds; raises `InvalidInput` where it is damaged or missing."""
        if not path.exists():
            raise InvalidInput(f"{path}: there is no such {'folder' if self.is_folder else 'file'}.")
        refuse_pipe(path, f"Save the {self.program} data in one first.")
        try:
            return _named(self.reads or "")(path)
        except InvalidInput as error:
            if error.problem.startswith(str(path)):
                raise
            raise error.of(path) from error
        except OSError as error:
            raise InvalidInput(f"{path}: cannot be read ({error.strerror or error}).") from error

    def write(self, points: Points, settings: Mapping[str, object]) -> Written:
        """Return points in this format."""
        return _named(self.writes or "")(points, settings)


FORMATS = {
    known.name: known
    for known in (
        Format("csv", "auctrack, trackpy, pandas", (".csv",), writes="columns.table_content:csv"),
        Format("parquet", "auctrack, pandas, Arrow", (".parquet",), writes="columns.table_content:parquet"),
        Format(
            "napari",
            "napari's layers",
            (".napari.csv",),
            writes="columns.table_content:napari",
            holds=frozenset({"positions", "voxels", "ids", "gaps", "numbers", "features"}),
        ),
        Format(
            "motile",
            "napari-track-edit, motile-tracker",
            (".motile.csv",),
            writes="columns.detection_parents:write",
            holds=EVERYTHING - {"voxels", "unit", "interval", "merges"},
        ),
        Format(
            "trackmate",
            "TrackMate",
            (".xml", ".trackmate.xml"),
            "programs.trackmate:read",
            "programs.trackmate:write",
            holds=EVERYTHING - {"features"},
            root="TrackMate",
        ),
        Format(
            "isbi",
            "ISBI 2012 particle tracking challenge, Icy",
            (".isbi.xml", ".xml"),
            "programs.isbi:read",
            "programs.isbi:write",
            holds=frozenset({"positions", "voxels", "gaps"}),
            root="root",
        ),
        Format(
            "trackmate_tracks", "TrackMate's tracks alone", (".xml",), "programs.trackmate_tracks:read", root="Tracks"
        ),
        Format(
            "session",
            "sessions of corrections (write_session, napari)",
            (".auctrack",),
            "programs.session_tracks:read",
        ),
        Format("mastodon", "Mastodon's projects", (".mastodon",), "programs.mastodon:read"),
        Format("utrack", "u-track's tracksFinal", (".mat",), "programs.utrack:read"),
        Format(
            "geff",
            "GEFF (motile-tracker, Mastodon, traccuracy, …; needs the extra formats)",
            (".geff",),
            "programs.geff:read",
            "programs.geff:write",
            holds=EVERYTHING - {"features"},
            marks=(".zattrs", "zarr.json"),
        ),
        Format(
            "ctc",
            "Cell Tracking Challenge folders (01_RES, 01_GT)",
            ("_RES",),
            "programs.ctc:read",
            "programs.ctc:write",
            holds=frozenset({"voxels", "lineage"}),
            marks=("res_track.txt", "man_track.txt", "TRA/man_track.txt"),
        ),
    )
}
"""Every format that is written, or read otherwise than as a table, by its name."""

WRITTEN = tuple(name for name, known in FORMATS.items() if known.writes)
_READ = [ending for known in FORMATS.values() if known.reads for ending in known.endings if ending.startswith(".")]
READ = tuple(dict.fromkeys((*TABLES, *_READ)))
"""How names of points or tracks end; folders of images are recognised by what is in them (`Format.marks`)."""


def to_write(path: Path, given: str | None) -> Format:
    """Return the format to write: the given one, else that of the longest ending of the name.

    Raises
    ------
    InvalidSetting
    """
    if given is not None:
        if given not in WRITTEN:
            raise InvalidSetting(f"needs one of {', '.join(WRITTEN)}; got {given!r}.", setting="format")
        return FORMATS[given]
    endings = endings_of(WRITTEN)
    fitting = [ending for ending in endings if ends_in(path.name, ending)]
    if not fitting:
        raise InvalidSetting(f"{path}: the name must end in one of {', '.join(endings)}, which chooses the format.")
    return endings[max(fitting, key=len)]


def endings_of(names: tuple[str, ...]) -> dict[str, Format]:
    """Return the endings of some formats, and what each stands for; of two that share one, the first of the table."""
    found: dict[str, Format] = {}
    for name in names:
        for ending in FORMATS[name].endings:
            found.setdefault(ending, FORMATS[name])
    return found


def to_read(path: Path) -> Format | None:
    """Return the format of a file or folder, None for a table.

    Raises
    ------
    InvalidInput
        If it is XML of another kind, or cannot be read.
    """
    candidates = [known for known in FORMATS.values() if known.reads and ends_in(path.name, *known.endings)]
    candidates += _by_marks(path)
    by_root = {known.root: known for known in candidates if known.root is not None}
    if not by_root:
        return candidates[0] if candidates else None
    root = root_of(path)
    if root not in by_root:
        known = ", ".join(f"<{name}> ({of.program})" for name, of in by_root.items())
        raise InvalidInput(f"{path}: is XML of a kind that is not known: <{root}>. Read are {known}.")
    return by_root[root]


def holds_points(path: Path) -> bool:
    """Whether a file or folder is points or tracks, by its name or what is in it, rather than a movie."""
    return ends_in(path.name, *READ) or bool(_by_marks(path))


def _by_marks(path: Path) -> list[Format]:
    if not path.is_dir() or is_image(path):
        return []
    return [known for known in FORMATS.values() if any((path / mark).exists() for mark in known.marks)]


def _named(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(f".{module}", __package__), name)
