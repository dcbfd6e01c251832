"""Compiled code between test runs: a folder for each worker."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .compiled_cache import ROOT, importers

WORKER = os.environ.get("PYTEST_XDIST_WORKER")


@pytest.mark.skipif(WORKER is None, reason="one process has one folder")
def test_a_worker_keeps_compiled_code_apart_from_the_process_that_started_it() -> None:
    assert Path(os.environ["NUMBA_CACHE_DIR"]).name == WORKER


def test_who_imports_a_file_through_others_holds_code_of_it() -> None:
    changed = ROOT / "matching" / "jit" / "bitset.py"
    found = importers(changed)
    assert {changed, ROOT / "matching" / "cardinality" / "maximum.py"} <= found
    assert ROOT / "matching" / "errors.py" not in found
