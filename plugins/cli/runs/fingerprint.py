"""A fingerprint of an input and its settings: the same one beside a result means that the result is up to date."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from .... import __version__
from ....tracker.formats.sidecar import sidecar_path
from ....tracker.settings import Settings
from .inputs import Job, files_behind

_KEPT = 1000
"""Files whose contents are known for the rest of a run; an OME-Zarr has a million."""


def key_of(job: Job, settings: Settings) -> str:
    """Return the fingerprint of an input and its settings."""
    return fingerprint(files_behind(job, settings.input), settings.to_mapping())


def fingerprint(files: Sequence[Path], settings: Mapping[str, Any]) -> str:
    """Return a hash of the contents of the files, of the settings as they were asked for, and of our version.

    Parameters
    ----------
    files : sequence of Path
        Every file that the input is made of, in order. What stands beside a table (its units) counts too.
    settings : mapping
        Plain values.
    """
    digest = hashlib.blake2b(digest_size=16)
    digest.update(json.dumps([__version__, settings], sort_keys=True).encode())
    for file in files:
        for part in (file, sidecar_path(file)):
            if part == file or os.path.exists(part):  # noqa: PTH110 - Path's raises where the name is too long
                _add(part, digest)
    return digest.hexdigest()


def _add(file: Path, digest: hashlib.blake2b) -> None:
    state = file.stat()
    digest.update(b"\0%b\0%d\0" % (os.fsencode(file.name), state.st_size))
    digest.update(_content(file, state.st_size, state.st_mtime_ns))


@lru_cache(maxsize=_KEPT)
def _content(file: Path, size: int, changed: int) -> bytes:
    """Return a hash of what is in a file; one of many positions is read once for all of them."""
    del size, changed  # a file in which they are others is another one
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "blake2b").digest()
