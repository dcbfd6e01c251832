"""The detections of a movie under correction: those of its table, added ones, and what was moved and deleted."""

from __future__ import annotations

from collections.abc import Sequence

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
        self.gone: dict[int, bool] = {}
        self._added_to: dict[int, tuple[int, ...]] = {}
        self._order = np.argsort(self._frames, kind="stable")
        numbers, starts, counts = np.unique(self._frames[self._order], return_index=True, return_counts=True)
        runs = zip(numbers.tolist(), starts.tolist(), counts.tolist(), strict=True)
        self._rows_of = {number: slice(start, start + count) for number, start, count in runs}

    def __len__(self) -> int:
        """Ids that were ever given, deleted ones included."""
        return len(self._frames) + len(self.added)

    def is_there(self, detection: int) -> bool:
        """Whether there is a detection of this id now."""
        return 0 <= detection < len(self) and detection not in self.gone

    def require(self, *detections: int) -> None:
        """Refuse ids without a detection."""
        for detection in detections:
            if not isinstance(detection, (int, np.integer)) or not self.is_there(int(detection)):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise InvalidEdit(
                    f"there is no detection {detection!r}: ids are rows of the table, 0 to {len(self._frames) - 1}, "
                    "then the added ones; a deleted one is away until its deletion is undone."
                )

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

    def physical(self, detections: np.ndarray) -> np.ndarray:
        """Return physical positions, float64 (k, d)."""
        n = len(self._frames)
        out = self._positions[np.where(detections < n, detections, 0)] if n else np.zeros((len(detections), self.ndim))
        if not self.places and not self.added:
            return out
        scale = np.array(self.points.calibration.scale_for(self.ndim))
        for k, detection in enumerate(detections.tolist()):
            if detection >= n or detection in self.places:
                out[k] = np.array(self.place(detection)) * scale
        return out

    @property
    def ndim(self) -> int:
        """Spatial axes."""
        return self.points.ndim

    def of_frame(self, frame: int) -> np.ndarray:
        """Return the detections of a frame, int64."""
        own = self._order[self._rows_of.get(frame, slice(0, 0))]
        own = np.concatenate([own, np.array(self._added_to.get(frame, ()), np.int64)])
        return own if not self.gone else own[[detection not in self.gone for detection in own.tolist()]]

    def add(self, frame: int, place: Sequence[float]) -> int:
        """Add a detection and return its id."""
        if not isinstance(frame, (int, np.integer)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidEdit(f"frame needs a whole number; got {frame!r}.")
        first = int(self._frames.min()) if len(self._frames) else int(frame)
        if (frame - first) % self.points.frame_step:
            raise InvalidEdit(f"frame needs to be {first} or a multiple of {self.points.frame_step} away; got {frame}.")
        detection = len(self)
        self._journal.put(self.added, detection, (int(frame), self._checked(place)))
        self._journal.put(self._added_to, int(frame), (*self._added_to.get(int(frame), ()), detection))
        return detection

    def move(self, detection: int, place: Sequence[float]) -> None:
        """Give a detection another position."""
        self._journal.put(self.places, detection, self._checked(place))

    def remove(self, detection: int) -> None:
        """Take a detection away; its id stays its own."""
        self._journal.put(self.gone, detection, value=True)

    def _checked(self, place: Sequence[float]) -> tuple[float, ...]:
        values = np.asarray(place, np.float64)
        if values.shape != (self.ndim,) or not np.isfinite(values).all():
            raise InvalidEdit(
                f"position needs {self.ndim} finite numbers ({', '.join(self.points.axes)}); got {place!r}."
            )
        return tuple(values.tolist())
