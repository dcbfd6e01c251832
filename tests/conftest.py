"""What all tests share: a cache of compiled code, a small heap, real data, and Ctrl-C that works."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest

from auctrack.matching.device import cuda

from .compiled_cache import NUMBA, ROOT

# Before anything imports numba; workers and the programs that tests start inherit it.
os.environ.setdefault("NUMBA_CACHE_DIR", str(NUMBA))


REAL_DATA = (ROOT / "tests" / "data", ROOT.parent / "shared" / "data")
"""The repository's own, and what else a developer may have."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests on real data."""
    for item in items:
        if "real_data" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.data)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs several GPUs where there is one; where there is none it fails, as what needs one does."""
    if item.get_closest_marker("multigpu") and len(cuda.devices()) == 1:
        pytest.skip("needs two CUDA GPUs or more; there is one")


def pytest_collection_finish() -> None:
    """Let no search for garbage look at the tests themselves: napari searches whenever its layers change."""
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Escape what is no UTF-8 in captured output, such as odd file names: workers could not pass it on."""
    report = yield
    report.sections = [(name, text.encode(errors="backslashreplace").decode()) for name, text in report.sections]
    return report


@pytest.fixture(scope="session")
def real_data() -> Callable[[str], Path]:
    """Give the path of a file or folder of real data; where it is not on this machine the test skips."""

    def path(name: str) -> Path:
        for folder in REAL_DATA:
            if (folder / name).exists():
                return folder / name
        pytest.skip(f"{name} is not in tests/data, and ../shared/data is not on this machine")

    return path


@pytest.fixture(autouse=True, scope="session")
def ctrl_c_is_heard() -> Iterator[None]:
    """A job in the background of a shell ignores SIGINT, and so would every process that it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
