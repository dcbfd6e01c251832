"""A diameter from the image itself: the scale at which its blobs stand out most.

Automatic scale selection after Lindeberg (IJCV 30, 1998): the scale-normalised Laplacian of a blob is highest at the
blob's own diameter. The scales are compared by the median response of the peaks that stand out from the noise at
each: grains within a blob are mostly fainter than the blob as a whole; and where blobs touch, they and their cluster
make two maxima along the scale, of which the first, with more blobs, is meant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from ...matching.device import cuda
from ...matching.jit.threads import side_by_side
from ..calibrating.digits import in_digits, in_unit
from ..errors import InvalidInput
from .defects import without_defects
from .peaks import can_be_listed
from .pixels import Pixels, grey_levels, held_by, queue_of, working_on
from .side_by_side import DEFAULT_BUDGET, IncomingFrames, looked_at, work_plan
from .threshold import (
    QualitySample,
    image_qualities,
    image_qualities_ahead,
    is_symmetric,
    pixel_noise,
    pooled,
    roundings_of,
    spread_frames,
    threshold_between,
)

if TYPE_CHECKING:
    from ..reading.frames import FrameSource

SUGGESTING_FRAMES = 3
_IF_EMPTY_FRAMES = 24  # where nothing stands out in those
_STEP = 2.0**0.25  # from one diameter to the next
_VOXELS = 1 << 20  # of a frame that are looked at
_BAND = 1 << 18  # voxels whose grey levels are squared at a time
_SMALLEST = 2.0  # diameter in voxels of y and x, the least that `detect` takes
_FINE = 16.0  # diameter in voxels from which the image is binned
_NEARLY = 2.0 / 3.0  # of the strongest response
_MANY_MORE = 1.5  # times the blobs: a cluster has two members or more
_MOST = 0.5  # of the blobs that larger diameters find
_BETWEEN_STEPS = 0.5  # steps that the vertex of a maximum is away from it at most
_FAINT = 0.2  # of the response of the smallest diameter
_NOT_FAR_BEHIND = 3.0  # times the response of another diameter, which is worth a word
_NOT_FEW = 16.0  # times as many blobs leave few
_STANDS_OUT = 1.4  # median response over what noise hardly ever reaches
_MANY_STAND_OUT = 1.25  # that of many: chance makes one or two that high, and skewed noise
_MANY = 20


@dataclass(frozen=True)
class DiameterSuggestion:
    """A suggested diameter and why.

    Parameters
    ----------
    diameter : float
        In `unit`.
    unit : str
    reason : str
        One or two sentences for the user.
    diameters : ndarray, float64 (n,)
        The diameters that were tried, ascending.
    responses : ndarray, float64 (n,)
        Median response of the blobs found at each, in grey levels; 0 where nothing stands out from the noise.
    blobs : ndarray, int64 (n,)
        Number of blobs found at each.
    other : str
        The end of the reason: another diameter, if there is one, at which blobs stand out nearly as much.
    """

    diameter: float
    unit: str
    reason: str
    diameters: np.ndarray
    responses: np.ndarray
    blobs: np.ndarray
    other: str = ""

    @property
    def hints(self) -> list[str]:
        """What to tell a user who has not asked for the reason."""
        where = f"the diameter {in_unit(self.unit, self.diameter)} was measured."
        return [f"{where} {self.other}"] if self.other else []


@dataclass(frozen=True, eq=False)
class Averages:
    """Windows in which blobs are looked for, averaged as their diameters allow.

    Parameters
    ----------
    stacks : list of ndarray, float32 (images, …)
    noises : list of list of float
        Standard deviation of the white noise of each image.
    scale : ndarray, float64 (ndim,)
        Size of a voxel along each axis.
    """

    stacks: list[np.ndarray]
    noises: list[list[float]]
    scale: np.ndarray
    _known: dict[tuple[int, ...], tuple[list[np.ndarray], list[np.ndarray]]] = field(default_factory=dict, repr=False)

    def over(self, bins: tuple[int, ...]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return the means over so many voxels along each axis, which are kept, and their `roundings_of`."""
        if bins not in self._known:
            means = [_binned(stack, bins) for stack in self.stacks]
            self._known[bins] = means, list(map(roundings_of, means))
        return self._known[bins]


