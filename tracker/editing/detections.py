"""The detections of a movie under correction: those of its table, added ones, and what was moved and deleted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InvalidEdit
from ..points import Points
from .journal import Journal


class Detections:
    """Detections by id: rows of the table, then the added ones in their order.

    Parameters
    ----------
    points : Points
    journal : Journal
        Notes what is written over.
    """

    def __init__(self, points: Points, journal: Journal) -> None:
        self.points, self._journal = points, journal
        self._frames, self._positions = points.frames, points.positions
        self._places = points.table[list(points.axes)].to_numpy()
        self.added: dict[int, tuple[int, tuple[float, ...]]] = {}
        self.places: dict[int, tuple[float, ...]] = {}
        self.measures: dict[int, Mapping[str, float]] = {}
        self.gone: dict[int, bool] = {}
        self._placed_in: dict[int, tuple[int, ...]] = {}
        self._order = np.argsort(self._frames, kind="stable")
        self._in_order = self._positions[self._order]
        numbers, starts, counts = np.unique(self._frames[self._order], return_index=True, return_counts=True)
        runs = zip(numbers.tolist(), starts.tolist(), counts.tolist(), strict=True)
        self._rows_of = {number: slice(start, start + count) for number, start, count in runs}

    def __len__(self) -> int:
        """Ids that were ever given, deleted ones included."""
        return len(self._frames) + len(self.added)

    def is_there(self, detection: int) -> bool:
        """Whether there is a detection of this id now."""
        return self._is_id(detection) and detection not in self.gone

    def _is_id(self, detection: Any) -> bool:
        """Whether this is an id that was ever given."""
        is_whole = isinstance(detection, (int, np.integer)) and not isinstance(detection, bool)
        return is_whole and 0 <= int(detection) < len(self)

    def require(self, *detections: int) -> None:
        """Refuse ids without a detection."""
        for detection in detections:
            if not self.is_there(detection):
                raise self._missing(detection)

    def require_id(self, detection: int) -> None:
        """Refuse what never was an id."""
        if not self._is_id(detection):
            raise self._missing(detection)

    def _missing(self, detection: object) -> InvalidEdit:
        return InvalidEdit(
            f"there is no detection {detection!r}: ids are rows of the table, 0 to {len(self._frames) - 1}, "
            "then the added ones; a deleted one does not count until its deletion is undone.",
            kind="no detection",
        )

    def refusal(self, problem: str, kind: str, *detections: int) -> InvalidEdit:
        """Return the error of an act on detections that are there."""
        return InvalidEdit(problem, kind=kind, detections=detections, frames=tuple(map(self.frame, detections)))

    def frame(self, detection: int) -> int:
        """Return the frame number of a detection."""
        n = len(self._frames)
        return int(self._frames[detection]) if detection < n else self.added[detection][0]

    def place(self, detection: int) -> tuple[float, ...]:
        """Return its position z, y, x (or y, x), in the table's coordinates."""
        if detection in self.places:
            return self.places[detection]
        if detection in self.added:
            return self.added[detection][1]
        return tuple(self._places[detection].tolist())

    def physical(self, detection: int) -> np.ndarray:
        """Return its physical position, float64 (d,)."""
        if detection in self.added or detection in self.places:
            return np.array(self.place(detection)) * self.points.calibration.scale_for(self.ndim)
        return self._positions[detection]

    @property
    def ndim(self) -> int:
        """Spatial axes."""
        return self.points.ndim

    def near(self, frame: int, place: np.ndarray, radius: float) -> list[int]:
        """Return the detections of a frame that are at most so far from a physical position."""
        run = self._rows_of.get(frame, slice(0, 0))
        inside = (np.abs(self._in_order[run] - place) <= radius).all(axis=1)
        stayed = [row for row in self._order[run][inside].tolist() if row not in self.places]
        found = [d for d in (*stayed, *self._placed_in.get(frame, ())) if d not in self.gone]
        return [d for d in found if np.linalg.norm(self.physical(d) - place) <= radius]

    def add(self, frame: int, place: Sequence[float]) -> int:
        """Add a detection and return its id."""
        if not isinstance(frame, (int, np.integer)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidEdit(f"frame needs a whole number; got {frame!r}.")
        first = int(self._frames.min()) if len(self._frames) else int(frame)
        if (frame - first) % self.points.frame_step:
            raise InvalidEdit(f"frame needs to be {first} or a multiple of {self.points.frame_step} away; got {frame}.")
        timeline = self.points.timeline
        if timeline.numbers is not None and frame not in timeline.numbers:
            raise InvalidEdit(f"frame {frame} was not looked at: only frames {timeline.spans()} were.")
        detection = len(self)
        self._journal.put(self.added, detection, (int(frame), self.checked(place)))
        self._note_place(detection, int(frame))
        return detection

    def move(self, detection: int, place: Sequence[float]) -> None:
        """Give a detection another position."""
        if detection not in self.places and detection not in self.added:
            self._note_place(detection, self.frame(detection))
        self._journal.put(self.places, detection, self.checked(place))

    def measure(self, detection: int, measures: Mapping[str, float] | None) -> None:
        """Note what a detection measures where it was added or moved to; None leaves what is known of it."""
        if measures is not None:
            self._journal.put(self.measures, detection, {name: float(value) for name, value in dict(measures).items()})

    def _note_place(self, detection: int, frame: int) -> None:
        """Note that a detection of a frame is not where the table has it."""
        self._journal.put(self._placed_in, frame, (*self._placed_in.get(frame, ()), detection))

    def remove(self, detection: int) -> None:
        """Take a detection away; its id stays its own."""
        self._journal.put(self.gone, detection, value=True)

    def checked(self, place: Sequence[float]) -> tuple[float, ...]:
        """Return a position as it is kept; refuse what is none."""
        try:
            values = np.asarray(place, np.float64)
        except (TypeError, ValueError):
            values = np.empty(0)
        if values.shape != (self.ndim,) or not np.isfinite(values).all():
            raise InvalidEdit(
                f"position needs {self.ndim} finite numbers ({', '.join(self.points.axes)}); got {place!r}."
            )
        return tuple(values.tolist())
