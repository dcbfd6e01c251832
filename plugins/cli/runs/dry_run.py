"""`auctrack track --dry-run`: what each input is taken to be, and what to expect of it. Writes no result."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ....tracker.calibrating.digits import counted
from ....tracker.first_look import FirstLook, first_look
from ....tracker.settings import Settings
from ...words.notes import on_frames, on_points, on_single_frames
from ..terminal import console
from .batch import describe, refusal_of_standing
from .expected import memory_in_words, time_in_words
from .fingerprint import key_of
from .inputs import Job, refuse_hopeless
from .one_input import failure_of
from .outcome import ALL_GOOD, SOME_FAILED, named_failed


def show_plan(jobs: Sequence[Job], settings: Settings, *, overwrite: bool, picture: bool) -> int:
    """Show every input and what would become of it; return the exit code that a real run would end with."""
    failed, frames, skipped = list[str](), list[int](), 0
    for number, job in enumerate(jobs, start=1):
        console.show(f"[{number}/{len(jobs)}] {job.name}")
        shown = partial(_show, job, job.series.settings(settings), frames, overwrite=overwrite, picture=picture)
        if failure_of(job.source, shown) is not None:
            failed.append(job.name)
        elif job.result.exists() and not overwrite:
            skipped += 1
    console.note(*on_single_frames(frames))
    of_all = f"{len(jobs) - len(failed) - skipped} of {counted(len(jobs), 'input')} could be tracked"
    up_to_date = f", {skipped} would be skipped as up to date" if skipped else ""
    console.show(f"{of_all}{up_to_date}; no result was written")
    if len(jobs) > 1 and failed:
        console.say(named_failed(failed))
    return SOME_FAILED if failed else ALL_GOOD


def _show(job: Job, settings: Settings, frames: list[int], *, overwrite: bool, picture: bool) -> None:
    """Show one input; how many frames a movie has is added to `frames`."""
    refuse_hopeless(job)
    describe(job, settings)
    look = _show_expected(job, settings)
    if not settings.input.is_table(job.source):
        frames.append(look.frames)
    _show_result(job, settings, overwrite=overwrite, picture=picture)


def _show_expected(job: Job, settings: Settings) -> FirstLook:
    look = first_look(job.source, settings, frames=1)
    unit, found = look.points.calibration.unit, look.settings.detect
    rows: list[tuple[str, str]] = []
    if found.diameter != "auto" and found.threshold is not None:
        rows.append(("detect", found.in_words(unit)))
    about = "" if look.frames_seen == look.frames else f"about {len(look.points)} in the middle frame, so about "
    rows.append(("points", f"{about}{look.points_expected} in {counted(look.frames, 'frame')}"))
    rows.append(("memory", memory_in_words(look)))
    rows.append(("takes", time_in_words(look)))
    console.show(console.aligned(rows))
    is_table = settings.input.is_table(job.source)
    if look.frames_seen == look.frames:  # all particles are there
        console.note(*on_points(look.points, detected=not is_table, of_table=is_table))
    if is_table and not (np.diff(look.points.frame_numbers) == look.points.frame_step).any():
        console.note(*on_frames(look.points))
    return look


def _show_result(job: Job, settings: Settings, *, overwrite: bool, picture: bool) -> None:
    if not overwrite and (job.result.exists() or (picture and job.picture.exists())):
        key = key_of(job, settings)
        if refusal := refusal_of_standing(job, key, settings, picture=picture):
            raise refusal
    if not job.result.exists():
        fate = "would be written"
    elif overwrite:
        fate = "exists and would be replaced"
    else:
        fate = "is up to date and would be skipped"
    console.show(console.aligned([("result", f"{job.result} {fate}")]))
