"""The summary of a folder of results: what became of each input, of this run and of others into the same folder."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

from .... import __version__
from ....tracker.formats.write import write_whole
from ....tracker.settings import Settings
from ..terminal import console
from ..terminal.interrupt import held_back
from .inputs import Job, files_behind
from .outcome import Outcome, exit_code, named_failed, tally

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

NAME = "auctrack-summary.json"


def is_worth_a_summary(jobs: Sequence[Job], outcomes: Sequence[Outcome], settings: Settings, folder: Path) -> bool:
    """Whether a run leaves a summary unasked: not where no input was there, nor a new folder where none was begun."""
    is_there = any(files_behind(job, settings.input) for job in jobs)
    has_failed = any(outcome.status == "failed" and not outcome.is_refused for outcome in outcomes)
    return is_there and (folder.is_dir() or has_failed)


def write_summary(path: Path, outcomes: Sequence[Outcome], *, of_folder: bool) -> None:
    """Write every outcome as JSON, whole or not at all; with those of other runs where it is that of a folder."""
    ours = [outcome.entry() for outcome in outcomes]
    states = [outcome.status for outcome in outcomes]
    if len(outcomes) > 1 or exit_code(states):
        console.say(f"{tally(states)}; summary in {path}")  # first, as its disk may be full
    failed = [outcome.name for outcome in outcomes if outcome.status == "failed"]
    if len(outcomes) > 1 and failed:
        console.say(named_failed(failed))
    path.parent.mkdir(parents=True, exist_ok=True)  # where all have failed nothing else has made it
    with held_back(), _one_at_a_time(path):
        began = not all(outcome.is_refused for outcome in outcomes)
        _write(path, _together(ours, _earlier(path), replace=began) if of_folder else ours)


def _write(path: Path, entries: Sequence[dict[str, Any]]) -> None:
    states = [entry["status"] for entry in entries]
    content = {"auctrack": __version__, "exit_code": exit_code(states), "outcome": tally(states), "inputs": entries}
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    write_whole({path: text.encode(errors="backslashreplace")}, overwrite=True)  # names that are not UTF-8


def _together(
    ours: Sequence[dict[str, Any]], earlier: Sequence[dict[str, Any]], *, replace: bool
) -> list[dict[str, Any]]:
    """Return the entries of a run and those of others; of two for one result ours, unless nothing was begun."""
    newer, older = (ours, earlier) if replace else (earlier, ours)
    results = {_result(entry) for entry in newer}
    kept = [entry for entry in older if _result(entry) not in results]
    return [*newer, *kept]


def _result(entry: dict[str, Any]) -> str:
    return os.path.abspath(entry["result"])  # noqa: PTH100 - links are left as they are


def _earlier(path: Path) -> list[dict[str, Any]]:
    """Return the entries of an earlier summary; none of a file that is no such."""
    try:
        entries = json.loads(path.read_bytes())["inputs"]
        return [entry for entry in entries if entry["result"] and entry["status"]]
    except (OSError, ValueError, LookupError, TypeError):
        return []


@contextlib.contextmanager
def _one_at_a_time(path: Path) -> Generator[None]:
    """Let one process after the other into the block, of those that write a file, as those of a Slurm array do.

    Windows has no such lock, and a disk without locks refuses it: there all come in.
    """
    with contextlib.ExitStack() as until_written:
        with contextlib.suppress(OSError):
            _lock(path.with_name(f".{path.name}.lock"), until_written)
        yield


def _lock(file: Path, until_written: contextlib.ExitStack) -> None:
    """Wait until no other process has the file locked, and keep it so; one that was removed meanwhile is no lock."""
    while fcntl is not None:
        opened = until_written.enter_context(file.open("ab"))
        fcntl.flock(opened, fcntl.LOCK_EX)
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(opened.fileno()), file.stat()):
                until_written.callback(file.unlink, missing_ok=True)
                return
