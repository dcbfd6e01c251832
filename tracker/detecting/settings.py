"""What a detection looks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from ..calibrating.digits import in_unit
from ..calibrating.lengths import is_size
from ..errors import InvalidSetting
from ..kinds import LENGTH, TRUTH, declared_as, one_of, require_kinds
from ..unknown_settings import KnownByName
from .blobs import Method


@dataclass(frozen=True)
class DetectSettings(KnownByName):
    """What to look for.

    Parameters
    ----------
    diameter : float or "auto"
        Diameter of a particle, in the calibration's unit (µm when known, pixels otherwise). The filter is tuned to a
        ball of this diameter: sigma = diameter / (2·sqrt(ndim)). For a Gaussian spot give 1.2 times its full width
        at half maximum. "auto": the one that `diameter.suggest_diameter` proposes for the movie.
    threshold : float or None
        Least `quality` of a detection, in grey levels: the filter's response, about the particle's contrast.
        None: one threshold for the whole movie, from a few of its frames (`threshold.suggest_threshold`).
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

    diameter: float | Literal["auto"] = field(default="auto", metadata=LENGTH)
    threshold: float | None = field(
        default=None, metadata=declared_as("a finite quality of 0 or more, or to be left out", is_size)
    )
    method: Method = field(default="log", metadata=one_of(*get_args(Method)))
    bright_on_dark: bool = field(default=True, metadata=TRUTH)
    separation: float | None = field(default=None, metadata=LENGTH)

    def __post_init__(self) -> None:
        require_kinds(self)

    @property
    def known_diameter(self) -> float:
        """The diameter as a number; raises `InvalidSetting` where it is still to be suggested."""
        if self.diameter == "auto":
            raise InvalidSetting("needs a number here; fill it in by resolve_settings().", setting="diameter")
        return float(self.diameter)

    @property
    def known_threshold(self) -> float:
        """The threshold as a number; raises `InvalidSetting` where it is still to be suggested."""
        if self.threshold is None:
            raise InvalidSetting("needs a number here; fill it in by resolve_settings().", setting="threshold")
        return float(self.threshold)

    def in_words(self, unit: str) -> str:
        """Return diameter and threshold, once they are known, in a few words."""
        return f"diameter {in_unit(unit, self.known_diameter, 4)}, threshold {self.known_threshold:.4g}"

    @property
    def least_separation(self) -> float:
        """The separation in force: `separation`, or half the diameter."""
        return self.known_diameter / 2.0 if self.separation is None else float(self.separation)
