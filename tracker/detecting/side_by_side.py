"""Frames of a movie worked on in threads, several at a time and each by several, with a bound on memory.

On a GPU as well: while one frame is computed, others are copied and looked at on the host.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ...matching.device import cuda
from ...matching.jit.threads import processors
from .pixels import room_for

if TYPE_CHECKING:
    from ..reading.frames import FrameSource

Result = TypeVar("Result")

_VOXELS = 1 << 27  # of all frames at a time; a copy of them in float32 is half a gigabyte
_BYTES_ON_GPU = 48  # a voxel: grey levels and their copies, the response, two chains before and after an axis
_FRAMES_ON_GPU = 3  # at a time: one is copied, one filtered, one is looked at on the host
_FRAMES_READ = 8  # at a time for a GPU, each by several threads: who waits for a GPU keeps a processor busy
_VOXELS_READ = 1 << 30  # of these frames, or one of more
GPU_PAYS = 1 << 27
"""Voxels of a movie from which "auto" detects on a GPU. Fewer take a processor a second or two."""


@dataclass(frozen=True)
class Crew:
    """How threads share the frames of a movie.

    Parameters
    ----------
    frames : int
        Worked on at a time.
    threads : int
        That work on each of them.
    device : str
        Where: "cpu", "cuda" or "cuda:N".
    """

    frames: int
    threads: int
    device: str = "cpu"


def crew_for(shape: tuple[int, ...], frames: int, workers: int | None, device: str = "cpu") -> Crew:
    """Return how frames of a shape are shared: as many at a time as there are workers and as memory allows.

    Parameters
    ----------
    shape : tuple of int
    frames : int
    workers : int or None
        Threads on a CPU. None: one a processor.
    device : str
        "auto": the current GPU where there is one that holds a frame, and the movie is large (`GPU_PAYS`).

    Raises
    ------
    DeviceUnavailable, DeviceMemoryExceeded
        If the GPU that is asked for is not there, or does not hold a frame.
    """
    voxels = math.prod(shape)
    if device == "auto":
        device = "cuda" if frames * voxels >= GPU_PAYS and cuda.is_available() and _fit(voxels, "cuda") else "cpu"
    if device != "cpu":
        with cuda.using(device):
            cuda.require_memory(_BYTES_ON_GPU * voxels, "a frame to detect in")
        return Crew(min(_FRAMES_ON_GPU, frames, _fit(voxels, device)), 1, device)
    workers = processors() if workers is None else workers
    at_a_time = max(1, min(workers, frames, _VOXELS // voxels))
    return Crew(at_a_time, max(1, workers // at_a_time))


def _fit(voxels: int, device: str) -> int:
    """Return how many frames of so many voxels a GPU holds."""
    with cuda.using(device):
        return cuda.free_bytes() // (_BYTES_ON_GPU * voxels)


def work_through(
    movie: FrameSource, numbers: Sequence[int], work: Callable[[np.ndarray], Result], crew: Crew
) -> Iterator[tuple[int, Result]]:
    """Yield (number, work of that frame) in order; at most `crew.frames` + 1 of them are in memory.

    Frames are read in this thread; for a GPU, which would wait for one, by others, up to `_FRAMES_READ` more at a time.
    """
    ahead = 0 if crew.device == "cpu" else max(1, min(_FRAMES_READ, _VOXELS_READ // math.prod(movie.shape)))
    pool = ThreadPoolExecutor(crew.frames, thread_name_prefix="frames")
    readers = ThreadPoolExecutor(max(ahead, 1), thread_name_prefix="reading")
    waiting: deque[tuple[int, Future[Result]]] = deque()
    room = room_for(crew.device)

    def begin(number: int) -> Future[Result]:
        if crew.device == "cpu":
            return pool.submit(work, movie.frame(number))
        read = readers.submit(movie.frame, number, room)
        return pool.submit(lambda: work(read.result()))

    try:
        for number in numbers:
            waiting.append((number, begin(number)))
            if len(waiting) > crew.frames + ahead:
                done, result = waiting.popleft()
                yield done, result.result()
        for number, result in waiting:
            yield number, result.result()
    finally:
        readers.shutdown(wait=True, cancel_futures=True)
        pool.shutdown(wait=True, cancel_futures=True)
