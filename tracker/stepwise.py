"""Work in steps: a generator that says how far it is, and whose value is the result."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from .points import Points

Result = TypeVar("Result")
Reported = TypeVar("Reported")


def _nothing() -> None:
    return None


@dataclass(frozen=True)
class Step:
    """How far a piece of work is.

    Attributes
    ----------
    done, total : int
    so_far : callable
        Returns what was found so far, made when it is called; None where there is nothing to show yet.
    settings
        Those in force, where detection has measured what was automatic.
    device : str
        Where the work is done, "" where that is not known.
    stage : str
        What of several pieces of work it is, "" where there is one.
    """

    done: int
    total: int
    so_far: Callable[[], Points | None] = _nothing
    settings: Any = None
    device: str = ""
    stage: str = ""


Steps = Generator[Step, None, Result]
"""Work that may be stopped between two steps by closing it, and then leaves nothing open."""
Progress = Callable[[int, int], Any]
"""Called as progress(done, in all)."""


def finished(steps: Generator[Reported, None, Result], report: Callable[[Reported], Any] | None = None) -> Result:
    """Do all steps and return the result; what `report` raises stops the work.

    Examples
    --------
    >>> def twice():
    ...     yield Step(1, 2)
    ...     yield Step(2, 2)
    ...     return "both"
    >>> finished(twice(), lambda step: print(step.done))
    1
    2
    'both'
    """
    with closing(steps):
        while True:
            try:
                step = next(steps)
            except StopIteration as end:
                return end.value
            if report is not None:
                report(step)


def on_device(steps: Steps[Result], device: str) -> Steps[Result]:
    """Do steps that say where."""
    return changed(steps, lambda step: replace(step, device=device))


def changed(
    steps: Generator[Step, None, Result], change: Callable[[Step], Reported]
) -> Generator[Reported, None, Result]:
    """Do all steps, and yield what `change` makes of each."""
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            return end.value
        yield change(step)


def counted(progress: Progress | None) -> Callable[[Step], Any] | None:
    """Return what takes a step and passes its numbers on."""
    return None if progress is None else lambda step: progress(step.done, step.total)
