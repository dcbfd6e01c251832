"""Frames of a movie worked on in threads, several at a time and each by several, within a memory budget.

On a GPU as well: while one frame is computed, others are copied and looked at on the host.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from ...matching.device import cuda
from ...matching.jit.threads import processors
from .pixels import Pixels, pinned_memory

if TYPE_CHECKING:
    from ..reading.frames import FrameSource

Task = TypeVar("Task")
Result = TypeVar("Result")

DEFAULT_BUDGET = 4e9
"""Bytes that filtering may take where nothing is said."""
_BYTES_FILTERED = 12  # a voxel of what is filtered: three copies in float32
_BYTES_OF_FRAME = 8  # a voxel of a frame, at most
_BYTES_ON_GPU = 48  # a voxel: grey levels and their copies, the response, two chains before and after an axis
_FRAMES_ON_GPU = 3  # at a time: one is copied, one filtered, one is looked at on the host
_FRAMES_READ = 12  # at a time for a GPU, by three of four processors: reading slows down the thread that feeds it
_FRAMES_AHEAD = 48  # in its memory at most: as many as are read while settings are measured
_TILED_AHEAD = 3  # frames in tiles: two that are worked on, and one that is read
_WORTH_A_TILE = 4  # times the overlap that a GPU must hold for "auto" to take tiles: half of each is its own then
_MEASURING = 2  # threads for what a GPU leaves to the host: while frames are read a frame takes one longer than the GPU
_VOXELS_READ = 1 << 30  # of these frames, or one of more
GPU_PAYS = 1 << 27
"""Voxels of a movie from which "auto" detects on a GPU. Fewer take a processor a second or two."""


@dataclass(frozen=True)
class WorkPlan:
    """How threads share the frames of a movie.

    Parameters
    ----------
    frames : int
        Worked on at a time.
    threads : int
        That work on each of them.
    device : str
        Where: "cpu", "cuda" or "cuda:N".
    planes : int or None
        Of a frame that are filtered at a time, where all of them are too many; see `tiles`.
    ahead : int
        Frames in a GPU's memory, or on their way there, beside those worked on; of frames in tiles those that are in
        the host's memory, or read.
    """

    frames: int
    threads: int
    device: str = "cpu"
    planes: int | None = None
    ahead: int = 0

    @property
    def is_fed(self) -> bool:
        """Whether whole frames go to a GPU."""
        return self.device != "cpu" and self.planes is None


def work_plan(
    shape: tuple[int, ...],
    frames: int,
    workers: int | None,
    device: str = "cpu",
    *,
    budget: float = DEFAULT_BUDGET,
    overlap: int | None = None,
) -> WorkPlan:
    """Return how frames of a shape are shared: as many at a time as there are workers and as memory allows.

    Parameters
    ----------
    shape : tuple of int
    frames : int
    workers : int or None
        Threads on a CPU. None: one a processor.
    device : str
        "auto": the current GPU where there is one that holds a frame, or tiles of it that are half their own at least,
        and the movie is large (`GPU_PAYS`).
    budget : float
        Bytes that frames on a CPU may take in all, the one at hand left out.
    overlap : int, optional
        Planes on each side that a filter reaches over, where a frame that a device does not hold may be worked on in
        tiles. Where not, one that a GPU does not hold is the CPU's, which takes it whole.

    Raises
    ------
    DeviceUnavailable, DeviceMemoryExceeded
        If the GPU that is asked for is not there, or does not hold a tile.
    """
    voxels = math.prod(shape)
    plane = voxels // shape[0]
    if device == "auto":
        most = voxels if overlap is None else min(voxels, _WORTH_A_TILE * max(overlap, 1) * plane)
        device = "cuda" if frames * voxels >= GPU_PAYS and cuda.is_available() and _fit(most, "cuda") else "cpu"
    if device != "cpu":
        fit = _fit(voxels, device)
        if fit:
            at_a_time = min(_FRAMES_ON_GPU, frames, fit)
            spare = (fit - at_a_time - 1) * _BYTES_ON_GPU // _BYTES_OF_FRAME
            return WorkPlan(at_a_time, 1, device, ahead=max(1, min(_FRAMES_AHEAD, spare)))
        if overlap is not None:
            with cuda.using(device):
                cuda.require_memory(_BYTES_ON_GPU * plane * (2 * overlap + 1), "the planes that a filter reaches over")
            ahead = min(_TILED_AHEAD, 1 + int(budget / (_BYTES_OF_FRAME * voxels)))
            return WorkPlan(1, 1, device, _fit(plane, device), ahead)
    workers = processors() if workers is None else workers
    at_a_time = max(1, min(workers, frames, int(budget / ((_BYTES_FILTERED + 2 * _BYTES_OF_FRAME) * voxels))))
    planes = int(budget / (_BYTES_FILTERED * plane))
    return WorkPlan(
        at_a_time, max(1, workers // at_a_time), "cpu", planes if overlap is not None and planes < shape[0] else None
    )


def _fit(voxels: int, device: str) -> int:
    """Return how many frames of so many voxels a GPU holds."""
    with cuda.using(device):
        return cuda.free_bytes() // (_BYTES_ON_GPU * voxels)


def bytes_on_gpu(plan: WorkPlan, shape: tuple[int, ...], itemsize: int, frames: int, looked_at: int) -> int:
    """Return the bytes that so many frames take in a GPU's memory at most: read ahead, looked at before, worked on."""
    voxels = math.prod(shape)
    if plan.planes is not None:
        return voxels // shape[0] * plan.planes * _BYTES_ON_GPU
    held = min(plan.frames + plan.ahead + looked_at, frames)
    return voxels * (plan.frames * _BYTES_ON_GPU + held * itemsize)


