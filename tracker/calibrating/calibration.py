"""What one voxel and one frame measure in the physical world."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..errors import InvalidSetting
from ..unknown_settings import KnownByName
from .lengths import is_above_zero

PIXEL = "pixel"
FRAME = "frame"


@dataclass(frozen=True)
class Calibration(KnownByName):
    """Physical size of one step along each axis.

    Parameters
    ----------
    scale : tuple of float
        Size of one coordinate step along z, y, x, in `unit`. A table already in micrometres has (1, 1, 1).
    unit : str
        Unit of length, "µm" when known, "pixel" when nothing is known.
    frame_interval : float or None
        Time between two frames whose numbers differ by one, in `time_unit`; None when nothing is known.
    time_unit : str
        Unit of time, "s" when known.

    Raises
    ------
    InvalidSetting
        If a size or the interval is not a finite number above zero, or a unit no name.
    """

    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    unit: str = PIXEL
    frame_interval: float | None = None
    time_unit: str = FRAME

    def __post_init__(self) -> None:
        if np.shape(self.scale) != (3,) or not all(map(is_above_zero, self.scale)):
            raise InvalidSetting(
                f"needs three finite sizes above zero (z, y, x); got {self.scale!r}. For a 2D movie give z = 1.",
                setting="scale",
            )
        interval = self.frame_interval
        if interval is not None and not is_above_zero(interval):
            raise InvalidSetting(
                f"needs a finite time above zero, or None when it is not known; got {interval!r}.",
                setting="frame_interval",
            )
        for name in ("unit", "time_unit"):
            if not isinstance(getattr(self, name), str):
                raise InvalidSetting(f"{name} needs the name of a unit; got {getattr(self, name)!r}.")

    @property
    def is_physical(self) -> bool:
        """Whether lengths are in a unit of the physical world rather than in pixels."""
        return self.unit != PIXEL

    def scale_for(self, ndim: int) -> np.ndarray:
        """Return the scale of the last `ndim` axes, float64 (ndim,)."""
        return np.asarray(self.scale[3 - ndim :], dtype=np.float64)

    def override(
        self,
        *,
        scale: tuple[float, float, float] | None = None,
        unit: str | None = None,
        frame_interval: float | None = None,
        time_unit: str | None = None,
    ) -> Calibration:
        """Return a copy with the given values in place; None keeps what is there."""
        given = {"scale": scale, "unit": unit, "frame_interval": frame_interval, "time_unit": time_unit}
        return replace(self, **{name: value for name, value in given.items() if value is not None})

    def in_words(self, ndim: int = 3) -> str:
        """Return the size of a voxel along the last `ndim` axes, and the frame interval."""
        sizes = " × ".join(f"{s:g}" for s in self.scale_for(ndim))
        time = "not known" if self.frame_interval is None else f"{self.frame_interval:g} {self.time_unit}"
        return f"voxel {' × '.join('zyx'[3 - ndim :])} = {sizes} {self.unit}, frame interval {time}"

    def __str__(self) -> str:
        return self.in_words()
