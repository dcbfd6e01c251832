"""What a marker of a test promises to who asks for it."""

from types import SimpleNamespace

import pytest

from auctrack.matching.device import cuda

from .conftest import pytest_runtest_setup

GPU = cuda.Device(0, "GPU", (9, 0), 2**30, 4)


@pytest.mark.parametrize(("gpus", "is_skipped"), [(0, False), (1, True), (2, False)])
@pytest.mark.parametrize("marker", ["multigpu", "gpu"])
def test_what_needs_several_gpus_is_skipped_on_one(monkeypatch, marker, gpus, is_skipped):
    """With none at all both fail where they are asked for: a driver that is not found must not look like success."""
    monkeypatch.setattr(cuda, "devices", lambda: (GPU,) * gpus)
    item = SimpleNamespace(get_closest_marker={marker: True}.get)
    if is_skipped and marker == "multigpu":
        with pytest.raises(pytest.skip.Exception, match="needs two CUDA GPUs or more; there is one"):
            pytest_runtest_setup(item)
    else:
        pytest_runtest_setup(item)
