"""How well tracks agree with the truth: detections, links, and whole tracks.

A detection is right when it is assigned to a real particle, one to one, within a tolerance; a link is right when it
joins two right detections of one particle that follow each other in its life; a track is complete when it has every
detection of one particle and nothing else.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd

from ..errors import InvalidInput, InvalidSetting
from ..measuring.track_order import track_order
from ..points import Points, Tracks, require
from .agreement import Agreement, Score, TrackAgreement
from .point_matching import match_points


def score_links(
    tracks: Tracks,
    truth: Points,
    *,
    tolerance: float | None = None,
    max_missed_frames: int = 0,
    include_divisions: bool = False,
) -> Score:
    """Compare tracks with the truth.

    Parameters
    ----------
    tracks : Tracks
        The prediction. Rows with a negative `track_id` are detections without a track.
    truth : Points
        Real particles, named by `track_id` or, without that column, by `true_id`; rows with a negative name are not
        real and are left out. All the links of this table count: give every real particle to charge missed detections
        to the link recall, or the detections that were linked to judge linking alone. Cut it to the frames that were
        tracked.
    tolerance : float, optional
        Detections are assigned to particles by position, at most this far apart, in the unit of the calibration (see
        `match_points`). None: by identity, the column `true_id` of `tracks` (negative: a false detection).
    max_missed_frames : int
        0: links between consecutive frames only, in the truth's own `frame_step`. k: links across up to k frames
        count too, the predicted and the real ones; a real link across a gap joins a particle's appearances before and
        after frames where it is missing from `truth` or no row of `tracks` was assigned to it.
    include_divisions : bool
        Whether real links from parents to their children count too, and predicted ones by `parents` of `tracks`.
        Without it, a predicted track that runs on from a parent into its child has a wrong link there.

    Returns
    -------
    Score

    Raises
    ------
    InvalidInput
        If a track or a particle is twice in one frame, names are missing, or the tables' units or dimensions differ.
    InvalidSetting
        If the tolerance or `max_missed_frames` is out of range.
    """
    require(Tracks, tracks)
    if max_missed_frames < 0:
        raise InvalidSetting(f"max_missed_frames needs a number of at least 0; got {max_missed_frames!r}.")
    truth = real_particles(truth)
    particle, track_id = _names(truth), whole_numbers(tracks, "track_id")
    if tolerance is None:
        match = _match_identities(tracks, truth.frames, particle)
    else:
        match = match_points(tracks, truth, tolerance)
    reach = truth.frame_step * (max_missed_frames + 1)
    links = _links(tracks, track_id, "track", reach, divisions=include_divisions)
    real_links = _links(truth, particle, "particle", reach, divisions=include_divisions)
    if max_missed_frames:
        # Links across the frames where a particle was not seen come on top of those across the truth's own gaps.
        seen = np.full(len(truth), -1, dtype=np.int64)
        seen[match[match >= 0]] = particle[match[match >= 0]]
        real_links = np.concatenate([real_links, _links(truth, seen, "particle", reach, divisions=False)])
    return Score(
        detections=_agreement_of_points(match, truth),
        links=_agreement_of_links(match[links], real_links, len(truth)),
        tracks=_agreement_of_tracks(track_id, truth.frames, particle, match),
    )


def score_detections(points: Points, truth: Points, tolerance: float) -> Agreement:
    """Compare detections with the real particles of `truth`, within a tolerance; arguments as in `score_links`."""
    truth = real_particles(truth)
    return _agreement_of_points(match_points(points, truth, tolerance), truth)


def _match_identities(tracks: Tracks, true_frames: np.ndarray, particle: np.ndarray) -> np.ndarray:
    """Return the row of the truth that has the frame and the `true_id` of every row of `tracks`, -1 for none."""
    if "true_id" not in tracks.table.columns:
        raise InvalidInput(
            "tracks need a column 'true_id' to be scored by identity; give a tolerance to score them by position."
        )
    claimed = whole_numbers(tracks, "true_id")
    track_order(claimed, tracks.frames, "true_id")
    track_order(particle, true_frames, "particle")
    match = np.full(len(claimed), -1, dtype=np.int64)
    real = np.flatnonzero(claimed >= 0)
    # Numbered anew, so that no product leaves int64, however large names and frame numbers are.
    _, frame = np.unique(np.concatenate([tracks.frames[real], true_frames]), return_inverse=True)
    _, name = np.unique(np.concatenate([claimed[real], particle]), return_inverse=True)
    key = name * (frame.max(initial=0) + 1) + frame
    _, row, column = np.intersect1d(key[: len(real)], key[len(real) :], assume_unique=True, return_indices=True)
    match[real[row]] = column
    return match


def _links(points: Points, name: np.ndarray, kind: str, reach: int, *, divisions: bool) -> np.ndarray:
    """Return the pairs of rows, int64 (k, 2), that follow each other under one name at most `reach` frames apart."""
    order = track_order(name, points.frames, kind)
    same = name[order[1:]] == name[order[:-1]]
    pairs = np.column_stack([order[:-1][same], order[1:][same]])
    if divisions and isinstance(points, Tracks):
        pairs = np.concatenate([pairs, _division_links(points, name, order)])
    lag = points.frames[pairs[:, 1]] - points.frames[pairs[:, 0]]
    return pairs[(lag > 0) & (lag <= reach)]


def _division_links(tracks: Tracks, name: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return (last row of the parent, first row of the child) for every parent of every child."""
    names, first = np.unique(name[order], return_index=True)
    start = dict(zip(names.tolist(), order[first].tolist(), strict=True))
    end = dict(zip(names.tolist(), order[np.append(first[1:], len(order)) - 1].tolist(), strict=True))
    pairs = [
        (end[parent], start[child])
        for child, parents in tracks.parents.items()
        for parent in parents
        if parent in end and child in start
    ]
    return np.asarray(pairs, dtype=np.int64).reshape(-1, 2)


