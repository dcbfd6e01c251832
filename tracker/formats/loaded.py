"""What a reader takes out of a file, before anyone says otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from ..calibrating.stated import Stated
from ..calibrating.units import SECOND
from ..points import AXES
from ..timeline import Timeline


@dataclass(frozen=True)
class Loaded:
    """The content of a file.

    Parameters
    ----------
    table : DataFrame
        Columns frame, (z,) y, x and all others; a column of track ids under one of `tables.TRACK_COLUMNS`, where it has
        them. Nothing is checked.
    stated : Stated
    where : str
        What messages call it.
    parents : mapping of int to sequence of int
        Lineage, `{child track: [parent tracks]}`.
    timeline : Timeline
    names : mapping of str to str
        What the file calls the columns that were renamed, `{our name: its name}`, for messages.
    named_unit : str or None
        Unit of length of the positions, where their columns say it: by name (`z_um`), or as TrackMate's and Imaris' do.
    drift : mapping of str to sequence of float
        Columns of the drift that was subtracted from tracks; empty for none.
    """

    table: pd.DataFrame
    stated: Stated
    where: str
    parents: Mapping[int, Sequence[int]] = field(default_factory=dict)
    timeline: Timeline = field(default_factory=Timeline)
    names: Mapping[str, str] = field(default_factory=dict)
    named_unit: str | None = None
    drift: Mapping[str, Sequence[float]] = field(default_factory=dict)


def steps_of_one(
    unit: str | None = None, frame_interval: float | None = None, time_unit: str = SECOND, source: str = "the table"
) -> Stated:
    """Return what is stated by positions that are in `unit` already; None where that is not known."""
    return Stated(dict.fromkeys(AXES, 1.0), unit, frame_interval, time_unit, source)
