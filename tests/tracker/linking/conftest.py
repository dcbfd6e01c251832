"""The device that linking on a GPU is tested on."""

from __future__ import annotations

import pytest

from auctrack.matching.certificate import gpu_certificate
from auctrack.matching.device import cuda
from auctrack.matching.problem import gpu_graph
from auctrack.tracker.linking.gate import gpu_movie

from ...matching.auction.on_host import be_the_device
from ...matching.hungarian.host_kernels import HostArray


@pytest.fixture(params=[pytest.param("host", marks=pytest.mark.kernels), pytest.param("gpu", marks=pytest.mark.gpu)])
def gpu(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A GPU's name; the host by its own kernels where there is none."""
    if request.param == "host":
        be_the_device(monkeypatch)
        monkeypatch.setattr(cuda, "is_device_array", lambda array: isinstance(array, HostArray))
        for module in (gpu_movie, gpu_graph, gpu_certificate):
            monkeypatch.setattr(module, "THREADS", 64)
    return "cuda"
