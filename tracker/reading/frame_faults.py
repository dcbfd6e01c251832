"""Frames that are not what a steady camera gives: blank, repeated, shifted as a whole, or unlike their neighbours.

Two frames are compared by the correlation of their mean projections along z. Where it falls far below that of the
other pairs, and one common shift brings it back, the stage has jumped; where no shift does, frames are missing between
them, or the scene has changed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import fft

from .frames import BRIGHTEST
from .movie import Movie

MOST_BYTES = 2 << 30
"""Of a movie that are looked at: seconds of reading, not minutes."""

_LEAST_PAIRS = 4
_FALL, _SPREADS = 0.1, 6.0
"""By how much, and by how many times the usual spread, a correlation has to fall below the usual one."""
_BROUGHT_BACK = 0.5
"""Share of the fall that a common shift has to bring back."""
_LEAST_SHIFT = 2


@dataclass(frozen=True)
class Shift:
    """A jump of the whole scene: the frame that it comes with, and how far, in voxels along y and x."""

    frame: int
    y: int
    x: int


@dataclass(frozen=True)
class FrameFaults:
    """What is odd about the frames of a movie.

    Parameters
    ----------
    looked_at : int
        Number of frames that were compared, from the first on.
    frozen : tuple of int
        Frames that are the same as the one before them, bit by bit.
    shifted : tuple of Shift
    unlike : tuple of int
        Frames that are very different from the one before, as if frames were missing in between.
    blank : tuple of int
        Frames without two different pixels, those that are no numbers apart.
    """

    looked_at: int
    frozen: tuple[int, ...] = ()
    shifted: tuple[Shift, ...] = ()
    unlike: tuple[int, ...] = ()
    blank: tuple[int, ...] = ()

    def lines(self) -> list[str]:
        """Return a line on everything odd, with what it does to tracks."""
        said: list[str] = []
        if self.blank:
            said.append(f"blank: {_named(self.blank)} without any contrast; tracks have gaps there, or end.")
        if self.frozen:
            said.append(
                f"frozen: {_named(self.frozen)} the same as the one before, bit by bit; nothing moves there, which "
                "slows speeds and shortens displacements."
            )
        if self.shifted:
            jumps = ", ".join(f"{jump.frame} (by y {jump.y:+d}, x {jump.x:+d} voxels)" for jump in self.shifted)
            said.append(f"shifted: the whole scene jumps with frame {jumps}; align the frames before linking.")
        if self.unlike:
            said.append(
                f"unlike: {_named(self.unlike)} very different from the one before, as if frames were missing in "
                "between; steps there are longer than elsewhere."
            )
        return said


def frame_faults(movie: Movie, most_bytes: int = MOST_BYTES) -> FrameFaults:
    """Compare every frame of a movie with the one before it.

    Parameters
    ----------
    movie : Movie
    most_bytes : int
        Frames are read, from the first on, as long as they take no more than this; two at least.

    Returns
    -------
    FrameFaults

    Raises
    ------
    InvalidInput
        If the file is truncated or damaged in one of these frames.
    """
    numbers = movie.frame_numbers[: max(2, most_bytes // movie.bytes_per_frame)]
    frozen: list[int] = []
    blank: list[int] = []
    pairs: list[tuple[int, float, float, int, int]] = []
    before = seen = None
    for number in numbers:
        frame = movie.frame(number)
        if _is_blank(frame):
            blank.append(number)
            before = seen = None
            continue
        flat = _projection(frame)
        if before is not None and seen is not None:
            if np.array_equal(frame, before, equal_nan=frame.dtype.kind == "f"):
                frozen.append(number)
            else:
                pairs.append((number, _correlation(seen, flat), *_best_shift(seen, flat)))
        before, seen = frame, flat
    shifted, unlike = _judged(pairs)
    return FrameFaults(len(numbers), tuple(frozen), shifted, unlike, tuple(blank))


def _projection(frame: np.ndarray) -> np.ndarray:
    """Return the mean along z of the voxels that are numbers; where a column holds none, the mean of all others."""
    planes = frame.reshape(-1, *frame.shape[-2:])
    with np.errstate(over="ignore", invalid="ignore"):  # of voxels without a value
        flat = planes.mean(axis=0, dtype=np.float32)
        unknown = ~(np.abs(flat) < BRIGHTEST)
        if not unknown.any():
            return flat
        columns = planes[:, unknown]
        known = np.abs(columns) < BRIGHTEST
        flat[unknown] = np.where(known, columns, 0).sum(axis=0) / known.sum(axis=0)
    return np.where(np.isnan(flat), np.nanmean(flat), flat)


def _is_blank(frame: np.ndarray) -> bool:
    """Whether all pixels that are numbers are equal."""
    low, high = frame.min(), frame.max()
    if np.isnan(low):
        values = frame[np.isfinite(frame)]
        return not values.size or bool(values.min() == values.max())
    return bool(low == high)


def _judged(pairs: list[tuple[int, float, float, int, int]]) -> tuple[tuple[Shift, ...], tuple[int, ...]]:
    """Tell shifts and gaps from what is usual in a movie."""
    plain = np.array([pair[1] for pair in pairs])
    if len(plain) < _LEAST_PAIRS:
        return (), ()
    usual = float(np.median(plain))
    spread = 1.4826 * float(np.median(np.abs(plain - usual)))
    fallen = plain < usual - max(_FALL, _SPREADS * spread)
    shifted: list[Shift] = []
    unlike: list[int] = []
    for (number, here, there, y, x), is_fallen in zip(pairs, fallen, strict=True):
        if not is_fallen:
            continue
        if max(abs(y), abs(x)) >= _LEAST_SHIFT and there - here >= _BROUGHT_BACK * (usual - here):
            shifted.append(Shift(number, y, x))
        else:
            unlike.append(number)
    return tuple(shifted), tuple(unlike)


def _best_shift(before: np.ndarray, after: np.ndarray) -> tuple[float, int, int]:
    """Return the correlation at the common shift that overlays two frames best, and that shift along y and x."""
    shape = before.shape
    cross = np.conj(fft.rfft2(before - before.mean())) * fft.rfft2(after - after.mean())
    peaks = fft.irfft2(cross, shape)
    y, x = np.unravel_index(int(np.argmax(peaks)), shape)
    down, right = (int(at) - length * (2 * int(at) > length) for at, length in zip((y, x), shape, strict=True))
    return _correlation(*_overlap(before, after, down, right)), down, right


def _overlap(before: np.ndarray, after: np.ndarray, down: int, right: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what two frames share when the second is shifted back."""
    rows, columns = before.shape
    first = before[max(0, -down) : rows - max(0, down), max(0, -right) : columns - max(0, right)]
    second = after[max(0, down) : rows - max(0, -down), max(0, right) : columns - max(0, -right)]
    return first, second


def _correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Return Pearson's correlation; 0 where a frame has one value only."""
    first, second = first - first.mean(), second - second.mean()
    size = math.sqrt(float((first**2).sum()) * float((second**2).sum()))
    return float((first * second).sum()) / size if size else 0.0


def _named(frames: tuple[int, ...]) -> str:
    """Return frame numbers in a sentence, not more than a dozen."""
    shown = ", ".join(map(str, frames[:12])) + (f" and {len(frames) - 12} more" if len(frames) > 12 else "")
    return f"frame {shown} is" if len(frames) == 1 else f"frames {shown} are"
