"""Size and checksum of a file or folder: what tells that it is still the one that was written."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial
from pathlib import Path


@dataclass(frozen=True)
class Checksum:
    """What a file held, or all files of a folder.

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
        """Return size and checksum of a file or folder; raises OSError where it cannot be read."""
        if path.is_dir():
            return cls._of_folder(path)
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, partial(hashlib.blake2b, digest_size=16))
            return cls(file.tell(), digest.hexdigest())

    @classmethod
    def of_bytes(cls, content: bytes) -> Checksum:
        """Return size and checksum of a file that holds this."""
        return cls(len(content), hashlib.blake2b(content, digest_size=16).hexdigest())

    @classmethod
    def _of_folder(cls, folder: Path) -> Checksum:
        """Return the size of all files together, and the hash of their names and checksums."""
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        checksums = [cls.of(file) for file in files]
        names = [file.relative_to(folder).as_posix() for file in files]
        listing = "\n".join(f"{name} {checksum.blake2b}" for name, checksum in zip(names, checksums, strict=True))
        digest = hashlib.blake2b(listing.encode(errors="surrogateescape"), digest_size=16)
        return cls(sum(checksum.bytes for checksum in checksums), digest.hexdigest())
