"""What the terminal sees: help at once, and where there is no terminal plain lines with the time left."""

from __future__ import annotations

import errno
import io
import os
import signal
import subprocess
import sys
import time

import numba
import pytest
from rich.console import Console
from typer.testing import CliRunner

from auctrack.plugins.cli import app
from auctrack.plugins.cli.commands import info
from auctrack.plugins.cli.terminal import console
from auctrack.plugins.words.errors import sentence
from auctrack.tracker.pipeline import Advance


def test_help_loads_none_of_the_heavy_libraries():
    code = """
import sys
from auctrack.plugins.cli.app import app
try:
    app(["track", "--help"])
except SystemExit as leave:
    assert leave.code == 0
heavy = {"numpy", "scipy", "pandas", "numba", "matplotlib", "pyarrow", "tifffile", "cupy", "napari"}
print(sorted(heavy & set(sys.modules)))
"""
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert said.splitlines()[-1] == "[]"


@pytest.mark.parametrize("words", [["--help"], ["track", "--help"], ["bench", "--help"], ["--version"]])
def test_help_that_nobody_reads_any_more_is_no_failure(words):
    """It ended with 1, the code of an input that failed."""
    command = [sys.executable, "-c", "from auctrack.plugins.cli.app import main; main()", *words]
    reads, writes = os.pipe()
    os.close(reads)
    with os.fdopen(writes) as unread:
        left = subprocess.run(command, stdout=unread, stderr=subprocess.PIPE, text=True)
    assert (left.returncode, left.stderr) == (0, "")


def test_without_a_terminal_progress_is_a_line_now_and_then(monkeypatch, capsys):
    clock = iter([0.0, 1.0, 4.0, 12.0, 13.0])
    monkeypatch.setattr(console.time, "monotonic", lambda: next(clock))
    with console.progress("movie.tif") as progress:
        for done in (1, 2, 6, 7):
            progress("detect", done, 10)
    assert capsys.readouterr().err.splitlines() == ["movie.tif: detect 6 of 10 frames, about 9 s left"]


def test_a_line_of_progress_names_the_device(monkeypatch, capsys):
    clock = iter([0.0, 1.0, 12.0])
    monkeypatch.setattr(console.time, "monotonic", lambda: next(clock))
    console.watched("movie.tif", (Advance("detect", done, 10, device="cuda") for done in (1, 6)))
    assert capsys.readouterr().err.splitlines() == ["movie.tif: detect 6 of 10 frames (cuda), about 9 s left"]


def test_bars_name_the_device_and_what_is_done_before_the_first_of_them(monkeypatch):
    screen = Console(file=io.StringIO(), force_terminal=True, highlight=False, color_system=None, width=100)
    monkeypatch.setattr(console, "stderr", lambda: screen)
    with console.progress("points.csv", opening=console.READING) as progress:
        progress("link", 1, 3, "cuda:1")
    assert "the table" in screen.file.getvalue()
    assert "1 of 3 frames (cuda:1)" in screen.file.getvalue()


def test_the_first_frame_of_a_stage_which_may_compile_tells_nothing_of_the_others(monkeypatch, capsys):
    clock = iter([0.0, 5.0, 25.0, 36.0])
    monkeypatch.setattr(console.time, "monotonic", lambda: next(clock))
    with console.progress("movie.tif") as progress:
        progress("detect", 1, 1)
        progress("link", 1, 3)
        progress("link", 2, 3)
    assert capsys.readouterr().err.splitlines() == [
        "movie.tif: link 1 of 3 frames",
        "movie.tif: link 2 of 3 frames, about 11 s left",
    ]


def test_a_frame_that_compiles_tells_nothing_of_the_others(monkeypatch, capsys):
    console.say_of_compiling.cache_clear()
    clock = iter([0.0, 1.0, 2.0, 40.0, 52.0])
    monkeypatch.setattr(console.time, "monotonic", lambda: next(clock))
    with console.progress("movie.tif") as progress:
        progress("link", 1, 10)
        progress("link", 2, 10)
        numba.njit(lambda x: x)(1)
        progress("link", 3, 10)
        progress("link", 6, 10)
    assert capsys.readouterr().err.splitlines() == [
        "movie.tif: compiling for this machine, once",
        "movie.tif: link 3 of 10 frames",
        "movie.tif: link 6 of 10 frames, about 16 s left",
    ]


def test_nor_does_it_where_bars_say_what_is_left(monkeypatch):
    now, shown = [0.0], io.StringIO()
    screen = Console(file=shown, force_terminal=True, color_system=None, width=100, get_time=lambda: now[0])
    monkeypatch.setattr(console, "stderr", lambda: screen)
    with console.progress("movie.tif") as progress:
        for seconds, done in ((1, 1), (1, 2), (20, 3), (4, 4), (4, 5)):
            now[0] += seconds
            if done == 3:
                numba.njit(lambda x: x)(1)
            progress("link", done, 10)
    assert "0:00:20" in shown.getvalue()
    assert "5 of 10 frames" in shown.getvalue()


