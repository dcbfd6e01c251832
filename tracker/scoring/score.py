"""How well tracks agree with the truth: detections, links, and whole tracks.

A detection is right when it is assigned to a real particle, one to one, within a tolerance; a link is right when it
joins two right detections of one particle that follow each other in its life; a track is complete when it has every
detection of one particle and nothing else.
"""

from __future__ import annotations

import math

import numpy as np

from ..kinds import require_whole
from ..measuring.track_order import numbered, track_order
from ..points import Points, Tracks, require
from .agreement import Agreement, Score, TrackAgreement
from .following import division_rows, steps_and_gaps
from .identities import match_rows
from .names import names_of, real_particles, whole_numbers


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
        `match_points`). None: by identity, the column `true_id` of `tracks` (negative: a false detection), which is
        that of `truth` where it has one beside `track_id`, as other tracks of the same detections do.
    max_missed_frames : int
        0: links between consecutive frames only, in the truth's own `frame_step`. k: links across up to k frames
        count too, the predicted and the real ones; a real link across a gap joins a particle's appearances before and
        after frames where it is missing from `truth` or no row of `tracks` was assigned to it. `Score.gap_links`
        counts those across gaps by themselves, of any length, whatever stands here.
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
    require(Points, truth, "truth")
    max_missed_frames = require_whole(max_missed_frames, 0, "max_missed_frames")
    truth = real_particles(truth)
    particle, track_id = names_of(truth), whole_numbers(tracks, "track_id")
    match = match_rows(tracks, truth, tolerance)
    reach = truth.frame_step * (max_missed_frames + 1)
    in_order, lives = track_order(track_id, tracks.frames), track_order(particle, truth.frames, "particle")
    of_tracks = _agreement_of_tracks(track_id, particle, lives, match)  # first, as it leaves the others its memory
    steps, gaps = steps_and_gaps(tracks, track_id, in_order, truth.frame_step)
    real_steps, real_gaps = _real_links(truth, particle, lives, match)
    links, real_links = steps, real_steps
    if max_missed_frames:
        links = np.concatenate([links, _within(gaps, tracks, reach)])
        real_links = np.concatenate([real_links, _within(real_gaps, truth, reach)])
    if include_divisions:
        links = np.concatenate([links, division_rows(tracks, track_id, in_order, reach)])
        real_links = np.concatenate([real_links, division_rows(truth, particle, lives, reach)])
    return Score(
        detections=_agreement_of_points(match, truth),
        links=_agreement_of_links(links, match, real_links, len(truth)),
        gap_links=_agreement_of_links(gaps, match, real_gaps, len(truth)),
        tracks=of_tracks,
    )


def _real_links(
    truth: Points, particle: np.ndarray, lives: np.ndarray, match: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the real links between consecutive frames, and those across gaps.

    Gaps are the truth's own, and the frames in which a particle was not found.
    """
    steps, gaps = steps_and_gaps(truth, particle, lives, truth.frame_step)
    is_seen = np.zeros(len(truth), bool)
    is_seen[match[match >= 0]] = True
    if is_seen.all():
        return steps, gaps
    _, between_seen = steps_and_gaps(truth, particle, lives[is_seen[lives]], truth.frame_step)
    return steps, np.concatenate([gaps, between_seen])


def _within(pairs: np.ndarray, points: Points, reach: int) -> np.ndarray:
    """Return the pairs of rows, int64 (k, 2), that are at most `reach` frames apart."""
    frames = points.frames[pairs]
    return pairs[frames[:, 1] - frames[:, 0] <= reach]


def _agreement_of_points(match: np.ndarray, truth: Points) -> Agreement:
    return Agreement(real=len(truth), predicted=len(match), correct=int((match >= 0).sum()))


def _agreement_of_links(links: np.ndarray, match: np.ndarray, real_links: np.ndarray, n: int) -> Agreement:
    """Compare links, (k, 2) rows that `match` takes to rows of a truth of n rows, with real ones, (k, 2) rows of it."""
    after = np.full(n + 1, -2, dtype=np.int64)  # its last is of ends that are not real
    after[real_links[:, 0]] = real_links[:, 1]
    if np.count_nonzero(after >= 0) == len(real_links):  # nothing divides: one link out of each row at most
        correct = np.count_nonzero(after[match[links[:, 0]]] == match[links[:, 1]])
        return Agreement(real=len(real_links), predicted=len(links), correct=int(correct))
    found = match[links]
    possible = found[(found >= 0).all(axis=1)]
    # Sorting beats np.unique's hashing here: 0.2 s instead of 2 s for two million links.
    real = np.sort(real_links[:, 0] * n + real_links[:, 1])
    real = real[np.diff(real, prepend=-1) > 0]
    correct = np.intersect1d(possible[:, 0] * n + possible[:, 1], real, assume_unique=True)
    return Agreement(real=len(real), predicted=len(links), correct=len(correct))


def _agreement_of_tracks(
    track_id: np.ndarray, particle: np.ndarray, order: np.ndarray, match: np.ndarray
) -> TrackAgreement:
    in_track = track_id >= 0
    rows = slice(None) if in_track.all() else in_track  # a view, where all are
    tracks, of_track, length = numbered(track_id[rows])
    particles, of_row, life = numbered(particle)
    cover = np.full(len(particle) + 1, -1, dtype=np.int64)  # its last is of rows that are not real
    cover[match[rows]] = of_track
    order = order[cover[order] >= 0]
    of_row, cover = of_row[order], cover[order]
    is_other = np.ones(len(order), bool)
    is_other[1:] = (of_row[1:] != of_row[:-1]) | (cover[1:] != cover[:-1])
    begins = np.flatnonzero(is_other)
    switched = np.diff(of_row[begins]) == 0
    stretches = np.diff(np.append(begins, len(order)))
    shared, which = np.unique(of_row[begins] * len(tracks) + cover[begins], return_inverse=True)
    held = np.bincount(which, stretches).astype(np.int64)
    of_shared, by_shared = np.divmod(shared, max(len(tracks), 1))
    best = np.zeros(len(particles), dtype=np.int64)
    np.maximum.at(best, of_shared, held)
    fragments = np.bincount(of_shared, minlength=len(particles))
    return TrackAgreement(
        real=len(particles),
        predicted=len(tracks),
        complete=int(((held == life[of_shared]) & (held == length[by_shared])).sum()),
        mean_coverage=float((best / life).mean()) if len(particles) else math.nan,
        mean_fragments=float(fragments[fragments > 0].mean()) if len(shared) else math.nan,
        switches=int(switched.sum()),
    )
