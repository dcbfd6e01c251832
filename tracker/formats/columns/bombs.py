"""Files that unpack to far more than any table would: refused before they fill the memory."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from pyarrow import parquet

from ...errors import InvalidInput

MOST_PACKED = {".csv.gz": 200, ".parquet": 1000}
"""Bytes that a byte of the file may unpack to; tables of measured particles take 3 to 30."""
ALWAYS_UNPACKED = 2**28
"""Bytes that any file may unpack to."""


class Unpacked(gzip.GzipFile):
    """A gzip file that ends in `InvalidInput` where it unpacks to too much.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        self._path, self._most = path, _most(path, ".csv.gz")

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer."""
        return self._counted(super().readinto(buffer))

    def read(self, size: int | None = -1) -> bytes:
        """Read so many bytes, or all."""
        return self._counted(super().read(self._most + 1 if size is None or size < 0 else size))

    def read1(self, size: int = -1) -> bytes:
        """Read what is at hand, at most so many bytes."""
        return self._counted(super().read1(size))

    def _counted(self, read: Any) -> Any:
        if self.tell() > self._most:
            raise _bomb(self._path, f"more than {self._most}")
        return read


def require_honest_parquet(path: Path) -> None:
    """Refuse a Parquet file whose own record of rows and columns says that it unpacks to too much."""
    said = parquet.read_metadata(path)
    size = 8 * said.num_rows * said.num_columns
    if size > _most(path, ".parquet"):
        raise _bomb(path, f"some {size}")


def _most(path: Path, ending: str) -> int:
    return max(ALWAYS_UNPACKED, MOST_PACKED[ending] * path.stat().st_size)


def _bomb(path: Path, size: str) -> InvalidInput:
    return InvalidInput(
        f"{path}: would unpack to {size} bytes, out of {path.stat().st_size}; no table is packed that tightly, so it "
        "is not read. Unpack it yourself if you trust it."
    )
