"""Compiled code between test runs: one folder, filled by several processes in turn."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from .compiled_cache import ROOT, importers
from .one_writer import IndexDataCacheFile

WRITERS, KEYS = 8, 25


def test_what_several_save_of_one_function_is_all_kept_and_not_mixed_up(tmp_path: Path) -> None:
    together = Barrier(WRITERS)

    def write(number: int) -> None:
        together.wait()
        for key in range(number, WRITERS * KEYS, WRITERS):
            IndexDataCacheFile(str(tmp_path), "function", "stamp").save(key, f"code of {key}")

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, range(WRITERS)))
    read = IndexDataCacheFile(str(tmp_path), "function", "stamp")
    assert [read.load(key) for key in range(WRITERS * KEYS)] == [f"code of {key}" for key in range(WRITERS * KEYS)]


def test_who_imports_a_file_through_others_holds_code_of_it() -> None:
    changed = ROOT / "matching" / "jit" / "bitset.py"
    found = importers(changed)
    assert {changed, ROOT / "matching" / "cardinality" / "maximum.py"} <= found
    assert ROOT / "matching" / "errors.py" not in found
