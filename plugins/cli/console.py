"""What the terminal shows: messages on standard error, progress with time left, plain lines where there is no terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

SECONDS_BETWEEN_LINES = 10.0

StageProgress = Callable[[str, int, int], None]


@cache
def stderr() -> Console:
    """Return the console that everything but results is written to."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


@cache
def stdout() -> Console:
    """Return the console that results are written to."""
    from rich.console import Console

    return Console(highlight=False)


def fail(message: str) -> None:
    """Print what went wrong."""
    from rich.markup import escape

    stderr().print(f"[bold red]error:[/bold red] {escape(message)}")


def say(message: str) -> None:
    """Print a line of text as it is."""
    stderr().print(message, markup=False)


@contextmanager
def progress(title: str) -> Generator[StageProgress]:
    """Show the progress of one input: bars with the time left on a terminal, a line now and then elsewhere."""
    if not stderr().is_terminal:
        yield _lines(title)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description:<8}"), BarColumn(), MofNCompleteColumn(), TextColumn("frames"), TimeRemainingColumn())
    with Progress(*columns, console=stderr(), transient=True) as bars:
        tasks = {}

        def advance(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield advance


def _lines(title: str) -> StageProgress:
    began = last = time.monotonic()

    def advance(stage: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= SECONDS_BETWEEN_LINES:
            last = now
            left = (now - began) / max(done, 1) * (total - done)
            say(f"{title}: {stage} {done} of {total} frames, about {left:.0f} s left")

    return advance
