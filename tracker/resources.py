"""Memory and time that a run would take, by its settings, the shape of its movie and how many particles it has.

Figures of a machine are those of the runs in BENCHMARKS; they say "about".
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..matching.device import cuda
from .detecting.diameter import SUGGESTING_FRAMES
from .detecting.labels import labelled_at_a_time
from .detecting.side_by_side import bytes_on_gpu, read_at_a_time, work_plan
from .detecting.threshold import SAMPLED_FRAMES
from .linking.frame_pairs import gpu_frame_pairs
from .linking.gate.ahead import Ahead, ahead_of
from .linking.gate.gpu_movie import BYTES_A_POINT
from .linking.motion import gpu_ordered
from .linking.motion.candidates.gpu_graph import BYTES_AN_EDGE
from .linking.motion.candidates.graph import MOST
from .linking.motion.learning.other_starts import SAMPLE
from .linking.motion.models.features import columns_of
from .linking.motion.recipe import FIRST_RADIUS, may_know_links
from .linking.settings import LinkSettings
from .linking.whole_movie.windows import (
    BYTES_A_CANDIDATE,
    BYTES_A_DETECTION,
    BYTES_MADE,
    FEWEST_FRAMES,
    ROUNDING,
    held_at_once,
    taken_at_most,
)
from .points import Points
from .reading.movie import Movie
from .settings import Settings

# Bytes of resident memory, as `/usr/bin/time -v` has it; BENCHMARKS has the runs they were taken from.
_AT_REST = 320e6  # Python with its libraries
_A_ROW = 90  # of a table that is read, linked and written
_PER_NEAR = {False: 100, True: 190, None: 130}  # of a particle that is near, of each detection that is held
_LEARNED_ON_GPU = BYTES_AN_EDGE * BYTES_A_DETECTION / BYTES_A_CANDIDATE  # of the GPU's, where links are made there too
_TOGETHER, _MOST_TOGETHER = 50, 50e6  # of each detection, and in all, where frame pairs are linked by distance
_FILTERED = 10  # a voxel of a frame that is being filtered: twice in float32, and which are peaks
_OF_LABELS = 10  # a voxel of a frame of labels, of what is known of runs of 16 voxels
_GREY, _SUMMED = 4, 24  # a voxel, and a pixel of all planes, of a frame whose window is looked for
_LOOKED_AT, _MOST_LOOKED_AT = 60, 60e6  # a voxel of a frame that settings are measured on, and in all

SECONDS_AT_REST = 3
"""Seconds to start and to link a small table, on a CPU."""
_SECONDS_BY_DISTANCE = (3.5e-7, 4.5e-9)  # a point, and for each two that are near it
_SECONDS_PER_NEAR = {
    False: (0.95e-6, 0.045e-6),
    True: (1.8e-6, 0.08e-6),
    None: (1.4e-6, 0.06e-6),
}  # for each particle that is near a point, and for each two of these, where motion is learned
_MOST_PER_POINT = (
    (0.7, 8e-4, 9600),
    (0.4, 1.5e-4, 2600),
)  # seconds and bytes, by how far from a particle, in spacings, one is in the next frame
_MOST_LAGS = 4  # frames that a link spans, where most of these bytes are candidates over missed frames
_SECONDS_PER_TRIED = {True: 30e-6, False: 120e-6}  # for each of those that starts of learning are tried on
_SHORT, _LONGER = 0.35, 1.6  # distance ahead up to which one start is enough; times as long as it takes beyond
_WITH_FEATURES = 1.2  # times as long on a CPU, where features such as intensity are learned from too
_SECONDS_PER_POINT_ON_GPU = {True: 6e-8, False: 1e-8}
_SECONDS_PER_ROW = 6e-7  # of writing the table
_GOES_ON = 0.13  # correlation of steps by which links before and after make links likelier by `LINK_GAIN`

EVEN = Ahead(np.nan, 3.3, 13.6)
"""What is ahead of particles that are spread evenly in space, short steps apart, where nothing is known of them."""


def device_of_detection(movie: Movie, settings: Settings) -> str:
    """Return where the frames of a whole movie are filtered; nothing is, of labels."""
    if settings.input.kind == "labels":
        return ""
    return work_plan(movie.shape, len(movie), None, settings.link.device, overlap=0).device


def device_of_linking(points: float, settings: LinkSettings) -> str:
    """Return where so many particles are linked."""
    takes_gpu = gpu_ordered.takes_gpu if settings.is_learned else gpu_frame_pairs.takes_gpu
    if settings.linking != "auctrack" or not takes_gpu(range(round(points)), settings):
        return "cpu"
    return "cuda" if settings.device == "auto" else settings.device


def what_is_ahead(some: Points) -> Ahead:
    """Return what particles have ahead where candidate links are looked for; without such frames what most do."""
    return ahead_of(some, FIRST_RADIUS, MOST) or EVEN


def _knows_of_others(ahead: Ahead, settings: LinkSettings) -> bool | None:
    """Return whether links know of those before and after them, as far as steps tell; None where there are too few."""
    if settings.motion != "auto":
        return may_know_links(settings.motion)
    return None if np.isnan(ahead.goes_on) else abs(ahead.goes_on) > _GOES_ON


def seconds_linking(
    points: float, settings: LinkSettings, device: str, columns: Iterable[object] = (), ahead: Ahead = EVEN
) -> float:
    """Return the seconds that linking so many points takes, by the columns of their table and what they have ahead."""
    if device != "cpu":
        return points * _SECONDS_PER_POINT_ON_GPU[settings.is_learned]
    if not settings.is_learned:
        return points * (_SECONDS_BY_DISTANCE[0] + _SECONDS_BY_DISTANCE[1] * ahead.squared)
    one, two = _SECONDS_PER_NEAR[_knows_of_others(ahead, settings)]
    tried = min(points, 2 * SAMPLE)  # whole frames, which may hold more than asked for
    seconds = points * (one * ahead.near + two * ahead.squared) * (_LONGER if ahead.nearest > _SHORT else 1.0)
    seconds += tried * _SECONDS_PER_TRIED[ahead.nearest <= _SHORT]
    return seconds * (1.0 if set(columns_of(settings.features)).isdisjoint(columns) else _WITH_FEATURES)


def most_seconds_linking(points: float, ahead: Ahead, settings: LinkSettings, device: str) -> float:
    """Return the seconds that linking so many points takes at most; 0 where `seconds_linking` knows.

    See `_most_per_point`.
    """
    return points * max(1.0, ahead.near / EVEN.near) * _most_per_point(ahead, settings, device)[0]


def most_memory_of_linking(points: float, frames: int, ahead: Ahead, settings: LinkSettings, device: str) -> float:
    """Return the bytes that linking so many points takes at most; 0 where `memory_of_linking` knows.

    See `_most_per_point`. More than the budget are of the fewest frames that are held at once.
    """
    each = _most_per_point(ahead, settings, device)[1]
    fewest = min(1.0, FEWEST_FRAMES * _MOST_LAGS / max(frames, 1))
    return min(points * each, max(settings.memory_budget, points * fewest * each))


def _most_per_point(ahead: Ahead, settings: LinkSettings, device: str) -> tuple[float, float]:
    """Return the seconds and the bytes that linking a point takes at most, 0 where all movies take as much.

    Where the nearest particle of the next frame is hardly nearer than others of its own, many links are tried, and some
    movies take forty times as long as others.
    """
    if device != "cpu" or not settings.is_learned:
        return 0.0, 0.0
    of = ((seconds, held) for least, seconds, held in _MOST_PER_POINT if ahead.nearest >= least)
    return next(of, (0.0, 0.0))


def seconds_writing(points: float) -> float:
    """Return the seconds that writing a table of so many points takes."""
    return points * _SECONDS_PER_ROW


def memory_of_run(points: float, detecting: float, linking: float) -> float:
    """Return the memory in bytes of a whole run, of which detecting and linking take so much, one after the other."""
    return _AT_REST + points * _A_ROW + max(detecting, linking)


def memory_of_linking(
    points: float, frames: int | np.ndarray, settings: LinkSettings, ahead: Ahead = EVEN
) -> tuple[float, float]:
    """Return the bytes that linking so many points takes, and the least budget that it keeps to; 0 where this does.

    `frames` is how many there are, or how many points each has.
    """
    if not settings.is_learned or _is_held_by_gpu(points, settings):
        return min(points * _TOGETHER, _MOST_TOGETHER), 0.0
    lags = 2 if settings.max_missed_frames == "auto" else int(settings.max_missed_frames) + 1
    counted = max(BYTES_A_DETECTION, BYTES_A_CANDIDATE * ahead.near)
    held = held_at_once(points, frames, settings.memory_budget, lags, counted)
    made = points * BYTES_MADE if held < points else 0.0  # beside what a window holds
    is_over = held * counted + made > settings.memory_budget * (1 + ROUNDING)
    taken = held * ahead.near * _PER_NEAR[_knows_of_others(ahead, settings)] + made
    return taken, taken_at_most(held, points, counted) if is_over else 0.0


def _is_held_by_gpu(points: float, settings: LinkSettings) -> bool:
    """Whether a GPU learns motion of all points at once, and makes the links too."""
    device = device_of_linking(points, settings)
    if device == "cpu" or settings.divisions or settings.merges:
        return False
    return points * _LEARNED_ON_GPU <= _free_bytes(device)


def gpu_memory_of_linking(points: float, settings: LinkSettings) -> float:
    """Return the bytes of a GPU's memory that linking so many points there takes, at most what it has."""
    device = device_of_linking(points, settings)
    if device == "cpu":
        return 0.0
    together = min(2 * points, gpu_frame_pairs.AT_A_TIME) * gpu_frame_pairs.BYTES_EACH
    taken = points * _LEARNED_ON_GPU if settings.is_learned else points * BYTES_A_POINT + together
    return min(taken, _free_bytes(device))


