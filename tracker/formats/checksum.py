"""Size and checksum of a file: what tells that it is still the one that was written."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial
from pathlib import Path


@dataclass(frozen=True)
class Checksum:
    """What a file held.

    Parameters
    ----------
    bytes : int
        Its size.
    blake2b : str
        The hash of its content, of 16 bytes, in hexadecimal digits.
    """

    bytes: int
    blake2b: str

    @classmethod
    def of(cls, path: Path) -> Checksum:
        """Return size and checksum of a file; raises OSError where it cannot be read."""
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, partial(hashlib.blake2b, digest_size=16))
            return cls(file.tell(), digest.hexdigest())
