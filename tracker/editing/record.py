"""A session as a file: the acts in effect, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import InvalidInput
from ..formats.write import write_whole

FORMAT = 1
"""Raised when a file of before could no longer be read as it is."""


def write_acts(path: Path, acts: Sequence[Mapping[str, Any]], detections: int) -> None:
    """Write acts on a table of so many detections, over what stands there; errors as of `formats.write.write_whole`."""
    lines = ",\n    ".join(json.dumps(dict(act)) for act in acts)
    listed = f"[\n    {lines}\n  ]" if acts else "[]"
    text = f'{{\n  "auctrack_corrections": {FORMAT},\n  "detections": {detections},\n  "acts": {listed}\n}}\n'
    write_whole({path: text.encode()}, overwrite=True)


def read_acts(path: Path, detections: int) -> list[dict[str, Any]]:
    """Return the acts of a file.

    Raises
    ------
    InvalidInput
        If it cannot be read, is of another kind, or was made on a table of another number of detections.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
        kind, made_on, acts = content["auctrack_corrections"], content["detections"], content["acts"]
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read ({error.strerror or error}).") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{path}: is not a file of corrections ({error!r}).") from error
    if kind != FORMAT or not isinstance(acts, list) or not all(isinstance(act, dict) for act in acts):
        raise InvalidInput(f"{path}: needs corrections of format {FORMAT}; got {kind!r}.")
    if made_on != detections:
        raise InvalidInput(f"{path}: was made on {made_on} detections; these tracks have {detections}.")
    return acts
