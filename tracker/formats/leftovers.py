"""Temporary files of runs that were killed: a lock tells them from those of running ones, and they are removed."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import time
from collections.abc import Generator
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_BYTES = 4
"""Of chance in a temporary name."""
_SECONDS_TO_LOCK = 60.0
"""A file younger than this may not be locked yet by the run that has just made it."""


def temporary_name(path: Path, token: str) -> Path:
    """Return the name under which a file is written before it takes its place."""
    return path.with_name(f".{path.name}.{token}.tmp")


def new_token() -> str:
    """Return what tells the temporary files of one run from those of others."""
    return secrets.token_hex(_BYTES)


@contextlib.contextmanager
def marked_as_in_use(file: BinaryIO) -> Generator[None]:
    """Keep a file locked until the block ends, even if it is closed and renamed; the system frees it when we die.

    Windows has no such lock, and a disk without locks refuses it: there nothing is ever taken for a leftover.
    """
    if fcntl is None:
        yield
        return
    descriptor = os.dup(file.fileno())
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def remove_leftovers(path: Path) -> None:
    """Remove what killed runs left of a file, under its temporary names; those of running ones stay."""
    ours = re.compile(re.escape(temporary_name(path, "TOKEN").name).replace("TOKEN", f"[0-9a-f]{{{2 * _BYTES}}}"))
    with contextlib.suppress(OSError):  # tidying up must not make it fail
        for name in os.listdir(path.parent):  # noqa: PTH208 - a result's name may hold what a pattern takes for its own
            if ours.fullmatch(name):
                _remove_if_unused(path.with_name(name))


def _remove_if_unused(file: Path) -> None:
    with contextlib.suppress(OSError):
        if fcntl is None or time.time() - file.stat().st_mtime < _SECONDS_TO_LOCK:
            return
        with file.open("rb+") as opened:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)  # OSError where a run holds it
            file.unlink()
