"""What the terminal shows: results on standard output; progress, errors and notes on standard error."""

from __future__ import annotations

import logging
import re
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Protocol, TypeVar

import typer

from ....tracker.calibrating.digits import counted
from ...words.compiling import COMPILED, compiling_reported

if TYPE_CHECKING:
    from rich.console import Console

    from ....tracker.pipeline import Advance

Result = TypeVar("Result")

SECONDS_BETWEEN_LINES = 10.0

_LOG = logging.getLogger(__name__)
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What a terminal obeys (ESC, directions of text), and what stands for the bytes of a name that is not UTF-8."""


_WARNED_OF: set[str] = set()

LOOKING, READING = ("look", "what the movie suggests"), ("read", "the table")
"""What is done before the first step of a stage, by its stage."""


class StageProgress(Protocol):
    """What shows how far a stage is, and on what device where that is known."""

    def __call__(self, stage: str, done: int, total: int, device: str = "") -> None:
        """Show it."""
        ...


@cache
def stderr() -> Console:
    """Return the console of everything that is not a result."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def printable(text: str) -> str:
    r"""Return text with what a terminal would obey written out: names of files may hold anything.

    Examples
    --------
    >>> printable("red\x1b[31m.tif") == r"red\u001b[31m.tif"
    True
    """
    return _UNPRINTABLE.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)  # as JSON has it, which may be shown too


def fail(message: str) -> None:
    """Print what went wrong."""
    from rich.markup import escape

    _LOG.error("%s", message)
    stderr().print(f"[bold red]error:[/bold red] {escape(printable(message))}")


def say(message: str) -> None:
    """Print a note, and log it."""
    _LOG.info("%s", message)
    to_screen(message)


def to_screen(message: str) -> None:
    """Print a note that the log has already."""
    stderr().print(printable(message), markup=False)


def note(*messages: str) -> None:
    """Print what the user should know beside the results, but not again what was warned of on the way to them."""
    for message in messages:
        if message in _WARNED_OF:
            _WARNED_OF.remove(message)
        else:
            say(f"note: {message}")


def warn(message: str) -> None:
    """Print what the library warns of while it is at work, as a note; results that repeat it do so unseen, once."""
    say(f"note: {message}")
    _WARNED_OF.add(message)


def show(message: str) -> None:
    """Print a line of results as it is.

    Raises
    ------
    OutputFailed
        If they go into a file and its disk is full.
    """
    from ....tracker.errors import OutputFailed

    _LOG.info("%s", message)
    try:
        typer.echo(printable(message))
    except OSError as error:
        raise OutputFailed(f"the output cannot be written ({error.strerror or error}).") from error


def stages(seconds: Mapping[str, float], devices: Mapping[str, str], digits: int) -> str:
    """Return how long each stage takes, and its device where it may run on several: "read 0.1 s, link 0.2 s (cpu)".

    In whole seconds (`digits` 0) none takes 0.
    """
    where = {stage: f" ({device})" for stage, device in devices.items() if device}
    said = {stage: "< 1" if not (digits or round(spent)) else f"{spent:.{digits}f}" for stage, spent in seconds.items()}
    return ", ".join(f"{stage} {time} s{where.get(stage, '')}" for stage, time in said.items())


def found_in(points: int, frames: int) -> str:
    """Return how many points there are, in how many frames that hold some."""
    return f"{points} in {counted(frames, 'frame')}" if points else "none"


def aligned(rows: Iterable[tuple[str, str]], least: int = 9) -> str:
    """Return name and text in two columns, indented, as `Movie.describe` has them; a terminal's width is kept to.

    The first is at `least` as wide, for rows that stand below others.
    """
    rows = [*rows]
    width = max(least, *(len(name) for name, _ in rows))
    return "\n".join(_hanging(f"  {name:<{width}} ", text) for name, text in rows)


def _hanging(name: str, text: str) -> str:
    """Return a text beside its name, in lines that end where the terminal does; in one line where there is none."""
    if not sys.stdout.isatty() or not text:
        return name + text
    width, below = max(shutil.get_terminal_size().columns, 3 * len(name)), " " * len(name)
    return textwrap.fill(
        text, width, initial_indent=name, subsequent_indent=below, break_long_words=False, break_on_hyphens=False
    )


