"""The table of links, and the tracks and the lineage that links make.

Every table of links is made by `links_of`, and every lineage by `chains_of`. A link that is the only one at both its
ends goes on with a track; any other begins a new track, which descends from that of its source.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from ..matching.jit.compiled import SMALL, compiled
from .points import Points, Tracks

ENDS = ["source", "target"]
"""Columns of a link's ends: rows of the points table."""
STEP, GAP, DIVISION, MERGE = range(4)
KINDS = "step", "gap", "division", "merge"
"""Of links: to the next frame, over missed frames, the second one out of its source, the second one into its target."""
_AT_ONCE = 1 << 17
"""Links that are measured at a time: their ends' positions, all at once, would take more than the table."""
PROBABILITY, MARGIN = "link_probability", "link_margin"
"""Columns of tracks, of the link that leads to a detection; "probability" alone is what detectors call theirs."""


def links_of(
    source: np.ndarray,
    target: np.ndarray,
    frames: np.ndarray,
    length: np.ndarray,
    probability: np.ndarray | float,
    margin: np.ndarray | float,
    kind: np.ndarray,
) -> pd.DataFrame:
    """Return a table of links; its columns are called as these parameters.

    Parameters
    ----------
    source, target : int64 (links,)
        Rows of the points table, the earlier frame first.
    frames : int64 (links,)
        From source to target.
    length : float64 (links,)
        In the unit of the positions.
    probability : float64 (links,), or NaN
        That the link is right; NaN without learned motion.
    margin : float64 (links,), or NaN
        What the best linking without it costs more; NaN unless asked for, inf of a pinned link.
    kind : int (links,)
        By its place in `KINDS`.
    """
    measured = {"frames": frames, "length": length, "probability": probability, "margin": margin}
    columns = {"source": source, "target": target, **measured, "kind": pd.Series(KINDS).array[kind]}
    return pd.DataFrame(columns, copy=False)


def links_between(
    points: Points,
    source: np.ndarray,
    target: np.ndarray,
    probability: np.ndarray | float,
    margin: np.ndarray | float,
    *,
    is_division: np.ndarray | None = None,
    is_merge: np.ndarray | None = None,
) -> pd.DataFrame:
    """Return the table of links between rows of a points table.

    `is_division` and `is_merge`, bool (links,), mark second links; one that is both counts as a division.
    """
    frames = points.frames[target] - points.frames[source]
    kind = np.where(frames > points.frame_step, GAP, STEP)
    for is_second, second in ((is_merge, MERGE), (is_division, DIVISION)):
        if is_second is not None:
            kind[is_second] = second
    length = np.empty(len(source))
    for begin in range(0, len(source), _AT_ONCE):
        own = slice(begin, begin + _AT_ONCE)
        length[own] = np.linalg.norm(points.positions_of(target[own]) - points.positions_of(source[own]), axis=1)
    return links_of(source, target, frames, length, probability, margin, kind)


def ends_of(links: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return the sources and the targets of links."""
    return links["source"].to_numpy(), links["target"].to_numpy()


def median_step(links: pd.DataFrame, frame_step: int) -> float | None:
    """Return the median length of the links over one frame, in the unit of the positions; None without one."""
    steps = links["length"].to_numpy()[links["frames"].to_numpy() == frame_step]
    return float(np.median(steps)) if len(steps) else None


def tracks_of(points: Points, source: np.ndarray, target: np.ndarray) -> Tracks:
    """Return the tracks of links between rows of the points table, and who descends from whom."""
    ids, parents = chains_of(points.frames, source, target, are_only_links(source, target, len(points)))
    return replace(points.with_track_ids(ids), parents=parents)


def with_sureness(tracks: Tracks, links: pd.DataFrame) -> Tracks:
    """Return tracks with `link_probability` and `link_margin` of the link that leads to each detection.

    NaN where none does; of two that merge there, those of the one with the smaller margin.
    """
    _, target = ends_of(links)
    sure = {name: np.full(len(tracks), np.nan) for name in (PROBABILITY, MARGIN)}
    shared = np.flatnonzero(np.bincount(target, minlength=len(tracks))[target] > 1)
    shared = shared[np.argsort(-links["margin"].to_numpy()[shared], kind="stable")]  # the less probable of two stands
    for name, column in ((PROBABILITY, "probability"), (MARGIN, "margin")):
        values = links[column].to_numpy()
        sure[name][target] = values
        sure[name][target[shared]] = values[shared]
    return replace(tracks, table=tracks.table.assign(**sure))


def are_only_links(source: np.ndarray, target: np.ndarray, n: int) -> np.ndarray:
    """Return of each link between `n` detections whether it is the only one at both its ends, bool (links,)."""
    return (np.bincount(source, minlength=n)[source] == 1) & (np.bincount(target, minlength=n)[target] == 1)


def chains_of(
    frames: np.ndarray, source: np.ndarray, target: np.ndarray, goes_on: np.ndarray
) -> tuple[np.ndarray, dict[int, list[int]]]:
    """Return tracks, as `track_ids` of the links that go on, and the lineage that the others make: parents by child."""
    ids = track_ids(frames, source[goes_on], target[goes_on])
    parents: dict[int, list[int]] = {}
    for parent, child in zip(ids[source[~goes_on]].tolist(), ids[target[~goes_on]].tolist(), strict=True):
        parents.setdefault(child, []).append(parent)
    return ids, parents


def track_ids(frames: np.ndarray, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Number the chains of links.

    Parameters
    ----------
    frames : int64 (n,)
        Frame of each particle.
    source, target : int64 (k,)
        Links: particle `source` is followed by particle `target`, of a later frame. No particle is a source or a target
        twice.

    Returns
    -------
    int64 (n,)
        Track of each particle, numbered from 0 in the order of first appearance (frame, then row).
    """
    before = np.full(len(frames), -1, dtype=np.int64)
    before[target] = source
    return ids_of_chains(frames, before)


def ids_of_chains(frames: np.ndarray, before: np.ndarray) -> np.ndarray:
    """As `track_ids`, from the particle that each follows, int64 (n,), −1 for none; written in its place."""
    in_order = bool((frames[1:] >= frames[:-1]).all())
    _number(None if in_order else np.argsort(frames, kind="stable"), before)
    return before


@compiled(plain=SMALL)
def _number(order, ids):  # noqa: ANN001, ANN202
    """Replace the particle that each follows by its track; what is followed has its own already."""
    n_tracks = 0
    for k in range(len(ids)):
        particle = k if order is None else order[k]
        if ids[particle] >= 0:
            ids[particle] = ids[ids[particle]]
        else:
            ids[particle] = n_tracks
            n_tracks += 1
