"""What stands after corrections, as a linking like any other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.special import expit

from ..linking.constraints import missed_frames
from ..linking.result import Linking
from ..linking.settings import LinkSettings
from ..links import DIVISION, ENDS, KINDS, MERGE, ends_of, links_between, median_step, with_sureness
from ..points import Points, Tracks
from .change import Link
from .corrected import Corrected


def present(movie: Corrected) -> np.ndarray:
    """Return the ids of the detections that are there, ascending, int64."""
    there = np.ones(len(movie.detections), bool)
    there[list(movie.detections.gone)] = False
    return np.flatnonzero(there)


def as_linking(movie: Corrected, linking: Linking, sure: pd.DataFrame, numbers: np.ndarray) -> Linking:
    """Return tracks and links with rows of the present detections' table in place of ids.

    `sure` as of `Doubts.all`; `numbers` of the tracks as of `TrackNumbers.of`.
    """
    ids = present(movie)
    points = _points(movie, ids)
    links = _links(points, ids, sure)
    if not linking.settings.is_learned:
        links["probability"] = np.nan
    tracks = _tracks(points, numbers[ids], *ends_of(links))
    if linking.settings.is_learned:
        tracks = with_sureness(tracks, links)
    proof = movie.matching.proof()
    wrong = float((1 - links["probability"]).sum()) if linking.settings.is_learned else None
    report = {
        **linking.report,
        "links": len(links),
        "gap": float(np.sum(proof.gap)),
        "is_optimal": proof.is_optimal,
        "median_step": median_step(links, points.frame_step),
        "expected_wrong": wrong,
    }
    settings = _allowing(linking.settings, points, _rows(movie.pins, ids), _rows(movie.bans, ids))
    corrected = replace(linking, tracks=tracks, make_links=lambda: links, settings=settings, report=report)
    lacked = _rows([link for link, is_asked_for in movie.bans.items() if not is_asked_for], ids)
    return replace(corrected, solution=None, lacked=lacked)


def _tracks(points: Points, numbers: np.ndarray, source: np.ndarray, target: np.ndarray) -> Tracks:
    """Return tracks by the number of each detection; a link that joins two of them says which descends from which."""
    parent, child = numbers[source], numbers[target]
    parents: dict[int, list[int]] = {}
    for k in np.flatnonzero(parent != child).tolist():
        parents.setdefault(int(child[k]), []).append(int(parent[k]))
    return replace(points.with_track_ids(numbers), parents=parents)


def _allowing(
    settings: LinkSettings, points: Points, pinned: tuple[Link, ...], forbidden: tuple[Link, ...]
) -> LinkSettings:
    """Return settings with links confirmed and forbidden, which take the divisions, merges and gaps that these make.

    Without learned motion there are none of them: of such links, settings keep those from frame to frame, one to one.
    """
    links = pd.DataFrame(pinned, columns=ENDS, dtype=np.int64)
    missed = missed_frames(points, links.to_numpy())
    if settings.is_learned:
        most = settings.max_missed_frames
        return replace(
            settings,
            pinned=pinned,
            forbidden=forbidden,
            divisions=settings.divisions or bool(links["source"].duplicated().any()),
            merges=settings.merges or bool(links["target"].duplicated().any()),
            max_missed_frames=most if most == "auto" else max(most, *missed.tolist(), 0),
        )
    one_to_one = links[missed == 0].drop_duplicates("source").drop_duplicates("target")
    return replace(settings, pinned=one_to_one.to_numpy().tolist(), forbidden=forbidden)


def _rows(links: Iterable[Link], ids: np.ndarray) -> tuple[tuple[int, int], ...]:
    """Return links between present detections as rows of their table."""
    ends = np.array([*links], np.int64).reshape(-1, 2)
    rows = np.searchsorted(ids, ends)
    are_there = (ids[np.minimum(rows, len(ids) - 1)] == ends).all(axis=1) if len(ids) else np.zeros(len(ends), bool)
    return tuple(sorted((source, target) for source, target in rows[are_there].tolist()))


def _points(movie: Corrected, ids: np.ndarray) -> Points:
    """Return the present detections as points; what was not measured of added ones is NaN."""
    detections = movie.detections
    base = detections.points
    table = base.table.drop(columns=[c for c in ("track_id", "link_probability", "link_margin") if c in base.table])
    axes = list(base.axes)
    if detections.added:
        rows = [(frame, *place) for frame, place in detections.added.values()]
        table = pd.concat([table, pd.DataFrame(rows, columns=["frame", *axes])], ignore_index=True)
    table = table.iloc[ids].reset_index(drop=True) if detections.added or detections.gone else table.copy()
    if moved := [detection for detection in detections.places if detections.is_there(detection)]:
        table.loc[np.searchsorted(ids, moved), axes] = [detections.places[detection] for detection in moved]
    for detection, measures in detections.measures.items():
        known = [name for name in measures if name in table]  # a table of another program has columns of its own
        if detections.is_there(detection):
            table.loc[np.searchsorted(ids, detection), known] = [measures[name] for name in known]
    return Points(table, base.calibration, timeline=base.timeline)


def _links(points: Points, ids: np.ndarray, sure: pd.DataFrame) -> pd.DataFrame:
    """Return the links as a table like that of `Linking`."""
    row_of = np.zeros(int(ids[-1]) + 1 if len(ids) else 0, np.int64)
    row_of[ids] = np.arange(len(ids))
    source, target = (row_of[end] for end in ends_of(sure))
    order = np.argsort(source * len(ids) + target, kind="stable")  # nearly in order: far faster than two keys
    source, target, sure = source[order], target[order], sure.iloc[order]
    links = links_between(
        points, source, target, expit(sure["log_odds"].to_numpy()), sure["margin"].to_numpy(copy=True)
    )
    for end, kind in (("target", MERGE), ("source", DIVISION)):
        shared = links[links.duplicated(end, keep=False)].sort_values("margin", ascending=False, kind="stable")
        links.loc[shared.index[shared.duplicated(end)], "kind"] = KINDS[kind]
    return links
