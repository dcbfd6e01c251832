"""Defects of a camera: pixels, rows and columns that differ from what surrounds them, alike in every frame.

They are known from the movie itself. Whatever optics show is as wide as their point spread function: a particle of the
smallest diameter that is looked for, two pixels, lights those next to its own with a quarter of its light or more. A
defect lights none; and it stays where it is while the sample goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from ...matching.jit.threads import processors, side_by_side
from ..reading.contiguous import NEW_MEMORY, PixelBuffer
from .pixels import grey_levels
from .threshold import MAD_TO_SIGMA, pixel_noise, spread_frames

if TYPE_CHECKING:
    from ..calibrating.calibration import Calibration
    from ..reading.frames import FrameSource
    from ..timeline import Timeline

_LOOKS = 3  # at different images, at least: chance does not hit one pixel as often
_PLANES = 8  # of a stack that are looked at; with so many one frame is enough
_STANDS_OUT = 5.0  # times the noise of a pixel
_EACH = 0.5  # of what it differs by in the median, in each look
_LIGHTS = 0.1  # of its own light a defect sends to its neighbours at most; the smallest particle sends a quarter
_WIDEST = 3  # rows or columns side by side
_ALONG = 0.9  # of a row or column, at least, differs
_LONG = 32  # pixels of a row or column, whose median tells no less
_LONG_ENOUGH = 128  # of them, whose median tells as much as that of more
_MOST = 0.1  # of all pixels; of more than these the sample itself is made
_BAND = 1 << 18  # pixels looked at at a time
_FAR = 3  # pixels from a defect to those that fill it in, at most


_Fillings = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Defects:
    """Which pixels of a frame are a camera's, not the sample's.

    Parameters
    ----------
    single : ndarray, bool (y, x)
        Pixels by themselves.
    rows, columns : tuple of int
        That differ as a whole.
    """

    single: np.ndarray
    rows: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()

    @property
    def mask(self) -> np.ndarray:
        """Where any of them is, bool (y, x)."""
        mask = self.single.copy()
        mask[list(self.rows)] = True
        mask[:, list(self.columns)] = True
        return mask

    def in_words(self, origin: Sequence[int] = (0, 0)) -> str:
        """Return what they are and what is done about them; rows and columns are numbered from an `origin`."""
        pixels, found = int(self.single.sum()), list[str]()
        if pixels:
            found.append(f"{pixels} pixel{'s' if pixels > 1 else ''}")
        for name, lines, first in (("row", self.rows, origin[-2]), ("column", self.columns, origin[-1])):
            if lines:
                found.append(f"{name}{'s' if len(lines) > 1 else ''} {', '.join(str(line + first) for line in lines)}")
        is_one = pixels + len(self.rows) + len(self.columns) == 1
        differ, them, they_are, their = (
            ("differs", "it", "it is", "its") if is_one else ("differ", "them", "they are", "their")
        )
        return (
            f"{' and '.join(found)} {differ} from what surrounds {them} alike in every frame, as defects of a camera "
            f"do; {they_are} filled in from {their} neighbours, so no particle of a single pixel is found there."
        )


class Mended:
    """A movie whose camera's defects, where it has any, are filled in from their neighbours.

    They are looked for when they, or a frame, are asked for first: other threads read their frames meanwhile.

    Parameters
    ----------
    movie : FrameSource
    kept_in : PixelBuffer, optional
        Memory in which frames that are looked at for defects are kept until they are asked for, so that none is read
        twice. None: they are read again.
    """

    def __init__(self, movie: FrameSource, *, kept_in: PixelBuffer | None = None) -> None:
        """Look at nothing yet."""
        self.movie = movie
        self._kept_in, self._kept = kept_in, dict[int, np.ndarray]()
        self._looked_at = _looked_at(movie)
        self._looking = Lock()
        self._seen: tuple[Defects | None, _Fillings | None] | None = None

    def __len__(self) -> int:
        """Number of frames to read."""
        return len(self.movie)

    def frame(self, number: int, into: PixelBuffer = NEW_MEMORY) -> np.ndarray:
        """Return one frame, filled in; in the memory that the movie gives where it is this caller's own."""
        is_kept = self._kept_in is not None and number in self._looked_at
        image = None if is_kept else self.movie.frame(number, into)
        _, fillings = self.look()
        if image is None:
            kept = self._kept.pop(number, None)
            image = self.movie.frame(number, into) if kept is None else kept
        if fillings is None:
            return image
        if not (image.flags.writeable and (image.flags.owndata or into is not NEW_MEMORY)):
            image = image.copy()
        places, sources, weights = fillings
        for plane in image.reshape((-1, *image.shape[-2:])):
            filled = (plane[tuple(sources)].astype(np.float64) * weights).sum(axis=1)
            plane[tuple(places)] = filled if plane.dtype.kind == "f" else np.rint(filled)
        return image

    def look(self) -> tuple[Defects | None, _Fillings | None]:
        """Return the defects, and how they are filled in; the first thread that asks looks for them."""
        with self._looking:
            if self._seen is None:
                into = replace(self._kept_in or NEW_MEMORY, threads=processors())  # other frames wait for what is seen
                looked_at = {number: self.movie.frame(number, into) for number in self._looked_at}
                defects = camera_defects(list(looked_at.values()), self.movie.dtype)
                self._kept.update(looked_at if self._kept_in else {})
                self._seen = defects, None if defects is None else _fillings(defects.mask)
            return self._seen

    @property
    def defects(self) -> Defects | None:
        """What they are, None of a camera without."""
        return self.look()[0]

    @property
    def notes(self) -> list[str]:
        """What is to be said of what is filled in."""
        return [] if self.defects is None else [self.defects.in_words(self.origin)]

    @property
    def path(self) -> Path:
        """What errors call it."""
        return self.movie.path

    @property
    def frame_numbers(self) -> tuple[int, ...]:
        """The frames to read, ascending."""
        return self.movie.frame_numbers

    @property
    def timeline(self) -> Timeline:
        """The same, and the step between them."""
        return self.movie.timeline

    @property
    def shape(self) -> tuple[int, ...]:
        """(z, y, x) or (y, x) of a frame."""
        return self.movie.shape

    @property
    def ndim(self) -> int:
        """Number of spatial axes, 2 or 3."""
        return self.movie.ndim

    @property
    def origin(self) -> tuple[int, ...]:
        """Where frames begin in those of the file."""
        return self.movie.origin

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the pixels."""
        return self.movie.dtype

    @property
    def calibration(self) -> Calibration:
        """Voxel size and frame interval."""
        return self.movie.calibration


def without_defects(movie: FrameSource) -> Mended:
    """Return the movie with its camera's defects filled in; itself where that is done."""
    return movie if isinstance(movie, Mended) else Mended(movie)