def test_what_compiles_is_said_at_once_and_once(capsys):
    console.say_of_compiling.cache_clear()
    for number in range(2):  # a command may show its progress twice
        with console.progress("movie.tif"):
            numba.njit(lambda x, number=number: x + number)(1)
            numba.njit(lambda x, number=number: x - number)(1)
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("movie.tif: compiling")


def test_work_that_cannot_say_how_far_it_is_is_named_on_a_terminal_alone(monkeypatch, capsys):
    with console.at_work("a.csv", "drawing it"):
        pass
    assert capsys.readouterr().err == ""
    screen = Console(file=io.StringIO(), force_terminal=True, highlight=False, color_system=None, width=80)
    monkeypatch.setattr(console, "stderr", lambda: screen)
    with console.at_work("a[b].csv", "drawing it"):
        pass
    assert "a[b].csv: drawing it" in screen.file.getvalue()


def test_such_work_says_what_compiles_too(capsys):
    console.say_of_compiling.cache_clear()
    with console.at_work("b.csv", "drawing it"):
        numba.njit(lambda x: x * 3)(1)
    assert capsys.readouterr().err.startswith("b.csv: compiling")


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (PermissionError(13, "Permission denied", "a.tif"), "a.tif: Permission denied."),
        (MemoryError(), "--roi"),
        (ZeroDivisionError("by zero"), "unexpected ZeroDivisionError: by zero"),
    ],
)
def test_an_error_is_a_sentence(error, says):
    assert says in sentence(error)


def test_a_reader_who_leaves_stops_no_work(samples, tmp_path):
    code = "from auctrack.plugins.cli.app import main; main()"
    command = [sys.executable, "-c", code, "track", samples / "points.csv", "--frames", "0:3"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        said = process.stderr.read().decode().splitlines()
    how_far = f"{samples / 'points.csv'}: "  # the work is, as where it compiles or others leave it little time
    assert (process.returncode, [line for line in said if not line.startswith(how_far)]) == (0, [])
    assert (tmp_path / "points.tracks.csv").exists()


def test_a_reader_of_errors_who_leaves_stops_no_work_either(samples, tmp_path):
    code = "from auctrack.plugins.cli.app import main; main()"
    command = [sys.executable, "-c", code, "track", "nowhere.csv", samples / "points.csv", "--frames", "0:3"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        process.stdout.close()
    assert process.returncode == 1  # nowhere.csv failed
    assert (tmp_path / "points.tracks.csv").exists()
    assert (tmp_path / "auctrack-summary.json").exists()


@pytest.fixture
def not_as_under_nohup():
    """Let children end by SIGHUP: where these tests run under nohup, they too would be told to ignore it."""
    number = getattr(signal, "SIGHUP", signal.SIGTERM)
    before = signal.signal(number, signal.SIG_DFL)
    yield
    signal.signal(number, before)


ENDING = pytest.mark.parametrize(
    "number",
    [signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if name in signal.Signals.__members__],
    ids=lambda number: number.name,
)


@ENDING
def test_a_signal_after_the_work_changes_nothing_of_how_it_ended(number):
    code = f"""
import atexit, os
from auctrack.plugins.cli import entry
atexit.register(lambda: os.kill(os.getpid(), {int(number)}))
entry.main()
"""
    left = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True)
    assert (left.returncode, left.stderr) == (0, "")


@ENDING
@pytest.mark.usefixtures("not_as_under_nohup")
def test_a_signal_while_the_command_is_still_being_imported_ends_it_without_a_word(number):
    code = f"""
import os, sys
from auctrack.plugins.cli import entry

class Pressing:
    def find_spec(self, name, path, target=None):
        if name == "auctrack.plugins.cli.commands.track":
            os.kill(os.getpid(), {int(number)})

sys.meta_path.insert(0, Pressing())
entry.main()
"""
    left = subprocess.run([sys.executable, "-c", code, "info", "movie.tif"], capture_output=True, text=True)
    assert (left.returncode, left.stdout, left.stderr) == (130, "", "")


@ENDING
@pytest.mark.usefixtures("not_as_under_nohup")
def test_a_signal_in_the_middle_of_a_file_leaves_nothing_of_it(number, tmp_path):
    code = f"""
import os
from auctrack.plugins.cli import entry
from auctrack.tracker.simulating import render

def drawn(*_):
    assert [name for name in os.listdir() if name.endswith(".tmp")]
    os.kill(os.getpid(), {int(number)})

render._draw = drawn
entry.main()
"""
    command = [sys.executable, "-c", code, "simulate", "movie.ome.tif", "--box", "4,9,9", "--particles", "2"]
    left = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (left.returncode, left.stderr.splitlines()[-1]) == (130, "interrupted; nothing half-written was left")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="has no such terminals")
