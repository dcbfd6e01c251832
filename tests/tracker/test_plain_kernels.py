"""Kernels that a first run leaves to Python (`jit/plain.py`) find what compiled ones do, to the last bit."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from auctrack import Problem, solve, track
from auctrack.matching.jit import plain, threads
from auctrack.matching.jit.compiled import Files
from auctrack.matching.jit.parts import KernelDispatcher
from auctrack.matching.points.grid import pairs_within
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.settings import LinkSettings

from .linking.movies import forty_divide, stirred, walks

Call = tuple[KernelDispatcher, tuple[Any, ...], tuple[Any, ...], Any]


def _marked() -> dict[str, KernelDispatcher]:
    modules = [module for name, module in sys.modules.items() if name.startswith("auctrack.")]
    kernels = [value for module in modules for value in vars(module).values() if isinstance(value, KernelDispatcher)]
    return {kernel.py_func.__qualname__: kernel for kernel in kernels if kernel._plain is not None}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """Run all kernels that may as Python; give the calls, with their arguments before and after."""
    seen: list[Call] = []
    run = plain.Plain.__call__

    def record(self: plain.Plain, *given: Any) -> Any:
        before = copy.deepcopy(given)
        made = run(self, *given)
        seen.append((self._dispatcher, before, copy.deepcopy(given), made))
        return made

    monkeypatch.setattr(plain.Plain, "__call__", record)
    monkeypatch.setattr(plain, "MOST_SECONDS", np.inf)
    monkeypatch.setattr(Files, "holds", lambda *_: False)
    monkeypatch.setattr(threads, "processors", lambda: 1)  # no other thread writes to what was copied
    for kernel in _marked().values():
        kernel._reset_overloads()
    return seen


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    return type(one) is type(other) and (one == other or one != one)


def _movie() -> np.ndarray:
    rng = np.random.default_rng(5)
    frames = rng.normal(100, 5, (4, 9, 40, 40))
    for z, y, x in rng.uniform((0, 2, 2), (8, 37, 37), (25, 3)):
        for t in range(4):
            at = [np.arange(n) - centre for n, centre in zip((9, 40, 40), (z, y + 0.4 * t, x), strict=True)]
            frames[t] += 90 * np.exp(-sum(d**2 for d in np.ix_(*at)) / 5)
    return frames.astype(np.uint16)


def _graph(seed: int, *, whole: bool = False) -> Any:
    """Costs of 60 rows, of some of whose columns many are tied."""
    rng = np.random.default_rng(seed)
    graph = sp.random_array((60, 60), density=0.1, rng=rng, format="csr") + 9 * sp.eye_array(60, format="csr")
    graph.data = np.floor(20 * graph.data) + 1 if whole else graph.data
    return graph.tocsr()


FAR = np.array([[0.0, 0.0], [1.7e308, 1.0], [-1.7e308, 1.0], [1e-300, 0.0], [1e200, -1e200]])
"""Points whose extent is beyond all floats."""

WAYS: dict[str, Callable[[], object]] = {
    "movie": lambda: track(_movie(), axes="TZYX", scale=(1, 0.5, 0.5), device="cpu"),
    "walks": lambda: link_points(walks(40, 6, step=0.6, missed=0.1, false=0.2)[0]),
    "plane": lambda: link_points(walks(40, 6, ndim=2, step=0.9, seed=2)[0]),
    "stirred": lambda: link_points(stirred(60, 6)[0]),
    "divisions": lambda: link_points(forty_divide(), LinkSettings(divisions=True, merges=True)),
    "frame pairs": lambda: link_points(walks(60, 5)[0], LinkSettings(motion="none", solver="jv")),
    "reals": lambda: [solve(Problem.sparse(_graph(s), unmatched_cost=0.4)) for s in range(9)],
    "whole numbers": lambda: [solve(Problem.sparse(_graph(s, whole=True))) for s in range(9)],
    "points": lambda: solve(Problem.points(*np.random.default_rng(1).random((2, 50, 3)), unmatched_cost=0.2)),
    "far apart": lambda: pairs_within(FAR, FAR, 1.0),
    "all in one place": lambda: pairs_within(FAR[:1].repeat(9, 0), FAR, 0.0),
}


def test_python_and_compiled_code_agree(calls):
    with plain.small_work_as_python():
        for way in WAYS.values():
            way()
    assert {kernel.py_func.__qualname__ for kernel, *_ in calls} == set(_marked())
    as_python = list(calls)
    for kernel, given, after, made in as_python:
        assert _same(kernel(*given), made), kernel.py_func
        assert _same(given, after), kernel.py_func
    assert len(calls) == len(as_python)  # all these were compiled
