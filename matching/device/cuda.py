"""The one door to CUDA: devices, memory and compiled kernels.

CuPy is imported here and nowhere else, and only when a GPU is asked for. Everything runs on the caller's current device
and current stream; nothing here synchronises.

Kernel files (``*.cu``, beside the code that launches them) are CUDA C++17 and include no header of the CUDA toolkit,
only each other: ``#include "device/common.cuh"``. So they compile wherever NVRTC is, and the test suite compiles each
of them without a GPU. :func:`source` pastes local includes in place because CuPy keys its disk cache on the text it is
handed.
A file that is compiled in several forms lists each further one in a line ``// variant: -DINDEX64 …``, which the
compile test reads.
"""

from __future__ import annotations

import atexit
import functools
import itertools
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DeviceMemoryExceeded, DeviceUnavailable

KERNEL_FOLDER = Path(__file__).parents[1]
"""`matching`: a kernel lies beside the code that launches it, and is named from here, e.g. `"auction/bid.cu"`."""

COMPILE_OPTIONS = ("-std=c++17",)
_PEER_ACCESS_ALREADY_ENABLED = 704
OLDEST_ARCHITECTURE = (7, 0)  # ld.acquire and independent thread scheduling

_IDLE_STREAMS: defaultdict[int, list[Any]] = defaultdict(list)  # by device
_LOCAL_INCLUDE = re.compile(r'^\s*#include\s+"([^"]+)"\s*$')


@dataclass(frozen=True)
class Device:
    """One CUDA device as the driver describes it."""

    index: int
    name: str
    compute_capability: tuple[int, int]
    total_bytes: int
    multiprocessors: int


def cupy() -> Any:
    """Return the module CuPy.

    Raises
    ------
    DeviceUnavailable
        CuPy is not installed.
    """
    reason = "" if "cupy" in sys.modules else _missing_for()
    if not reason:
        try:
            return __import__("cupy")  # asked for by every call, of which `import_module` takes ten times as long
        except ImportError as error:
            reason = str(error)
    raise DeviceUnavailable(
        f"device needs CuPy for CUDA, and it cannot be imported ({reason}). Install auctrack's extra cuda13, which "
        "is cupy-cuda13x (cuda12 and cupy-cuda12x where nvidia-smi says CUDA Version: 12); or choose device cpu."
    )


@functools.cache
def _missing_for() -> str:
    """Return why CuPy cannot be imported, "" where it can; looked for once.

    Each look takes a lock of Python's that a child which another thread forks meanwhile waits for without end.
    """
    try:
        _ = import_module("cupy")
    except ImportError as error:
        return str(error)
    return ""


def devices() -> tuple[Device, ...]:
    """List the CUDA devices that CuPy sees; empty where there is no CuPy, no driver or no device."""
    try:
        runtime = cupy().cuda.runtime
    except DeviceUnavailable:
        return ()
    try:
        count = runtime.getDeviceCount()
    except runtime.CUDARuntimeError:
        return ()
    return tuple(_describe(index) for index in range(count))


@functools.cache
def _describe(index: int) -> Device:
    """Describe a device once: asking the driver takes most of a millisecond, and `using` asks every time."""
    properties = cupy().cuda.runtime.getDeviceProperties(index)
    return Device(
        index=index,
        name=properties["name"].decode(),
        compute_capability=(properties["major"], properties["minor"]),
        total_bytes=properties["totalGlobalMem"],
        multiprocessors=properties["multiProcessorCount"],
    )


def is_available() -> bool:
    """Tell whether ``device="auto"`` may choose CUDA: some device is new enough for the kernels."""
    return any(device.compute_capability >= OLDEST_ARCHITECTURE for device in devices())


@contextmanager
def using(device: str = "cuda") -> Generator[Any]:
    """Make `device` current, yield the module CuPy, and translate CUDA's out-of-memory error.

    Parameters
    ----------
    device : {"cuda", "cuda:N"}
        ``"cuda"`` is the caller's current device.

    Raises
    ------
    DeviceUnavailable
        No such device, no driver, no CuPy, or the device is older than compute capability 7.0.
    DeviceMemoryExceeded
        An allocation inside the block failed.
    """
    cp = cupy()
    chosen = _found(device)
    with cp.cuda.Device(chosen.index):
        try:
            yield cp
        except cp.cuda.memory.OutOfMemoryError as error:
            raise DeviceMemoryExceeded(f"device={device!r}: {chosen.name} ran out of memory: {error}") from error


