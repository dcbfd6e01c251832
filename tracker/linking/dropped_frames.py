"""Frames that a camera dropped or recorded twice, recognised by the steps over them, which are as long as over several.

Linking takes the frames after them to be that many frames later, so that links over them are weighed as over frames
that were not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..points import Points, Tracks
from ..timeline import Timeline

SAMPLE, SAMPLE_A_FRAME = 100_000, 250
"""Detections whose steps are looked at, in all and a frame, or up to twice as many: those of every n-th track."""
FEWEST_PAIRS, FEWEST_STEPS = 8, 10
"""Pairs of frames that tell what is usual, and steps that tell how far particles moved over one of them."""
OUTLYING = 6.0
"""Standard deviations of the logarithm, from pair to pair, above which steps are not as usual."""
MOST = 4
"""Frames' worth of steps over a pair, at most."""

TIED = 0.5
"""Different lengths of steps, as a share of all, below which places are rounded to whole pixels or the like."""


def dropped_after(tracks: Tracks, persistence: float) -> dict[int, int]:
    """Return how many frames seem to be missing after which frames; none of most movies.

    Parameters
    ----------
    tracks : Tracks
    persistence : float
        Share of a step that the next one repeats: it says how much farther particles get in several frames.
    """
    after, square = _median_squares(tracks)
    if len(after) < FEWEST_PAIRS or np.median(square) <= 0:
        return {}
    farther = np.log(np.maximum(square / np.median(square), 1e-12))
    spread = 1.4826 * float(np.median(np.abs(farther)))
    growth = np.log(_growth(persistence))
    times = 1 + np.abs(farther[:, None] - growth).argmin(axis=1)
    is_late = (times > 1) & (farther > OUTLYING * spread)
    return dict(zip(after[is_late].tolist(), (times[is_late] - 1).tolist(), strict=True))


def as_if_later(points: Points, dropped: Mapping[int, int]) -> Points:
    """Return the points with all frames numbered later by those that are missing before them."""
    after, missing = np.array(sorted(dropped)), np.cumsum([0, *(dropped[frame] for frame in sorted(dropped))])
    later = points.frames + points.frame_step * missing[np.searchsorted(after, points.frames)]
    return replace(points, table=points.table.assign(frame=later), timeline=Timeline(points.frame_step))


def in_words(dropped: Mapping[int, int], step: int) -> str:
    """Return what is said of them."""
    some = [f"{frame} to {frame + step}" for frame in sorted(dropped)]
    named = ", ".join(some[:5]) + (f" and {len(some) - 5} more" if len(some) > 5 else "")
    return (
        f"particles moved as far as in two or more frames from frame {named}, as if a camera had dropped a frame or "
        "recorded one twice: links there are weighed as over missing frames"
    )


def _median_squares(tracks: Tracks) -> tuple[np.ndarray, np.ndarray]:
    """Return frame numbers, and the median square of the steps after each, less their median step."""
    ids, rows = tracks.table["track_id"].to_numpy(), _sample(tracks)
    rows = rows[np.lexsort((tracks.frames[rows], ids[rows]))]
    frames = tracks.frames[rows]
    is_step = (np.diff(ids[rows]) == 0) & (np.diff(frames) == tracks.frame_step)
    after, which, count = np.unique(frames[:-1][is_step], return_inverse=True, return_counts=True)
    which = which.astype(np.min_scalar_type(len(after)))  # two bytes are sorted in a tenth of the time
    steps = np.diff(tracks.positions_of(rows), axis=0)[is_step].T
    left = sum(((along - _medians(along, which, count)[which]) ** 2 for along in steps), np.zeros(len(which)))
    level = np.round(left / (np.median(left) or 1.0), 6) if len(left) else left
    if len(np.unique(level)) < TIED * len(level):
        of_each = np.split(level[np.argsort(which, kind="stable")], np.cumsum(count)[:-1])
        middle = np.array([_middle_of_tied(each) for each in of_each])
    else:
        middle = _medians(left, which, count)
    told = count >= FEWEST_STEPS
    return after[told], middle[told]


def _medians(values: np.ndarray, which: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return the median of the values of each group, by the group of each value and the sizes of the groups."""
    order = np.argsort(values)
    ranked = values[order[np.argsort(which[order], kind="stable")]]
    first = np.cumsum(count) - count
    return (ranked[first + (count - 1) // 2] + ranked[first + count // 2]) / 2


def _middle_of_tied(values: np.ndarray) -> float:
    """Return the median of values of which many are tied, if those lay anywhere nearer to their value than to others.

    The usual one leaps from level to level: of places in whole pixels, whose steps are squared, to twice as much.
    """
    level, count = np.unique(values, return_counts=True)
    between = np.concatenate([level[:1], (level[1:] + level[:-1]) / 2, level[-1:]])
    return float(np.interp(count.sum() / 2, np.append(0, np.cumsum(count)), between))


def _sample(tracks: Tracks) -> np.ndarray:
    """Return the rows of the tracks whose steps are looked at."""
    ids = tracks.table["track_id"].to_numpy()
    every = _power(len(ids) / SAMPLE)
    rows = np.flatnonzero((ids & (every - 1)) == 0)
    span = int(np.ptp(tracks.frames[rows])) if len(rows) else 0
    every *= _power(len(rows) / (SAMPLE_A_FRAME * (span // tracks.frame_step + 1)))
    return rows[(ids[rows] & (every - 1)) == 0]


def _power(times: float) -> int:
    """Return the largest power of two up to a number, or 1: whether one divides an id takes a tenth of the time."""
    return 1 << max(int(times), 1).bit_length() - 1


def _growth(persistence: float) -> np.ndarray:
    """Return how many times the variance of a step grows over 1 to `MOST` frames, float64 (MOST,)."""
    correlation = np.cumsum(np.cumsum(persistence ** np.arange(MOST)))  # sums over i of sums over j ≤ i of p^j
    return 2 * correlation - np.arange(1, MOST + 1)