def indented(text: str) -> str:
    """Return lines of text, indented."""
    return "\n".join(f"  {line}" for line in text.splitlines())


@contextmanager
def progress(
    title: str, noun: str = "frame", nouns: Mapping[str, str] | None = None, opening: tuple[str, str] = LOOKING
) -> Generator[StageProgress]:
    """Show the progress of one input: bars with the time left on a terminal, a line now and then elsewhere.

    `noun` is what is counted; `nouns` of the stages that count something else; `opening` what is done first.
    """

    def of_all(stage: str, total: int, device: str) -> str:
        return counted(total, (nouns or {}).get(stage, noun)) + (f" ({device})" if device else "")

    if not stderr().is_terminal:
        in_lines, compiled = _lines(title, of_all)
        with compiling_reported(compiled):
            yield in_lines
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    named, count = TextColumn("  {task.description:<9}"), TextColumn("{task.fields[count]}")
    columns = (named, BarColumn(), count, TimeRemainingColumn())
    with Progress(*columns, console=stderr(), transient=True) as bars:
        tasks = {}
        begun, what = opening
        before = bars.add_task(begun, total=None, count=what)
        compiling = bars.add_task("compile", total=None, count=COMPILED, visible=False)
        has_compiled = False

        def advance(stage: str, done: int, total: int, device: str = "") -> None:
            nonlocal has_compiled
            bars.update(before, visible=False)
            bars.update(compiling, visible=False)
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total, count="")
            count = f"{done} of {of_all(stage, total, device)}, left:"
            if has_compiled:  # what compiled is no measure of what is left: speed is that from here on
                bars.reset(tasks[stage], completed=done - 1)
                has_compiled = False
            bars.update(tasks[stage], completed=done, total=total, count=count)

        def compiles() -> None:
            nonlocal has_compiled
            has_compiled = True
            bars.update(compiling, visible=True)

        with compiling_reported(compiles):
            yield advance


@contextmanager
def quick_progress(title: str, opening: tuple[str, str] = LOOKING) -> Generator[StageProgress]:
    """As `progress`; small work is left to Python meanwhile."""
    from ....matching.jit.plain import small_work_as_python

    with small_work_as_python(), progress(title, opening=opening) as show:
        yield show


def watched(title: str, stages: Generator[Advance, None, Result], opening: tuple[str, str] = LOOKING) -> Result:
    """Drain stages of the pipeline, showing how far they are, and return their result."""
    from ....tracker.stepwise import finished

    with quick_progress(title, opening) as show:
        return finished(stages, lambda at: show(at.stage, at.done, at.total, at.device))


@contextmanager
def at_work(title: str, doing: str) -> Generator[None]:
    """Name on a terminal what is being done and cannot say how far it is; what compiles is said everywhere."""
    if not stderr().is_terminal:
        with compiling_reported(lambda: say_of_compiling(title)):
            yield
        return
    from rich.markup import escape

    line = escape(printable(f"{title}: {doing}"))
    with stderr().status(line) as status, compiling_reported(lambda: status.update(f"{line}; compiling {COMPILED}")):
        yield


@cache
def say_of_compiling(title: str) -> None:
    """Say that the work on one input waits for what is compiled, the first time that it does."""
    say(f"{title}: compiling {COMPILED}")


def _lines(title: str, of_all: Callable[[str, int, str], str]) -> tuple[StageProgress, Callable[[], None]]:
    """Return what writes a line now and then, and what is to be called when something is compiled."""
    began = last = time.monotonic()
    running, first, has_compiled = "", 0, False

    def advance(stage: str, done: int, total: int, device: str = "") -> None:
        nonlocal began, last, running, first, has_compiled
        now = time.monotonic()
        if stage != running or done <= 1 or has_compiled:  # what compiled is no measure of what is left
            running, began, first, has_compiled = stage, now, done, False
        if now - last >= SECONDS_BETWEEN_LINES and done:
            last = now
            left = f", about {(now - began) / (done - first) * (total - done):.0f} s left" if done > first else ""
            say(f"{title}: {stage} {done} of {of_all(stage, total, device)}{left}")

    def compiles() -> None:
        nonlocal has_compiled
        has_compiled = True
        say_of_compiling(title)

    return advance, compiles