def _found(device: str) -> Device:
    """Return the device of that name, or raise as `using` says."""
    found = devices()
    if not found:
        raise DeviceUnavailable(f"device={device!r}: no CUDA device or driver was found; use device='cpu'")
    index = _index(device)
    if index >= len(found):
        counted = f"{len(found)} CUDA device{'s' if len(found) > 1 else ''}"
        raise DeviceUnavailable(f"device={device!r}: found {counted}, numbered from 0")
    if found[index].compute_capability < OLDEST_ARCHITECTURE:
        have = ".".join(map(str, found[index].compute_capability))
        raise DeviceUnavailable(
            f"device={device!r}: {found[index].name} has compute capability {have}, 7.0 is needed; use device='cpu'"
        )
    return found[index]


def numbers_of(names: Sequence[str]) -> tuple[int, ...]:
    """Return the numbers of several devices, each there and new enough, none named twice.

    Raises
    ------
    DeviceUnavailable
        As `using`, or a device comes twice.
    """
    numbers = tuple(_found(name).index for name in names)
    if len(set(numbers)) < len(numbers):
        raise DeviceUnavailable(f"device={list(names)}: needs devices that differ; one is named twice")
    return numbers


def nccl() -> Any:
    """Return CuPy's binding of NCCL.

    Raises
    ------
    DeviceUnavailable
        NCCL is not installed.
    """
    with warnings.catch_warnings():  # CuPy warns, we raise
        warnings.simplefilter("ignore")
        binding = import_module("cupy.cuda.nccl")
    if not binding.available:
        raise DeviceUnavailable(
            "device: several devices talk through NCCL, which CuPy cannot load; install it with "
            "pip install nvidia-nccl-cu13 (or -cu12), or name one device"
        )
    return binding


@functools.cache
def communicators(numbers: tuple[int, ...]) -> tuple[Any, ...]:
    """Return NCCL's communicators of the given devices, one each; made once a process, which takes a second or so.

    They are closed when the process ends.
    """
    made = tuple(nccl().NcclCommunicator.initAll(list(numbers)))
    for communicator in made:
        atexit.register(communicator.destroy)
    return made


@functools.cache
def open_peers(numbers: tuple[int, ...]) -> None:
    """Let each of the devices read and write the others' memory.

    Raises
    ------
    DeviceUnavailable
        Two of them are not linked.
    """
    cp = cupy()
    for here, there in itertools.permutations(numbers, 2):
        if not cp.cuda.runtime.deviceCanAccessPeer(here, there):
            raise DeviceUnavailable(
                f"device: cuda:{here} cannot reach the memory of cuda:{there}; use variant='paper', which needs no "
                "such link"
            )
        with cp.cuda.Device(here):
            try:
                cp.cuda.runtime.deviceEnablePeerAccess(there)
            except cp.cuda.runtime.CUDARuntimeError as error:
                if error.status != _PEER_ACCESS_ALREADY_ENABLED:
                    raise


def is_device_name(name: Any) -> bool:
    """Tell whether this is how a CUDA device is written: "cuda", or "cuda:N"."""
    return isinstance(name, str) and (name == "cuda" or (name.startswith("cuda:") and name[5:].isdecimal()))


def _index(device: str) -> int:
    if not is_device_name(device):
        raise DeviceUnavailable(f"device={device!r}: a CUDA device is written 'cuda' or 'cuda:N'")
    return cupy().cuda.Device().id if device == "cuda" else int(device[5:])


def require_memory(n_bytes: int, purpose: str) -> None:
    """Refuse before the first allocation what the current device cannot hold.

    Raises
    ------
    DeviceMemoryExceeded
        `n_bytes` is more than the device's free memory plus what CuPy's pool holds unused.
    """
    free = free_bytes()
    if n_bytes > free:
        raise DeviceMemoryExceeded(
            f"device: {purpose} needs {n_bytes / 2**30:.2f} GiB of GPU memory and {free / 2**30:.2f} GiB are free; "
            "solve smaller blocks, free arrays held elsewhere, or use device='cpu'"
        )


def free_bytes() -> int:
    """Return the current device's free memory, with what CuPy's pool holds unused; no more than a limit of the pool's.

    That is set by `CUPY_GPU_MEMORY_LIMIT`, or by the user's own code.
    """
    cp = cupy()
    pool, (free, _) = cp.get_default_memory_pool(), cp.cuda.runtime.memGetInfo()
    at_hand, limit = int(free + pool.free_bytes()), int(pool.get_limit())
    return min(at_hand, max(limit - int(pool.used_bytes()), 0)) if limit else at_hand


@contextmanager
def own_stream() -> Generator[None]:
    """Queue this thread's work on the current device apart from that of other threads; wait for it at the end.

    Streams are used again, whatever the thread: CuPy keeps what was freed for the stream that it was of.
    """
    cp = cupy()
    idle = _IDLE_STREAMS[cp.cuda.Device().id]
    try:
        stream = idle.pop()
    except IndexError:
        stream = cp.cuda.Stream(non_blocking=True)
    try:
        with stream:
            yield
        stream.synchronize()
    finally:
        idle.append(stream)