def suggest_diameter(
    movie: FrameSource,
    *,
    bright_on_dark: bool = True,
    device: str = "cpu",
    incoming: IncomingFrames | None = None,
    budget: float = DEFAULT_BUDGET,
) -> DiameterSuggestion:
    """Suggest the diameter of the particles in a movie, from up to three of its frames; 24 if these are empty.

    Diameters from two voxels (of y and x) to half the frame's smaller side are tried, four an octave; of large frames
    the window of about a million voxels with the most contrast is looked at. Deterministic. Particles smaller than two
    voxels get the smallest diameter that `detect` takes.

    Parameters
    ----------
    movie : Movie
    bright_on_dark : bool
        As in `DetectSettings`.
    device : {"cpu", "cuda", "cuda:N", "auto"}
        Where frames are looked at, as in `detect`.
    incoming : IncomingFrames, optional
        Frames that are on their way there, the three among them.
    budget : float
        Bytes of the host that decide how many frames are looked at at a time.

    Raises
    ------
    InvalidInput
        If nothing in those frames stands out from the noise, or the frame is too small to hold a blob.
    """
    movie, scale = without_defects(movie), movie.calibration.scale_for(movie.ndim)
    diameters = diameters_to_try(movie.shape, scale)
    device = work_plan(movie.shape, len(movie.frame_numbers), None, device).device
    frames = spread_frames(movie.frame_numbers, SUGGESTING_FRAMES)
    responses, heights = _blobs_in(movie, frames, diameters, bright_on_dark, device, incoming, budget)
    if not responses.any() and len(movie.frame_numbers) > len(frames):
        frames = spread_frames(movie.frame_numbers, _IF_EMPTY_FRAMES)
        responses, heights = _blobs_in(movie, frames, diameters, bright_on_dark, device, None, budget)
    blobs = np.array([len(found) for found in heights], dtype=np.int64)
    where = _in_words(frames)
    if not responses.any():
        tone, other = ("bright", "darker") if bright_on_dark else ("dark", "brighter")
        raise InvalidInput(
            f"found no {tone} blob that stands out from the noise in {where}; give the diameter, or check the channel.",
            in_python=f"If particles are {other} than the background, set bright_on_dark={not bright_on_dark}.",
            setting="bright_on_dark",
            examples={not bright_on_dark: f"particles are {other} than the background"},
        )
    best = best_diameter(responses, blobs, responses_of_as_many(responses, heights))
    diameter = float(diameters[best]) * _STEP ** _vertex(responses, best)
    unit = movie.calibration.unit
    voxels = " × ".join(f"{diameter / s:.1f}" for s in scale)
    reason = (
        f"Of diameters from {in_digits(diameters[0])} to {in_unit(unit, diameters[-1])}, blobs in {where} stand out "
        f"most at {in_unit(unit, diameter)} ({voxels} voxels): {blobs[best]} of them, median "
        f"{responses[best]:.3g} grey levels."
    )
    other, hint = other_diameter(diameters, responses, blobs, best), ""
    if other is not None:
        hint = (
            f"Others stand out at {in_unit(unit, diameters[other])} ({blobs[other]} of them, median "
            f"{responses[other]:.3g} grey levels): if those are the particles, give that diameter."
        )
    return DiameterSuggestion(diameter, unit, f"{reason} {hint}".strip(), diameters, responses, blobs, hint)


def _in_words(frames: tuple[int, ...]) -> str:
    """Return which frames were looked at: a few by number, many by how many there were."""
    if len(frames) > SUGGESTING_FRAMES:
        return f"{len(frames)} frames from {frames[0]} to {frames[-1]}"
    return f"frame{'s' if len(frames) > 1 else ''} {', '.join(map(str, frames))}"