def _agreement_of_points(match: np.ndarray, truth: Points) -> Agreement:
    return Agreement(real=len(truth), predicted=len(match), correct=int((match >= 0).sum()))


def _agreement_of_links(links: np.ndarray, real_links: np.ndarray, n: int) -> Agreement:
    """Compare links with real ones, both (k, 2) rows of a truth of n rows; -1 marks an end that is not real."""
    # Sorting beats np.unique's hashing here: 0.2 s instead of 2 s for two million links.
    real = np.sort(real_links[:, 0] * n + real_links[:, 1])
    real = real[np.diff(real, prepend=-1) > 0]
    possible = links[(links >= 0).all(axis=1)]
    correct = np.intersect1d(possible[:, 0] * n + possible[:, 1], real, assume_unique=True)
    return Agreement(real=len(real), predicted=len(links), correct=len(correct))


def _agreement_of_tracks(
    track_id: np.ndarray, true_frames: np.ndarray, particle: np.ndarray, match: np.ndarray
) -> TrackAgreement:
    tracks, length = np.unique(track_id[track_id >= 0], return_counts=True)
    particles, of_row, life = np.unique(particle, return_inverse=True, return_counts=True)
    found = np.flatnonzero((match >= 0) & (track_id >= 0))
    cover = np.full(len(particle), -1, dtype=np.int64)
    cover[match[found]] = np.searchsorted(tracks, track_id[found])
    order = np.lexsort((true_frames, of_row))
    order = order[cover[order] >= 0]
    switched = (np.diff(of_row[order]) == 0) & (np.diff(cover[order]) != 0)
    shared, rows = np.unique(of_row[order] * len(tracks) + cover[order], return_counts=True)
    of_shared, by_shared = np.divmod(shared, max(len(tracks), 1))
    best = np.zeros(len(particles), dtype=np.int64)
    np.maximum.at(best, of_shared, rows)
    fragments = np.bincount(of_shared, minlength=len(particles))
    return TrackAgreement(
        real=len(particles),
        predicted=len(tracks),
        complete=int(((rows == life[of_shared]) & (rows == length[by_shared])).sum()),
        mean_coverage=float((best / life).mean()) if len(particles) else math.nan,
        mean_fragments=float(fragments[fragments > 0].mean()) if len(shared) else math.nan,
        switches=int(switched.sum()),
    )


def real_particles(truth: Points) -> Points:
    """Return the rows of the truth that are real particles, with their lineage."""
    real = _names(truth) >= 0
    return replace(truth, table=truth.table[real].reset_index(drop=True))


def _names(truth: Points) -> np.ndarray:
    """Return the particle of every row: `track_id`, or `true_id` where there is none."""
    for column in ("track_id", "true_id"):
        if column in truth.table.columns:
            return whole_numbers(truth, column)
    raise InvalidInput(
        "the truth needs a column 'track_id' or 'true_id' that names its particles; "
        f"it has {', '.join(map(str, truth.table.columns))}."
    )


def whole_numbers(points: Points, column: str) -> np.ndarray:
    """Return a column of names, int64 (n,); raises `InvalidInput` where one is missing or no whole number."""
    values = points.table[column]
    if not pd.api.types.is_integer_dtype(values) or values.hasnans:
        raise InvalidInput(f"column '{column}' needs whole numbers, none missing; it has {values.dtype} values.")
    return values.to_numpy(dtype=np.int64)
