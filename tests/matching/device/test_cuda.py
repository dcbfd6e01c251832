"""The door to CUDA, with CuPy absent and with a CuPy that is only pretended: no GPU is needed here."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from auctrack.matching.device import cuda
from auctrack.matching.errors import DeviceMemoryExceeded, DeviceUnavailable


class _CudaError(RuntimeError):
    pass


class _OutOfMemory(MemoryError):
    pass


def _pretended_cupy(
    capabilities: list[tuple[int, int]], free: int = 1000, pooled: int = 24, limit: int = 0
) -> SimpleNamespace:
    def properties(index: int) -> dict[str, object]:
        major, minor = capabilities[index]
        return {"name": b"GPU", "major": major, "minor": minor, "totalGlobalMem": 2000, "multiProcessorCount": 4}

    runtime = SimpleNamespace(
        CUDARuntimeError=_CudaError,
        getDeviceCount=lambda: len(capabilities),
        getDeviceProperties=properties,
        memGetInfo=lambda: (free, 2000),
    )

    def device(index: int = 0) -> object:
        context = nullcontext()
        context.id = index  # type: ignore[attr-defined]
        return context

    memory = SimpleNamespace(OutOfMemoryError=_OutOfMemory)
    return SimpleNamespace(
        cuda=SimpleNamespace(runtime=runtime, Device=device, memory=memory),
        get_default_memory_pool=lambda: SimpleNamespace(
            free_bytes=lambda: pooled, used_bytes=lambda: 100, get_limit=lambda: limit
        ),
    )


@pytest.fixture(autouse=True)
def unknown_devices():
    """Devices are described once a process; the pretended ones differ from test to test."""
    cuda._describe.cache_clear()
    yield
    cuda._describe.cache_clear()


@pytest.fixture
def without_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)


def _install(monkeypatch: pytest.MonkeyPatch, module: object) -> None:
    monkeypatch.setitem(sys.modules, "cupy", module)


@pytest.mark.usefixtures("without_cupy")
def test_without_cupy_there_are_no_devices_and_the_message_names_the_remedy() -> None:
    assert cuda.devices() == ()
    assert not cuda.is_available()
    with pytest.raises(DeviceUnavailable, match=r"extra cuda13, .*cupy-cuda13x"), cuda.using("cuda"):
        pass


def test_a_driver_that_fails_means_no_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    module = _pretended_cupy([])

    def fail() -> int:
        raise _CudaError

    module.cuda.runtime.getDeviceCount = fail
    _install(monkeypatch, module)
    assert cuda.devices() == ()
    with pytest.raises(DeviceUnavailable, match="'cpu'"), cuda.using("cuda"):
        pass


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:x", "cuda:-1", "cuda0"])
def test_misspelt_devices_are_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    _install(monkeypatch, _pretended_cupy([(9, 0)]))
    with pytest.raises(DeviceUnavailable, match="cuda:N"), cuda.using(name):
        pass


def test_missing_and_old_devices_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch, _pretended_cupy([(9, 0), (6, 1)]))
    assert cuda.is_available()
    with cuda.using("cuda:0") as module:
        assert module is sys.modules["cupy"]
    with pytest.raises(DeviceUnavailable, match=r"cuda:2.* 2 "), cuda.using("cuda:2"):
        pass
    with pytest.raises(DeviceUnavailable, match=r"6\.1.* 7\.0"), cuda.using("cuda:1"):
        pass


def test_memory_that_runs_out_is_our_error(monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch, _pretended_cupy([(9, 0)]))
    cuda.require_memory(1024, "the graph")
    with pytest.raises(DeviceMemoryExceeded, match="graph"):
        cuda.require_memory(1025, "the graph")


@pytest.mark.parametrize(("limit", "at_hand"), [(600, 500), (60, 0), (5000, 1024)])
def test_a_limit_of_cupys_pool_is_a_limit_here(monkeypatch: pytest.MonkeyPatch, limit: int, at_hand: int) -> None:
    _install(monkeypatch, _pretended_cupy([(9, 0)], limit=limit))
    assert cuda.free_bytes() == at_hand
    with pytest.raises(DeviceMemoryExceeded), cuda.using("cuda"):
        raise _OutOfMemory


def test_numpy_arrays_are_no_device_arrays() -> None:
    array = np.arange(3)
    assert not cuda.is_device_array(array)
    assert cuda.to_host(array) is array


def test_communicators_are_made_once_and_closed_when_the_process_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[int] = []
    at_exit: list[Callable[[], None]] = []
    made = SimpleNamespace(
        initAll=lambda numbers: [SimpleNamespace(destroy=lambda n=n: closed.append(n)) for n in numbers]
    )
    binding = SimpleNamespace(available=True, NcclCommunicator=made)
    monkeypatch.setitem(sys.modules, "cupy.cuda.nccl", binding)
    monkeypatch.setattr(cuda.atexit, "register", at_exit.append)
    cuda.communicators.cache_clear()
    assert cuda.communicators((0, 3)) is cuda.communicators((0, 3))
    cuda.communicators.cache_clear()
    assert closed == []
    for close in at_exit:
        close()
    assert closed == [0, 3]


def test_cupy_that_is_not_there_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []

    def not_found(name: str) -> None:
        looks.append(name)
        raise ImportError(name)

    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.setattr(cuda, "import_module", not_found)
    monkeypatch.setattr(cuda, "_missing_for", functools.cache(cuda._missing_for.__wrapped__))
    assert [cuda.devices() for _ in range(3)] == [()] * 3
    with pytest.raises(DeviceUnavailable, match="cupy"):
        cuda.cupy()
    assert looks == ["cupy"]