def read_at_a_time(shape: tuple[int, ...]) -> int:
    """Return how many frames are read at a time for a GPU, each into memory of its own."""
    return max(1, min(_FRAMES_READ, _readers(), _VOXELS_READ // math.prod(shape)))


def _readers() -> int:
    return max(1, 3 * processors() // 4)


def begun_ahead(
    pool: ThreadPoolExecutor, work: Callable[[Task], Result], tasks: Iterable[Task], ahead: int
) -> Iterator[Result]:
    """Yield work of each task in order, done by the threads of a pool; `ahead` more are begun than are waited for."""
    waiting = deque[Future[Result]]()
    for task in tasks:
        waiting.append(pool.submit(work, task))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    for result in waiting:
        yield result.result()


class IncomingFrames:
    """Frames of a movie on their way to where they are worked on; closed as a context.

    On a CPU the threads that work on them read them, when their turn comes: several unpack compressed frames side by
    side, and none is held before. Frames for a GPU are read by threads of their own, and copied there if they are not
    worked on in tiles, from the moment that this is made.
    """

    def __init__(
        self, movie: FrameSource, numbers: Sequence[int], plan: WorkPlan, looked_at: Sequence[int] = ()
    ) -> None:
        """Begin with frames that are `looked_at` before the work on them."""
        self.plan = plan
        self._movie, self._numbers = movie, numbers
        self._order = iter(dict.fromkeys((*looked_at, *numbers)))
        self._frames: dict[int, Callable[[], Pixels]] = {}
        self._pool = ThreadPoolExecutor(plan.frames, thread_name_prefix="frames")
        at_a_time = read_at_a_time(movie.shape)
        self._readers = ThreadPoolExecutor(at_a_time, thread_name_prefix="reading")
        self._into = pinned_memory(plan.device, _readers() // at_a_time)
        for _ in range(len(looked_at) + plan.frames + plan.ahead if plan.is_fed else plan.ahead):
            self._fetch()

    def __enter__(self) -> IncomingFrames:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop reading and working."""
        for threads in (self._readers, self._pool):
            threads.shutdown(wait=True, cancel_futures=True)

    def look(self, at: Sequence[int], work: Callable[[Pixels], Result]) -> list[Result]:
        """Return work of frames that were to be looked at, which stay.

        A GPU's one after the other: threads gain nothing there, and each would compile the same kernels at first.
        """
        each = map if self.plan.device != "cpu" else self._pool.map
        return list(each(lambda number: work(self._frames[number]()), at))

    def worked(self, work: Callable[[Pixels], Result]) -> Iterator[tuple[int, Result]]:
        """Yield (number, work of that frame) in order; `plan.frames` + `plan.ahead` + 1 are on their way at most."""

        def at(coming: tuple[int, Callable[[], Pixels]]) -> tuple[int, Result]:
            return coming[0], work(coming[1]())

        return begun_ahead(self._pool, at, self._coming(), self.plan.frames + self.plan.ahead)

    def _coming(self) -> Iterator[tuple[int, Callable[[], Pixels]]]:
        """Yield each frame's number and what waits for it, begun with by the time this is asked for."""
        for number in self._numbers:
            if number not in self._frames:
                self._fetch()
            yield number, self._frames.pop(number)

    def queued(self, begin: Callable[[Pixels], Callable[[], Callable[[], Result]]]) -> Iterator[tuple[int, Result]]:
        """Yield as `worked` does what is made of frames on a GPU: this thread begins it, and waits later.

        What `begin` returns waits for the GPU, and returns what is left for the host, which threads of their own do.
        `plan.frames` are begun before the first is waited for, so that a GPU never waits. Of several threads that drive
        it each would wait for the interpreter longer than for its frame.
        """
        begun: deque[tuple[int, Callable[[], Callable[[], Result]]]] = deque()
        made: deque[tuple[int, Future[Result]]] = deque()
        with ThreadPoolExecutor(_MEASURING, thread_name_prefix="measuring") as host:
            for number, frame in self._coming():
                begun.append((number, begin(frame())))
                if len(begun) > self.plan.frames:
                    done, finish = begun.popleft()
                    made.append((done, host.submit(finish())))
                    self._fetch()
                while made and (made[0][1].done() or len(made) > self.plan.frames):
                    done, result = made.popleft()
                    yield done, result.result()
            made.extend((number, host.submit(finish())) for number, finish in begun)
            for number, result in made:
                yield number, result.result()

    def _fetch(self) -> None:
        """Begin with the next frame, if there is one."""
        for number in islice(self._order, 1):
            if self.plan.device != "cpu":
                self._frames[number] = self._readers.submit(self._brought, number).result
            else:
                self._frames[number] = partial(self._read, number)

    def _read(self, number: int) -> Pixels:
        return Pixels.of(self._movie.frame(number))

    def _brought(self, number: int) -> Pixels:
        frame = Pixels.of(self._movie.frame(number, self._into))
        return frame.brought_to(self.plan.device) if self.plan.is_fed else frame


def looked_at(
    movie: FrameSource,
    numbers: Sequence[int],
    work: Callable[[Pixels], Result],
    plan: WorkPlan,
    incoming: IncomingFrames | None = None,
) -> list[Result]:
    """Return work of some frames, of those on their way where there are any."""
    if incoming is not None:
        return incoming.look(numbers, work)
    with IncomingFrames(movie, numbers, plan) as read:
        return [result for _, result in read.worked(work)]
