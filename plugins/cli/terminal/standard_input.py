"""`-` in the place of a table: what comes through a pipe, kept in a file while it is read."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from ....tracker.errors import InvalidInput

STANDARD_INPUT = Path("-")


@contextmanager
def table_file(given: Path) -> Generator[Path]:
    """Yield the file of a table: the given one, or for `-` one that holds what standard input gives.

    CSV, gzipped CSV and Parquet are told apart by how they begin. What is wrong is said of "standard input".
    """
    if given != STANDARD_INPUT:
        yield given
        return
    with tempfile.TemporaryDirectory() as folder:
        received = Path(folder) / "stdin"
        with received.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        named = received.rename(received.with_name(f"stdin{_suffix(received)}"))
        try:
            yield named
        except InvalidInput as error:
            raise error.saying(error.problem.replace(str(named), "standard input")) from None


def _suffix(file: Path) -> str:
    with file.open("rb") as opened:
        begins = opened.read(4)
    if begins == b"PAR1":
        return ".parquet"
    return ".csv.gz" if begins[:2] == b"\x1f\x8b" else ".csv"
