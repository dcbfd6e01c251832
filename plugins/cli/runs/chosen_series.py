"""Which series of a file are tracked, each as a movie of its own, and how their names are part of those of results."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ....matching.errors import AuctrackError
from ....tracker.errors import InvalidSetting, UnknownSeries
from ..terminal import console

if TYPE_CHECKING:
    from ....tracker.settings import InputSettings, Settings

ALL = "all"
"""What `--series` takes for each of them in turn; one that is called so is chosen by its number."""
_LONGEST = 60
"""Letters of a series' name that go into names of files, whose length systems limit."""


class ChosenSeries(NamedTuple):
    """One of several series of a file, or what there is without a choice.

    Attributes
    ----------
    asked : int, str or None
        As the setting says it: by its name, or by its number where others are called so too.
    part : str
        Its name as part of names of files; empty without a choice.
    number : int or None
        Which one it is; None without a choice, or of one that is not there.
    """

    asked: int | str | None = None
    part: str = ""
    number: int | None = None

    def of(self, source: str) -> str:
        """Return a file with its series, for the user to read."""
        return f"{source}, {self.asked}" if self.part else source

    def settings(self, of_all: Settings) -> Settings:
        """Return settings that read it."""
        return replace(of_all, input=replace(of_all.input, series=self.asked))


NO_CHOICE = ChosenSeries()
"""What is read of a file that holds one series, or of which none is chosen."""


def chosen_series(source: str, given: InputSettings) -> list[ChosenSeries]:
    """Return the series of a file that are asked for: one, or by `ALL` each, where one must be chosen.

    The only image of a file is taken whatever is asked for, with a note where it is called otherwise. What cannot be
    opened, and a series that is not there, is one, which says so where it is read.
    """
    if given.series is None or given.is_table(source):
        return [ChosenSeries(given.series)]
    try:
        names, must_choose = _series_names(source, given.axes)
    except (AuctrackError, OSError, MemoryError):
        return [NO_CHOICE]
    each = [name if names.count(name) == 1 else number for number, name in enumerate(names)]
    several = [ChosenSeries(*one) for one in zip(each, parts_of_names(names), range(len(names)), strict=True)]
    if given.series == ALL:
        return several if must_choose else [NO_CHOICE]
    number = _number(given.series, names, source)
    if len(names) == 1:
        if number is None:
            console.note(f"{source} holds one image ({names[0]}), which is taken: none is called {given.series}.")
        return [NO_CHOICE]
    return [ChosenSeries(given.series) if number is None else several[number]]


def only_series(source: str, given: InputSettings) -> ChosenSeries:
    """Return the one series that is asked for.

    Raises
    ------
    InvalidSetting
        If these are several.
    """
    series, *others = chosen_series(source, given)
    if others:
        several = f"stands for {1 + len(others)} series of {source}, and this command takes one"
        raise InvalidSetting(f"{ALL} {several}; auctrack track takes each in turn.", setting="series")
    return series


def _series_names(source: str, axes: str | None) -> tuple[tuple[str, ...], bool]:
    """Return the names of the series of a file, and whether one must be chosen: not of a file of one among others."""
    from ....tracker.reading.movie import open_stack

    try:
        with closing(open_stack(source, axes)) as stack:
            return stack.series_names, False
    except UnknownSeries as error:
        return error.names, True


def _number(asked: int | str, names: tuple[str, ...], source: str) -> int | None:
    """Return the number of the series that is asked for; None where it is not there."""
    from ....tracker.reading.chosen import series_number

    try:
        return series_number(asked, names, Path(source))
    except InvalidSetting:
        return None


def parts_of_names(series: Sequence[str]) -> tuple[str, ...]:
    """Return the names of series as parts of names of files, no two alike where capitals are no difference.

    Examples
    --------
    >>> parts_of_names(["Pos1", "well A/1", "POS1", "%"])
    ('Pos1.0', 'well_A_1', 'POS1.2', 'series.3')
    """
    normal = [unicodedata.normalize("NFC", name) for name in series]
    safe = [re.sub(r"[^\w+-]+", "_", name)[:_LONGEST].strip("_-") for name in normal]
    folded = [name.casefold() for name in safe]
    return tuple(  # a dot, which no name has any more, goes before the number of those that are told apart by it
        name if name and folded.count(name.casefold()) == 1 else f"{name or 'series'}.{number}"
        for number, name in enumerate(safe)
    )
