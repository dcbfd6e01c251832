"""Which frames were looked at, and the step between them: known of a movie, stated of a table, never guessed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from .errors import InvalidSetting


@dataclass(frozen=True)
class Timeline:
    """The frames that were looked at, whether or not something was found in them.

    Parameters
    ----------
    step : int
        Difference between the numbers of two consecutive frames: 1, or k where only every k-th frame is there.
    numbers : tuple of int or None
        Frames of a movie, ascending. None for a table, which does not say: then every `step`-th frame, without end.
    files : mapping of int to str
        File of each frame, where every frame is a file of its own.

    Raises
    ------
    InvalidSetting
        If the step is not a whole number from 1.
    """

    step: int = 1
    numbers: tuple[int, ...] | None = None
    files: Mapping[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        is_whole = isinstance(self.step, (int, np.integer)) and not isinstance(self.step, bool)  # pyright: ignore[reportUnnecessaryIsInstance]
        if not is_whole or self.step < 1:
            raise InvalidSetting(f"needs a whole number from 1; got {self.step!r}.", setting="frame_step")

    def count(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return how many frames were looked at from `first` to `last`, both included; int64, of their shape."""
        if self.numbers is None:
            return (last - first) // self.step + 1
        numbers = np.asarray(self.numbers, dtype=np.int64)
        return np.searchsorted(numbers, last, side="right") - np.searchsorted(numbers, first)

    def cut(self, wanted: range, step: int) -> Timeline:
        """Return the timeline of the frames in `wanted`, of which only every `step`-th was asked for."""
        if self.numbers is None:
            return Timeline(math.lcm(self.step, step))
        return self.only([number for number in self.numbers if number in wanted], math.lcm(self.step, step))

    def only(self, numbers: Sequence[int], step: int) -> Timeline:
        """Return the timeline of some of its frames, which are `step` apart."""
        kept = set(numbers)
        return Timeline(step, tuple(numbers), {number: file for number, file in self.files.items() if number in kept})

    def spans(self) -> str:
        """Return the numbers as text: "0 to 4, 8 to 11", "0 to 20 in steps of 5"; empty where they are not known."""
        runs = self.runs()
        by = f" in steps of {self.step}" if self.step > 1 and any(first < last for first, last in runs) else ""
        return ", ".join(f"{first} to {last}" if last > first else f"{first}" for first, last in runs) + by

    def runs(self) -> list[tuple[int, int]]:
        """Return the first and last number of every run of frames without a gap."""
        numbers = np.asarray(self.numbers or (), dtype=np.int64)
        cuts = np.flatnonzero(np.diff(numbers) != self.step) + 1
        return [(int(run[0]), int(run[-1])) for run in np.split(numbers, cuts) if len(run)]
