"""Mastodon's projects: a zip with spots, links and labels in one stream of Java's, and the units beside it."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...calibrating.stated import AXES
from ...calibrating.units import unit_name
from ...errors import InvalidInput, NothingInside
from ..graph import tracks_of
from ..loaded import Loaded, steps_of_one
from . import ellipsoids
from .xml_file import element_of

_PROJECT, _MODEL = "project.xml", "model.raw"
_MOST_PACKED = 200
"""A bomb's numbers are packed more tightly than this; those of a model hardly at all."""
_MAGIC = b"\xac\xed\x00\x05"
_SHORT_BLOCK, _LONG_BLOCK = 0x77, 0x7A
_SPOT = np.dtype([(axis, "<f8") for axis in "xyz"] + [("frame", "<i4"), ("covariance", "<f8", 6), ("radius", "<f8")])
_LINK = np.dtype([("source", ">i4"), ("target", ">i4"), ("places", ">i4", 2)])
_LABELS = b"ur\0\x13[Ljava.lang.String;\xad\xd2V\xe7\xe9\x1d{G\2\0\0xp\0\0\0\1t\0\5label"
_WHOLE, _BYTES = b"ur\0\2[IM\xba`&v\xea\xb2\xa5\2\0\0xp", b"ur\0\2[B\xac\xf3\x17\xf8\x06\x08T\xe0\2\0\0xp"
"""Java's heads of the one array of names of properties, and of arrays of whole numbers and of bytes."""
# What zipfile and NumPy raise, depending on where a file is damaged.
_DAMAGE = (EOFError, LookupError, RuntimeError, ValueError, struct.error, zipfile.BadZipFile, zlib.error)


def read(path: Path) -> Loaded:
    """Return the spots of a project with their ellipsoids and labels, and the tracks that its links make.

    Positions are those of the space of Mastodon's (BigDataViewer's), in its unit; 2D where every z is 0. Ellipsoids are
    columns of their covariance, in that unit squared. Tags and computed features are left out.

    Raises
    ------
    InvalidInput
        If it is not a project of Mastodon's, or is damaged.
    """
    try:
        with zipfile.ZipFile(path) as project:
            root = element_of(_content(project, _PROJECT, path), path)
            model = _content(project, _MODEL, path)
        spots, links, rest = _model(model)
        labels = _labels(rest, len(spots))
    except InvalidInput:
        raise
    except _DAMAGE as error:
        raise InvalidInput(f"{path}: is not a Mastodon project, or is damaged ({error}).") from error
    if not len(spots):
        raise NothingInside(f"{path}: has no spots.")
    unit = (root.findtext("SpaceUnits") or "").strip()
    stated = steps_of_one(unit_name(unit) if unit else None, source="Mastodon project")
    table = _table(spots).assign(**labels)
    if not len(links):
        return Loaded(table, stated, str(path))
    ids, parents = tracks_of(table["frame"].to_numpy(), np.column_stack([links["source"], links["target"]]))
    return Loaded(table.assign(track_id=ids), stated, str(path), parents)


def _content(project: zipfile.ZipFile, name: str, path: Path) -> bytes:
    """Return a file of the zip, which says its size before it is unpacked."""
    member = project.getinfo(name)
    if member.file_size > _MOST_PACKED * member.compress_size:
        raise InvalidInput(
            f"{path}: {name} in it would unpack to {member.file_size} bytes, out of {member.compress_size}; no project "
            "is packed that tightly, so it is not unpacked."
        )
    return project.read(member)


def _model(content: bytes) -> tuple[np.ndarray, np.ndarray, bytes]:
    """Return spots, links, and what follows them."""
    if not content.startswith(_MAGIC):
        raise ValueError(f"{_MODEL} does not begin as Java's streams do")
    blocks = list(_blocks(content))
    data = b"".join(content[begin:end] for begin, end in blocks)
    spots, after = _records(data, 0, _SPOT)
    links, _ = _records(data, after, _LINK)
    ends = np.concatenate([links["source"], links["target"]])
    if len(ends) and not 0 <= ends.min() <= ends.max() < len(spots):
        raise ValueError("a link has an end that is not a spot")
    return spots, links, content[blocks[-1][1] :]


def _blocks(content: bytes) -> Iterator[tuple[int, int]]:
    """Yield where the blocks of plain data begin and end, up to Java's first object."""
    place = len(_MAGIC)
    while place < len(content) and content[place] in (_SHORT_BLOCK, _LONG_BLOCK):
        form = ">BB" if content[place] == _SHORT_BLOCK else ">BI"
        _, size = struct.unpack_from(form, content, place)
        begin = place + struct.calcsize(form)
        place = begin + size
        yield begin, place


def _records(data: bytes, begin: int, kind: np.dtype[Any]) -> tuple[np.ndarray, int]:
    """Return the records that stand behind their number, and where they end; ValueError where they are cut short."""
    (count,) = struct.unpack_from(">I", data, begin)
    return np.frombuffer(data, kind, count, begin + 4), begin + 4 + count * kind.itemsize


def _table(spots: np.ndarray) -> pd.DataFrame:
    """Return frame, position and covariance of each spot, without z in 2D."""
    axes = AXES[1:] if (spots["z"] == 0).all() else AXES
    places = {axis: spots[axis].astype(np.float64) for axis in axes}
    covariance = np.zeros((len(spots), 3, 3))
    covariance[:, *np.triu_indices(3)] = spots["covariance"]  # xx, xy, xz, yy, yz, zz
    turned = covariance.transpose(0, 2, 1)[:, ::-1, ::-1][:, -len(axes) :, -len(axes) :]
    return pd.DataFrame({"frame": spots["frame"].astype(np.int64)} | places | ellipsoids.columns(turned, axes))


def _labels(rest: bytes, n_spots: int) -> dict[str, np.ndarray]:
    """Return the labels that users gave to spots, None elsewhere; no column where there are none."""
    if not rest.startswith(_LABELS):
        return {}
    rows, place = _array(rest, len(_LABELS), _WHOLE, np.dtype(">i4"))
    texts, _ = _array(rest, place, _BYTES, np.dtype("u1"))
    if not len(rows):
        return {}
    if not 0 <= rows.min() <= rows.max() < n_spots:
        raise ValueError("a label is that of no spot")
    labels = np.full(n_spots, None, dtype=object)
    labels[rows] = list(_texts(texts.tobytes(), len(rows)))
    return {"label": labels}


def _array(content: bytes, begin: int, head: bytes, kind: np.dtype[Any]) -> tuple[np.ndarray, int]:
    if not content.startswith(head, begin):
        raise ValueError("its labels are not as Mastodon writes them")
    return _records(content, begin + len(head), kind)


def _texts(content: bytes, count: int) -> Iterator[str]:
    """Yield texts in Java's UTF-8, where a character beyond 16 bits is a pair of surrogates."""
    place = 0
    for _ in range(count):
        (size,) = struct.unpack_from(">H", content, place)
        text = content[place + 2 : place + 2 + size].decode("utf-8", "surrogatepass")
        yield text.encode("utf-16", "surrogatepass").decode("utf-16")
        place += 2 + size