def _free_bytes(device: str) -> float:
    with cuda.using(device):
        return cuda.free_bytes()


def gpu_memory_of_detection(movie: Movie, settings: Settings) -> float:
    """Return the bytes of a GPU's memory that the frames there take, with what is made of them."""
    if device_of_detection(movie, settings) in ("", "cpu"):
        return 0.0
    plan, known = work_plan(movie.shape, len(movie), None, settings.link.device, overlap=0), settings.detect
    looked_at = SUGGESTING_FRAMES * (known.diameter == "auto") + SAMPLED_FRAMES * (known.threshold is None)
    return bytes_on_gpu(plan, movie.shape, movie.dtype.itemsize, len(movie), looked_at)


def memory_of_detection(movie: Movie, settings: Settings) -> float:
    """Return the memory of the host in bytes that the frames at hand take, with what is made of them there."""
    voxels, budget = movie.bytes_per_frame / movie.dtype.itemsize, settings.link.memory_budget
    if settings.input.kind == "labels":
        at_a_time = labelled_at_a_time(movie.shape, len(movie), budget)
        return at_a_time * (movie.bytes_per_frame + _OF_LABELS * voxels)
    if device_of_detection(movie, settings) != "cpu":
        plan = work_plan(movie.shape, len(movie), None, settings.link.device, budget=budget, overlap=0)
        return (read_at_a_time(movie.shape) if plan.is_fed else plan.ahead) * movie.bytes_per_frame
    found = work_plan(movie.shape, len(movie), None, budget=budget, overlap=0)
    share = 1.0 if found.planes is None else found.planes / movie.shape[0]
    working = (found.frames + 1) * movie.bytes_per_frame + found.frames * _FILTERED * voxels * share
    if settings.detect.diameter != "auto" and settings.detect.threshold is not None:
        return working
    whole = work_plan(movie.shape, len(movie), None, budget=budget).frames
    looking = _GREY * voxels + _SUMMED * movie.shape[-2] * movie.shape[-1]
    measuring = (whole + 1) * movie.bytes_per_frame + whole * max(_FILTERED * voxels, looking)
    return max(working, measuring) + min(_LOOKED_AT * voxels, _MOST_LOOKED_AT)
