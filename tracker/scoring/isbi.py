"""The scores of the ISBI 2012 particle tracking challenge: α, β, JSC, JSCθ and RMSE.

Chenouard et al., "Objective comparison of particle tracking methods", Nature Methods 11 (2014), supplementary note 3.
Tracks of the truth and of the prediction are paired one to one so that the total gated distance between them is least;
both tracks of a pair are compared in every frame, and a frame in which only one of them has a detection costs the gate.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np
from scipy.sparse import csr_array

from ...matching.problem import Problem
from ...matching.solving import solve
from ..calibrating.lengths import require_length
from ..measuring.track_order import track_order
from ..points import Points, Tracks, require
from .agreement import share
from .names import real_particles, whole_numbers
from .point_matching import close_pairs, require_comparable


@dataclass(frozen=True)
class IsbiScore:
    """What the challenge reports of one movie.

    Parameters
    ----------
    alpha : float
        1 less the distance of the paired tracks as a share of what the truth would cost unpaired; 1 is perfect.
    beta : float
        The same, with tracks that pair with nothing held against the prediction; at most `alpha`.
    jsc, jsc_tracks : float
        Jaccard similarity of the detections, and of the tracks (JSCθ).
    rmse : float
        Root mean square distance of the detections paired within the gate, in the unit of the positions.
    paired, missed, spurious : int
        Detections paired within the gate, of the truth only, and of the prediction only.
    paired_tracks, missed_tracks, spurious_tracks : int
        The same for tracks.
    """

    alpha: float
    beta: float
    jsc: float
    jsc_tracks: float
    rmse: float
    paired: int
    missed: int
    spurious: int
    paired_tracks: int
    missed_tracks: int
    spurious_tracks: int

    def summary(self) -> dict[str, float | int | None]:
        """Return every figure by name; None where it is undefined, as JSON wants it."""
        return {name: None if math.isnan(value) else value for name, value in asdict(self).items()}


@dataclass(frozen=True)
class _Side:
    """The tracks of one table, numbered from 0.

    `track`, `frame` of every row; `length`, in rows, and `span`, in frames from the first to the last, of every track.
    """

    track: np.ndarray
    frame: np.ndarray
    length: np.ndarray
    span: np.ndarray


def score_isbi(tracks: Tracks, truth: Points, gate: float = 5.0) -> IsbiScore:
    """Score tracks as the ISBI 2012 challenge does.

    Parameters
    ----------
    tracks : Tracks
        The prediction; rows with a negative `track_id` are left out.
    truth : Points
        Real particles, named by `track_id` or, without that column, by `true_id`; negative names are left out.
    gate : float
        The distance ε, in the unit of the positions, from which two detections do not pair; the challenge's 5 are
        pixels.

    Returns
    -------
    IsbiScore
        As the organisers' Java program computes it: a track of the prediction that pairs with nothing counts in `beta`
        with the frames of its gaps too.

    Raises
    ------
    InvalidInput
        If names are missing, a track is twice in one frame, or the tables' units or dimensions differ.
    InvalidSetting
        If the gate is not a finite length above zero.

    Examples
    --------
    >>> from auctrack import read_tracks, score_isbi
    >>> truth = read_tracks("sample_data/movie.truth.csv")
    >>> score_isbi(truth, truth).alpha
    1.0
    """
    require(Tracks, tracks)
    require(Points, truth, "truth")
    require_length("gate", gate)
    require_comparable(tracks, truth)
    truth = real_particles(truth)
    predicted = Points(tracks.table[whole_numbers(tracks, "track_id") >= 0].reset_index(drop=True), tracks.calibration)
    ours, real = _side(predicted, "track_id"), _side(truth, "track_id" if "track_id" in truth.table else "true_id")
    rows, columns, distance = close_pairs(predicted, truth, gate)
    is_within = distance < gate
    rows, columns, distance = rows[is_within], columns[is_within], distance[is_within]
    partner = _partners(ours, real, rows, columns, distance, gate)
    found = distance[partner[ours.track[rows]] == real.track[columns]]
    return _score(ours, real, partner, found, gate)


def _side(points: Points, name: str) -> _Side:
    """Number the tracks and give every row its track, its frame, and every track its rows and the frames it spans."""
    names, track = np.unique(points.table[name].to_numpy(), return_inverse=True)
    frame = points.frames
    track_order(track, frame, name)
    length = np.bincount(track, minlength=len(names))
    first, last = np.full(len(names), np.iinfo(np.int64).max), np.full(len(names), np.iinfo(np.int64).min)
    np.minimum.at(first, track, frame)
    np.maximum.at(last, track, frame)
    return _Side(track, frame, length, last - first + 1)


def _partners(
    ours: _Side, real: _Side, rows: np.ndarray, columns: np.ndarray, distance: np.ndarray, gate: float
) -> np.ndarray:
    """Return the track of the truth that each track of the prediction pairs with, -1 for none.

    Pairing saves the closeness of the detections, and costs the gate for every frame in which the truth has none.
    """
    shape = (len(ours.length), len(real.length))
    near = csr_array((gate - distance, (ours.track[rows], real.track[columns])), shape=shape)
    track, partner = near.nonzero()
    cost = _extra(ours, real, track, partner) * gate - near.data
    is_worth = cost < 0
    graph = csr_array((cost[is_worth], (track[is_worth], partner[is_worth])), shape=shape)
    return solve(Problem.sparse(graph, unmatched_cost=0.0), device="cpu").col_of_row


def _extra(ours: _Side, real: _Side, track: np.ndarray, partner: np.ndarray) -> np.ndarray:
    """Return in how many frames each track is seen, and its partner is not."""
    frames = np.unique(np.concatenate([ours.frame, real.frame]))
    seen = _presence(ours, frames)[track].multiply(_presence(real, frames)[partner])
    return ours.length[track] - np.asarray(seen.sum(axis=1)).ravel()


def _presence(side: _Side, frames: np.ndarray) -> csr_array:
    """Return which track is seen in which of the frames, 0 or 1, (tracks, frames)."""
    at = side.track, np.searchsorted(frames, side.frame)
    return csr_array((np.ones(len(side.track), np.int64), at), shape=(len(side.length), len(frames)))


def _score(ours: _Side, real: _Side, partner: np.ndarray, found: np.ndarray, gate: float) -> IsbiScore:
    """Return the figures of a pairing of tracks; `found` are the distances of the paired detections."""
    track = np.flatnonzero(partner >= 0)
    whole = gate * len(real.track)
    saved = math.fsum(gate - found) - gate * float(_extra(ours, real, track, partner[track]).sum())
    unpaired = gate * float(ours.span[partner < 0].sum())
    pairs, tracks, real_tracks = len(found), len(ours.length), len(real.length)
    return IsbiScore(
        alpha=share(saved, whole),
        beta=share(saved, whole + unpaired),
        jsc=share(pairs, len(real.track) + len(ours.track) - pairs),
        jsc_tracks=share(len(track), real_tracks + tracks - len(track)),
        rmse=math.sqrt(float(np.mean(found**2))) if pairs else math.nan,
        paired=pairs,
        missed=len(real.track) - pairs,
        spurious=len(ours.track) - pairs,
        paired_tracks=len(track),
        missed_tracks=real_tracks - len(track),
        spurious_tracks=tracks - len(track),
    )
