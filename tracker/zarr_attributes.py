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
_IMAGES = ("multiscales", "plate", "well", "labels", _LAYOUT)
"""Attributes of what is an image, or holds some."""


def attributes_of(folder: Path) -> Mapping[str, Any]:
    """Return the attributes of a group, what OME-Zarr keeps under "ome" among them; none where they cannot be read."""
    for name in _FILES:
        if stored := _stored(folder / name):
            found = _mapping(stored.get("attributes") if name == _FILES[0] else stored)
            return {**found, **_mapping(found.get("ome"))}
    return {}


def shape_of(folder: Path) -> tuple[int, ...]:
    """Return the shape of a Zarr array by itself, which says nothing of what its dimensions are; () of what is none."""
    stored = _stored(folder / ".zarray") or _stored(folder / _FILES[0])
    return tuple(stored.get("shape") or ())


def is_image(folder: Path) -> bool:
    """Whether a folder is a Zarr array, or of OME-Zarr an image, a plate, or several images otherwise."""
    is_folder = os.path.isdir(folder)  # noqa: PTH112 - Path's raises where the name is too long
    return is_folder and (not attributes_of(folder).keys().isdisjoint(_IMAGES) or bool(shape_of(folder)))


def images_of(folder: Path) -> Sequence[Path]:
    """Return what is an image: the folder itself, or those of a plate, a well, labels, or as Bio-Formats numbers them.

    Whether they are there is not looked at but for the last. Raises a LookupError or TypeError where that is damaged.
    """
    said = attributes_of(folder)
    if "multiscales" in said or shape_of(folder):
        return [folder]
    if "plate" in said:
        return [image for well in said["plate"]["wells"] for image in images_of(folder / well["path"])]
    if "well" in said:
        return [folder / image["path"] for image in said["well"]["images"]]
    if "labels" in said:
        return [folder / name for name in said["labels"]]
    if _LAYOUT not in said:
        return []
    numbered = [part for part in folder.iterdir() if part.name.isdecimal() and "multiscales" in attributes_of(part)]
    return sorted(numbered, key=lambda part: int(part.name))


def _stored(file: Path) -> Mapping[str, Any]:
    """Return what is in a file; nothing where it cannot be read."""
    try:
        return _mapping(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
