"""What a benchmark measured: every repetition, in one JSON file that is put in place whole, again and again."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from ....tracker.errors import InvalidInput, OutputExists

FORMAT = 1
SECONDS_BETWEEN_SAVES = 2.0

Clock = Literal["wall", "cpu"]
Key = tuple[str, str, int, str]


@dataclass
class Cell:
    """One variant on one case of one experiment.

    Attributes
    ----------
    experiment, series : str
    size : int
        Experiment, and the case in it.
    variant, device : str
    session : int
        Which of the record's sessions measured it (the last one, if several did).
    warm_up_s : float or None
        Wall seconds of the first call, compilation included; it counts nowhere.
    seeds : list of int
        Of the inputs of the repetitions.
    seconds, cpu_seconds : list of float
        Of each repetition: wall seconds (GPU: between two events on the stream), and CPU seconds of all threads.
    peak_bytes : int or None
        Most memory that the first call took beyond what was in use before it, see `memory_taken`. What a compiler takes
        is in it where one had to run.
    facts : list of dict
        What checking the answer of each repetition found.
    why_not : str or None
        Why there are no times: not available here, too slow at a smaller size, failed, or wrong.
    is_final : bool
        Whether the cell is not tried again when the benchmark is resumed.
    """

    experiment: str
    series: str
    size: int
    variant: str
    device: str = "cpu"
    session: int = 0
    warm_up_s: float | None = None
    seeds: list[int] = field(default_factory=list[int])
    seconds: list[float] = field(default_factory=list[float])
    cpu_seconds: list[float] = field(default_factory=list[float])
    peak_bytes: int | None = None
    facts: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    why_not: str | None = None
    is_final: bool = False

    @property
    def key(self) -> Key:
        """What names the cell within its record."""
        return self.experiment, self.series, self.size, self.variant

    def times(self, clock: Clock) -> list[float]:
        """Return the seconds of every repetition; the CPU clock is no clock of a GPU."""
        return self.cpu_seconds if clock == "cpu" and self.device == "cpu" else self.seconds

    def values(self, fact: str) -> list[Any]:
        """Return one fact of every repetition that has it."""
        return [facts[fact] for facts in self.facts if facts.get(fact) is not None]

    def median(self, fact: str) -> float | None:
        """Return the median of a fact over the repetitions; None if none has it."""
        values = self.values(fact)
        return statistics.median(values) if values else None


@dataclass
class Record:
    """All cells of a benchmark, and where and when they were measured.

    Attributes
    ----------
    path : Path
    benchmark : str
    sessions : list of dict
        `machine`, `commit`, `command` and `started` of every run that added to the record.
    cells : dict
    """

    path: Path
    benchmark: str
    sessions: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    cells: dict[Key, Cell] = field(default_factory=dict[Key, Cell])
    _saved: float = 0.0

    @classmethod
    def open(
        cls, path: Path, benchmark: str, machine: Mapping[str, Any], command: str, commit: str | None = None
    ) -> Self:
        """Read the record to go on with, or begin a new one, and open a session in it.

        Another commit than before does not end a record: each cell tells its session, and the session its commit.

        Raises
        ------
        OutputExists
            If the file was measured on another machine or with other versions: its times are no neighbours of ours.
        InvalidInput
            If the file is no record of this benchmark.
        """
        record = cls(path, benchmark)
        if path.exists():
            record = cls.read(path, benchmark)
            before = record.sessions[-1]["machine"] if record.sessions else machine
            differing = [name for name in machine if before.get(name) != machine[name]]
            if differing:
                raise OutputExists(
                    f"{path} was measured with another {', '.join(differing)}; give another --output, or remove it."
                )
        started = datetime.now(UTC).isoformat(timespec="seconds")
        record.sessions.append({"started": started, "command": command, "commit": commit, "machine": dict(machine)})
        return record

    @classmethod
    def read(cls, path: Path, benchmark: str) -> Self:
        """Read a record as it is.

        Raises
        ------
        InvalidInput
            If there is no such file, or it is no record of this benchmark.
        """
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            matches = (stored["format"], stored["benchmark"]) == (FORMAT, benchmark)
            cells = [Cell(**cell) for cell in stored["cells"]] if matches else []
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InvalidInput(f"{path} is not the record of a benchmark: {error}. Give another file.") from None
        if not matches:
            raise InvalidInput(f"{path} is a record of another benchmark or version. Give another file.")
        return cls(path, benchmark, stored["sessions"], {cell.key: cell for cell in cells})

    def save(self) -> None:
        """Write everything; a reader sees the old file or the new one, never half of it."""
        content = {
            "format": FORMAT,
            "benchmark": self.benchmark,
            "sessions": self.sessions,
            "cells": [asdict(cell) for cell in self.cells.values()],
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_name(f".{self.path.name}.part")
        unfinished.write_text(json.dumps(content, indent=1, default=_plain) + "\n", encoding="utf-8")
        unfinished.replace(self.path)
        self._saved = time.monotonic()

    def cell(self, experiment: str, series: str, size: int, variant: str) -> Cell:
        """Return the cell, new and empty if there is none; a new one is not kept before `keep`."""
        return self.cells.get((experiment, series, size, variant)) or Cell(experiment, series, size, variant)

    def keep(self, cell: Cell) -> None:
        """Take the cell in, as measured by the present session; save if the last time was a while ago."""
        cell.session = len(self.sessions) - 1
        self.cells[cell.key] = cell
        if time.monotonic() - self._saved > SECONDS_BETWEEN_SAVES:
            self.save()

    @property
    def commits(self) -> list[str]:
        """The commits of the code that the times are of, where they are known: one, unless the code was changed."""
        measured = sorted({cell.session for cell in self.cells.values() if cell.seconds})
        return list(dict.fromkeys(commit for k in measured if (commit := self.sessions[k].get("commit"))))


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no place in a record")
