"""What can be wrong with files, tables and settings; the tree's root is :class:`auctrack.AuctrackError`."""

from __future__ import annotations

from typing import Self

from ..matching.errors import AuctrackError


class InvalidInput(AuctrackError, ValueError):
    """A file or table cannot be read as what it was given for (damaged, empty, wrong columns, NaN positions).

    Parameters
    ----------
    problem : str
        What is wrong. Where the remedy has the same words everywhere, that too.
    in_python : str
        The remedy as Python says it; the message ends in it.
    as_options : str
        The remedy in options of the command line, for the face that has them.
    """

    def __init__(self, problem: str, *, in_python: str = "", as_options: str = "") -> None:
        super().__init__(f"{problem} {in_python}".strip())
        self.problem = problem
        self.in_python = in_python
        self.as_options = as_options

    def of(self, where: object) -> Self:
        """Return the same, said of a file or table."""
        return type(self)(f"{where}: {self.problem}", in_python=self.in_python, as_options=self.as_options)


class UnknownAxes(InvalidInput):
    """The file does not say which of its axes is time, z or channel; `axes=` must."""


class UnknownScale(InvalidInput):
    """The file does not say how large a voxel is; `scale=` must."""


class UnknownChannel(InvalidInput):
    """The file has several channels; `channel=` must say which one is read."""


class InvalidSetting(AuctrackError, ValueError):
    """A setting is out of its range, or two settings contradict each other."""


class InvalidEdit(AuctrackError, ValueError):
    """A correction names what is not there, or contradicts what was confirmed or forbidden; nothing was changed."""


class OutputExists(AuctrackError, FileExistsError):
    """A result stands where the new one would go, and overwriting was not asked for."""


class OutputFailed(AuctrackError, OSError):
    """A result could not be written (disk full, no permission); what stood there before is untouched."""
