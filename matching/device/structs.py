"""Structs that kernels declare, as NumPy's dtypes: their members stand in the kernel's text alone."""

from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np

from .cuda import declared, source

TYPES: dict[str, Any] = {
    "int": np.int32,
    "uint32": np.uint32,
    "int64": np.int64,
    "uint64": np.uint64,
    "dual_t": np.int64,  # or a double, of as many bytes
}
_MEMBER = re.compile(r"(\w+)(?:\[(\w+)\])?")


@functools.cache
def struct(file: str, name: str) -> np.dtype[Any]:
    """Return a struct of plain members, of arrays of a length that is a number or declared, and of such structs.

    Parameters
    ----------
    file : str
        Kernel file or header, as `cuda.load` takes it; its includes are read too.
    name : str

    Raises
    ------
    LookupError
        If the file declares no such struct, or it has another type of member.
    """
    text = source(file)
    found = re.search(rf"^struct {name} {{\n(.*?)^}};", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise LookupError(f"{file} declares no struct {name}")
    members: list[tuple[Any, ...]] = []
    for line in re.sub(r"//.*", "", found[1]).split(";")[:-1]:
        kind, _, names = line.strip().partition(" ")
        for member in names.split(","):
            parsed = _MEMBER.fullmatch(member.strip())
            if parsed is None:
                raise LookupError(f"{file}: struct {name} has a member that no dtype says: {line.strip()}")
            length = parsed[2] or "1"
            size = int(length) if length.isdecimal() else declared(file, length)
            members.append((parsed[1], TYPES.get(kind) or struct(file, kind), *([size] if parsed[2] else [])))
    return np.dtype(members, align=True)
