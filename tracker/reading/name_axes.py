"""Numbers in the names of files: which of them differ, and what they count, time, channels or planes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_COUNTED = {
    "T": ("t", "tp", "time", "timepoint", "frame"),
    "C": ("c", "ch", "channel"),
    "Z": ("z", "plane", "slice"),
}
"""Words that stand before a number, in small letters, and the axis that it counts."""
_OF_POSITIONS = ("pos", "position", "xy", "series", "scene", "site", "fov")
"""Those before the number of a position of the stage."""


@dataclass(frozen=True)
class NameAxis:
    """A number that differs between the names of files.

    Attributes
    ----------
    word : str
        The letters right before it: "T" in "imgT001".
    numbers : list of int
        One a file.
    """

    word: str
    numbers: list[int]

    @property
    def letter(self) -> str | None:
        """The axis that it counts, T, C or Z; None where the word before it does not say."""
        return next((letter for letter, words in _COUNTED.items() if self.word.lower() in words), None)

    @property
    def counts_positions(self) -> bool:
        """Whether it counts positions of the stage, which are no axis of a movie."""
        return self.word.lower() in _OF_POSITIONS


def name_axes(files: Sequence[Path]) -> list[NameAxis] | None:
    """Return the numbers that differ between names, from left to right; None where the names differ in words too."""
    if len(kinds_of(files)) > 1:
        return None
    parts = [_words_and_numbers(file) for file in files]
    columns = [[int(number) for number in column] for column in zip(*(name[1::2] for name in parts), strict=True)]
    found = [NameAxis(_last_word(text), column) for text, column in zip(parts[0][::2], columns, strict=False)]
    return [axis for axis in found if len(set(axis.numbers)) > 1]


def kinds_of(files: Sequence[Path]) -> list[list[Path]]:
    """Return the files whose names differ in their numbers alone together, of each kind those."""
    kinds: dict[tuple[str, ...], list[Path]] = {}
    for file in files:
        kinds.setdefault(tuple(_words_and_numbers(file)[::2]), []).append(file)
    return list(kinds.values())


def _words_and_numbers(file: Path) -> list[str]:
    """Return what a name has in turn: words, the first of which may be empty, and numbers."""
    return re.split(r"(\d+)", str(file.with_suffix("")))


def stated_letters(axes: Sequence[NameAxis]) -> str:
    """Return what the numbers count, one letter each; empty where one of them does not say, or two say the same.

    A "c" before the only number is not a channel ("c001" may be a cell or a camera): channels alone are
    not a movie.
    """
    letters = [axis.letter for axis in axes]
    stated = "".join(letter or "" for letter in letters) if len(set(letters) - {None}) == len(letters) else ""
    return "" if stated == "C" else stated


def _last_word(text: str) -> str:
    """Return the word at the end of a text: "T" of "imgT", "time" of "cells_time-"."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", text)
    return words[-1] if words and re.search(r"[A-Za-z][-_= ]*$", text) else ""
