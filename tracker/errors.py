"""What can be wrong with files, tables and settings; the tree's root is :class:`auctrack.AuctrackError`."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

from ..matching.errors import AuctrackError

NO_EXAMPLES: Mapping[Any, str] = MappingProxyType({})


class InvalidInput(AuctrackError, ValueError):
    """A file or table cannot be read as what it was given for (damaged, empty, wrong columns, NaN positions).

    The message is what is wrong, and then the remedy in Python. A face of the program that is no Python has words of
    its own for the remedy, from the attributes.

    Parameters
    ----------
    problem : str
        What is wrong. Where the remedy has the same words everywhere, that too.
    in_python : str
        The remedy as Python says it.
    setting : str
        Name of the setting that says what the input does not.
    examples : mapping
        Values that it might have, and when each is right.
    """

    def __init__(
        self, problem: str, *, in_python: str = "", setting: str = "", examples: Mapping[Any, str] = NO_EXAMPLES
    ) -> None:
        super().__init__(f"{problem} {in_python}".strip())
        self.problem = problem
        self.in_python = in_python
        self.setting = setting
        self.examples = dict(examples)  # of its own and plain: workers pickle errors

    def of(self, where: object) -> Self:
        """Return the same, said of a file or table."""
        return self.saying(f"{where}: {self.problem}")

    def saying(self, problem: str) -> Self:
        """Return the same with other words for what is wrong."""
        same = copy(self)
        same.problem, same.args = problem, (f"{problem} {self.in_python}".strip(),)
        return same


@dataclass(frozen=True)
class Column:
    """A column of a table, in what is said of it."""

    name: str

    def __str__(self) -> str:
        return f"column '{self.name}'"


@dataclass(frozen=True)
class Row:
    """A row of a table, counted from 0, in what is said of it."""

    number: int

    def __str__(self) -> str:
        return f"row {self.number}"


class InvalidTable(InvalidInput):
    """A column or a row of a table is at fault; one who knows the file says by `in_file` where that is.

    Parameters
    ----------
    *parts : str, Column or Row
        What is wrong, to be read one after the other.
    in_python, setting, examples
        As of `InvalidInput`.
    """

    def __init__(
        self,
        *parts: str | Column | Row,
        in_python: str = "",
        setting: str = "",
        examples: Mapping[Any, str] = NO_EXAMPLES,
    ) -> None:
        super().__init__("".join(map(str, parts)), in_python=in_python, setting=setting, examples=examples)
        self.parts = parts

    def in_file(self, names: Mapping[str, str], line_of_row: Callable[[int], int] | None = None) -> Self:
        """Return the same in the words of a file.

        Parameters
        ----------
        names : mapping of str to str
            What the file calls columns that have another name here.
        line_of_row : callable, optional
            Of a text file: the line of a row, as editors count them.
        """

        def named(part: str | Column | Row) -> str:
            if isinstance(part, Column):
                return str(Column(names.get(part.name, part.name)))
            if isinstance(part, Row) and line_of_row is not None:
                return f"line {line_of_row(part.number)}"
            return str(part)

        return self.saying("".join(map(named, self.parts)))


class NothingInside(InvalidInput):
    """A file is what it should be, and holds no particles."""


class NoTracks(InvalidInput):
    """A table holds particles of which nothing says which track they are of."""


class SeveralMovies(InvalidInput):
    """A folder, which is read as one movie, holds several, a file each."""


class UnknownAxes(InvalidInput):
    """The file does not say which of its axes is time, z or channel; `axes=` must."""


class UnknownColumns(InvalidInput):
    """The columns of a table were not all recognised; `columns=` must say which is which.

    Attributes
    ----------
    has : tuple of str
        Its columns.
    likely : mapping of str to str
        Those that sound like frame, z, y or x.
    unit : str
        Of the positions, where the names of their columns say it; else empty.
    """

    has: tuple[str, ...] = ()
    unit: str = ""
    likely: Mapping[str, str] = MappingProxyType({})


class UnknownScale(InvalidInput):
    """The file does not say how large a voxel is; `scale=` must."""


class UnknownChannel(InvalidInput):
    """The file has several channels; `channel=` must say which one is read."""


class UnknownSeries(InvalidInput):
    """The file holds several series; `series=` must say which one is read.

    Attributes
    ----------
    names : tuple of str
        Those that there are.
    """

    names: tuple[str, ...] = ()


class InvalidSetting(AuctrackError, ValueError):
    """A setting is out of its range, or two settings contradict each other.

    Parameters
    ----------
    problem : str
        What it needs, what came, and the remedy where that has the same words everywhere.
    in_python : str
        The remedy as Python says it, as of `InvalidInput`.
    setting : str
        Name of the setting at fault, with which the message begins; a face that has another name for it begins with
        that. Empty where the problem names all.
    kind : str
        Of links that cannot be confirmed, why: "missed frames" or "too many"; else empty.
    rows : tuple of int
        Of the points table, which the problem names then: source and target; or the detection that has too many links,
        and those that these lead to or come from.
    wanted : tuple of str, optional
        Another setting and the value with which this one would be of use: what `in_python` says to set.
    """

    def __init__(
        self,
        problem: str,
        *,
        in_python: str = "",
        setting: str = "",
        kind: str = "",
        rows: tuple[int, ...] = (),
        wanted: tuple[str, str] | None = None,
    ) -> None:
        super().__init__(f"{setting} {problem} {in_python}".strip())
        self.wanted = wanted
        self.kind = kind
        self.rows = rows
        self.problem = problem
        self.in_python = in_python
        self.setting = setting


class InvalidEdit(AuctrackError, ValueError):
    """A correction names what is not there, or contradicts what was confirmed or forbidden; nothing was changed.

    The message names detections by id. A face of the program whose user knows them by track and frame has words of its
    own, from the attributes.

    Parameters
    ----------
    problem : str
        What is wrong, in Python's words.
    kind : str
        Which of the refusals it is: "no detection", "no link", "order", "no room", "not given" or "nothing follows";
        empty where a face needs no words of its own.
    detections, frames : tuple of int
        Those that it is about, of links the source and the target, and their frames; none with the first.
    """

    def __init__(
        self, problem: str, *, kind: str = "", detections: tuple[int, ...] = (), frames: tuple[int, ...] = ()
    ) -> None:
        super().__init__(problem)
        self.kind = kind
        self.detections = detections
        self.frames = frames


class OutputExists(AuctrackError, FileExistsError):
    """A result stands where the new one would go, and overwriting was not asked for.

    `problem` and `in_python` are as those of `InvalidInput`.
    """

    def __init__(self, problem: str, *, in_python: str = "") -> None:
        super().__init__(f"{problem} {in_python}".strip())
        self.problem = problem
        self.in_python = in_python


class OutputFailed(AuctrackError, OSError):
    """A result could not be written (disk full, no permission); what stood there before is untouched."""


TIFF_DAMAGE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)
"""What tifffile and its codecs raise, depending on where a file is damaged."""


def damage(error: Exception) -> str:
    """Return what a parser found wrong, in words: of a name that it missed, `KeyError` says the name alone.

    Examples
    --------
    >>> damage(KeyError("places")), damage(ValueError("3 numbers are needed"))
    ("'places' is missing", '3 numbers are needed')
    """
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)
