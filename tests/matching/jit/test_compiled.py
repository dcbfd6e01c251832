"""Machine code on disk: used again by who has the same sources, and by nobody else."""

from __future__ import annotations

import errno
import os
import pickle
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from types import ModuleType
from typing import Any

import pytest

from auctrack.matching.jit.compiled import Files, _say_once, _warn_once, compiled
from auctrack.matching.jit.row_scan import float_of_rank
from auctrack.matching.jit.sources import sources

CALLER = """
from auctrack.matching.jit.compiled import compiled
from auctrack.made import callee
from auctrack.made.callee import FACTOR, TABLE, helped

LIMIT = 3

@compiled
def caller(x):
    'What it does.'
    return helped(x) * FACTOR + TABLE[0] + min(LIMIT, 7) + callee.SHIFT
"""
CALLEE = """
import numpy as np
from auctrack.matching.jit.compiled import compiled

FACTOR, SHIFT, OTHER = 2, 5, 1
TABLE = np.array([1.0, 2.0])

@compiled
def helped(x):
    return inner(x) + 1

@compiled(error_model="numpy")
def inner(x):
    return x / 4
"""


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Give the function `caller` of two files, which a test may change before they are imported."""

    def make(*changes: tuple[str, str]) -> Any:
        files = {"callee": CALLEE, "caller": CALLER}
        for old, new in changes:
            assert sum(old in text for text in files.values()) == 1, old
            files = {name: text.replace(old, new) for name, text in files.items()}
        package = ModuleType("auctrack.made")
        monkeypatch.setitem(sys.modules, "auctrack.made", package)
        for name, text in files.items():
            path = tmp_path / f"{name}.py"
            path.write_text(text)
            module = ModuleType(f"auctrack.made.{name}")
            monkeypatch.setitem(sys.modules, module.__name__, module)
            setattr(package, name, module)
            exec(compile(text, str(path), "exec"), vars(module))
        return vars(package)["caller"].caller

    return make


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(("helped(x) * FACTOR", "helped(x) / FACTOR"), id="its own operator"),
        pytest.param(("min(LIMIT, 7)", "min(LIMIT, 8)"), id="a number in it"),
        pytest.param(("LIMIT = 3", "LIMIT = 3.0"), id="a constant of its file"),
        pytest.param(("FACTOR, SHIFT, OTHER = 2", "FACTOR, SHIFT, OTHER = 3"), id="a constant of another file"),
        pytest.param(("= 2, 5, 1", "= 2, 6, 1"), id="a constant taken through its module"),
        pytest.param(("[1.0, 2.0]", "[1.5, 2.0]"), id="an array"),
        pytest.param(("inner(x) + 1", "inner(x) + 2"), id="what it calls"),
        pytest.param(("x / 4", "x / 5"), id="what that calls"),
        pytest.param(('@compiled(error_model="numpy")', "@compiled"), id="an option of what that calls"),
    ],
)
def test_another_source_is_another_name(made: Callable[..., Any], change: tuple[str, str]) -> None:
    assert sources(made(change)) != sources(made())


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(("'What it does.'", "'What it does, said better.'"), id="docstring"),
        pytest.param(("LIMIT = 3", "# a comment\n\nLIMIT = 3"), id="comment"),
        pytest.param(("= 2, 5, 1", "= 2, 5, 9"), id="a constant that it does not use"),
    ],
)
def test_what_changes_no_instruction_changes_no_name(made: Callable[..., Any], change: tuple[str, str]) -> None:
    assert sources(made(change)) == sources(made())


def test_a_changed_callee_is_never_answered_from_the_disk(made: Callable[..., Any]) -> None:
    assert made()(4.0) == (4 / 4 + 1) * 2 + 1 + 3 + 5
    assert made(("inner(x) + 1", "inner(x) + 2"))(4.0) == (4 / 4 + 2) * 2 + 1 + 3 + 5


def test_the_same_sources_are_compiled_once_and_other_ones_take_their_place(made: Callable[..., Any]) -> None:
    first, again = made(), made()
    first(4.0)
    again(4.0)
    assert (sum(first.stats.cache_hits.values()), sum(again.stats.cache_hits.values())) == (0, 1)
    changed = made(("min(LIMIT, 7)", "min(LIMIT, 8)"))
    changed(4.0)
    assert sum(changed.stats.cache_hits.values()) == 0
    assert len(list(Path(changed.stats.cache_path).glob("auctrack.made.caller.caller.*"))) == 1


def test_what_compiles_is_logged_and_what_is_kept_is_not(
    made: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    """Else a first call from Python is silent for seconds: INFO says so once, DEBUG names each function."""
    _say_once.cache_clear()
    with caplog.at_level("DEBUG", logger="auctrack"):
        made()(4.0)
        assert [record.levelname for record in caplog.records] == ["INFO", "DEBUG"]
        assert "compiling for this machine, once" in caplog.messages[0]
        assert "caller.caller" in caplog.messages[1]
        caplog.clear()
        made()(4.0)
        assert not caplog.records


def test_names_are_the_same_in_every_process() -> None:
    code = """