def camera_defects(frames: Sequence[np.ndarray], dtype: np.dtype[Any]) -> Defects | None:
    """Return the defects that frames of a type show, None where they show none or too few images to tell."""
    looks = _looks(frames)
    if len(looks) < _LOOKS or min(looks[0].shape) <= 2 * _FAR:
        return None
    few = [looks[number] for number in spread_frames(tuple(range(len(looks))), _LOOKS)]
    noise = float(np.median(side_by_side(lambda look: pixel_noise(look[:: len(few)], dtype), few)))
    height, width = looks[0].shape
    rows = _lines([look.T for look in few], noise) if width >= _LONG else ()
    columns = _lines(few, noise) if height >= _LONG else ()
    single = _single(looks, noise)
    single[list(rows)] = single[:, list(columns)] = False
    found = Defects(single, rows, columns)
    return found if 0 < found.mask.mean() <= _MOST else None


def _looked_at(movie: FrameSource) -> tuple[int, ...]:
    """Return which frames tell of defects: three; of deep stacks the middle one, as a camera takes each plane."""
    frames = spread_frames(movie.frame_numbers, _LOOKS)
    is_deep = movie.ndim == 3 and movie.shape[0] >= _PLANES
    return (frames[len(frames) // 2],) if is_deep and frames else frames


def _looks(frames: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return images of the camera that differ from the one before and are not blank, float32 (y, x)."""
    images = [
        planes[plane]
        for planes in (frame.reshape((-1, *frame.shape[-2:])) for frame in frames)
        for plane in spread_frames(tuple(range(len(planes))), _PLANES)
    ]

    def look(at: int) -> np.ndarray | None:
        image = images[at]
        tells = (image != image.flat[0]).any() and (at == 0 or not np.array_equal(image, images[at - 1]))
        return grey_levels(image)[0] if tells else None

    return [grey for grey in side_by_side(look, range(len(images))) if grey is not None]


def _single(looks: Sequence[np.ndarray], noise: float) -> np.ndarray:
    """Return the pixels that stand out by themselves, alike in all looks, bool (y, x).

    None where chance alone may make as many: rare photons are single pixels too, and those of several looks meet.
    """
    single = np.zeros(looks[0].shape, bool)

    def look_for(sign: float) -> None:
        y, x = _above_neighbours(looks[0], sign, _EACH * _STANDS_OUT * noise)
        by_chance = len(y) * (len(y) / single.size) ** (len(looks) - 1)
        for look in looks[1:]:
            stays = _is_above(sign * _around(look, y, x), _EACH * _STANDS_OUT * noise)
            y, x = y[stays], x[stays]
        found = _is_single([sign * _around(look, y, x) for look in looks], noise)
        if found.sum() > by_chance:
            single[y[found], x[found]] = True

    side_by_side(look_for, (1.0, -1.0))
    return single


def _above_neighbours(look: np.ndarray, sign: float, least: float) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and columns of the pixels above all of their four neighbours but one by more than `least`."""
    height, width = look.shape
    rows_at_a_time = max(1, _BAND // width)

    def of_band(first: int) -> np.ndarray:
        last = min(first + rows_at_a_time, height)
        band = sign * look[_mirrored(np.arange(first - 1, last + 1), height)]
        band = np.pad(band, ((0, 0), (1, 1)), mode="reflect")
        beside = band[1:-1, :-2], band[1:-1, 2:], band[:-2, 1:-1], band[2:, 1:-1]
        y, x = np.nonzero(band[1:-1, 1:-1] > _second(*beside) + least)
        return np.stack([y + first, x])

    y, x = np.concatenate(side_by_side(of_band, range(0, height, rows_at_a_time)), axis=1)
    return y, x


def _is_above(squares: np.ndarray, least: float) -> np.ndarray:
    """Whether the middles of squares are above all of their four neighbours but one by more than `least`, bool (n,)."""
    beside = _second(squares[:, 2, 1], squares[:, 2, 3], squares[:, 1, 2], squares[:, 3, 2])
    return squares[:, 2, 2] > beside + least


def _second(left: np.ndarray, right: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return the second highest of four neighbours."""
    beside = np.maximum(np.maximum(left, right), np.minimum(before, after))
    return np.minimum(beside, np.maximum(np.maximum(before, after), np.minimum(left, right)))


def _around(look: np.ndarray, y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the squares of 5 × 5 pixels around some, mirrored at the borders, float32 (n, 5, 5)."""
    steps = np.arange(-2, 3)
    at_y, at_x = (_mirrored(at[:, None] + steps, size) for at, size in zip((y, x), look.shape, strict=True))
    return look[at_y[:, :, None], at_x[:, None, :]]


def _mirrored(at: np.ndarray, size: int) -> np.ndarray:
    """Return which of so many pixels stand at places, mirrored about the outermost ones."""
    inside = np.abs(at)
    return np.where(inside >= size, 2 * size - 2 - inside, inside)


def _is_single(squares: Sequence[np.ndarray], noise: float) -> np.ndarray:
    """Whether the middles of squares stand out in each look while those next to them do not, bool (n,)."""
    ring, beside = np.ones((5, 5), bool), np.zeros((5, 5), bool)
    beside[1:4, 1:4], ring[1:4, 1:4] = True, False
    beside[2, 2] = False
    own, sent, spread = list[np.ndarray](), list[np.ndarray](), list[np.ndarray]()
    for square in squares:
        level = np.median(square[:, ring], axis=1)
        spread.append(np.median(np.abs(square[:, ring] - level[:, None]), axis=1))
        own.append(square[:, 2, 2] - level)
        sent.append(np.median(square[:, beside], axis=1) - level)
    usual = np.median(own, axis=0)
    is_steady = np.min(own, axis=0) >= _EACH * usual
    noise_here = np.maximum(noise, MAD_TO_SIGMA * np.median(spread, axis=0))  # that of light grows with it
    return (usual > _STANDS_OUT * noise_here) & is_steady & (np.median(sent, axis=0) < _LIGHTS * usual)


def _lines(looks: Sequence[np.ndarray], noise: float) -> tuple[int, ...]:
    """Return which columns of the looks differ from those around them, nearly all along."""
    profiles = [_median_down(look[:: max(1, len(look) // _LONG_ENOUGH)]) for look in looks]
    differs = np.array([profile - _running_median(profile) for profile in profiles])
    usual = np.median(differs, axis=0)
    is_steady = (differs * np.sign(usual)).min(axis=0) >= _EACH * np.abs(usual)
    stands_out = np.flatnonzero((np.abs(usual) > _STANDS_OUT * noise) & is_steady)
    found: list[int] = []
    for group in np.split(stands_out, np.flatnonzero(np.diff(stands_out) > 1) + 1):
        beside = [column for column in (group[0] - 1, group[-1] + 1) if 0 <= column < len(usual)] if len(group) else []
        if not beside or len(group) > _WIDEST:
            continue
        least = np.abs(usual[group]).min()
        is_sharp = np.abs(usual[beside]).max() < _LIGHTS * least
        steps = [(look[:, group] - look[:, beside].mean(axis=1)[:, None]) * np.sign(usual[group]) for look in looks]
        if is_sharp and min(np.quantile(step, 1.0 - _ALONG) for step in steps) >= _EACH * least:
            found += group.tolist()
    return tuple(found)


def _running_median(profile: np.ndarray) -> np.ndarray:
    """Return the median over twice as many values as the widest defect has, and one."""
    padded = np.pad(profile, _WIDEST, mode="reflect")
    return _median_down(np.lib.stride_tricks.sliding_window_view(padded, 2 * _WIDEST + 1).T)


def _median_down(image: np.ndarray) -> np.ndarray:
    """Return the median of each column: sorted one by one they take a fifth of the time of NumPy's median."""
    along = np.sort(np.ascontiguousarray(image.T), axis=1)
    size = along.shape[1]
    return (along[:, (size - 1) // 2] + along[:, size // 2]) / 2


def _fillings(mask: np.ndarray) -> _Fillings:
    """Return the places of defects (2, n), those that fill each in (2, n, m), and with which weights (n, m).

    Of the nearest squares around a defect the first that holds other pixels.
    """
    places = np.array(np.nonzero(mask))
    steps = np.mgrid[-_FAR : _FAR + 1, -_FAR : _FAR + 1].reshape(2, 1, -1)
    at = places[:, :, None] + steps
    limits = np.array(mask.shape).reshape(2, 1, 1)
    is_inside = ((at >= 0) & (at < limits)).all(axis=0)
    sources = np.clip(at, 0, limits - 1)
    is_whole = is_inside & ~mask[tuple(sources)]
    distance = np.where(is_whole, np.abs(steps).max(axis=0), _FAR + 1)
    nearest = distance.min(axis=1, keepdims=True)
    weights = ((distance == nearest) & is_whole).astype(np.float64)
    known = nearest[:, 0] <= _FAR
    a_source = np.take_along_axis(sources, distance.argmin(axis=1)[None, :, None], axis=2)
    sources = np.where(weights > 0, sources, a_source)  # what has no weight may have no value either
    return places[:, known], sources[:, known], weights[known] / weights[known].sum(axis=1, keepdims=True)
