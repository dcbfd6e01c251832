"""Tracks that were saved, or made by another program, as a linking that can be corrected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..calibrating.digits import counted
from ..errors import InvalidInput
from ..formats.graph import edges_of
from ..linking.constraints import constraints_of
from ..linking.link import link_points
from ..linking.result import Linking
from ..linking.settings import LinkSettings
from ..points import Tracks
from .change import Link
from .corrected import Corrected
from .corrected_linking import as_linking
from .doubts import Doubts
from .track_numbers import TrackNumbers


def reopened(
    tracks: Tracks, settings: LinkSettings | None = None, *, progress: Callable[[int, int], Any] | None = None
) -> Linking:
    """Return tracks as a linking with exactly their links, for an `editing.Session`.

    The particles are linked once, which says how sure each link is and what else might be linked. Where the tracks
    differ from that, their links are pinned, and links that they lack are forbidden.

    Parameters
    ----------
    tracks : Tracks
    settings : LinkSettings, optional
        Of the linking that the tracks are compared with; divisions and merges are looked for where the tracks have any.
        What it pins and forbids is left out.
    progress : callable, optional
        See `link_points`.

    Returns
    -------
    Linking
        `settings.pinned` and `settings.forbidden` have the differences, as rows of the table (`lacked` has the latter
        too), and `report["notes"]` how many they are. Tracks keep their numbers, and where one is cut by links to
        others its largest part (see `TrackNumbers`).

    Raises
    ------
    InvalidInput
        If a track is at two places in one frame.
    InvalidSetting
        If the settings allow no links like those of the tracks (over missed frames, say), or a detection has more than
        two links on one side; also as of `link_points`.
    """
    given = _links_of(tracks)
    open_ = _open(settings or LinkSettings(), given)
    constraints_of(tracks, replace(open_, pinned=sorted(given)))  # raises now what a correction would later
    linked = link_points(tracks, open_, editable=True, progress=progress)
    assert linked.solution is not None  # asked for, and nothing pinned
    movie = Corrected(linked.tracks, linked.solution)
    _hold(movie, given)
    doubts = Doubts(movie, linked)
    doubts.measure()
    numbers = TrackNumbers(movie, tracks.table["track_id"].to_numpy())
    linking = as_linking(movie, linked, doubts.all(), numbers.of)
    said = _differences(len(movie.pins), len(movie.bans))
    return replace(
        linking,
        solution=linked.solution,
        report={**linking.report, "notes": [*linking.report["notes"], *said]},
        lacked=tuple(sorted(movie.bans)),
    )


def _links_of(tracks: Tracks) -> set[Link]:
    edges, frames = edges_of(tracks), tracks.frames
    within = edges[frames[edges[:, 0]] == frames[edges[:, 1]]]
    if len(within):
        raise InvalidInput(
            f"track {tracks.table['track_id'].iloc[within[0, 0]]} is at two places in frame {frames[within[0, 0]]}; "
            "each needs one detection a frame. Split it, or take one of them away."
        )
    return {(source, target) for source, target in edges.tolist()}


def _open(settings: LinkSettings, given: set[Link]) -> LinkSettings:
    """Return settings that leave all links open, divisions and merges too where there are any."""
    links = np.array(sorted(given), np.int64).reshape(-1, 2)
    divides, merges = (len(np.unique(links[:, side])) < len(links) for side in (0, 1))
    return replace(
        settings,
        pinned=None,
        forbidden=None,
        divisions=settings.divisions or divides,
        merges=settings.merges or merges,
    )


def _hold(movie: Corrected, given: set[Link]) -> None:
    """Pin and forbid as little as makes the best links those given; each round settles what the last one let in."""
    made = _made(movie)
    while made != given:
        movie.give(given - made, made - given)
        made = _made(movie)


def _made(movie: Corrected) -> set[Link]:
    rows, cols = movie.matching.proof().edges()
    source, target = rows // movie.ways_out, cols // movie.ways_in
    return {*zip(source.tolist(), target.tolist(), strict=True), *movie.pins}


def _differences(pinned: int, forbidden: int) -> list[str]:
    said = [f"would not make {pinned} of these links"] if pinned else []
    if forbidden:
        said += [f"would make {counted(forbidden, 'other link')}"]
    return [f"linking {' and '.join(said)}; the tracks stay as they are until they are corrected."] if said else []
