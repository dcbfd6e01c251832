"""Links that are given: confirmed ones, which are made whatever they cost, and forbidden ones, which are never made.

A confirmed link takes its source's way out and its target's way in out of the matching problem; a forbidden one takes
its candidate. What is left is a matching problem like any other, so its answer is the best one that keeps to them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..calibrating.digits import in_digits, in_unit
from ..errors import InvalidSetting
from ..points import Points, Tracks
from .given_links import GivenLinks
from .settings import LinkSettings

UNLIKE = 2.0
"""A place names the detection nearest to it if every other is so many times as far away."""


@dataclass(frozen=True)
class Constraints:
    """Links that are given, as rows of the points table.

    Attributes
    ----------
    pinned, forbidden : int64 (k, 2)
        Sources and targets, none of them twice.
    """

    pinned: np.ndarray
    forbidden: np.ndarray

    def __bool__(self) -> bool:
        return len(self.pinned) + len(self.forbidden) > 0

    @property
    def never_solved(self) -> np.ndarray:
        """Links that are not candidates, int64 (k, 2): both kinds."""
        return np.concatenate([self.pinned, self.forbidden])


NOTHING_GIVEN = Constraints(np.empty((0, 2), np.int64), np.empty((0, 2), np.int64))


def constraints_of(points: Points, settings: LinkSettings) -> Constraints:
    """Return the links that the settings confirm and forbid.

    Raises
    ------
    InvalidSetting
        If one names no detection or leads back in time; if a confirmed one misses more frames than allowed, is
        forbidden too, or contradicts another. The message names it.
    """
    pinned, forbidden = (_rows(points, getattr(settings, name), name) for name in ("pinned", "forbidden"))
    _refuse_steps(points, settings, pinned)
    both = pinned[_among(pinned, forbidden, len(points))]
    if len(both):
        raise InvalidSetting(f"{_named(both[0])} is both confirmed (pinned) and forbidden; take one of the two away.")
    for side, allowed, setting, what in (
        (0, settings.divisions, "divisions", "followed by"),
        (1, settings.merges, "merges", "preceded by"),
    ):
        _refuse_many(pinned, side, 2 if allowed else 1, setting, what)
    return Constraints(pinned, forbidden)


def with_places(tracks: Tracks, settings: LinkSettings) -> LinkSettings:
    """Return settings whose links are given by places, which say the same of the tracks in any order.

    Parameters
    ----------
    tracks : Tracks
        Those whose rows or places the settings name.
    settings : LinkSettings
    """
    given = constraints_of(tracks, settings)
    places = tracks.table[["frame", *tracks.axes]].to_numpy(np.float64)
    named: dict[str, Any] = {}
    for name in ("pinned", "forbidden"):
        links: np.ndarray = getattr(given, name)
        named[name] = places[links].reshape(len(links), 2 * places.shape[1]).tolist()
    return replace(settings, **named)


def _rows(points: Points, given: GivenLinks | None, name: str) -> np.ndarray:
    """Return links as rows of the table; they are stated as such, or by frame and position of both ends."""
    if not given:
        return np.empty((0, 2), np.int64)
    stated = np.array(given)
    if stated.shape[1] == 2:
        rows = stated.astype(np.int64)
        outside = ((rows < 0) | (rows >= len(points))).any(axis=1)
        if outside.any():
            raise InvalidSetting(
                f"has {_named(rows[outside][0])}, which names a row that is not there; the {len(points)} points are "
                "counted from 0.",
                setting=name,
            )
    else:
        if stated.shape[1] != 2 * (1 + points.ndim):
            raise InvalidSetting(
                f"needs two rows a link, or frame, {', '.join(points.axes)} of both ends "
                f"({2 * (1 + points.ndim)} numbers); got {stated.shape[1]} numbers.",
                setting=name,
            )
        halves = np.hsplit(stated, 2)
        rows = np.stack([_nearest(points, half, name) for half in halves], axis=1)
    back = np.flatnonzero(points.frames[rows[:, 0]] >= points.frames[rows[:, 1]])
    if len(back):
        source, target = points.frames[rows[back[0]]]
        raise InvalidSetting(
            f"has {_named(rows[back[0]])}, which needs a source in an earlier frame than its target; they are in "
            f"frames {source} and {target}.",
            setting=name,
        )
    return np.unique(rows, axis=0)


def _nearest(points: Points, places: np.ndarray, name: str) -> np.ndarray:
    """Return the row of the detection that each place (frame, z, y, x) names."""
    positions, frames = points.positions, points.frames
    scale = np.array(points.calibration.scale_for(points.ndim))
    order = np.argsort(frames, kind="stable")
    rows = np.empty(len(places), np.int64)
    for k, place in enumerate(places):
        low, high = np.searchsorted(frames[order], [place[0], place[0] + 0.5])
        own = order[low:high]
        away = np.linalg.norm(positions[own] - place[1:] * scale, axis=1)
        closest = np.argsort(away)[:2]
        where = f"has {', '.join(f'{value:g}' for value in place[1:])} in frame {place[0]:g}, where"
        if not len(own):
            raise InvalidSetting(f"{where} there is no detection.", setting=name)
        if len(own) > 1 and away[closest[1]] <= UNLIKE * away[closest[0]]:
            nearest, next_one = away[closest]
            raise InvalidSetting(
                f"{where} it is not clear which detection is meant: the nearest two are {in_digits(nearest)} and "
                f"{in_unit(points.calibration.unit, next_one)} away. Give the position more exactly; every other "
                f"needs to be {UNLIKE:g} times as far away.",
                setting=name,
            )
        rows[k] = own[closest[0]]
    return rows


def missed_frames(points: Points, links: np.ndarray) -> np.ndarray:
    """Return how many frames each link (k, 2) between rows passes over, int64 (k,)."""
    source, target = points.frames[links].T
    return (target - source) // points.frame_step - 1


def _refuse_steps(points: Points, settings: LinkSettings, pinned: np.ndarray) -> None:
    """Refuse confirmed links over more missed frames than allowed; "auto" with learned motion allows any number."""
    missed = missed_frames(points, pinned)
    most = settings.max_missed_frames if settings.is_learned else 0
    over = np.flatnonzero(missed > (np.inf if most == "auto" else most))
    if len(over):
        remedy = (
            f"max_missed_frames allows {most}" if settings.is_learned else "motion 'none' links consecutive frames only"
        )
        raise InvalidSetting(
            f"{_named(pinned[over[0]])} cannot be confirmed: it misses {missed[over[0]]}; {remedy}.",
            kind="missed frames",
            rows=tuple(pinned[over[0]].tolist()),
        )


def _refuse_many(pinned: np.ndarray, side: int, most: int, setting: str, what: str) -> None:
    """Refuse more confirmed links at one end of a detection than there may be."""
    ends, counts = np.unique(pinned[:, side], return_counts=True)
    overfull = ends[counts > most]
    if len(overfull):
        others = pinned[pinned[:, side] == overfull[0]][:, 1 - side].tolist()
        remedy = f"set {setting}, or take all but one away" if most == 1 else "take all but two away"
        raise InvalidSetting(
            f"detection {overfull[0]} is confirmed (pinned) to be {what} {' and '.join(map(str, others))}; {remedy}.",
            kind="too many",
            rows=(int(overfull[0]), *others),
        )


def _among(links: np.ndarray, others: np.ndarray, n: int) -> np.ndarray:
    """Mark the links that are among others, bool (links,)."""
    return np.isin(keys(links[:, 0], links[:, 1], n), keys(others[:, 0], others[:, 1], n))


def keys(source: np.ndarray, target: np.ndarray, n: int) -> np.ndarray:
    """Return one number for each link between n detections, int64."""
    return source.astype(np.int64) * n + target


def _named(link: np.ndarray) -> str:
    return f"link {link[0]} → {link[1]}"
