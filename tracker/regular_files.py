"""Refusing what is not a file before it is opened: a pipe would be waited for, perhaps for ever."""

from __future__ import annotations

from pathlib import Path

from .errors import InvalidInput


def refuse_pipe(path: Path, remedy: str) -> None:
    """Refuse a pipe, a socket or a device in the place of a file; what is not there is left to whoever opens it.

    Raises
    ------
    InvalidInput
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InvalidInput(f"{path}: is a pipe or a device, but a file is needed. {remedy}")