def _blobs_in(
    movie: FrameSource,
    frames: tuple[int, ...],
    diameters: np.ndarray,
    bright_on_dark: bool,
    device: str,
    incoming: IncomingFrames | None,
    budget: float,
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the median response of the blobs in some frames at each diameter, and their heights, descending."""
    with _windows(movie, frames, device, incoming, budget) as stacks:
        noises = [[pixel_noise(image, movie.dtype) for image in stack] for stack in stacks]
        toned = stacks if bright_on_dark else [-stack for stack in stacks]
        curve = _curve(diameters.tolist(), Averages(toned, noises, movie.calibration.scale_for(movie.ndim)), device)
    responses = np.array([response for response, _, _ in curve])
    if not responses.any():
        responses = np.array([faint for _, _, faint in curve])
    return responses, [found for _, found, _ in curve]


def responses_by_tone(movie: FrameSource, diameter: float) -> tuple[float, float]:
    """Return how strongly bright and dark blobs of a diameter answer in the middle frame.

    Parameters
    ----------
    movie : Movie
    diameter : float
        In the unit of the movie's calibration.

    Returns
    -------
    bright, dark : float
        Median response of the blobs of each tone, in grey levels; 0 where nothing stands out from the noise.
    """
    movie, scale = without_defects(movie), movie.calibration.scale_for(movie.ndim)
    with _windows(movie, (movie.frame_numbers[len(movie) // 2],), "cpu") as (stack,):
        noise = pixel_noise(stack[0], movie.dtype)
        windows = (Averages([toned], [[noise]], scale) for toned in (stack, -stack))
        bright, dark = (_response_ahead(diameter, window)()[0] for window in windows)
    return bright, dark


def diameters_to_try(shape: tuple[int, ...], scale: np.ndarray) -> np.ndarray:
    """Return diameters four an octave, from two voxels to half the frame's smaller side."""
    low = _SMALLEST * float(max(scale[-2:]))
    high = 0.5 * min(shape[-2] * scale[-2], shape[-1] * scale[-1])
    if high < low:
        raise InvalidInput(
            f"frames of {shape[-2]} × {shape[-1]} voxels (y × x) are too small to tell a diameter; give the diameter, "
            f"or check the axes and the region of interest."
        )
    return low * _STEP ** np.arange(1 + math.floor(math.log(high / low, _STEP) + 1e-9))


def _curve(diameters: list[float], windows: Averages, device: str) -> list[tuple[float, np.ndarray, float]]:
    """Return the response and the heights of the blobs at each diameter.

    A GPU is given all of them before the first is waited for: each step takes it as long for few voxels as for many.
    """
    if device == "cpu":
        return side_by_side(lambda diameter: _response_ahead(diameter, windows)(), diameters)
    begun: list[tuple[Callable[[], None], Callable[[], tuple[float, np.ndarray, float]]]] = []
    for diameter in diameters:
        with queue_of(device) as wait:
            begun.append((wait, _response_ahead(diameter, windows)))
    curve: list[tuple[float, np.ndarray, float]] = []
    with working_on(device):
        for wait, finish in begun:
            wait()
            curve.append(finish())
    return curve


def _response_ahead(diameter: float, windows: Averages) -> Callable[[], tuple[float, np.ndarray, float]]:
    """Begin to look for blobs of a diameter; return what returns their median response and their heights, descending.

    Where noise rules the response is 0, and held to less is returned too, for where nothing else is found: many blobs
    in noise that is symmetric need not stand out as much. Peaks are told from noise on the host.
    """
    scale, shapes = windows.scale, [stack.shape[1:] for stack in windows.stacks]
    bins = voxels_to_average(diameter, scale, tuple(np.min(shapes, axis=0).tolist()))
    how = diameter, scale * bins, "log", diameter / 2.0
    noises = [[noise / math.sqrt(bins.prod()) for noise in own] for own in windows.noises]
    samples: list[Callable[[], QualitySample]] = []
    for images, roundings, own in zip(*windows.over(tuple(bins.tolist())), noises, strict=True):
        if cuda.is_device_array(images) and can_be_listed(diameter / 2.0, scale * bins):
            samples.append(image_qualities_ahead(images, own, roundings, *how, to_host=True))
        else:
            samples.append(partial(image_qualities, images, own, *how))

    def finish() -> tuple[float, np.ndarray, float]:
        seen = [sample() for sample in samples]
        sample = pooled([replace(s, qualities=cuda.to_host(s.qualities), depths=cuda.to_host(s.depths)) for s in seen])
        heights = np.sort(sample.qualities[sample.qualities > threshold_between(sample)])[::-1]
        response = float(np.median(heights)) if len(heights) else 0.0
        if response > _STANDS_OUT * sample.white_floor:
            return response, heights, 0.0
        may_be = len(heights) >= _MANY and response > _MANY_STAND_OUT * sample.white_floor
        return 0.0, heights, response if may_be and is_symmetric(sample) else 0.0

    return finish


def responses_of_as_many(responses: np.ndarray, heights: Sequence[np.ndarray]) -> np.ndarray:
    """Return the response at each diameter (columns) of as many blobs as each other one finds (rows).

    Noise weighs more on small diameters, which find the bright blobs only: the median of these is higher than that of
    all, whatever the diameter. Held to as many, a response grows as blobs of one rank do, in the median. Where a
    diameter finds no more than the other, it is its own response.

    Parameters
    ----------
    responses : ndarray, float64 (n,)
        Median response at each diameter, ascending; 0 where nothing stands out from the noise.
    heights : sequence of ndarray
        Of the blobs at each, descending.
    """
    of_as_many = np.tile(responses, (len(responses), 1))
    for few, many in product(range(len(responses)), repeat=2):
        count = len(heights[few])
        if 0 < count < len(heights[many]) and responses[many]:
            of_as_many[few, many] = responses[few] * np.median(heights[many][:count] / heights[few])
    return of_as_many


def best_diameter(responses: np.ndarray, blobs: np.ndarray, of_as_many: np.ndarray) -> int:
    """Return the diameter that answers most among those that answer more than both their neighbours.

    Neighbours are held to as many blobs as the smaller finds (`responses_of_as_many`). Beside one at which noise
    rules, nobody knows whether a diameter answers more.

    Blobs only merge as the diameter grows: one that finds far fewer of them than a larger one, which answers nearly as
    much, is blinded by noise. And one that finds a blob or two, where a smaller diameter finds very many, of which as
    many answer as much, has met a chance arrangement of these.

    A dense cluster is a blob too, and sometimes a stronger one than its members: a smaller diameter that answers
    nearly as much, with many more blobs, is preferred. Particles may be as small as the smallest or smaller still: it
    is taken where all others are faint and few beside it. Where no diameter answers more than its neighbours, the
    strongest that does not find few; a curve that still climbs at the largest diameter shows uneven light rather than
    particles.
    """
    to_the_larger = np.diagonal(of_as_many, 1)
    rises, falls = to_the_larger >= responses[:-1], responses[:-1] >= to_the_larger
    rivals = np.triu(responses >= _NEARLY * responses[:, None], k=1)
    blind = np.any(rivals & (_MOST * blobs > blobs[:, None]), axis=1)[1:-1]
    is_dense = np.tril((blobs >= _NOT_FEW * blobs[:, None]) & (of_as_many >= responses[:, None]), k=-1)
    is_chance = np.any(is_dense & (responses > 0), axis=1)[1:-1]
    is_known = (responses[:-2] > 0) & (responses[2:] > 0)
    peaks = np.flatnonzero(rises[:-1] & falls[1:] & is_known & ~blind & ~is_chance) + 1
    if len(peaks) == 0:
        few = _NOT_FEW * blobs < np.max(blobs, where=responses > 0, initial=0)
        return int(np.argmax(np.where(few, 0.0, responses)))
    strongest = peaks[np.argmax(responses[peaks])]
    if falls[0] and responses[strongest] < _FAINT * responses[0] and _MANY_MORE * blobs[strongest] <= blobs[0]:
        return 0
    nearly = (responses[peaks] >= _NEARLY * responses[strongest]) & (blobs[peaks] >= _MANY_MORE * blobs[strongest])
    members = peaks[nearly & (peaks < strongest)]
    return int(members[0] if len(members) else strongest)


def other_diameter(diameters: np.ndarray, responses: np.ndarray, blobs: np.ndarray, best: int) -> int | None:
    """Return the diameter, far from the best, that answers most beside it; None where none answers a third as much.

    Grains of large particles, the arcs of hollow ones, and spots in glowing cells are told from what holds them by the
    user alone.
    """
    before, here, after = responses[:-2], responses[1:-1], responses[2:]
    peaks = np.flatnonzero((here >= before) & (here >= after) & (after > 0)) + 1
    apart = np.abs(np.log2(diameters[peaks] / diameters[best])) >= 1.0
    enough = (responses[peaks] >= responses[best] / _NOT_FAR_BEHIND) & (blobs[peaks] >= blobs[best] / _NOT_FEW)
    others = peaks[apart & enough]
    return int(others[np.argmax(responses[others])]) if len(others) else None


def _vertex(responses: np.ndarray, best: int) -> float:
    """Return where, in steps from `best`, the parabola through it and its neighbours is highest."""
    if not 0 < best < len(responses) - 1 or not responses[best - 1 : best + 2].all():
        return 0.0
    before, here, after = responses[best - 1 : best + 2]
    bend = 2.0 * here - before - after
    offset = 0.5 * (after - before) / bend if bend > 0 else 0.0
    return offset if abs(offset) <= _BETWEEN_STEPS else 0.0


@contextmanager
def _windows(
    movie: FrameSource,
    frames: tuple[int, ...],
    device: str,
    incoming: IncomingFrames | None = None,
    budget: float = DEFAULT_BUDGET,
) -> Generator[list[np.ndarray]]:
    """Yield what is looked at of some frames, in the memory of a device, which is the current one meanwhile.

    Windows of one shape are one array, (frames, …); where padding leaves several shapes, each is one of its own.
    """

    def window_of(frame: Pixels) -> np.ndarray:
        with held_by(device, frame.pixels) as pixels:
            return _window(grey_levels(pixels)[0])

    plan = work_plan(movie.shape, len(frames), None, device, budget=budget)
    windows = looked_at(movie, frames, window_of, plan, incoming)
    are_alike = len({window.shape for window in windows}) == 1
    with queue_of(device):
        yield [np.stack(windows)] if are_alike else [window[None] for window in windows]


def _window(grey: np.ndarray) -> np.ndarray:
    """Return the whole image, or of a large one the window (all of z) whose grey levels vary most."""
    if grey.size <= _VOXELS:
        return grey
    side = max(64, math.isqrt(_VOXELS // math.prod(grey.shape[:-2])))
    tops, lefts = (_starts(length, side) for length in grey.shape[-2:])
    variance = _variances_of_windows(grey.reshape((-1, *grey.shape[-2:])), tops, lefts, side)
    row, column = np.unravel_index(int(np.argmax(variance)), variance.shape)
    # Copied, so that the rest can go.
    return grey[..., tops[row] : tops[row] + side, lefts[column] : lefts[column] + side].copy()


def _variances_of_windows(volume: np.ndarray, tops: list[int], lefts: list[int], side: int) -> np.ndarray:
    """Return the variance of the grey levels within each window, float64 (tops, lefts), on the host.

    Summed in double precision, so that a GPU and a CPU choose the same window.
    """
    first, second = (_sums_in_windows(sums, tops, lefts, side) for sums in _sums_along_z(volume))
    rows, columns = (
        np.minimum(side, length - np.array(starts))
        for length, starts in zip(volume.shape[1:], (tops, lefts), strict=True)
    )
    voxels = len(volume) * rows[:, None] * columns
    return second / voxels - (first / voxels) ** 2


def _sums_along_z(volume: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums along z of grey levels, less that of a voxel, and of their squares, float64 (y, x) each.

    Some rows at a time on the host, so that hardly anything is held beside the volume.
    """
    first, second = (np.empty(volume.shape[1:], np.float64, like=volume) for _ in range(2))
    rows = volume.shape[1] if cuda.is_device_array(volume) else max(1, _BAND // volume[:, 0].size)
    for top in range(0, volume.shape[1], rows):
        band = slice(top, top + rows)
        away = volume[:, band] - volume[0, 0, 0]
        first[band] = away.sum(axis=0, dtype=np.float64)
        second[band] = (away * away).sum(axis=0, dtype=np.float64)
    return first, second


def _sums_in_windows(plane: np.ndarray, tops: list[int], lefts: list[int], side: int) -> np.ndarray:
    """Return the sum of a plane's values within each window, on the host."""
    return cuda.to_host(_sums_of_rows(_sums_of_rows(plane, tops, side).T, lefts, side).T)


def _sums_of_rows(values: np.ndarray, starts: list[int], side: int) -> np.ndarray:
    """Return the sum of the rows from each start on, of a side of them or up to the last one."""
    whole = values.cumsum(axis=0)
    begin, end = np.asarray([starts, np.minimum(np.array(starts) + side, len(values))], like=whole)
    return whole[end - 1] - np.where((begin > 0)[:, None], whole[begin - 1], 0.0)


def _starts(length: int, side: int) -> list[int]:
    """Return where windows of a side begin that together cover a length."""
    return [min(start, max(0, length - side)) for start in range(0, length, side)]


def voxels_to_average(diameter: float, scale: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return how many voxels to average along each axis, so that 8 to 16 fit into the diameter along y and x.

    Voxels that are longer along z are averaged less there. No axis is averaged over more than it has: of a thin stack
    one plane may be left.

    Parameters
    ----------
    diameter : float
    scale : ndarray, float64 (ndim,)
        Size of a voxel along each axis, in the unit of `diameter`.
    shape : tuple of int (ndim,)
        Of the image that is to be averaged, in voxels.

    Returns
    -------
    ndarray, int64 (ndim,)
        1 or more.
    """
    pixel = float(max(scale[-2:]))
    octaves = max(0, math.floor(math.log2(diameter / (_FINE * pixel)) + 1e-9) + 1)
    return np.clip(np.floor(2**octaves * pixel / scale + 1e-9), 1, shape).astype(np.int64)


def _binned(stack: np.ndarray, bins: tuple[int, ...]) -> np.ndarray:
    """Return the means of blocks of voxels of images; what does not fill a block at the far end is left out."""
    for axis, count in enumerate(bins, start=1):
        if count > 1:
            whole = stack.shape[axis] // count
            full = stack[(slice(None),) * axis + (slice(whole * count),)]
            stack = full.reshape(*full.shape[:axis], whole, count, *full.shape[axis + 1 :]).mean(axis=axis + 1)
    return stack
