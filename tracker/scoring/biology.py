"""The biological scores of the Cell Tracking Challenge: complete tracks, track fractions, branching, cell cycles.

Ulman et al., "An objective comparison of cell-tracking algorithms", Nature Methods 14 (2017). A track is a path between
divisions.
"""

from __future__ import annotations

import math

import numpy as np

from .comparison import Comparison
from .lineages import Lineages


def complete_tracks(comparison: Comparison) -> float:
    """Return CT: F1 of the tracks that one found track has from their first frame to their last, and no longer."""
    found, real = comparison.found, comparison.real
    tracks, nodes = len(found.length) + len(real.length), np.flatnonzero(comparison.match >= 0)
    pair = np.column_stack([real.tracklet[comparison.match[nodes]], found.tracklet[nodes]])
    pairs, shared = np.unique(pair, axis=0, return_counts=True)
    mine, theirs = pairs.T
    whole = (
        (shared == real.length[mine])
        & (real.begin[mine] == found.begin[theirs])
        & (real.end[mine] == found.end[theirs])
    )
    return 2 * int(whole.sum()) / tracks if tracks else math.nan


def track_fractions(comparison: Comparison) -> float:
    """Return TF: the longest share of a real track that one found track follows unbroken, averaged.

    Tracks of which nothing was found are left out, as in the challenge; 0 where nothing was found at all.
    """
    real = comparison.real
    order = real.by_tracklet
    twin = comparison.inverse[order]
    follower = np.append(comparison.found.tracklet, -1)[twin]  # -1 where it was not found
    track = real.tracklet[order]
    starts = np.flatnonzero((np.diff(track, prepend=-1) != 0) | (np.diff(follower, prepend=-2) != 0))
    run = np.diff(np.append(starts, len(order)))
    is_found = follower[starts] >= 0
    longest = np.zeros(len(real.length))
    np.maximum.at(longest, track[starts[is_found]], run[is_found])
    fractions = longest[longest > 0] / real.length[longest > 0]
    return float(fractions.mean()) if len(fractions) else 0.0


def branching_correctness(comparison: Comparison, frame_tolerance: int = 0) -> float:
    """Return BC(i): F1 of divisions whose mother ends, and whose daughters begin, within `frame_tolerance` frames.

    NaN without a real division.
    """
    mothers, real_mothers = _daughters(comparison.found), _daughters(comparison.real)
    if not real_mothers:
        return math.nan
    by_end: dict[int, list[int]] = {}
    for mother in mothers:
        by_end.setdefault(int(comparison.found.end[mother]), []).append(mother)
    nodes = _node_at(comparison.real)
    correct = 0
    for real_mother, real_daughters in real_mothers.items():
        end = int(comparison.real.end[real_mother])
        for frame in range(end - frame_tolerance, end + frame_tolerance + 1):
            correct += sum(
                _is_followed(comparison, nodes, real_mother, mother, min(end, frame))
                and _are_found(comparison, nodes, real_daughters, mothers[mother], frame_tolerance)
                for mother in by_end.get(frame, ())
            )
    return 2 * correct / (len(mothers) + len(real_mothers))


def cell_cycle_accuracy(comparison: Comparison) -> float:
    """Return CCA: 1 less the largest difference between the distributions of cell cycle lengths.

    A cycle is a track from one division to the next. NaN without one in the truth, 0 without one found.
    """
    found, real = _cycles(comparison.found), _cycles(comparison.real)
    if len(real) == 0:
        return math.nan
    if len(found) == 0:
        return 0.0
    lengths = np.union1d(found, real)
    shares = (np.searchsorted(np.sort(of), lengths, side="right") / len(of) for of in (found, real))
    return 1 - float(np.abs(np.subtract(*shares)).max())


def _daughters(lineages: Lineages) -> dict[int, list[int]]:
    """Return the tracks that every dividing track divides into."""
    daughters: dict[int, list[int]] = {}
    dividing = lineages.out_degree[lineages.edges[:, 0]] > 1
    for mother, daughter in lineages.tracklet[lineages.edges[dividing]].tolist():
        daughters.setdefault(mother, []).append(daughter)
    return daughters


def _cycles(lineages: Lineages) -> np.ndarray:
    """Return the frames from the first to the last of every track that a division begins and a division ends."""
    daughters = _daughters(lineages)
    born = {daughter for of in daughters.values() for daughter in of}
    whole = np.array(sorted(born & daughters.keys()), dtype=np.int64)
    return lineages.end[whole] - lineages.begin[whole]


def _node_at(lineages: Lineages) -> dict[tuple[int, int], int]:
    """Return the node of a track in a frame."""
    keys = zip(lineages.tracklet.tolist(), lineages.frame.tolist(), strict=True)
    return {key: node for node, key in enumerate(keys)}


def _is_followed(
    comparison: Comparison, nodes: dict[tuple[int, int], int], real_track: int, track: int, frame: int
) -> bool:
    """Whether a real track's detection in a frame was found by a track."""
    node = nodes.get((real_track, frame), -1)
    twin = int(comparison.inverse[node]) if node >= 0 else -1
    return twin >= 0 and int(comparison.found.tracklet[twin]) == track


def _are_found(
    comparison: Comparison,
    nodes: dict[tuple[int, int], int],
    real_daughters: list[int],
    daughters: list[int],
    frame_tolerance: int,
) -> bool:
    """Whether every real daughter is one of the found ones, where the later of the two begins."""
    begin, real_begin = comparison.found.begin, comparison.real.begin
    twins = {
        daughter
        for real_daughter in real_daughters
        for daughter in daughters
        if abs(begin[daughter] - real_begin[real_daughter]) <= frame_tolerance
        and _is_followed(
            comparison, nodes, real_daughter, daughter, int(max(begin[daughter], real_begin[real_daughter]))
        )
    }
    return len(twins) == len(real_daughters) == len(daughters)
