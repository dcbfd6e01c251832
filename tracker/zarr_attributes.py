"""What a Zarr folder says of itself, read without the package zarr: whether it is an image, in OME-Zarr's words."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

_FILES = ("zarr.json", ".zattrs")
"""Where the attributes of a group are, by Zarr's formats 3 and 2."""
_LAYOUT = "bioformats2raw.layout"


def attributes_of(folder: Path) -> Mapping[str, Any]:
    """Return the attributes of a group, what OME-Zarr keeps under "ome" among them; none where they cannot be read."""
    for name in _FILES:
        try:
            stored = json.loads((folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        found = _mapping(_mapping(stored).get("attributes") if name == _FILES[0] else stored)
        return {**found, **_mapping(found.get("ome"))}
    return {}


def is_image(folder: Path) -> bool:
    """Whether a folder is an OME-Zarr image, a plate of them, or several as Bio-Formats lays them out."""
    is_folder = os.path.isdir(folder)  # noqa: PTH112 - Path's raises where the name is too long
    return is_folder and not attributes_of(folder).keys().isdisjoint(("multiscales", "plate", "well", _LAYOUT))


def images_of(folder: Path) -> Sequence[Path]:
    """Return the groups that are images: the folder itself, or those that Bio-Formats numbers in it."""
    said = attributes_of(folder)
    if "multiscales" in said:
        return [folder]
    if _LAYOUT not in said:
        return []
    numbered = [part for part in folder.iterdir() if part.name.isdecimal() and "multiscales" in attributes_of(part)]
    return sorted(numbered, key=lambda part: int(part.name))


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
