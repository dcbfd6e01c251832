"""Tracks as a graph of detections and back: what formats that keep edges need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..errors import InvalidInput
from ..links import are_only_links, chains_of
from ..points import Points, Tracks


def edges_of(points: Points) -> np.ndarray:
    """Return the edges of tracks, from the earlier detection to the later; none of points.

    Along every track from each detection to the next, whatever frames are missed between them; then from the last
    detection of each parent before its child to the child's first. Where there is none before, there is no edge.

    Returns
    -------
    ndarray
        int64 (m, 2), rows of the table.
    """
    if not isinstance(points, Tracks):
        return np.empty((0, 2), dtype=np.int64)
    ids, frames = points.table["track_id"].to_numpy(), points.frames
    order = np.lexsort((frames, ids))
    same = ids[order][1:] == ids[order][:-1]
    along = np.column_stack([order[:-1][same], order[1:][same]])
    return np.concatenate([along, _births(points, order)]).astype(np.int64)


def _births(tracks: Tracks, order: np.ndarray) -> np.ndarray:
    """Return the edges from parents to children; `order` sorts the rows by track and frame."""
    ids, frames = tracks.table["track_id"].to_numpy()[order], tracks.frames[order]
    edges: list[tuple[int, int]] = []
    for child, parents in tracks.parents.items():
        first, end = np.searchsorted(ids, [child, child + 1])
        for parent in parents:
            begin, stop = np.searchsorted(ids, [parent, parent + 1])
            last = begin + np.searchsorted(frames[begin:stop], frames[first]) - 1 if first < end else -1
            if last >= begin:
                edges.append((int(order[last]), int(order[first])))
    return np.array(edges, dtype=np.int64).reshape(-1, 2)


def count_divisions(tracks: Tracks) -> int:
    """Return how many detections two or more others follow."""
    return int((np.bincount(edges_of(tracks)[:, 0]) > 1).sum()) if tracks.parents else 0


def count_merges(tracks: Tracks) -> int:
    """Return how many detections follow two or more others."""
    return int((np.bincount(edges_of(tracks)[:, 1]) > 1).sum()) if tracks.parents else 0


def tracks_of(
    frames: np.ndarray, edges: np.ndarray, ids: np.ndarray | None = None
) -> tuple[np.ndarray, dict[int, list[int]]]:
    """Return the tracks of a graph: chains without a branch, and which of them descend from which.

    Parameters
    ----------
    frames : ndarray of int64, shape (n,)
    edges : ndarray of int64, shape (m, 2)
        Rows; direction and repetition do not matter.
    ids : ndarray of int64, shape (n,), optional
        Track ids that stand in the file; kept where they agree with the edges.

    Returns
    -------
    ids : ndarray of int64, shape (n,)
        Numbered from 0 by first frame, then row.
    parents : dict
        `{child track: [parent tracks]}`.

    Raises
    ------
    InvalidInput
        If an edge joins two detections of one frame.
    """
    edges = _forward(frames, edges)
    if ids is not None and (descent := _descent(frames, edges, ids)) is not None:
        return ids, descent
    source, target = edges.T
    return chains_of(frames, source, target, are_only_links(source, target, len(frames)))


def unbroken_tracks_of(tracks: Tracks) -> tuple[np.ndarray, dict[int, list[int]]]:
    """Return tracks cut into stretches without missed frames, each of which ends before its children begin.

    A track is cut where it misses frames, and where another descends from it before it ends; what follows is a child of
    what went before.

    Returns
    -------
    ids : ndarray of int64, shape (n,)
        Numbered from 0 by first frame, then row.
    parents : dict
        `{child: [parents]}`.
    """
    frames, ids = tracks.frames, tracks.table["track_id"].to_numpy()
    edges = _forward(frames, edges_of(tracks))
    source, target = edges.T
    follows = (ids[source] == ids[target]) & (frames[target] - frames[source] == tracks.frame_step)
    return chains_of(frames, source, target, are_only_links(source, target, len(frames)) & follows)


def _forward(frames: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return the edges from earlier to later, each once, in the order of their targets."""
    edges = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    source, target = edges.T
    within = np.flatnonzero(frames[source] == frames[target])
    if len(within):
        raise InvalidInput(
            f"a link joins two points of the same frame ({int(frames[source[within[0]]])}; {len(within)} in all). "
            "Links go from frame to frame: remove those."
        )
    turned = frames[source] > frames[target]
    source, target = np.where(turned, target, source), np.where(turned, source, target)
    target, source = np.divmod(np.unique(target * len(frames) + source), max(len(frames), 1))
    return np.column_stack([source, target])


def _descent(frames: np.ndarray, edges: np.ndarray, ids: np.ndarray) -> dict[int, list[int]] | None:
    """Return the lineage that edges give to tracks with these ids; None where ids and edges contradict each other."""
    order = np.lexsort((frames, ids))
    same = ids[order][1:] == ids[order][:-1]
    source, target = order[:-1][same], order[1:][same]
    along, stated = source * len(frames) + target, edges[:, 0] * len(frames) + edges[:, 1]
    if not np.isin(along, stated).all() or np.any(frames[source] == frames[target]):
        return None
    ends, begins = (np.bincount(rows, minlength=len(frames)) == 0 for rows in (source, target))
    births = edges[~np.isin(stated, along)]
    if not (ends[births[:, 0]] & begins[births[:, 1]]).all():
        return None
    parents: dict[int, list[int]] = {}
    for parent, child in ids[births].tolist():
        parents.setdefault(child, []).append(parent)
    return parents


def lineages(parents: Mapping[int, Sequence[int]], ids: np.ndarray) -> np.ndarray:
    """Return for each track id the smallest id of all that are joined with it by descent; int64, of the ids' shape."""
    found = {int(track): int(track) for track in ids}

    def oldest(track: int) -> int:
        while found[track] != track:
            found[track] = track = found[found[track]]
        return track

    for child, of in parents.items():
        for parent in of:
            if child in found and parent in found:
                low, high = sorted((oldest(child), oldest(parent)))
                found[high] = low
    return np.array([oldest(int(track)) for track in ids], dtype=np.int64)


def refuse_circles(parents: Mapping[int, Sequence[int]]) -> None:
    """Refuse a lineage in which a track descends from itself.

    Raises
    ------
    InvalidInput
    """
    waiting = {child: len(set(of) & parents.keys()) for child, of in parents.items()}
    children: dict[int, list[int]] = {}
    for child, of in parents.items():
        for parent in set(of):
            children.setdefault(parent, []).append(child)
    settled = [child for child, count in waiting.items() if not count]
    for track in settled:  # grows
        for child in children.get(track, ()):
            waiting[child] -= 1
            if not waiting[child]:
                settled.append(child)
    if len(settled) < len(parents):
        track = min(child for child, count in waiting.items() if count)
        raise InvalidInput(
            f"track {track} has itself among its ancestors, or descends from one that does; correct its parents."
        )
