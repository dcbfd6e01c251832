"""Which part of very many vertices is drawn: napari takes seconds for a Tracks layer of a million.

Frames around the current one are drawn whole; where even one window of `_FEWEST` frames is too much, whole tracks are
left out, evenly over their ids.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...tracker.points import Tracks

_FEWEST = 5  # frames that a tail needs to be seen


@dataclass(frozen=True)
class Window:
    """What is drawn.

    Attributes
    ----------
    rows : bool (n,) or None
        Rows of the table; None = all.
    first, last : int
        Frames drawn.
    every : int
        One track of so many is drawn.
    """

    rows: np.ndarray | None
    first: int
    last: int
    every: int

    def shows(self, frame: int) -> bool:
        """Whether the frame lies in the window."""
        return self.rows is None or self.first <= frame <= self.last

    def describe(self, n: int) -> str:
        """Return what is drawn in one sentence, empty when it is everything."""
        if self.rows is None:
            return ""
        drawn = int(np.count_nonzero(self.rows))
        part = f", one track of {self.every}" if self.every > 1 else ""
        return f"Drawn: {drawn:,} of {n:,} points (frames {self.first} to {self.last}{part}); everything is kept."


def window_around(tracks: Tracks, frame: int, most: int) -> Window:
    """Return the widest window of time around a frame that holds at most `most` points."""
    numbers = tracks.frame_numbers
    first, last = (int(numbers[0]), int(numbers[-1])) if len(numbers) else (0, 0)
    if len(tracks) <= most:
        return Window(None, first, last, 1)
    frames = tracks.frames
    per_frame = np.bincount(frames - first, minlength=last - first + 1)
    begin, end = _widest(per_frame, min(max(frame, first), last) - first, most)
    rows = (frames >= first + begin) & (frames <= first + end)
    every = max(1, -(-int(np.count_nonzero(rows)) // most))
    if every > 1:
        rows &= tracks.table["track_id"].to_numpy() % every == 0
    return Window(rows, first + begin, first + end, every)


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
