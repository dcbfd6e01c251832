"""Every kernel file compiles, with NVRTC alone: no GPU, no driver, no CUDA toolkit."""

from __future__ import annotations

import ctypes
import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from auctrack.matching.device import cuda
from auctrack.matching.device.structs import struct

OLDEST, NEWEST = "sm_75", "sm_90"  # what CUDA 13 still knows, and what is measured on
OPTIONS = (*cuda.COMPILE_OPTIONS, "--Ofast-compile=max")
"""Machine code is made and its limits checked, but nobody runs it: optimizing would be most of the time."""


def _library() -> ctypes.CDLL:
    folders = [Path(folder) for folder in importlib.import_module("nvidia").__path__]
    pattern = "nvrtc64_*.dll" if sys.platform == "win32" else "libnvrtc.so.*"
    found = sorted(path for folder in folders for path in folder.rglob(pattern) if "builtins" not in path.name)
    assert found, "the test extra installs nvidia-cuda-nvrtc, but its library was not found"
    return ctypes.CDLL(str(found[-1]))


def _compile(text: str, options: tuple[str, ...]) -> tuple[int, str]:
    """Return NVRTC's status and log."""
    nvrtc = _library()
    program = ctypes.c_void_p()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None) == 0
    encoded = [option.encode() for option in options]
    status = nvrtc.nvrtcCompileProgram(program, len(encoded), (ctypes.c_char_p * len(encoded))(*encoded))
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return status, log.value.decode()


def _kernel_files() -> list[str]:
    """Return those of `matching` by the names that `cuda.load` takes, and whole paths of others."""
    inside = (path.relative_to(cuda.KERNEL_FOLDER) for path in cuda.KERNEL_FOLDER.rglob("*.cu"))
    outside = (cuda.KERNEL_FOLDER.parent / "tracker").rglob("*.cu")
    return sorted(path.as_posix() for path in (*inside, *outside))


def _forms() -> list[tuple[str, str, tuple[str, ...]]]:
    """Every kernel file for both architectures, and for the newer one in each form that a `// variant:` line names."""
    forms: list[tuple[str, str, tuple[str, ...]]] = []
    for file in _kernel_files():
        path = cuda.KERNEL_FOLDER / file
        variants = re.findall(r"^// variant: (.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        forms += [(file, architecture, ()) for architecture in (OLDEST, NEWEST)]
        forms += [(file, NEWEST, tuple(line.split())) for line in variants]
    return forms


@pytest.mark.kernels
@pytest.mark.parametrize(("file", "architecture", "variant"), _forms())
def test_kernel_compiles_without_a_warning(file: str, architecture: str, variant: tuple[str, ...]) -> None:
    status, log = _compile(cuda.source(file), (*OPTIONS, *variant, f"-arch={architecture}"))
    assert status == 0, log
    assert "warning" not in log, log


def _offsets(dtype: np.dtype, prefix: str = "", base: int = 0) -> dict[str, int]:
    """Return where each member lies, those of inner structs too."""
    offsets: dict[str, int] = {}
    for name, (inner, offset, *_) in (dtype.fields or {}).items():
        offsets[prefix + name] = base + offset
        offsets |= _offsets(inner, f"{prefix}{name}.", base + offset)
    return offsets


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("hungarian/classical.cu", "Counts"),
        ("hungarian/classical_batch.cu", "Counts"),
        ("hungarian/classical_batch.cu", "Place"),
        ("hungarian/tree_batch.cu", "TreeCounts"),
        ("paths/trees.cu", "Words"),
        ("paths/matrix_forest.cu", "Counts"),
    ],
)
def test_a_struct_lies_in_memory_as_numpy_has_it(file: str, name: str) -> None:
    dtype = struct(file, name)
    claims = [f"sizeof({name}) == {dtype.itemsize}"]
    claims += [f"__builtin_offsetof({name}, {member}) == {at}" for member, at in _offsets(dtype).items()]
    text = cuda.source(file) + "".join(f'static_assert({claim}, "{name}");\n' for claim in claims)
    status, log = _compile(text, OPTIONS)
    assert status == 0, log
    status, _ = _compile(text + f'static_assert(sizeof({name}) == {dtype.itemsize + 8}, "{name}");\n', OPTIONS)
    assert status != 0


def test_compiler_error_names_the_real_file_and_line() -> None:
    text = cuda.source("device/common.cuh") + "\n__global__ void broken() { no_such_name = 1; }\n"
    status, log = _compile(text, OPTIONS)
    assert status != 0
    line = len((cuda.KERNEL_FOLDER / "device/common.cuh").read_text(encoding="utf-8").splitlines()) + 2
    assert f"device/common.cuh({line})" in log


def test_local_includes_are_pasted_once() -> None:
    for file in _kernel_files():
        assert cuda.source(file).count("constexpr uint32 FULL_WARP") <= 1
