"""u-track's `tracksFinal` in a MATLAB file: compound tracks of segments that split and merge, in pixels.

K. Jaqaman et al., Nature Methods 5, 2008; the fields as its README has them: `tracksCoordAmpCG` (segments, 8 × frames)
holds x, y, z, amplitude and the deviation of each, `tracksFeatIndxCG` (segments, frames) which detection it is, 0 for
none, `seqOfEvents` when segments begin (1) and end (2), and the segment that they split from or merge with.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...errors import InvalidInput
from ..graph import tracks_of
from ..loaded import Loaded, steps_of_one
from .matlab import NewerVersion, struct_array

_FIELDS = ("tracksCoordAmpCG", "tracksFeatIndxCG", "seqOfEvents")
_VALUES = ("x", "y", "z", "amplitude", "x_deviation", "y_deviation", "z_deviation", "amplitude_deviation")
_BEGINS = 1
_MOST_FRAMES = 2**53


def read(path: Path) -> Loaded:
    """Return every segment as a track, cut where another splits from it or merges with it.

    MATLAB counts frames and pixels from 1; here both begin at 0. 2D where every z is 0.

    Raises
    ------
    InvalidInput
        If it is no MATLAB file of version 7 or before, or holds no `tracksFinal` of that form.
    """
    parts, edges, detections = list[pd.DataFrame](), list[np.ndarray](), 0
    for number, compound in enumerate(_compounds(path)):
        try:
            part = _Compound.of(compound)
            edges.append(part.edges() + detections)
        except (ValueError, IndexError, KeyError, TypeError) as error:
            raise InvalidInput(f"{path}: tracksFinal({number + 1}) is not as u-track writes it ({error}).") from error
        parts.append(part.table.assign(compound_track=number))
        detections += len(part.table)
    if not detections:
        raise InvalidInput(f"{path}: its tracksFinal holds no detections.")
    table = pd.concat(parts, ignore_index=True)
    ids, parents = tracks_of(table["frame"].to_numpy(), np.concatenate(edges))
    flat = ["z", "z_deviation"] if (table["z"] == 0).all() else []
    table[["x", "y", *(() if flat else ("z",))]] -= 1.0
    table = table.drop(columns=["segment", *flat]).assign(track_id=ids)
    stated = steps_of_one(source="u-track's tracksFinal")
    return Loaded(table, stated, str(path), parents)


def _compounds(path: Path) -> list[dict[str, np.ndarray]]:
    """Return the compound tracks of a file."""
    try:
        found = struct_array(path.read_bytes(), "tracksFinal", _FIELDS)
    except NewerVersion as error:
        raise InvalidInput(
            f"{path}: is a MATLAB 7.3 file; save it again with save(name, 'tracksFinal', '-v7')."
        ) from error
    except (ValueError, LookupError, struct.error, zlib.error) as error:
        raise InvalidInput(
            f"{path}: is not a MATLAB file, or is damaged, or its tracksFinal is not a struct array with "
            f"{', '.join(_FIELDS)} ({error})."
        ) from error
    if found is None:
        raise InvalidInput(
            f"{path}: has no tracksFinal, a struct array with {', '.join(_FIELDS)}, which u-track's "
            "trackCloseGapsKalmanSparse returns."
        )
    return found


@dataclass(frozen=True)
class _Compound:
    """Segments that splits and merges join.

    Parameters
    ----------
    table : DataFrame
        Columns segment, frame and `_VALUES`, by segment and frame.
    events : ndarray, float64 (k, 4)
        Frame, kind, segment and the other segment, NaN for none; all but the kind from 0.
    """

    table: pd.DataFrame
    events: np.ndarray

    @classmethod
    def of(cls, given: Mapping[str, np.ndarray]) -> _Compound:
        """Read one; raises ValueError where the shapes contradict each other."""
        coordinates, features, events = (given[name] for name in _FIELDS)
        segments, frames = features.shape
        if coordinates.shape != (segments, 8 * frames) or events.shape[1] != 4:
            raise ValueError(f"{', '.join(_FIELDS)} are {coordinates.shape}, {features.shape}, {events.shape}")
        first = float(events[:, 0].min(initial=np.inf)) - 1
        if not first.is_integer() or abs(first) > _MOST_FRAMES:
            raise ValueError(f"its first frame is {first + 1:g}")
        events = events - [1, 0, 1, 1]
        segment, column = np.nonzero(features > 0)
        values = coordinates.reshape(segments, frames, 8)[segment, column]
        table = pd.DataFrame(values, columns=list(_VALUES))
        table.insert(0, "frame", column + int(first))
        table.insert(0, "segment", segment)
        return cls(table, events)

    def edges(self) -> np.ndarray:
        """Return which row of the table follows which, int64 (m, 2): along segments, then at splits and merges."""
        segment, frame = self.table["segment"].to_numpy(), self.table["frame"].to_numpy()
        along = np.flatnonzero(segment[1:] == segment[:-1])
        joined = [
            self._joint(*event, segment=segment, frame=frame) for event in self.events[~np.isnan(self.events[:, 3])]
        ]
        return np.concatenate([np.column_stack([along, along + 1]), np.array(joined, np.int64).reshape(-1, 2)])

    def _joint(self, at: float, kind: float, own: float, other: float, *, segment: Any, frame: Any) -> tuple[int, int]:
        """Return the rows that an event joins: the last of one segment before it, the first of another from it on."""
        before, after = (other, own) if kind == _BEGINS else (own, other)
        return (
            int(np.flatnonzero((segment == before) & (frame < at))[-1]),
            int(np.flatnonzero((segment == after) & (frame >= at))[0]),
        )
