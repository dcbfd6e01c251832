"""A first look at an input: some frames of it, the settings that they suggest, and what tracking it all would take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from .compiling import seconds_compiling
from .detecting.detect import resolve_settings
from .pipeline import finding_stage, opened_input
from .points import Points
from .reading.movie import Movie
from .resources import (
    device_of_detection,
    device_of_linking,
    gpu_memory_of_detection,
    gpu_memory_of_linking,
    memory_of_detection,
    memory_of_linking,
    memory_of_run,
    most_memory_of_linking,
    most_seconds_linking,
    seconds_linking,
    seconds_writing,
    what_is_ahead,
)
from .settings import Settings
from .stage_seconds import StageSeconds
from .stepwise import finished

Made = TypeVar("Made")

_TIMED, _TIMED_ON_GPU = 2, 4
"""Frames that are timed together: two show steps too, and a GPU works on several, of which one alone takes longer."""


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
    least_budget : float
        Bytes that the fewest frames that motion is learned from may take, where the memory budget has no room for them;
        else 0.
    seconds : StageSeconds
        What each stage of it is expected to take, once compiled: what the frames looked at took, and linking by their
        points.
    gpu_bytes : float
        Of a GPU's memory, where it takes part; 0 where none does.
    most_linking, most_bytes : float
        Seconds that linking takes at most, and the memory of all of it then, where these are not known better; else 0.
    """

    points: Points
    settings: Settings
    frames: int
    frames_seen: int
    bytes: float
    least_budget: float
    seconds: StageSeconds
    gpu_bytes: float = 0.0
    most_linking: float = 0.0
    most_bytes: float = 0.0

    @property
    def points_expected(self) -> int:
        """Particles in all frames, if those looked at are typical."""
        return round(len(self.points) * self.frames / max(self.frames_seen, 1))


def first_look(source: str, settings: Settings, frames: int, *, measured_in: float = 0.0) -> FirstLook:
    """Find the particles of a few consecutive frames from the middle of a movie, or read a table.

    What a run would measure again, and was measured before this, took the seconds `measured_in`.
    """
    spent, working, on_gpu = StageSeconds(), 0.0, 0.0
    with opened_input(source, settings.input, spent) as (given, under):
        if isinstance(given, Points):
            points = in_a_row = given
            sizes = points.frame_sizes
            count = seen = len(sizes)
        else:
            working, on_gpu = memory_of_detection(given, settings), gpu_memory_of_detection(given, settings)
            settings, spent["detect"] = _resolved(given, settings)
            part = given.middle(frames)
            points, spent["read"] = _found(given, part, under, settings)
            spent.devices["detect"] = device_of_detection(given, settings)
            in_a_row, detecting = _timed(given, under, settings)
            spent["detect"] += measured_in + detecting
            sizes = count = len(given)
            seen = len(part)
    expected = len(points) * count / max(seen, 1)
    ahead = what_is_ahead(in_a_row)
    memory, least = memory_of_linking(expected, sizes, settings.link, ahead)
    spent.devices["link"] = device_of_linking(expected, settings.link)
    spent["link"] = seconds_linking(expected, settings.link, spent.devices["link"], points.table, ahead)
    most = most_seconds_linking(expected, ahead, settings.link, spent.devices["link"])
    held = most_memory_of_linking(expected, count, ahead, settings.link, spent.devices["link"])
    spent["write"] = seconds_writing(expected)
    taken = memory_of_run(expected, working, memory)
    on_gpu = max(on_gpu, gpu_memory_of_linking(expected, settings.link))
    most_bytes = memory_of_run(expected, working, held) if held else 0.0
    return FirstLook(points, settings, count, seen, taken, least, spent, on_gpu, most, most_bytes)


def _resolved(movie: Movie, settings: Settings) -> tuple[Settings, float]:
    """Return the settings with those of the whole movie for what is automatic, and the seconds that took."""
    if settings.input.kind == "labels":
        return settings, 0.0
    device, budget = device_of_detection(movie, settings), settings.link.memory_budget
    measure = partial(resolve_settings, movie, settings.detect, device, budget=budget)
    found, seconds = with_seconds(movie, measure, on_gpu=device != "cpu")
    return replace(settings, detect=found), seconds


def with_seconds(movie: Movie, work: Callable[[], Made], *, on_gpu: bool = False) -> tuple[Made, float]:
    """Return what work on frames makes, and the seconds that it takes once compiled, reading left out."""
    if on_gpu:  # the first turn compiles, which CuPy does not tell as numba does
        _ = work()
    spent, before = StageSeconds(), movie.seconds_reading
    with seconds_compiling() as compiling, spent.of("work"):
        made = work()
    return made, max(spent["work"] - compiling.total - (movie.seconds_reading - before), 0.0)


def _found(movie: Movie, part: Movie, under: Movie | None, settings: Settings) -> tuple[Points, float]:
    """Return the particles of a part of a movie, and the seconds that reading all of it takes."""
    before = movie.seconds_reading
    points = finished(finding_stage(part, _as_the_whole(movie, settings), under)).points
    return points, (movie.seconds_reading - before) * len(movie) / max(len(part), 1)


def _timed(movie: Movie, under: Movie | None, settings: Settings) -> tuple[Points, float]:
    """Return the particles of some frames in a row, and the seconds that all frames take if each takes as long.

    One of them at least is looked at for the second time.
    """
    on_gpu = device_of_detection(movie, settings) not in ("", "cpu")
    part = movie.middle(_TIMED_ON_GPU if on_gpu else _TIMED)
    whole = _as_the_whole(movie, settings)
    found, seconds = with_seconds(movie, lambda: finished(finding_stage(part, whole, under)))
    return found.points, seconds * len(movie) / max(len(part), 1)


def _as_the_whole(movie: Movie, settings: Settings) -> Settings:
    """Return settings by which some frames go where all of them would go."""
    device = device_of_detection(movie, settings) or settings.link.device
    return replace(settings, link=replace(settings.link, device=device))
