"""The kernels themselves, compiled for the host (`cuda_on_host.h`): what GPU solvers launch, where there is no GPU.

`EmulatedCosts` stand in for costs on a device, `HOST` for CuPy: the code that allocates, launches and reads back is the
package's own.
"""

from __future__ import annotations

import ctypes
import functools
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from auctrack.matching.device import cuda
from auctrack.matching.jit.sources import digest
from auctrack.matching.problem.gpu_graph import types_of

from ...compiled_cache import CACHE
from .kernel_twins import HostCosts

COMPILER = "g++"
ALIGNMENT = 64
RESIDENT_BLOCKS = 3

_WORDS = {
    'asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");': (
        "value = host::load(address);"
    ),
    'asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");': (
        "value = host::load(address);"
    ),
    'asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(address), "r"(value) : "memory");': (
        "host::store(address, value);"
    ),
    'asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");': (
        "host::store(address, value);"
    ),
    'asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));': "now = 0;",
    'asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(arrived) : "memory");': (
        "now = host::awaited(arrived);"
    ),
    'asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(at) : "memory");': (
        "a = host::load(at), b = host::load(at + 1);"
    ),
    'asm volatile("{.reg .b128 w; mov.b128 w, {%1, %2}; st.relaxed.gpu.global.b128 [%0], w;}" '
    '::"l"(at), "l"(a), "l"(b) : "memory");': "host::store_words((uint64_t*)at, a, b);",
    'asm volatile("{.reg .b128 w; ld.relaxed.gpu.global.b128 w, [%2]; mov.b128 {%0, %1}, w;}" '
    ': "=l"(a), "=l"(b) : "l"(at) : "memory");': "load_both(at, a, b);",
    "extern __shared__ uint64 room[];": "uint64* const room = (uint64*)host::block->room.data();",
}
"""What only a GPU can do, and what stands for it."""

_KERNEL_NAME = r'extern "C" __global__ void\s+(?:__launch_bounds__\(.*?\)\s*)?(\w+)\('
_LAUNCHER = """extern "C" int launch_{0}(
    int drawn, int row, int rows, int blocks, int threads, int bytes, void** arguments) {{
    host::is_drawn = drawn, host::row = row, host::rows = rows;
    return host::launch({0}, blocks, threads, bytes, arguments);
}}
"""
_HEADER = Path(__file__).parent / "cuda_on_host.h"
_PRELUDE = """#include "cuda_on_host.h"
inline void load_both(const unsigned long long* at, unsigned long long& a, unsigned long long& b) {
    uint64_t low, high;
    host::load_words((const uint64_t*)at, low, high);
    a = low, b = high;
}
"""


_FLAGS = (
    "-std=c++17",
    "-O1",
    "-w",
    "-fPIC",
    "-shared",
    "-pthread",
    "-ffp-contract=off",
    "-fno-gnu-unique",  # or libraries share their kernels' `__shared__` arrays, of whatever sizes
    f"-I{_HEADER.parent}",
)


class _Device(nullcontext[None]):
    id = 0


class HostArray(np.ndarray):
    """What a kernel on the host takes: begins at a multiple of `ALIGNMENT`, and has the attributes of CuPy's."""

    @property
    def device(self) -> Any:
        """The only one there is."""
        return _Device()

    @property
    def data(self) -> Any:
        """Where it lies."""
        return SimpleNamespace(ptr=self.ctypes.data, array=self)

    def set(self, values: np.ndarray, stream: None = None) -> None:
        """Take values."""
        del stream
        self[...] = values

    def get(self, out: np.ndarray | None = None) -> np.ndarray:
        """Return what it holds."""
        if out is None:
            return np.array(self, subok=False)
        out[...] = self
        return out


class HostModule:
    """NumPy, as far as solvers ask it of CuPy."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def empty(self, shape: Any, dtype: Any = np.float64) -> HostArray:
        """Return an array full of what no kernel may rely on."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        whole = np.full(size + ALIGNMENT, 0xA5, np.uint8)
        first = -whole.ctypes.data % ALIGNMENT
        return whole[first : first + size].view(dtype).reshape(shape).view(HostArray)

    def full(self, shape: Any, value: Any, dtype: Any = None) -> HostArray:
        """Return an array full of `value`."""
        array = self.empty(shape, np.asarray(value).dtype if dtype is None else dtype)
        array[...] = value
        return array

    def zeros(self, shape: Any, dtype: Any = np.float64) -> HostArray:
        """Return zeros."""
        return self.full(shape, 0, dtype)

    def array(self, values: Any, dtype: Any = None) -> HostArray:
        """Return a copy."""
        values = np.asarray(values, dtype)
        copy = self.empty(values.shape, values.dtype)
        copy[...] = values
        return copy

    asarray = ascontiguousarray = array

    def where(self, *arguments: Any) -> HostArray:
        """Return what `numpy.where` does."""
        return self.array(np.where(*arguments))

    def concatenate(self, arrays: Sequence[Any], axis: int = 0) -> HostArray:
        """Return the arrays one after the other."""
        return self.array(np.concatenate(arrays, axis=axis))

    @staticmethod
    def ndarray(shape: Any, dtype: Any, *, memptr: Any, strides: Any) -> HostArray:
        """Return a view of what lies there."""
        flat = memptr.array.reshape(-1).view(dtype)
        return np.lib.stride_tricks.as_strided(flat, shape, strides, subok=True).view(HostArray)


