"""The tracks in a file of a session of corrections (`editing.session_file`), a zip."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ...errors import InvalidInput
from ..columns.table_units import load_table
from ..loaded import Loaded
from ..sidecar import SUFFIX

FORMAT = 1
"""Raised when a file of before could no longer be read as it is."""
TRACKS = "tracks.csv"
_MEMBERS = ("begun.csv", f"begun.csv{SUFFIX}", TRACKS, f"{TRACKS}{SUFFIX}", "corrections.json", "session.json")
_MOST_PACKED = 1032
"""No zip packs honest content more tightly than this."""


def read(path: Path) -> Loaded:
    """Return the tracks of a session as they stood when it was saved.

    Raises
    ------
    InvalidInput
        If the file is not a session, or is damaged.
    """
    with unpacked(path) as folder:
        return replace(load_table(folder / TRACKS, None), where=str(path))


@contextmanager
def unpacked(path: Path) -> Generator[Path]:
    """Give the files of a session in a folder, which is taken away afterwards; errors as of `read`, also inside."""
    with TemporaryDirectory() as made:
        folder = Path(made)
        try:
            with zipfile.ZipFile(path) as packed:
                for name in _MEMBERS:
                    _unpack(packed, name, folder)
            kind = json.loads((folder / "session.json").read_text(encoding="utf-8"))["auctrack_session"]
        except OSError as error:
            raise InvalidInput(f"{path}: cannot be read ({error.strerror or error}).") from error
        except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, KeyError, TypeError, RuntimeError) as error:
            raise InvalidInput(f"{path}: is not an auctrack session, or is damaged ({error}).") from error
        if kind != FORMAT:
            raise InvalidInput(f"{path}: needs a session of format {FORMAT}; got {kind!r}.")
        try:
            yield folder
        except InvalidInput as error:  # which names a file in a folder that nobody knows
            raise error.saying(error.problem.replace(f"{folder}{os.sep}", f"{path}: ")) from error


def _unpack(packed: zipfile.ZipFile, name: str, folder: Path) -> None:
    member = packed.getinfo(name)
    if member.file_size > _MOST_PACKED * max(member.compress_size, 1):
        raise ValueError(f"{name} claims {member.file_size} bytes, out of {member.compress_size}")
    packed.extract(member, folder)
