"""Which of several series of a file is tracked, as its name is part of those of the results."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from contextlib import closing
from typing import NamedTuple

from ....matching.errors import AuctrackError
from ....tracker.settings import InputSettings

_LONGEST = 60
"""Letters of a series' name that go into names of files, whose length systems limit."""


class ChosenSeries(NamedTuple):
    """One of several series of a file: its number, and its name as part of names of files."""

    number: int
    part: str


def chosen_series(source: str, given: InputSettings) -> ChosenSeries | None:
    """Return the series that is chosen of several; None where there is one alone, or the file cannot be opened."""
    if given.series is None or given.is_table(source):
        return None
    from ....tracker.reading.movie import open_stack

    try:
        with closing(open_stack(source, given.axes, given.series)) as stack:
            number, names = stack.series, stack.series_names
    except (AuctrackError, OSError, MemoryError):
        return None
    return ChosenSeries(number, parts_of_names(names)[number]) if len(names) > 1 else None


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