from auctrack.matching.jit.sources import sources
from auctrack.matching.paths import shortest_paths
print([sources(value) for value in vars(shortest_paths).values() if hasattr(value, "py_func")])
"""
    said = {_said("-c", code, PYTHONHASHSEED=seed) for seed in ("1", "2")}
    assert len(said) == 1
    assert len(said.pop()) > len("[]")


def test_several_writers_at_once_lose_and_mix_up_nothing(tmp_path: Path) -> None:
    writers, keys = 8, 25
    together = Barrier(writers)

    def write(number: int) -> None:
        together.wait()
        for key in range(number, writers * keys, writers):
            _files(tmp_path).save((key, "machine", ()), f"code of {key}")

    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(write, range(writers)))
    read = [_files(tmp_path).load((key, "machine", ())) for key in range(writers * keys)]
    assert read == [f"code of {key}" for key in range(writers * keys)]


@pytest.mark.parametrize("place", [b"auctrack.matching.paths.shortest_paths\nGone", b"auctrack.matching.gone\nState"])
def test_code_for_a_type_that_has_moved_is_compiled_again(tmp_path: Path, place: bytes) -> None:
    """The function and its signature read the same, but what is saved names the type by its former place."""
    key = ((), "machine", ())
    _files(tmp_path).save(key, "code")
    (path,) = tmp_path.iterdir()
    path.write_bytes(b"c" + place + b"\n.")
    assert _files(tmp_path).load(key) is None


@pytest.mark.parametrize("left", [0, 1, 9, 30])
def test_code_of_which_a_crash_has_left_a_part_is_compiled_again(tmp_path: Path, left: int) -> None:
    key = ((), "machine", ())
    _files(tmp_path).save(key, {"code": bytes(100)})
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:left])
    assert _files(tmp_path).load(key) is None


def test_who_reads_while_another_saves_reads_all_that_was_there(tmp_path: Path) -> None:
    key = ((), "machine", ())
    _files(tmp_path).save(key, "code" * 1000)
    (path,) = tmp_path.iterdir()
    with path.open("rb") as reader:
        _files(tmp_path).save(key, "other code")
        assert pickle.load(reader) == "code" * 1000
    assert _files(tmp_path).load(key) == "other code"
    assert list(tmp_path.iterdir()) == [path]


def test_code_that_does_not_fit_on_the_disk_leaves_what_was_there_and_nothing_beside_it(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    key, before = ((), "machine", ()), resource.getrlimit(resource.RLIMIT_FSIZE)
    _files(tmp_path).save(key, "code")
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(OSError, match=os.strerror(errno.EFBIG)):
            _files(tmp_path).save(key, "code" * 10_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert _files(tmp_path).load(key) == "code"
    assert len(list(tmp_path.iterdir())) == 1


KILLED = """
import resource, signal, sys
from pathlib import Path
from auctrack.matching.jit.compiled import Files
from auctrack.matching.jit.row_scan import float_of_rank

signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
Files(Path(sys.argv[1]), float_of_rank).save(((), "machine", ()), b"code" * 10_000)
"""


def test_a_process_that_is_killed_while_it_saves_leaves_what_was_there(tmp_path: Path) -> None:
    """What it leaves beside it is no code, and goes when the function is flushed."""
    pytest.importorskip("resource")
    key, files = ((), "machine", ()), _files(tmp_path, float_of_rank)
    files.save(key, "code")
    with pytest.raises(subprocess.CalledProcessError) as ended:
        _said("-c", KILLED, str(tmp_path))
    assert ended.value.returncode == -signal.SIGXFSZ
    assert files.load(key) == "code"
    assert len(list(tmp_path.glob("*.nbc"))) == 1
    files.flush()
    assert not list(tmp_path.iterdir())


def test_flush_forgets_one_function_and_no_other(tmp_path: Path) -> None:
    key = ((), "machine", ())
    for files in (_files(tmp_path), _files(tmp_path, _other)):
        files.save(key, "code")
    _files(tmp_path).flush()
    assert (_files(tmp_path).load(key), _files(tmp_path, _other).load(key)) == (None, "code")


def test_a_folder_that_cannot_be_written_is_warned_of_once_and_the_call_goes_on(
    monkeypatch: pytest.MonkeyPatch, made: Callable[..., Any]
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Files, "save", full)
    _warn_once.cache_clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert made()(4.0) == 13
    assert len(caught) == 1
    assert "No space left on device" in str(caught[0].message)


INSTALLED = """
import sys
from numba.core import caching

def refuse(self):
    raise OSError(30, "Read-only file system")

for name in sys.argv[1:]:
    getattr(caching, name).ensure_cache_path = refuse

from auctrack.matching.jit.compiled import compiled

@compiled
def doubled(x):
    return 2 * x

print(doubled(3), sum(doubled.stats.cache_hits.values()))
"""
HOME, PACKAGE = "UserWideCacheLocator", "InTreeCacheLocator"


@pytest.mark.parametrize("read_only", [[PACKAGE, HOME], [PACKAGE]], ids=["the home too", "the package"])
def test_what_a_warm_up_left_in_an_installation_that_is_read_only_is_used(tmp_path: Path, read_only: list[str]) -> None:
    """As in an image of containers, where every function had failed; or each user's home was filled again."""
    program = tmp_path / "installed.py"
    program.write_text(INSTALLED)

    def said(home: str, *refused: str) -> str:
        return _said(str(program), *refused, NUMBA_CACHE_DIR="", XDG_CACHE_HOME=str(tmp_path / home)).strip()

    assert said("a", *read_only) == "6 0"
    assert said("b") == "6 0"
    assert said("c", *read_only) == "6 1"


@compiled
def _function() -> None: ...


@compiled
def _other() -> None: ...


def _files(folder: Path, function: Any = _function) -> Files:
    return Files(folder, function)


SORTERS = """
import sys

import numba
import numpy as np

from auctrack.matching.jit.compiled import compiled

@compiled
def ranked(values):
    return values[np.argsort(values)]

@compiled
def arranged(values):
    return np.sort(values)

compiled_before, *names = sys.argv[1:]
for _ in range(int(compiled_before)):
    numba.njit(lambda x: x)(1)
values = np.arange(1000)[::-1].copy()
print(*(bool((globals()[name](values) == np.sort(values)).all()) for name in names))
"""


def test_closures_of_one_name_from_two_processes_are_told_apart(tmp_path: Path) -> None:
    """`np.sort` and `np.argsort` have such, which three functions compiled before bring to one number of numba's."""
    program = tmp_path / "sorters.py"
    program.write_text(SORTERS)
    for given in (["0", "ranked"], ["3", "arranged"], ["0", "ranked", "arranged"]):
        assert set(_said(str(program), *given, NUMBA_CACHE_DIR=str(tmp_path)).split()) == {"True"}


def test_two_processes_number_their_functions_far_apart() -> None:
    code = """
from numba.core.bytecode import FunctionIdentity
import auctrack.matching.jit.compiled
print(FunctionIdentity.from_function(lambda: 0).unique_id)
"""
    one, other = (int(_said("-c", code)) for _ in range(2))
    assert abs(one - other) > 10**6


def _said(*arguments: str, **environment: str) -> str:
    """Return what a process of its own prints."""
    return subprocess.run(
        [sys.executable, *arguments], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    ).stdout
