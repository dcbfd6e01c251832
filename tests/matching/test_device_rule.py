"""device="auto": a CUDA device where one is present and the solver takes the problem there, else the CPU."""

from __future__ import annotations

import pytest

from auctrack.matching import DeviceUnavailable, HungarianTree, Problem, solve, solving
from auctrack.matching.device import cuda
from auctrack.matching.solvers import devices_for

SMALL = Problem.dense([[4.0, 1.0], [2.0, 0.0]])


@pytest.fixture
def small_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """One multiprocessor, which handles some 1500 columns."""
    device = cuda.Device(index=0, name="small", compute_capability=(9, 0), total_bytes=2**30, multiprocessors=1)
    monkeypatch.setattr(cuda, "devices", lambda: (device,))


@pytest.mark.usefixtures("small_gpu")
def test_what_a_gpu_does_not_take_is_solved_on_the_cpu():
    answer = solve(SMALL, HungarianTree("sequential"), "auto")
    assert answer.device == "cpu"
    assert answer.is_optimal


@pytest.mark.usefixtures("small_gpu")
def test_a_matrix_wider_than_a_gpu_holds_goes_to_the_cpu():
    wide = Problem.dense([[0.0] * 2000])
    assert "cuda" in devices_for(HungarianTree(), SMALL)
    assert "cuda" not in devices_for(HungarianTree(), wide)
    assert solve(wide, "hungarian-tree", "auto").device == "cpu"


@pytest.mark.usefixtures("small_gpu")
@pytest.mark.parametrize("name", ["auction", "hungarian-classical", "hungarian-tree"])
def test_sparse_costs_are_sent_to_a_gpu_by_every_solver_that_has_one(name: str):
    sparse = Problem.sparse(([0, 1], [0], [1.0]), shape=(1, 1))
    assert solving.device_for(solving.make_solver(name), sparse, "auto") == "cuda"


def test_without_a_gpu_everything_is_solved_on_the_cpu(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cuda, "devices", tuple)
    assert solve(SMALL, "hungarian-tree", "auto").device == "cpu"


def test_an_explicit_choice_does_not_fall_back():
    with pytest.raises(DeviceUnavailable, match=r"cuda.*on cpu"):
        solve(SMALL, HungarianTree("sequential"), "cuda")
