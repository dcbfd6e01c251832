"""Kernels that call each other: one piece of machine code, which does what each would alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.caching import NullCache
from numba.core.event import install_recorder

from auctrack.matching.jit.compiled import compiled


@compiled
def _half(x: Any) -> Any:
    if x % 2:
        raise ValueError(f"{x} is odd")
    return x // 2


@compiled
def _quarter(x: Any) -> Any:
    return _half(_half(x))


@compiled
def _factorial(n: Any) -> Any:
    return 1 if n < 2 else n * _factorial(n - 1)


@numba.njit
def _users_own(x: Any) -> Any:
    return _quarter(x) + _half(x)


@pytest.mark.parametrize(("function", "twelfth"), [(_half, 6), (_quarter, 3), (_users_own, 9)])
def test_a_part_answers_and_raises_for_whoever_calls_it(function: Any, twelfth: int) -> None:
    assert function(12) == twelfth
    with pytest.raises(ValueError, match="7 is odd"):
        function(7)


def test_a_kernel_may_call_itself() -> None:
    assert _factorial(5) == 120


@compiled
def _zeros(n: Any) -> Any:
    return np.zeros(n, np.int8)


@compiled
def _twice_zeros(n: Any) -> Any:
    return len(np.zeros(n, np.int8)) + len(_zeros(n))


def test_what_numba_brings_is_compiled_once_for_a_kernel_and_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_twice_zeros, "_cache", NullCache())
    with install_recorder("numba:compile") as recorded:
        assert _twice_zeros(3) == 6
    begun = Counter(_named(event.data) for _, event in recorded.buffer if event.is_start)
    assert set(begun.values()) == {1}


def _named(compiling: Any) -> tuple[str, Any]:
    return compiling["dispatcher"].py_func.__qualname__, compiling["args"]


PROGRAM = """
from auctrack.matching.jit.compiled import compiled

@compiled
def named(x):
    return "no " + str(x)

@compiled
def caller(x):
    return named(x)

print(caller(3), *caller.stats.cache_hits.values())
"""


def test_machine_code_is_made_and_kept_of_what_python_calls_alone(tmp_path: Path) -> None:
    """Loaded by another process, the part in it finds what it takes from Python."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    said = [subprocess.check_output([sys.executable, program], env={"NUMBA_CACHE_DIR": str(tmp_path)}) for _ in "12"]
    assert said == [b"no 3\n", b"no 3 1\n"]
    assert [path.name.split(".")[1] for path in tmp_path.rglob("*.nbc")] == ["caller"]


SWITCHED_OFF = """
import numba, numpy as np
from auctrack.matching.jit.compiled import compiled

@compiled
def middle(values):
    return np.sort(values)[len(values) // 2]

assert middle(np.array([3.0, 1.0, 2.0])) == 2.0
assert len(middle.overloads) == 1, "it was compiled"
assert numba.njit(middle.py_func) is middle.py_func, "the host program's own stay Python"
"""


def test_a_host_program_that_runs_its_own_kernels_as_python_has_ours_compiled(tmp_path: Path) -> None:
    """numba hands its compiler a Python function in place of `np.sort` then."""
    program = tmp_path / "program.py"
    program.write_text(SWITCHED_OFF)
    asked = {**os.environ, "NUMBA_DISABLE_JIT": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, program], env=asked, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
