"""Notes on movies: sizes and times that are doubtful, and images that are something else than they are taken for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...tracker.calibrating.units import TIMES
from .notes import Named
from .setting_options import option_of

if TYPE_CHECKING:
    from ...tracker.detecting.settings import DetectSettings
    from ...tracker.reading.frames import FrameSource
    from ...tracker.reading.movie import Movie
    from ...tracker.settings import Settings

_FLAT, _ROUGH = 0.9, 0.5
"""Share of touching pixels above 0 that are equal: at least this in label images, less than that in camera images."""
_SLANTED = 0.01
"""Share of a frame that is slanted padding: less is a corner that a camera does not see."""
_SQUARE = 0.01
"""Share by which y and x of a voxel differ at most that was rounded: pixels of cameras and of scans are square."""
_OTHER_TONE = 2.0
"""Response of the other tone over that of the tone looked for: at most 0.3 on movies where the tone is right."""


def on_movie(movie: Movie, settings: Settings) -> list[str]:
    """Return what is to be said of times and sizes, and of the middle frame: values missing, padding, labels."""
    sizes = [*_on_odd_interval(movie), *_on_oblong_pixels(movie)]
    if movie.is_mask:
        return [*sizes, _on_truth_values(str(movie.path), are_labels=settings.input.kind == "labels")]
    image = movie.frame(movie.frame_numbers[len(movie) // 2])
    if settings.input.kind != "labels":
        return [*sizes, *on_image(image, str(movie.path), as_labels="give --labels")]
    return [*sizes, *_on_missing_values(image), *_on_rough_labels(image, str(movie.path))]


def _on_odd_interval(movie: Movie) -> list[str]:
    """Return what is to be said of a frame interval in a unit that is not known, which is not taken."""
    if not movie.odd_interval:
        return []
    return [
        f"the file says {movie.odd_interval} between frames, and that unit is not one of {', '.join(TIMES)}: times are "
        f"in frames unless {option_of('frame_interval')} is given."
    ]


def _on_oblong_pixels(movie: Movie) -> list[str]:
    """Return what is to be said of a voxel size that was given and differs along y and x, as where it begins with x."""
    *_, y, x = movie.calibration.scale
    if movie.source != "given" or abs(y - x) <= _SQUARE * max(y, x):
        return []
    size = f"{y:g} along y and {x:g} {movie.calibration.unit} along x"
    return [f"a voxel is {size}, and pixels are hardly ever oblong: {option_of('scale')} is in the order z,y,x."]


def _on_truth_values(name: str, *, are_labels: bool) -> str:
    if are_labels:
        return f"{name} is a mask of truth values: each of its regions is a particle, and those that touch are one."
    return f"{name} is a mask of truth values: give --labels, and each of its regions is a particle."


def on_image(image: np.ndarray, name: str, *, as_labels: str, named: Named = option_of) -> list[str]:
    """Return what is to be said of a frame in which particles are detected; `as_labels`: what to do if it is labels."""
    return [
        *_on_missing_values(image),
        *_on_padding(image, named),
        *_on_unsaid_labels(image, name, as_labels),
    ]


def _on_padding(image: np.ndarray, named: Named) -> list[str]:
    """Return what is to be said of an even border that is no rectangle: its steps are taken for particles."""
    from ...tracker.detecting.padding import slanted_share

    share = slanted_share(image)
    if share < _SLANTED:
        return []
    return [
        f"{share:.0%} of the middle frame is even padding with slanted borders, as around a rotated frame; particles "
        f"may be found along them. Leave them out ({named('roi')}), or write NaN there."
    ]


def _on_missing_values(image: np.ndarray) -> list[str]:
    """Return what is to be said of voxels that hold no number."""
    missing = 1 - float(np.isfinite(image).mean())
    if not missing:
        return []
    return [f"{missing:.2%} of the middle frame holds no numbers (NaN or infinite); no particles are found there."]


def _on_rough_labels(image: np.ndarray, name: str) -> list[str]:
    """Return what is to be said of labels that are a mask, or plainly none: few of their touching pixels are equal."""
    equal = _flatness(image)
    if equal is None:
        return []
    from ...tracker.detecting.labels import on_mask

    if mask := on_mask(image, name):
        return mask
    rough = f"only {equal:.0%} of its touching pixels are equal, as if labels were single pixels"
    advice = f"{name} does not look like labels: {rough}. Without --labels, particles are detected."
    return [advice] if equal < _ROUGH else []


def _on_unsaid_labels(image: np.ndarray, name: str, as_labels: str) -> list[str]:
    """Return what is to be said of a frame that is plainly labels: nearly all its touching pixels above 0 are equal."""
    equal = _flatness(image)
    is_whole, has_background = np.issubdtype(image.dtype, np.integer), not image.all()
    if equal is None or equal < _FLAT or not (is_whole and has_background and len(np.unique(image[image > 0])) > 1):
        return []
    flat = f"{equal:.0%} of its touching pixels above 0 are equal"
    return [f"{name} looks like labels: {flat}. If each particle has its own number in it, {as_labels}."]


def on_tone(movie: FrameSource, settings: DetectSettings, named: Named = option_of) -> list[str]:
    """Return what is to be said where blobs of the other tone, which are not looked for, stand out far more."""
    from ...tracker.detecting.diameter import responses_by_tone

    bright, dark = responses_by_tone(movie, settings.known_diameter)
    asked, other = (bright, dark) if settings.bright_on_dark else (dark, bright)
    if other <= _OTHER_TONE * asked:
        return []
    option = named("bright_on_dark")
    tones, remedy = ("dark", f"{option} finds those") if settings.bright_on_dark else ("bright", f"leave {option} out")
    times = f"{other / asked:.0f} times as strongly as the others" if asked else "and others do not"
    return [f"{tones} blobs of this diameter stand out, {times}; if they are the particles, {remedy}."]


def _flatness(image: np.ndarray) -> float | None:
    """Return which share of pixels above 0 next to each other along x is equal; None where there are none."""
    left, right = image[..., :-1], image[..., 1:]
    both = (left > 0) & (right > 0)
    return float(np.mean(left[both] == right[both])) if both.any() else None