@pytest.mark.usefixtures("not_as_under_nohup")
def test_a_terminal_that_is_closed_leaves_nothing_half_written(tmp_path):
    code = """
import fcntl, sys, termios
from auctrack.plugins.cli import entry
from auctrack.tracker.simulating import render
render._draw = lambda *_: sys.stdin.read()  # until the terminal is closed
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
try:
    entry.main()
except BaseException as end:
    open("end", "w").write(repr(end))
"""
    ours, theirs = os.openpty()
    command = [sys.executable, "-c", code, "simulate", "movie.ome.tif", "--box", "4,9,9", "--particles", "2"]
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    with subprocess.Popen(command, cwd=tmp_path, start_new_session=True, **streams) as process:
        os.close(theirs)
        while process.poll() is None and not [*tmp_path.glob("*.tmp")]:
            time.sleep(0.05)
        os.close(ours)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("end", "SystemExit(130)")]


def test_a_signal_that_a_job_is_told_to_ignore_is_ignored():
    code = """
import os, signal
from auctrack.plugins.cli import entry
from auctrack.plugins.cli.terminal.interrupt import held_back
signal.signal(signal.SIGINT, signal.SIG_IGN)
with held_back():
    os.kill(os.getpid(), signal.SIGINT)
entry.main()
"""
    left = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True)
    assert (left.returncode, left.stderr) == (0, "")


@pytest.mark.parametrize(("seconds", "shown"), [([0, 0.1, 0.9], ["half", "whole"]), ([0, 0.1, 9], ["half"])])
def test_ctrl_c_pressed_again_does_not_wait_for_what_is_being_written(seconds, shown):
    code = f"""
import os, signal
from auctrack.plugins.cli.terminal import interrupt
interrupt.time.monotonic = iter({seconds}).__next__
try:
    with interrupt.held_back():
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)  # the same, passed on by a parent
        print("half")
        os.kill(os.getpid(), signal.SIGINT)
        print("whole")
except KeyboardInterrupt:
    print("stopped")
"""
    left = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (left.returncode, left.stdout.split()) == (0, [*shown, "stopped"])


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemError, ImportError])
def test_ctrl_c_in_compiled_code_or_an_import_is_an_interruption_like_any_other(movie, monkeypatch, kind):
    def pressed(*_arguments, **_options):
        raise kind("in the middle") from KeyboardInterrupt()

    monkeypatch.setattr(info, "_of_movie", pressed)
    left = CliRunner().invoke(app.app, ["info", str(movie)])
    assert (left.exit_code, type(left.exception)) == (130, SystemExit)


def test_ctrl_c_outside_a_command_is_an_interruption_like_any_other(monkeypatch):
    def pressed():
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(app, "app", pressed)
    try:
        with pytest.raises(SystemExit) as left:
            app.main()
    finally:
        signal.signal(signal.SIGINT, before)
    assert left.value.code == 130


def test_what_tifffile_logs_of_a_damaged_file_is_left_to_our_sentence(movie, tmp_path):
    (tmp_path / "cut.ome.tif").write_bytes(movie.read_bytes()[:-3000])
    command = [sys.executable, "-c", "from auctrack.plugins.cli.app import main; main()", "info", "cut.ome.tif"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stderr
    assert len(said.splitlines()) == 1
    assert said.startswith("error: cut.ome.tif")


@pytest.mark.parametrize(
    "command", ["track", "detect", "link", "draw", "measure", "report", "simulate", "score", "info"]
)
def test_flags_take_no_value_in_help(auctrack, command):
    page = auctrack(command, "--help").stdout
    assert [line for line in page.splitlines() if "<bool>" in line and "--help" not in line] == []


def test_a_full_disk_under_the_standard_output_is_not_taken_for_one_under_the_results(auctrack, samples, monkeypatch):
    def full(_: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(console.typer, "echo", full)
    result = auctrack("info", samples / "points.csv")
    assert result.exit_code == 1
    assert "No space left on device" in result.stderr


def test_texts_stand_below_each_other_beside_names_of_any_length():
    first, second = console.aligned([("link", "one"), ("unmatched costs", "two")]).splitlines()
    assert first.index("one") == second.index("two") == 2 + len("unmatched costs") + 1


@pytest.mark.parametrize("columns", [60, 80, 140])
def test_on_a_terminal_long_texts_hang_beside_their_names(monkeypatch, columns):
    rows = [("price", "measured on many steps of particles " * 8), ("written", "out/" + "x" * 200 + ".csv")]
    monkeypatch.setenv("COLUMNS", str(columns))
    assert len(console.aligned(rows).splitlines()) == 2  # piped: a row is a line
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    *price, written = console.aligned(rows).splitlines()
    assert price[0].startswith("  price     measured")
    assert len(price) > 2
    assert all(line.startswith(" " * 12) and line[12] != " " for line in price[1:])
    assert max(map(len, price)) <= columns
    assert written.strip().endswith(".csv")  # a path is not cut
