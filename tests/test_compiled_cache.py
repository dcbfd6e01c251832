"""Compiled code between test runs: a folder for each worker."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

WORKER = os.environ.get("PYTEST_XDIST_WORKER")


@pytest.mark.skipif(WORKER is None, reason="one process has one folder")
def test_a_worker_keeps_compiled_code_apart_from_the_process_that_started_it() -> None:
    assert Path(os.environ["NUMBA_CACHE_DIR"]).name == WORKER
