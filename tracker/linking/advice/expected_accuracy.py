"""How good links will be, without a truth: now, and with fewer frames, by linking some of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...links import PROBABILITY
from ...points import Points, Tracks
from ..link import link_points
from ..result import Linking
from ..settings import LinkSettings

MOST = 100_000
"""Detections that are linked to find out; of more, the first frames."""
FEWEST_FRAMES = 6
"""Frames between which links are judged whatever they hold."""
ENOUGH = 30
"""Links from which anything is said."""
IMPOSSIBLE = 1e-300
"""Probability below which all links are as wrong."""


def expected_f1(points: Points, settings: LinkSettings | None = None, *, every: int = 1) -> float | None:
    """Return the F1 that links are expected to reach if only every so many frames had been taken.

    Parameters
    ----------
    points : Points
    settings : LinkSettings, optional
        Without any, all is learned and measured. Ranges and unmatched costs that are given hold per frame that is used.
    every : int
        1: as it is; 2: at half the frame rate.

    Returns
    -------
    float or None
        As it is: mean probability of the links, the true ones taken to be as many as are made. With fewer frames: links
        between these are held to those of all frames, which know better, as far as these are probable. None where links
        have no probability, are too few to say, or more of them are wrong than is expected, for what is learned from
        guesses fits them (`Motion.is_chance`, `Motion.is_unclear`).
    """
    known = known_links(points, settings, every=every)
    now = None if known is None else mean_probability(known)
    if known is None or now is None or every == 1:
        return now
    whole = _first(points, every)
    some = whole.cut(slice(None, None, every * whole.frame_step))
    made = link_points(some, _without_seconds(settings)).links[["source", "target"]].to_numpy()
    rows = np.flatnonzero(np.isin(whole.frames, some.frame_numbers))
    return _agreement(known.tracks, rows, made) if len(made) >= ENOUGH else None


def known_links(points: Points, settings: LinkSettings | None = None, *, every: int = 1) -> Linking | None:
    """Return the links of all frames by which others are judged, of the first ones where they are many.

    None without learned motion. Parameters as of `expected_f1`.
    """
    plain = _without_seconds(settings)
    return link_points(_first(points, every), plain) if plain.is_learned else None


def mean_probability(linking: Linking) -> float | None:
    """Return the F1 that links are expected to reach; None where `expected_f1` says nothing."""
    probability = linking.links["probability"].to_numpy()
    if len(probability) < ENOUGH or np.isnan(probability).any() or linking.report.get("more_are_wrong", False):
        return None
    return float(probability.mean())


def _without_seconds(settings: LinkSettings | None) -> LinkSettings:
    """Return settings by which no particle divides or merges, and no link is given."""
    return replace(settings or LinkSettings(), divisions=False, merges=False, pinned=None, forbidden=None)


def _first(points: Points, every: int) -> Points:
    """Return the first frames of many detections."""
    if len(points) <= MOST:
        return points
    frames = np.sort(points.frames)
    last = max(int(frames[MOST - 1]), int(points.frame_numbers[: FEWEST_FRAMES * every][-1]))
    return points.cut(slice(None, last + 1))


def _agreement(known: Tracks, rows: np.ndarray, made: np.ndarray) -> float:
    """Return the F1 of links made between some rows of known tracks, int64 (links, 2) in places among these rows.

    A link that the tracks make as well is right as far as all their links from one end to the other are probable.
    """
    who = known.table["track_id"].to_numpy()
    order = np.lexsort((known.frames, who))
    probability = np.fmax(known.table[PROBABILITY].fillna(1.0).to_numpy(), IMPOSSIBLE)
    likelihood = np.empty(len(known))
    likelihood[order] = np.cumsum(np.log(probability[order]))
    used = order[np.isin(order, rows)]
    is_one = who[used[1:]] == who[used[:-1]]
    following = np.full(len(known), -1)
    following[used[:-1][is_one]] = used[1:][is_one]
    ends = rows[made]
    source, target = ends[following[ends[:, 0]] == ends[:, 1]].T
    sure = np.exp(likelihood[target] - likelihood[source])
    return 2 * float(sure.sum()) / (len(made) + int(is_one.sum()))
