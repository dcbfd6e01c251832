"""Kernels run as Python while that is quicker than compiling them: when, and that nothing else changes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from auctrack.matching.jit import plain
from auctrack.matching.jit.compiled import Files, compiled
from auctrack.matching.jit.plain import small_work_as_python


@pytest.fixture(autouse=True)
def may_run_plain(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(Files, "holds", lambda *_: False)
    with small_work_as_python():
        yield


@compiled
def _plus_one(x: Any) -> Any:
    return x + 1


def _kernel(most: int = 100) -> Any:
    @compiled(plain=most)
    def total(values, pair):
        kept = np.float64(0)
        for value in values:
            kept += _plus_one(value)
        return kept, len(pair[0])

    return total


SMALL = np.arange(10.0), (np.zeros(5, np.int32), 2)


def test_a_small_call_runs_as_python_with_all_that_it_calls():
    kernel = _kernel()
    found = kernel(*SMALL)
    assert found == (55.0, 5)
    assert not kernel.signatures
    assert list(map(type, found)) == [float, int]  # as of compiled code


@pytest.mark.parametrize(
    "given",
    [
        pytest.param((np.arange(96.0), SMALL[1]), id="many elements"),
        pytest.param((SMALL[0].astype(np.float32), SMALL[1]), id="floats that NumPy does not widen"),
        pytest.param((SMALL[0], (np.zeros(5, np.uint8), 2)), id="bytes, which NumPy lets overflow"),
    ],
)
def test_others_are_compiled(given):
    kernel = _kernel()
    kernel(*given)
    assert len(kernel.signatures) == 1


def test_one_that_would_take_very_many_steps_is_compiled_however_small_its_arrays(monkeypatch):
    monkeypatch.setattr(plain, "MOST_STEPS", 99)

    def count(x, y):
        found = 0
        for _ in x:
            for _ in y:
                found += 1
        return found

    pairs: Any = compiled(plain=100, steps=lambda x, y: len(x) * len(y))(count)
    assert pairs(np.zeros(9), np.zeros(11)) == 99
    assert not pairs.signatures
    assert pairs(np.zeros(10), np.zeros(10)) == 100
    assert len(pairs.signatures) == 1


def test_what_is_kept_on_disk_is_loaded(monkeypatch):
    kernel = _kernel()
    kernel(*SMALL)
    monkeypatch.setattr(Files, "holds", lambda *_: True)
    assert kernel(*SMALL) == (55.0, 5)
    assert len(kernel.signatures) == 1


def test_one_that_has_taken_long_enough_is_compiled_at_once(monkeypatch):
    kernel = _kernel()
    monkeypatch.setattr(plain, "MOST_SECONDS", 1e-9)
    kernel(*SMALL)
    assert len(kernel.signatures) == 1


def test_all_is_compiled_elsewhere(monkeypatch):
    kernel = _kernel()
    with monkeypatch.context() as unset:  # until then, or the fixture would clear this one in place of its own
        unset.setattr(plain, "_may", threading.Event())
        with small_work_as_python():
            pass
        kernel(*SMALL)
    assert len(kernel.signatures) == 1


def test_what_a_kernel_raises_it_raises_as_python():
    @compiled(plain=10)
    def refuse(x):
        raise ValueError(f"{len(x)} is odd")

    with pytest.raises(ValueError, match="1 is odd"):
        refuse(np.zeros(1))
