"""Which part of very many vertices is drawn: napari takes seconds for a Tracks layer of a million.

Frames around the current one are drawn whole; where even one window of `_FEWEST` frames is too much, whole tracks are
left out, evenly over their ids, or single points where there are no tracks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....tracker.points import Points, Tracks

_FEWEST = 5  # frames that a tail needs to be seen


@dataclass(frozen=True)
class DrawnWindow:
    """What is drawn.

    Attributes
    ----------
    rows : bool (n,) or None
        Rows of the table; None = all.
    first, last : int
        Frames drawn.
    every : int
        One track (or point, where they have no tracks) of so many is drawn.
    of : str
        "track" or "point".
    """

    rows: np.ndarray | None
    first: int
    last: int
    every: int
    of: str = "track"

    def shows(self, frame: int) -> bool:
        """Whether the frame lies in the window."""
        return self.rows is None or self.first <= frame <= self.last

    def describe(self, n: int) -> str:
        """Return what is drawn in one sentence, empty when it is everything."""
        if self.rows is None:
            return ""
        drawn = int(np.count_nonzero(self.rows))
        return f"Drawn: {drawn:,} of {n:,} points ({self.said}); everything is kept."

    @property
    def said(self) -> str:
        """Which frames, and which part of the tracks or points in them."""
        part = f", one {self.of} of {self.every}" if self.every > 1 else ""
        return f"frames {self.first} to {self.last}{part}"


def window_around(points: Points, frame: int, most: int) -> DrawnWindow:
    """Return the widest window of time around a frame that holds at most `most` points."""
    numbers = points.frame_numbers
    first, last = (int(numbers[0]), int(numbers[-1])) if len(numbers) else (0, 0)
    if len(points) <= most:
        return DrawnWindow(None, first, last, 1)
    frames = points.frames
    per_frame = np.bincount(frames - first, minlength=last - first + 1)
    begin, end = _widest(per_frame, min(max(frame, first), last) - first, most)
    rows = (frames >= first + begin) & (frames <= first + end)
    every = max(1, -(-int(np.count_nonzero(rows)) // most))
    of = "track" if isinstance(points, Tracks) else "point"
    if every > 1:
        numbered = points.table["track_id"].to_numpy() if isinstance(points, Tracks) else np.arange(len(points))
        rows &= numbered % every == 0
    return DrawnWindow(rows, first + begin, first + end, every, of)


def _widest(per_frame: np.ndarray, centre: int, most: int) -> tuple[int, int]:
    """Return (begin, end) around `centre`, grown evenly to both sides, three frames of tail for one ahead."""
    begin = end = centre
    total = int(per_frame[centre])
    last = len(per_frame) - 1
    while begin > 0 or end < last:
        back = begin > 0 and (end == last or (centre - begin) <= 3 * (end - centre))
        step = int(per_frame[begin - 1] if back else per_frame[end + 1])
        if total + step > most and end - begin + 1 >= min(_FEWEST, last + 1):
            break
        total += step
        begin, end = (begin - 1, end) if back else (begin, end + 1)
    return begin, end
