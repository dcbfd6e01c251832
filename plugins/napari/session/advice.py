"""Suggestions from the data with their reasons, and the histograms beside the settings."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from ....tracker.calibrating.digits import counted, in_unit
from ....tracker.detecting.defects import without_defects
from ....tracker.detecting.diameter import suggest_diameter
from ....tracker.detecting.settings import DetectSettings
from ....tracker.detecting.threshold import SAMPLED_FRAMES, sample_qualities, spread_frames, threshold_between
from ....tracker.linking.gate.candidates import frame_pairs
from ....tracker.linking.gate.spacing import WIDEST, mean_spacing, nearest_distances
from ....tracker.linking.unmatched_cost.measured import mutual_nearest
from ....tracker.points import Points
from ..layers.layer_movie import LayerMovie

_ENOUGH = 5_000  # particles or steps that a histogram needs
_MOST_CUT = 0.1  # share of the steps that a search range may be too short for without a warning


@dataclass(frozen=True)
class DetectAdvice:
    """A diameter, a threshold, and the qualities that the threshold divides.

    Attributes
    ----------
    diameter, threshold : float
    reason : str
    qualities : float64 (n,)
        Of all peaks in a few frames, noise included.
    """

    diameter: float
    threshold: float
    reason: str
    qualities: np.ndarray


@dataclass(frozen=True)
class LinkAdvice:
    """A search range and what it is read from.

    Attributes
    ----------
    search_range : float
    spacing : float
        Mean distance of nearest neighbours in a frame.
    reason : str
    neighbours : float64 (n,)
        Distance of particles to their nearest neighbour in the same frame.
    steps : float64 (m,)
        Distance of particles to their mutual nearest neighbour in the next frame.
    """

    search_range: float
    spacing: float
    reason: str
    neighbours: np.ndarray
    steps: np.ndarray


def advise_detection(movie: LayerMovie, settings: DetectSettings) -> DetectAdvice:
    """Suggest a diameter, unless the settings have one, and a threshold for it: those that detection finds by itself.

    Raises
    ------
    InvalidInput
        If nothing in the movie stands out from the noise.
    """
    mended, reason = without_defects(movie), ""
    if settings.diameter == "auto":
        suggestion = suggest_diameter(mended, bright_on_dark=settings.bright_on_dark)
        settings, reason = replace(settings, diameter=suggestion.diameter), suggestion.reason + " "
    frames = spread_frames(movie.frame_numbers, SAMPLED_FRAMES)
    sample = sample_qualities(mended, settings, frames)
    threshold = threshold_between(sample)
    above = int(np.count_nonzero(sample.qualities > threshold))
    reason += (
        f"Threshold {threshold:.4g} separates noise from particles: of the {len(sample.qualities):,} peaks in "
        f"{counted(len(frames), 'frame', ',')} of the movie that were looked at, {above:,} are above."
    )
    return DetectAdvice(settings.known_diameter, threshold, reason, sample.qualities)


def advise_linking(points: Points) -> LinkAdvice | None:
    """Suggest a search range; None where no frame has two particles at different places."""
    spacing = mean_spacing(points)
    if not spacing:
        return None
    unit = points.calibration.unit
    longest = WIDEST * spacing
    steps = _steps(points, WIDEST * spacing)
    shown = (
        f"median step {in_unit(unit, np.median(steps))}, 95 % below {in_unit(unit, np.percentile(steps, 95))}"
        if len(steps)
        else ""
    )
    reason = (
        f"Particles are {in_unit(unit, spacing)} from their nearest neighbour on average; {WIDEST:g} times that is "
        f"{in_unit(unit, longest)}, about the longest range at which neighbours are rarely mixed up"
        f"{f' ({shown})' if shown else ''}."
    )
    return LinkAdvice(longest, spacing, reason, nearest_distances(points, _ENOUGH), steps)


def range_warning(search_range: float, advice: LinkAdvice, unit: str) -> str:
    """Return why a search range is too wide or too narrow; empty when it is neither."""
    ratio = search_range / advice.spacing
    if ratio > WIDEST * 1.001:
        return (
            f"{in_unit(unit, search_range)} is {ratio:.2g} times the distance between neighbours "
            f"({in_unit(unit, advice.spacing)}); above about {WIDEST:g} times, particles have many candidates "
            "and links become less certain."
        )
    longer = np.mean(advice.steps > search_range) if len(advice.steps) else 0.0
    if longer > _MOST_CUT:
        longest = in_unit(unit, search_range)
        return f"{100 * longer:.0f} % of the steps are longer than {longest}; those links will be cut."
    return ""


def _steps(points: Points, search_range: float) -> np.ndarray:
    found: list[np.ndarray] = [np.empty(0)]
    for earlier, later in itertools.islice(frame_pairs(points, search_range), _ENOUGH):
        _, steps = mutual_nearest(earlier.grid.points, later.grid.points, search_range)
        found.append(steps)
        if sum(map(len, found)) >= _ENOUGH:
            break
    return np.concatenate(found)
