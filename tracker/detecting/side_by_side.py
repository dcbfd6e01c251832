"""Frames of a movie worked on in threads, several at a time and each by several, with a bound on memory."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ...matching.jit.threads import processors

if TYPE_CHECKING:
    from ..reading.movie import Movie

Result = TypeVar("Result")

_VOXELS = 1 << 27  # of all frames at a time; a copy of them in float32 is half a gigabyte


@dataclass(frozen=True)
class Crew:
    """How threads share the frames of a movie.

    Parameters
    ----------
    frames : int
        Worked on at a time.
    threads : int
        That work on each of them.
    """

    frames: int
    threads: int


def crew_for(shape: tuple[int, ...], frames: int, workers: int | None) -> Crew:
    """Return how so many workers (None: one a processor) share frames of a shape: as many frames as memory allows."""
    workers = processors() if workers is None else workers
    at_a_time = max(1, min(workers, frames, _VOXELS // math.prod(shape)))
    return Crew(at_a_time, max(1, workers // at_a_time))


def work_through(
    movie: Movie, numbers: Sequence[int], work: Callable[[np.ndarray], Result], at_a_time: int
) -> Iterator[tuple[int, Result]]:
    """Yield (number, work of that frame) in order; frames are read here, at most `at_a_time` + 1 are in memory."""
    pool = ThreadPoolExecutor(at_a_time, thread_name_prefix="frames")
    waiting: deque[tuple[int, Future[Result]]] = deque()
    try:
        for number in numbers:
            waiting.append((number, pool.submit(work, movie.frame(number))))
            if len(waiting) > at_a_time:
                done, result = waiting.popleft()
                yield done, result.result()
        for number, result in waiting:
            yield number, result.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