HOST = HostModule()


_WHOLE_METHODS = {
    "hungarian/lists.cu": (),
    "hungarian/classical.cu": ("-DLONG_SEARCH=1", "-DOFFERS=8", "-DFEW_COLUMNS=8"),
    "paths/matrix_forest.cu": (),
}
"""Files, and options with which small problems reach all of their code."""


STEPS: tuple[str, ...] = ()
"""Options by which small problems take other steps."""
SEED: int | None = None
"""From which the turns of blocks and threads are drawn: see `cuda_on_host.h`."""


class EmulatedCosts(HostCosts):
    """Costs in the host's memory, on which the kernels of whole methods run themselves, and twins of the others."""

    def kernel(self, file: str, name: str, *options: str, cooperative: bool = False) -> Any:
        """Return a kernel in the form for these costs."""
        if file not in _WHOLE_METHODS:
            return super().kernel(file, name, *options, cooperative=cooperative)
        options = (*types_of(self.cost), *options, *_WHOLE_METHODS[file], *STEPS)
        if SEED is not None:
            draw_from(SEED, file, *options)
        return HostKernel(compiled(file, name, *options, drawn=SEED is not None))


_ONE_AT_A_TIME = threading.Lock()
"""Kernels on the host have one memory of blocks, whichever thread launches them."""


class HostKernel:
    """A kernel, launched as CuPy launches one."""

    def __init__(self, launch: Any) -> None:
        self.launch = launch
        self.max_dynamic_shared_size_bytes = 0

    def __call__(
        self, grid: tuple[int, ...], block: tuple[int], arguments: Sequence[Any], *, shared_mem: int = 0
    ) -> None:
        given = [np.array(a.ctypes.data if isinstance(a, np.ndarray) and a.ndim else a) for a in arguments]
        where = (ctypes.c_void_p * len(given))(*(value.ctypes.data for value in given))
        rows = int(grid[1]) if len(grid) > 1 else 1
        for row in range(rows):
            with _ONE_AT_A_TIME:
                went_on = self.launch(row, rows, int(grid[0]), int(block[0]), int(shared_mem), where)
            assert went_on, "deadlock: all threads of the kernel that are left wait for one another"


def compiled(file: str, name: str, *options: str, drawn: bool = False) -> Any:
    """Return what launches a kernel of a file that is compiled for the host; `drawn`: in turns that are drawn."""
    return functools.partial(getattr(_library(file, *options), f"launch_{name}"), int(drawn))


def draw_from(seed: int, file: str, *options: str) -> None:
    """Begin the turns of a file's kernels anew, drawn from another seed; `options` are those it is compiled with."""
    _library(file, *options).draw_from(seed)


@functools.cache
def _library(file: str, *options: str) -> ctypes.CDLL:
    text = cuda.source(file)
    for device, host in _WORDS.items():
        text = text.replace(device, host)
    missing = re.findall(r"^.*\basm\b.*$", text, flags=re.MULTILINE)
    assert not missing, f"cuda_on_host.h has nothing that stands for {missing}"
    launchers = "".join(map(_LAUNCHER.format, dict.fromkeys(re.findall(_KERNEL_NAME, text))))
    return ctypes.CDLL(str(_built(f"{_PRELUDE}{text}\n{launchers}", options)))


def _built(text: str, options: tuple[str, ...]) -> Path:
    """Return the library that a text is compiled to, the one at hand where text, header and flags are the same."""
    header = _HEADER.read_text(encoding="utf-8")
    key = digest([text, header, COMPILER, *_FLAGS, *options])
    library = CACHE / f"kernel-{key}.so"
    if not library.exists():
        read = CACHE / f"header-{digest([header, COMPILER, *_FLAGS])}"
        if not (read / f"{_HEADER.name}.gch").exists():
            _compile(_HEADER, read / f"{_HEADER.name}.gch", "-x", "c++-header")
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            source = Path(folder, "kernel.cpp")
            source.write_text(text, encoding="utf-8")
            _compile(source, library, f"-I{read}", *options)
    return library


def _compile(source: Path, result: Path, *options: str) -> None:
    """Compile a file; the result is there as a whole or not at all, whoever else makes it."""
    if not shutil.which(COMPILER):
        pytest.skip("needs g++")
    result.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        made = Path(folder, result.name)
        command = [COMPILER, *options, *_FLAGS, str(source), "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        made.replace(result)
