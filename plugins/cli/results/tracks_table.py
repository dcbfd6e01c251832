"""Tables of tracks as commands read them, with a note where the tracks are those of the truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..terminal import console

if TYPE_CHECKING:
    from ....tracker.points import Tracks


def read_tracks_table(file: Path, shown: Path, given: dict[str, Any]) -> Tracks:
    """Read the tracks of a table; `shown` is what the user calls it, `given` what was said of it."""
    from ....tracker.formats.sidecar import own_calibration
    from ....tracker.formats.tables import TRUE_COLUMN, read_named_tracks
    from ...words.notes import on_voxels

    tracks, column = read_named_tracks(file, **given)
    console.note(*on_voxels(own_calibration(file), tracks, given.get("scale")))
    if column == TRUE_COLUMN:
        console.note(
            f"{shown} has no column track_id; {TRUE_COLUMN}, which names the real particle of each detection, is taken "
            "for the tracks. They are the truth, and were not linked by anyone."
        )
    return tracks
