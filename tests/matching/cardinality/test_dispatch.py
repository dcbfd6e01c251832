"""Where `maximum_matching` runs: the rule of ``device="auto"``, and what the GPU side is handed."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.matching.cardinality import BipartiteGraph, gpu_solve, maximum_matching, verify_matching
from auctrack.matching.device import cuda
from auctrack.matching.errors import DeviceUnavailable, InvalidProblem

MASK = np.array([[1, 1, 0], [1, 0, 0]], bool)


@pytest.fixture
def gpu_calls(monkeypatch):
    """A GPU side that writes down what it is asked and answers from the CPU."""
    calls = []

    def answer(graph, algorithm, initial, device, options):
        calls.append((graph, algorithm, initial, device, dict(options)))
        matching = maximum_matching(graph, device="cpu")
        return matching.col_of_row, matching.row_of_col, {"phases": 1}

    monkeypatch.setattr(gpu_solve, "maximum_matching_gpu", answer)
    return calls


@pytest.mark.parametrize(
    ("call", "device"),
    [
        ({}, "cuda"),
        ({"algorithm": "apfb"}, "cuda"),
        ({"algorithm": "g-pr", "initial": "none"}, "cuda"),
        ({"initial": [-1, -1]}, "cuda"),
        ({"algorithm": "hopcroft-karp"}, "cpu"),
        ({"initial": "scarce-first"}, "cpu"),
    ],
)
def test_auto_takes_the_gpu_where_it_can(monkeypatch, gpu_calls, call, device):
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    matching = maximum_matching(MASK, **call)
    assert matching.device == device
    assert len(gpu_calls) == (device == "cuda")
    assert verify_matching(MASK, matching) == 2


def test_auto_is_the_cpu_without_a_gpu(monkeypatch, gpu_calls):
    monkeypatch.setattr(cuda, "is_available", lambda: False)
    assert maximum_matching(MASK).device == "cpu"
    assert not gpu_calls


def test_the_gpu_side_gets_a_checked_graph_and_start(gpu_calls):
    matching = maximum_matching(MASK, "apsb", [1, -1], "cuda:3", bfs="gpubfs")
    graph, algorithm, initial, device, options = gpu_calls[0]
    assert isinstance(graph, BipartiteGraph)
    assert (algorithm, initial.tolist(), device, options) == ("apsb", [1, -1], "cuda:3", {"bfs": "gpubfs"})
    assert (matching.initial, matching.device, matching.stats) == ("given", "cuda:3", {"phases": 1})


@pytest.mark.parametrize("initial", [[2, -1], [0, 0]])
def test_a_wrong_start_never_reaches_the_gpu(gpu_calls, initial):
    with pytest.raises(InvalidProblem):
        maximum_matching(MASK, initial=initial, device="cuda")
    assert not gpu_calls


def test_asking_for_a_gpu_that_is_not_there_raises():
    if cuda.is_available():
        pytest.skip("this machine has a CUDA device")
    with pytest.raises(DeviceUnavailable):
        maximum_matching(MASK, device="cuda")
