"""A first look at an input: some frames of it, and the settings that they suggest."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...tracker.detecting.detect import resolve_settings
from ...tracker.detecting.side_by_side import crew_for
from ...tracker.linking.motion.other_starts import SAMPLE
from ...tracker.linking.whole_movie.windows import BYTES_A_DETECTION
from ...tracker.pipeline import finding_stage, opened_input
from ...tracker.points import Points
from ...tracker.reading.movie import Movie
from ...tracker.settings import Settings
from ...tracker.stage_seconds import StageSeconds
from ...tracker.stepwise import finished
from ..words.compiling import seconds_compiling
from . import console

_FILTERED = 3 * 4  # bytes a voxel of a frame that is being filtered (see `tracker.detecting.detect`)
_BYTES_PER_ROW = 200  # of eight columns, and its copies
_BYTES_PER_LINK = {True: BYTES_A_DETECTION, False: 50}  # of a detection, by whether motion is learned
_BYTES_AT_REST = 250e6  # Python with its libraries
_SECONDS_AT_REST = 3  # to start and to link a small table, of a CPU
_SECONDS_PER_POINT = {True: 18e-6, False: 1e-6}  # of linking on one core
_SECONDS_PER_TRIED = {True: 300e-6, False: 0.0}  # for each of those that starts of learning are tried on


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
    seconds : StageSeconds
        What each stage of it is expected to take, once compiled: what the frames looked at took, and linking by their
        points.
    """

    points: Points
    settings: Settings
    frames: int
    frames_seen: int
    bytes: float
    seconds: StageSeconds

    @property
    def memory(self) -> str:
        """Memory that is expected, and what bounds it, in words."""
        return f"about {self.bytes / 1e9:.1f} GB (memory budget {self.settings.link.memory_budget_gb:g} GB)"

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
            is_labels = settings.input.kind == "labels"
            if not is_labels:  # automatic settings are those of the whole movie
                settings = replace(settings, detect=resolve_settings(given, settings.detect))
            part, spent, before = given.middle(frames), StageSeconds(), given.seconds_reading
            spent["read"] = 0.0
            with seconds_compiling() as compiling, spent.of("detect"):
                found = finished(finding_stage(part, settings, under))
            spent.told_apart("read", "detect", part.seconds_reading - before)
            spent["detect"] = max(spent["detect"] - compiling.total, 0.0)  # it is done once, whatever the frames
            if found.device is not None:
                spent.devices["detect"] = found.device
            points = found.points
            count, seen, working = len(given), len(part), _working_memory(given, settings, labels=is_labels)
    share = seen / count if count else 1.0
    memory, linking = _linking(len(points) / share, settings)
    for stage in spent:
        spent[stage] /= share
    spent["link"] = linking
    return FirstLook(points, settings, count, seen, _BYTES_AT_REST + working + memory, spent)


def _linking(points: float, settings: Settings) -> tuple[float, float]:
    """Return the memory in bytes and the seconds that linking so many points takes."""
    is_learned = settings.link.is_learned
    linking = min(points * _BYTES_PER_LINK[is_learned], settings.link.memory_budget)
    tried = min(points, 2 * SAMPLE)  # whole frames, which may hold more than asked for
    seconds = points * _SECONDS_PER_POINT[is_learned] + tried * _SECONDS_PER_TRIED[is_learned]
    return points * _BYTES_PER_ROW + linking, seconds


def _working_memory(movie: Movie, settings: Settings, *, labels: bool) -> float:
    voxels = movie.bytes_per_frame / movie.dtype.itemsize
    if labels:
        return 3 * 8 * voxels
    crew = crew_for(movie.shape, len(movie), None, budget=settings.link.memory_budget, overlap=0)
    filtered = 1.0 if crew.planes is None else crew.planes / movie.shape[0]
    return (crew.frames + 1) * movie.bytes_per_frame + crew.frames * _FILTERED * voxels * filtered
