"""Movies of more detections than are held at once: windows of frames that overlap, and an excerpt to learn from.

Learning and weighing candidates takes some 240 bytes each, of which a detection has three mostly. A window's first and
last frames lack the links before and after them, so windows overlap, and of each the links of its own frames are taken,
which have context on both sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..motion.detections.ordered import Ordered

BYTES_A_DETECTION, BYTES_A_CANDIDATE = 800, 240
"""Of memory that learning takes; a detection with the candidates that most have."""
BYTES_MADE = 100
"""Of what is made of each detection of the movie: links, tracks, and what joins windows."""
WORTH_WHILE = 0.5
"""Largest share of a movie that a window may hold that exceeds the budget: with what is made of all the detections,
larger ones hold hardly less, and take longer."""
FEWEST_FRAMES = 3
"""Times as many frames as a link may span that a window holds at least: as much before its own, those, and after."""
CONTEXT = 8
"""Frames on each side of a seam, beside those that a link may span, beyond which hardly anything depends on them."""
ROUNDING = 1e-9
"""Of a budget that windows fill."""
RUNS = 4
"""Runs of frames, spread over the movie, that models are learned from."""
LEAST_RUN = 8
"""Frames of the shortest."""
ENOUGH = 50_000
"""Detections that models are learned from in any case, where a movie has as many."""


@dataclass(frozen=True)
class Window:
    """Frames that are held at once, as places in `Ordered.number`.

    Attributes
    ----------
    first, last : int
        Frames from `first` on, before `last`.
    begin, end : int
        Of these the ones whose links to later frames are taken from this window: each frame is so of one window.
    """

    first: int
    last: int
    begin: int
    end: int


def windows_of(movie: Ordered, at_once: int, lags: int) -> list[Window]:
    """Cut a movie into windows of at most so many detections.

    Parameters
    ----------
    movie : Ordered
    at_once : int
        Detections; windows hold more where one and a half of the least overlap do.
    lags : int
        Frames that links may span. Windows overlap by twice as many at least, by `CONTEXT` more on each side of the
        seam where a third of a window holds that.
    """
    frames = len(movie.number)
    room = at_once * frames // (3 * len(movie))
    overlap = max(2 * lags, min(2 * (lags + CONTEXT), room))
    cuts: list[tuple[int, int]] = []
    first = last = 0
    while last < frames:
        full = int(np.searchsorted(movie.starts, movie.starts[first] + at_once, side="right")) - 1
        last = min(max(full, first + overlap + overlap // 2), frames)
        cuts.append((first, last))
        first = last - overlap
    seams = [0, *(last - overlap // 2 for _, last in cuts[:-1]), frames]
    return [Window(*cut, *own) for cut, own in zip(cuts, pairwise(seams), strict=True)]


def pays(movie: Ordered, windows: list[Window], at_once: int) -> bool:
    """Whether windows hold what they may, or less than the movie by enough to be worth it."""
    return most_held(movie, windows) <= max(at_once, WORTH_WHILE * len(movie))


def most_held(movie: Ordered, windows: list[Window]) -> int:
    """Return how many detections the largest window holds."""
    return max(int(movie.starts[window.last] - movie.starts[window.first]) for window in windows)


def taken_at_most(held: float, detections: float, bytes_a_detection: float = BYTES_A_DETECTION) -> float:
    """Return the bytes that a budget must have room for, where so many of a movie's detections are held at once."""
    return held * bytes_a_detection + detections * BYTES_MADE


def held_at_once(
    detections: float,
    frames: int | np.ndarray,
    budget: float,
    lags: int,
    bytes_a_detection: float = BYTES_A_DETECTION,
) -> float:
    """Return about how many detections are held at once of a movie, by how many each frame has, or of as many each.

    All of them where the budget, in bytes, has room, or where windows of the fewest frames would hold hardly fewer; as
    `movie_links.links_within_budget` finds out from the frames themselves, and from the candidates that these have.
    """
    if detections * bytes_a_detection <= budget:
        return detections
    room, count = max(budget - detections * BYTES_MADE, 0.0), FEWEST_FRAMES * lags
    sizes = np.full(frames, detections / max(frames, 1)) if isinstance(frames, int) else frames
    upto = np.append(0, np.cumsum(sizes))
    fewest = float((upto[count:] - upto[:-count]).max(initial=0)) or detections  # all where there are fewer frames
    largest = max(room / bytes_a_detection, fewest)
    return largest if largest <= max(room / BYTES_A_DETECTION, WORTH_WHILE * detections) else detections


def excerpt(movie: Ordered, at_once: int) -> tuple[Ordered, np.ndarray]:
    """Return runs of frames spread over a movie, a fourth of a window in all, and which detections they hold.

    No link joins two runs: their frame numbers are farther apart than the movie is long. Where the shortest run holds
    more than a window may, it is that of a box in the middle.
    """
    joined, chosen = _runs(movie, at_once)
    inside = _middle(joined.position, max(at_once, ENOUGH))
    return joined.boxed(inside), chosen[inside]


def _middle(position: np.ndarray, most: int) -> np.ndarray:
    """Return which detections are in a box in the middle, at most so many, ascending.

    It is halved along the axis on which it is longest; one that is in a single place stays as it is.
    """
    inside = np.arange(len(position))
    while len(inside) > most:
        places = position[inside]
        along = places[:, np.argmax(np.ptp(places, axis=0))]
        low, high = np.quantile(along, (0.25, 0.75))
        is_half = (along >= low) & (along <= high)
        if is_half.all():
            break
        inside = inside[is_half]
    return inside


def _runs(movie: Ordered, at_once: int) -> tuple[Ordered, np.ndarray]:
    """Return runs of frames spread over a movie as one, and which detections they hold."""
    frames = len(movie.number)
    length = min(max(at_once * frames // (4 * len(movie)), LEAST_RUN), frames)
    runs = min(RUNS, max(length // (4 * CONTEXT), 1))
    length //= runs
    firsts: list[int] = np.linspace(0, frames - length, runs).astype(np.int64).tolist()
    parts = [movie.part(first, first + length) for first in firsts]
    apart = 2 * int(movie.number[-1] - movie.number[0] + 1)
    sizes = np.cumsum([0, *map(len, parts)])
    joined = Ordered(
        np.concatenate([part.position for part in parts]),
        np.concatenate([part.number + k * apart for k, part in enumerate(parts)]),
        np.concatenate([*(part.starts[:-1] + size for part, size in zip(parts, sizes, strict=False)), sizes[-1:]]),
        np.concatenate([part.row for part in parts]),
        np.concatenate([part.rank for part in parts]),
        movie.spacing,
        movie.extent,
        np.concatenate([part.drift for part in parts]),
        movie.log_density,
        movie.rounding,
    )
    spans: list[list[int]] = [movie.starts[[first, first + length]].tolist() for first in firsts]
    return joined, np.concatenate([np.arange(*span) for span in spans])
