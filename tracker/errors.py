"""What can be wrong with files, tables and settings; the tree's root is :class:`auctrack.AuctrackError`."""

from __future__ import annotations

from ..matching.errors import AuctrackError


class InvalidInput(AuctrackError, ValueError):
    """A file or table cannot be read as what it was given for (damaged, empty, wrong columns, NaN positions)."""


class UnknownAxes(InvalidInput):
    """The file does not say which of its axes is time, z or channel; `axes=` must."""


class UnknownScale(InvalidInput):
    """The file does not say how large a voxel is; `scale=` must."""


class InvalidSetting(AuctrackError, ValueError):
    """A setting is out of its range, or two settings contradict each other."""


class OutputExists(AuctrackError, FileExistsError):
    """A result stands where the new one would go, and overwriting was not asked for."""


class OutputFailed(AuctrackError, OSError):
    """A result could not be written (disk full, no permission); what stood there before is untouched."""
