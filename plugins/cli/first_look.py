"""A first look at an input: some frames of it, and the settings that they suggest."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...tracker.calibrating.digits import in_digits
from ...tracker.detecting.detect import resolve_settings
from ...tracker.detecting.side_by_side import crew_for, read_at_a_time
from ...tracker.linking.frame_pairs import gpu_frame_pairs
from ...tracker.linking.motion import gpu_ordered
from ...tracker.linking.motion.learning.other_starts import SAMPLE
from ...tracker.linking.settings import LinkSettings
from ...tracker.linking.whole_movie.windows import BYTES_A_DETECTION, held_at_once
from ...tracker.pipeline import finding_stage, opened_input
from ...tracker.points import Points
from ...tracker.reading.movie import Movie
from ...tracker.settings import Settings
from ...tracker.stage_seconds import StageSeconds
from ...tracker.stepwise import finished
from ..words.compiling import seconds_compiling
from . import console

# Bytes of resident memory, as `/usr/bin/time -v` has it; BENCHMARKS has the runs they were taken from.
_AT_REST = 335e6  # Python with its libraries
_A_ROW = 130  # of a table that is read, linked and written
_LEARNED = 610  # of each detection that is held: 400 where steps are short, 860 where past and future are contexts
_TOGETHER, _MOST_TOGETHER = 50, 50e6  # of each detection, and in all, where frame pairs are linked by distance
_FILTERED = 3 * 4  # a voxel of a frame that is being filtered (see `tracker.detecting.detect`)
_LOOKED_AT, _MOST_LOOKED_AT = 60, 60e6  # a voxel of a frame that settings are measured on, and in all

_SECONDS_AT_REST = 3  # to start and to link a small table, of a CPU
_SECONDS_PER_POINT = {True: 18e-6, False: 1e-6}  # of linking on one core, by whether motion is learned
_SECONDS_PER_TRIED = {True: 300e-6, False: 0.0}  # for each of those that starts of learning are tried on
_SECONDS_PER_POINT_ON_GPU = {True: 6e-8, False: 1e-8}
_SECONDS_PER_ROW = 6e-7  # of writing the table


@dataclass(frozen=True)
class FirstLook:
    """What some frames show.

    Attributes
    ----------
    points : Points
        The particles in the frames looked at; all of them for a table.
    settings : Settings
        With the diameter and threshold that are in force.
    frames, frames_seen : int
        Frames of the input, and how many of them were looked at.
    bytes : float
        Memory that tracking all of it is expected to take.
    is_over_budget : bool
        Whether the fewest frames that motion is learned from take more than the memory budget.
    seconds : StageSeconds
        What each stage of it is expected to take, once compiled: what the frames looked at took, and linking by their
        points.
    """

    points: Points
    settings: Settings
    frames: int
    frames_seen: int
    bytes: float
    is_over_budget: bool
    seconds: StageSeconds

    @property
    def memory(self) -> str:
        """Memory that is expected, and what bounds it, in words."""
        budget = f"memory budget {self.settings.link.memory_budget_gb:g} GB"
        over = ", which the fewest frames that motion is learned from exceed" if self.is_over_budget else ""
        return f"about {in_digits(self.bytes / 1e9, 2)} GB ({budget}{over})"

    @property
    def time(self) -> str:
        """Time that is expected, where it goes and on what device, in words."""
        stages = console.stages(self.seconds, self.seconds.devices, digits=0)
        together = sum(self.seconds.values())
        said = "a few seconds" if together < _SECONDS_AT_REST else f"about {together:.0f} s"
        return f"{said}, once all is compiled: {stages}"

    @property
    def points_expected(self) -> int:
        """Particles in all frames, if those looked at are typical."""
        return round(len(self.points) * self.frames / max(self.frames_seen, 1))


def first_look(source: str, settings: Settings, frames: int) -> FirstLook:
    """Find the particles of a few consecutive frames from the middle of a movie, or read a table."""
    spent, working = StageSeconds(), 0.0
    with opened_input(source, settings.input, spent) as (given, under):
        if isinstance(given, Points):
            points = given
            count = seen = len(points.frame_numbers)
        else:
            working = _working_memory(given, settings)
            settings, spent["detect"] = _resolved(given, settings)
            part = given.middle(frames)
            points, spent["read"] = _found(given, part, under, settings)
            spent.devices["detect"] = _device_of_detection(given, settings)
            spent["detect"] += _seconds_detecting(given, under, settings)
            count, seen = len(given), len(part)
    expected = len(points) * count / max(seen, 1)
    memory, is_over = _linking_memory(expected, count, settings.link)
    spent.devices["link"] = _device_of_linking(expected, settings.link)
    spent["link"] = _seconds_linking(expected, settings.link, spent.devices["link"])
    spent["write"] = expected * _SECONDS_PER_ROW
    taken = _AT_REST + expected * _A_ROW + max(working, memory)
    return FirstLook(points, settings, count, seen, taken, is_over, spent)


def _resolved(movie: Movie, settings: Settings) -> tuple[Settings, float]:
    """Return the settings with those of the whole movie for what is automatic, and the seconds that took."""
    if settings.input.kind == "labels":
        return settings, 0.0
    spent, before = StageSeconds(), movie.seconds_reading
    with seconds_compiling() as compiling, spent.of("detect"):
        budget = settings.link.memory_budget
        settings = replace(settings, detect=resolve_settings(movie, settings.detect, budget=budget))
    return settings, max(spent["detect"] - compiling.total - (movie.seconds_reading - before), 0.0)


def _found(movie: Movie, part: Movie, under: Movie | None, settings: Settings) -> tuple[Points, float]:
    """Return the particles of a part of a movie, and the seconds that reading all of it takes."""
    before = movie.seconds_reading
    points = finished(finding_stage(part, _as_the_whole(movie, settings), under)).points
    return points, (movie.seconds_reading - before) * len(movie) / max(len(part), 1)


def _seconds_detecting(movie: Movie, under: Movie | None, settings: Settings) -> float:
    """Return the seconds that all frames take if each takes as long as one that is looked at for the second time."""
    part, spent, before = movie.middle(1), StageSeconds(), movie.seconds_reading
    with seconds_compiling() as compiling, spent.of("detect"):
        finished(finding_stage(part, _as_the_whole(movie, settings), under))
    spent.told_apart("read", "detect", movie.seconds_reading - before)
    return max(spent["detect"] - compiling.total, 0.0) * len(movie)


def _device_of_detection(movie: Movie, settings: Settings) -> str:
    """Return where the frames of a whole movie are filtered; nothing is, of labels."""
    if settings.input.kind == "labels":
        return ""
    return crew_for(movie.shape, len(movie), None, settings.link.device, overlap=0).device


def _as_the_whole(movie: Movie, settings: Settings) -> Settings:
    """Return settings by which some frames go where all of them would go."""
    device = _device_of_detection(movie, settings) or settings.link.device
    return replace(settings, link=replace(settings.link, device=device))


def _device_of_linking(points: float, settings: LinkSettings) -> str:
    """Return where so many particles are linked."""
    takes_gpu = gpu_ordered.takes_gpu if settings.is_learned else gpu_frame_pairs.takes_gpu
    if settings.linking != "auctrack" or not takes_gpu(range(round(points)), settings):
        return "cpu"
    return "cuda" if settings.device == "auto" else settings.device


def _seconds_linking(points: float, settings: LinkSettings, device: str) -> float:
    """Return the seconds that linking so many points takes."""
    is_learned = settings.is_learned
    if device != "cpu":
        return points * _SECONDS_PER_POINT_ON_GPU[is_learned]
    tried = min(points, 2 * SAMPLE)  # whole frames, which may hold more than asked for
    return points * _SECONDS_PER_POINT[is_learned] + tried * _SECONDS_PER_TRIED[is_learned]


def _linking_memory(points: float, frames: int, settings: LinkSettings) -> tuple[float, bool]:
    """Return the memory in bytes that linking so many points takes, and whether the budget has no room for it."""
    if _device_of_linking(points, settings) != "cpu" or not settings.is_learned:
        return min(points * _TOGETHER, _MOST_TOGETHER), False
    lags = 2 if settings.max_missed_frames == "auto" else int(settings.max_missed_frames) + 1
    held = held_at_once(points, frames, settings.memory_budget, lags)
    return held * _LEARNED, held * BYTES_A_DETECTION > settings.memory_budget


def _working_memory(movie: Movie, settings: Settings) -> float:
    """Return the memory of the host in bytes that the frames at hand take, with what is made of them there."""
    voxels, budget = movie.bytes_per_frame / movie.dtype.itemsize, settings.link.memory_budget
    if settings.input.kind == "labels":
        return 3 * 8 * voxels
    if _device_of_detection(movie, settings) != "cpu":
        return read_at_a_time(movie.shape) * movie.bytes_per_frame
    found = crew_for(movie.shape, len(movie), None, budget=budget, overlap=0)
    share = 1.0 if found.planes is None else found.planes / movie.shape[0]
    working = (found.frames + 1) * movie.bytes_per_frame + found.frames * _FILTERED * voxels * share
    if settings.detect.diameter != "auto" and settings.detect.threshold is not None:
        return working
    whole = crew_for(movie.shape, len(movie), None, budget=budget).frames
    measuring = (whole + 1) * movie.bytes_per_frame + whole * _FILTERED * voxels
    return max(working, measuring) + min(_LOOKED_AT * voxels, _MOST_LOOKED_AT)