@contextmanager
def copy_stream() -> Generator[None]:
    """Queue this thread's copies to the current device behind those of other threads; wait for its own at the end.

    What they are copied to is kept for the next ones when it is freed, apart from what is computed.
    """
    cp = cupy()
    stream = _shared_stream(cp.cuda.Device().id, "copies")
    done = cp.cuda.Event(block=True, disable_timing=True)  # a thread that spins takes a core from those that read
    with stream:
        yield
        done.record(stream)
    done.synchronize()


@contextmanager
def queue() -> Generator[Callable[[], None]]:
    """Queue work on the current device behind that of other such blocks; yield what waits until that of this is done.

    Arrays that were not made in it must stay until then: freeing them lets others write there.
    """
    cp = cupy()
    stream, done = _shared_stream(cp.cuda.Device().id, "work"), cp.cuda.Event(disable_timing=True)
    with stream:
        yield done.synchronize
        done.record(stream)


@functools.cache
def _shared_stream(device: int, purpose: str) -> Any:
    del device, purpose  # the current device; both are part of the cache's key
    return cupy().cuda.Stream(non_blocking=True)


def is_device_array(array: object) -> bool:
    """Tell whether `array` lives on a GPU, without importing CuPy."""
    return not isinstance(array, np.ndarray) and type(array).__module__.partition(".")[0] in {"cupy", "cupyx"}


def device_of(array: Any) -> AbstractContextManager[Any]:
    """Return the device of an array, to make it current; nothing for the host's."""
    return array.device if is_device_array(array) else nullcontext()


def to_host(array: Any) -> np.ndarray[Any, Any]:
    """Copy a device array to the host (on the current stream); a NumPy array comes back as it is."""
    return array.get() if is_device_array(array) else np.asarray(array)


def source(file: str) -> str:
    """Return the text of a kernel file with its local includes pasted in, each at most once.

    ``#line`` directives make compiler errors name the real file and line.
    """
    return "\n".join(_lines(KERNEL_FOLDER / file, seen=set())) + "\n"


@functools.cache
def declared(file: str, name: str) -> int:
    """Return a whole number that a kernel file states: ``constexpr int NAME = 1 << 4;`` or ``#define NAME 16``.

    It is defined only there.

    Raises
    ------
    LookupError
        If the file, its includes read too, declares no such number.
    """
    text = source(file)
    found = re.search(rf"^constexpr int (?:[^;]*, )?{name} = (\w+)(?: << (\d+))?[,;]", text, re.MULTILINE)
    found = found or re.search(rf"^#define {name} (\d+)()\b", text, re.MULTILINE)
    if found is None:
        raise LookupError(f"{file} declares no whole number {name}")
    return int(found[1], 0) << int(found[2] or 0)


def _lines(path: Path, seen: set[Path]) -> Iterator[str]:
    seen.add(path)
    yield f'#line 1 "{path.as_posix()}"'
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        include = _LOCAL_INCLUDE.match(line)
        if include is None:
            yield line
            continue
        included = KERNEL_FOLDER / include[1]
        if included not in seen:
            yield from _lines(included, seen)
        yield f'#line {number + 1} "{path.as_posix()}"'


@dataclass(frozen=True)
class Kernels:
    """The kernels of one compiled file: ``kernels["name"](grid, block, arguments)``."""

    get: Callable[[str], Any]

    def __getitem__(self, name: str) -> Any:
        """Return the kernel called `name` (CuPy's RawKernel, loaded on the current device when first launched)."""
        return self.get(name)


@functools.cache
def load(file: str, *options: str, cooperative: bool = False) -> Kernels:
    """Compile a kernel file once per process and form; CuPy keeps the binary per device and on disk.

    Parameters
    ----------
    file : str
        Where it is, from `matching` down, e.g. ``"auction/bid.cu"``; elsewhere, its whole path.
    *options : str
        Further NVRTC options, e.g. ``"-DINDEX64"``.
    cooperative : bool
        Launch every kernel of the file cooperatively: all blocks are resident at once, so they may sync at
        ``grid_barrier`` (``device/common.cuh``). The grid must not exceed :func:`resident_blocks`.
    """
    module = cupy().RawModule(
        code=source(file), options=(*COMPILE_OPTIONS, *options), enable_cooperative_groups=cooperative
    )
    return Kernels(functools.cache(module.get_function))


def resident_blocks(kernel: Any, threads_per_block: int) -> int:
    """Return how many blocks of `kernel` the current device holds at once: the largest grid of a cooperative launch."""
    per_multiprocessor = cupy().cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(
        kernel.kernel.ptr, threads_per_block, 0
    )
    return per_multiprocessor * multiprocessors()


def multiprocessors() -> int:
    """Return how many multiprocessors the current device has."""
    return _describe(cupy().cuda.Device().id).multiprocessors
