"""Which frame of a movie each file of a folder is, from the numbers in their names."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from statistics import median_low

from ..timeline import Timeline
from .name_axes import name_axes

_SHOWN = 3
"""Gaps between frame numbers that a note lists."""


def timed(files: Sequence[Path]) -> tuple[Timeline, str]:
    """Return which frame each file is, counted from 0 at the first, and what is to be said about it.

    The one number that differs between the names is the time: t0 to t4 and t8 to t11 are frames 0 to 4 and 8 to 11.
    Where all numbers have a common divisor (t0, t5, t10), it is the step. Where no number differs, or several do, or
    most numbers are farther apart than that step (as times of the day are), the order of the names counts instead.

    Parameters
    ----------
    files : sequence of Path
        In natural order.

    Returns
    -------
    Timeline
        With the name of each file.
    str
        What is unusual about it, as a sentence without its full stop; empty for numbers that follow each other.
    """
    times, doubt = _times(files)
    if doubt:
        return _in_order(files), f"{doubt}, so the files are frames 0 to {len(files) - 1} in the order of their names"
    step = math.gcd(*(later - earlier for earlier, later in itertools.pairwise(times)))
    numbers = tuple(time - times[0] for time in times)
    timeline = Timeline(step, numbers, dict(zip(numbers, _names(files), strict=True)))
    return timeline, _said(timeline, files)


def _times(files: Sequence[Path]) -> tuple[list[int], str]:
    """Return the number in each name that is its time; or why there is none."""
    varying = name_axes(files)
    if varying is None:
        return [], "the file names differ in more than their numbers"
    if len(varying) != 1:
        return [], f"{'several numbers differ' if varying else 'no number differs'} between the file names"
    times = varying[0].numbers
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    if min(gaps) == 0:
        return [], "a number comes twice in the file names"
    if median_low(gaps) != math.gcd(*gaps):
        shown = ", ".join([*map(str, sorted(set(gaps))[:_SHOWN]), *(["…"] if len(set(gaps)) > _SHOWN else [])])
        return (
            [],
            f"the numbers in the file names are {shown} apart, which looks like clock times rather than frame numbers",
        )
    return times, ""


def _said(timeline: Timeline, files: Sequence[Path]) -> str:
    """Return what is unusual about frames whose numbers come from the names."""
    missing = max(timeline.files) // timeline.step + 1 - len(files)
    notes = [f"the names are {timeline.step} apart, which is the frame step"] if timeline.step > 1 else []
    notes += [f"no file for {missing} frame{'s' if missing > 1 else ''} between them"] if missing else []
    return f"by the numbers in the file names ({files[0].name} is frame 0): {'; '.join(notes)}" if notes else ""


def _in_order(files: Sequence[Path]) -> Timeline:
    return Timeline(1, tuple(range(len(files))), dict(enumerate(_names(files))))


def _names(files: Sequence[Path]) -> list[str]:
    """Return the names of files, with their folders where these differ."""
    return [file.name if len({file.parent for file in files}) == 1 else str(file) for file in files]
