"""What a detection looks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..calibrating.lengths import is_size, require_length
from ..errors import InvalidSetting
from .blobs import Method


@dataclass(frozen=True)
class DetectSettings:
    """What to look for.

    Parameters
    ----------
    diameter : float or "auto"
        Diameter of a particle, in the calibration's unit (µm when known, pixels otherwise). The filter is tuned to a
        ball of this diameter: sigma = diameter / (2·sqrt(ndim)). For a Gaussian spot give 1.2 times its full width
        at half maximum. "auto": the one that `suggest.suggest_diameter` proposes for the movie.
    threshold : float or None
        Least `quality` of a detection, in grey levels: the filter's response, about the particle's contrast.
        None: one threshold for the whole movie, from a few of its frames (`threshold.automatic_threshold`).
    method : {"log", "dog"}
        Laplacian of Gaussian, or the difference of Gaussians that approximates it, to compare with programs that use
        it: a little broader, and no faster.
    bright_on_dark : bool
        False finds dark particles on a bright background.
    separation : float or None
        Of two detections nearer than this only the better stays, in the calibration's unit. None: half the diameter.

    Raises
    ------
    InvalidSetting
        If a number is not finite, a length not above zero, the method unknown, or `bright_on_dark` no truth value.
    """

    diameter: float | Literal["auto"] = "auto"
    threshold: float | None = None
    method: Method = "log"
    bright_on_dark: bool = True
    separation: float | None = None

    def __post_init__(self) -> None:
        if self.diameter != "auto":
            require_length("diameter", self.diameter)
        if self.separation is not None:
            require_length("separation", self.separation)
        if self.threshold is not None and not is_size(self.threshold):
            raise InvalidSetting(
                f"threshold needs a finite quality of 0 or more; got {self.threshold!r}. Leave it out for the "
                "automatic one."
            )
        if not isinstance(self.bright_on_dark, (bool, np.bool_)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidSetting(f"bright_on_dark needs True or False; got {self.bright_on_dark!r}.")
        if self.method not in ("log", "dog"):
            raise InvalidSetting(f"method needs to be 'log' or 'dog'; got {self.method!r}.")

    @property
    def known_diameter(self) -> float:
        """The diameter as a number; raises `InvalidSetting` where it is still to be suggested."""
        if self.diameter == "auto":
            raise InvalidSetting("diameter needs a number here; fill it in by resolve_settings().")
        return float(self.diameter)

    @property
    def least_separation(self) -> float:
        """The separation in force: `separation`, or half the diameter."""
        return self.known_diameter / 2.0 if self.separation is None else float(self.separation)
