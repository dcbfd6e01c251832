"""Struct arrays in MATLAB's files of versions 5 to 7; on damaged ones SciPy's reader crashes the interpreter."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

_HEADER, _VERSION = 128, 124
_ORDERS = {b"IM": "<", b"MI": ">"}
_MATRIX, _COMPRESSED = 14, 15
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
"""Kinds of elements that hold numbers."""
_STRUCT, _SPARSE, _NUMERIC = 2, 5, range(6, 16)
"""Classes of matrices."""
_MOST_BYTES = 2**31
"""What one variable of these versions can hold."""


class NewerVersion(ValueError):
    """The file is of version 7.3, which is HDF5."""


def struct_array(content: bytes, name: str, fields: Sequence[str]) -> list[dict[str, np.ndarray]] | None:
    """Return some fields of a struct array, each float64 of two axes or more; None where it has no such variable.

    Raises
    ------
    NewerVersion
    ValueError, LookupError, struct.error, zlib.error
        If the content is not such a file, or is damaged; if the variable is not a struct array, or its fields hold
        no numbers.
    """
    order = _ORDERS.get(content[_VERSION + 2 : _HEADER])
    if order is None:
        raise ValueError("it does not begin as such a file does")
    (version,) = struct.unpack_from(f"{order}H", content, _VERSION)
    if version == 0x200:
        raise NewerVersion
    for kind, packed in _elements(memoryview(content)[_HEADER:], order):
        variable = _unpacked(packed, order) if kind == _COMPRESSED else packed
        if kind in (_MATRIX, _COMPRESSED) and bytes(_parts(variable, order)[2]).decode("latin-1") == name:
            return _structs(_parts(variable, order), order, fields)
    return None


def _elements(data: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Yield kind and content of each element; short ones stand in their own head."""
    place = 0
    while place < len(data):
        kind, size = struct.unpack_from(f"{order}II", data, place)
        begin = place + 8
        if kind >> 16:
            kind, size, begin = kind & 0xFFFF, kind >> 16, place + 4
        end = begin + size
        if end > len(data):
            raise ValueError("it is cut short")
        yield kind, data[begin:end]
        place = end if kind == _COMPRESSED else end + -end % 8


def _unpacked(packed: memoryview, order: str) -> memoryview:
    """Return the content of the one element that is packed here."""
    unpacker = zlib.decompressobj()
    data = unpacker.decompress(packed, _MOST_BYTES)
    if not unpacker.eof:
        raise ValueError("a variable in it is cut short, or larger than MATLAB's are")
    (element,) = _elements(memoryview(data), order)
    return element[1]


def _parts(matrix: memoryview, order: str) -> list[memoryview]:
    """Return what a matrix consists of: flags, dimensions, name, and what its class has."""
    return [content for _, content in _elements(matrix, order)]


def _head(parts: Sequence[memoryview], order: str) -> tuple[int, tuple[int, ...]]:
    """Return class and shape of a matrix."""
    (flags,) = struct.unpack_from(f"{order}I", parts[0])
    shape = tuple(np.frombuffer(parts[1], f"{order}i4").tolist())
    if min(shape, default=-1) < 0:
        raise ValueError(f"a matrix has the shape {shape}")
    return flags & 0xFF, shape


def _structs(parts: Sequence[memoryview], order: str, fields: Sequence[str]) -> list[dict[str, np.ndarray]]:
    kind, shape = _head(parts, order)
    if kind != _STRUCT:
        raise ValueError("it is not a struct array")
    (width,) = struct.unpack_from(f"{order}i", parts[3])
    names = [bytes(parts[4][k : k + width]).split(b"\0")[0].decode("latin-1") for k in range(0, len(parts[4]), width)]
    cells = parts[5:]
    if len(cells) != math.prod(shape) * len(names):
        raise ValueError("it is cut short")
    rows = range(0, len(cells), max(len(names), 1))
    places: Mapping[str, int] = {name: names.index(name) for name in fields}
    return [{name: _numbers(cells[row + place], order) for name, place in places.items()} for row in rows]


def _numbers(matrix: memoryview, order: str) -> np.ndarray:
    """Return a matrix of numbers, full or sparse; an empty element is an empty matrix."""
    elements = list(_elements(matrix, order))
    if not elements:
        return np.empty((0, 0))
    kind, shape = _head([content for _, content in elements], order)
    if kind == _SPARSE and len(shape) == 2:
        return _dense(shape, [_array(each, order) for each in elements[3:6]])
    if kind not in _NUMERIC:
        raise ValueError("a field holds no numbers")
    return _array(elements[3], order).astype(np.float64).reshape(shape, order="F")


def _array(element: tuple[int, memoryview], order: str) -> np.ndarray:
    kind, content = element
    return np.frombuffer(content, f"{order}{_NUMBERS[kind]}")


def _dense(shape: tuple[int, ...], of: Sequence[np.ndarray]) -> np.ndarray:
    """Return a sparse matrix by columns with 0 where nothing stands."""
    rows, ends, values = of
    if math.prod(shape) * 8 > _MOST_BYTES or len(ends) != shape[1] + 1:
        raise ValueError(f"a sparse matrix has the shape {shape}")
    columns = np.repeat(np.arange(shape[1]), np.diff(ends))
    full = np.zeros(shape)
    full[rows[: len(columns)], columns] = values[: len(columns)]
    return full
