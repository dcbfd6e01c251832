"""Notes on results that look like success and are empty or doubtful."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from ...tracker.calibrating.digits import in_digits, in_unit, plural
from ...tracker.calibrating.units import is_pixel, micrometres_of
from ...tracker.points import AXES
from ...tracker.settings import Settings
from .setting_options import option_of

if TYPE_CHECKING:
    import pandas as pd

    from ...tracker.calibrating.calibration import Calibration
    from ...tracker.linking.result import Linking
    from ...tracker.points import Points, Tracks

Named = Callable[[str], str]
"""What a face of the program calls a setting."""
_MANY_LOST = 0.2
"""Share of particles without a link to the next frame: on movies that are tracked well it is below."""
_NEAR_THE_RANGE = 0.6
"""Median link over search range: links between unrelated neighbours come to 0.7 (2D) and 0.8 (3D) of it."""
_FEW_FOR_DRIFT = 20
"""Tracks that go from a frame to the next, median, below which a drift holds much of their own steps: a twentieth."""
_MOST_STACKED = 50
"""Movies in one table: where frame numbers fall back more often, rows are in another order."""
_STILL_RISING = 0.05
"""Share of possible links that the last quarter of the search range brings: nothing, where the range is long enough."""


def on_table(settings: Settings) -> list[str]:
    """Return what is to be said of settings of movies that were given for a table."""
    from ...tracker.detecting.settings import DetectSettings

    default = DetectSettings()
    idle = [name for name in ("axes", "channel", "series") if getattr(settings.input, name) is not None]
    idle += [of.name for of in fields(default) if getattr(settings.detect, of.name) != getattr(default, of.name)]
    if not idle:
        return []
    options = ", ".join(map(option_of, idle))
    return [f"{options} {'is' if len(idle) == 1 else 'are'} of movies only, and this is a table."]


def on_voxels(stated: Calibration | None, points: Points, given: object) -> list[str]:
    """Return what is said where a voxel size that was `given` is another than a table's own; None where none stands."""
    taken = points.calibration
    if given is None or stated is None:
        return []
    one, of_taken = micrometres_of(stated.unit), micrometres_of(taken.unit)
    if one is None or of_taken is None:
        return []
    own = stated.scale_for(points.ndim) * (one / of_taken)
    if np.allclose(own, taken.scale_for(points.ndim), rtol=1e-9, atol=0):
        return []
    sizes = " × ".join(f"{size:g}" for size in own)
    own_size = f"the table's own voxel size is {sizes} {taken.unit}"
    return [f"{own_size}; {option_of('scale')} goes before it, and changes all lengths."]


def on_points(points: Points, *, detected: bool, of_table: bool = False, named: Named = option_of) -> list[str]:
    """Return what is to be said of points of which none, or only one frame, is there.

    `detected` if they were found in a movie just now, `of_table` if they were read from a table.
    """
    if not len(points):
        return [
            "no particles were found" + (f"; a lower {named('threshold')} finds fainter ones." if detected else ".")
        ]
    if len(points.frame_numbers) == 1:
        is_one_stack = points.ndim == 3 and not of_table and len(points.timeline.numbers or ()) == 1
        axes = f"{named('axes')} TYX says so, or TCYX where each has several channels"
        flat = f" If its planes are the time points of a movie in 2D, {axes}."
        remedy = flat if is_one_stack else ""
        return [f"all particles are in one frame ({points.frame_numbers[0]}), so there is nothing to link.{remedy}"]
    return [] if detected else [*on_repeated_rows(points), *on_stacked_movies(points)]


def on_single_frames(frames: Sequence[int]) -> list[str]:
    """Return what is to be said of several movies tracked together by how many frames with particles each has.

    A pattern without quotes is made a list of files by the shell, and each of them is an input of its own.
    """
    if len(frames) < 2 or set(frames) != {1}:
        return []
    return [
        f"each of the {len(frames)} movies has particles in one frame only, so nothing was linked. If the files are "
        "the time points of one movie, give their folder, or a pattern in quotes such as 'folder/*.tif', and they are "
        "put together."
    ]


def on_repeated_rows(points: Points) -> list[str]:
    """Return what is to be said of particles at the very place of another in the same frame."""
    from ...tracker.linking.repeated_rows import repeated_rows

    if (again := repeated_rows(points)) is None:
        return []
    return [f"{again}. Each is followed separately; remove the rows if the table holds them twice."]


def on_stacked_movies(points: Points) -> list[str]:
    """Return what is to be said of a table whose rows go through the same frames again, as of several movies."""
    frames = points.table["frame"].to_numpy()
    begun = np.flatnonzero(np.diff(frames) < 0) + 1
    if not 0 < len(begun) < _MOST_STACKED:
        return []
    movies = [(len(part), len(np.unique(part))) for part in np.split(frames, begun)]
    is_track_by_track = any(rows == of_frames for rows, of_frames in movies)
    if is_track_by_track or sum(of_frames for _, of_frames in movies) == len(points.frame_numbers):
        return []
    rows = ", ".join(map(str, begun[:5])) + (f" and {len(begun) - 5} more" if len(begun) > 5 else "")
    return [
        f"frames begin again at row {rows} (rows counted from 0), as where a table holds one movie below another: all "
        "are linked as one. If they are several, link each by itself."
    ]


def on_stride(points: Points, so: str, named: Named = option_of) -> list[str]:
    """Return what is to be said of frame numbers that go up by steps that nobody stated; `so` what comes of it."""
    stride = points.unstated_stride
    if stride is None:
        return []
    first, last = points.frame_numbers[[0, -1]].tolist()
    return [
        f"no two frames are {points.frame_step} apart, so {so}; the frame numbers, {first} to {last}, are all "
        f"multiples of {stride} apart. If that is the step, {named('frame_step')} {stride} says so "
        f"({(last - first) // stride + 1} frames)."
    ]


def on_frames(points: Points, *, bridged: bool = False, named: Named = option_of) -> list[str]:
    """Return what is to be said of frames without particles; `bridged` if some links pass over missed frames."""
    present, step = points.frame_numbers, points.frame_step
    if len(present) < 2:
        return []
    first, last = present[:1], present[-1:]
    if not bridged and (strides := on_stride(points, "nothing is linked", named)):
        return strides
    if not bridged and not (np.diff(present) == step).any():
        return ["no two frames are consecutive, so there is nothing to link."]
    looked_at = np.asarray(points.timeline.numbers or present)
    seen = int(points.timeline.count(looked_at[:1], looked_at[-1:])[0])
    if seen == len(present):
        return []
    over = "only gaps of tracks pass over them" if bridged else "nothing is linked over them"
    is_between = int(points.timeline.count(first, last)[0]) > len(present)
    empty = seen - len(present)
    holds = "holds" if empty == 1 else "hold"
    what = over if is_between else f"the others are frames {first[0]} to {last[0]}"
    return [f"{empty} of the {seen} frames from {looked_at[0]} to {looked_at[-1]} {holds} no particles; {what}."]


def on_frozen_frames(points: Points) -> list[str]:
    """Return what is to be said of frames whose particles are all exactly where those of the frame before are."""
    from ...tracker.linking.frozen_frames import frozen_frames

    frozen = frozen_frames(points)
    if not frozen:
        return []
    more = f" and {len(frozen) - 5} more" if len(frozen) > 5 else ""
    named = f"{'frame' if len(frozen) == 1 else 'frames'} {', '.join(map(str, frozen[:5]))}{more}"
    return [
        f"all particles of {named} are exactly where those of the frame before are, as if it had been recorded twice; "
        "nothing moves there, which slows speeds and shortens displacements."
    ]


def on_unknown_size(points: Points, unit: str | None) -> list[str]:
    """Return what is to be said where lengths are in pixels that nobody asked for; `unit` is the one asked for."""
    if points.calibration.is_physical or (unit is not None and is_pixel(unit)):
        return []
    return [
        "positions are in pixels of unknown size, and so is every length; give --voxel (without it, lengths along "
        f"{points.axes[0]} and x may not be comparable), or --unit pixel if pixels are meant."
    ]


def on_linking(linking: Linking, *, detected: bool, of_table: bool = False, named: Named = option_of) -> list[str]:
    """Return what is to be said where no link was possible; as `on_points`, `named` is what settings are called."""
    steps = () if linking.is_frame_by_frame else linking.links["frames"].to_numpy()
    bridged = bool((np.asarray(steps) > linking.tracks.frame_step).any())
    notes = on_points(linking.tracks, detected=detected, of_table=of_table, named=named)
    notes += on_frames(linking.tracks, bridged=bridged, named=named)
    notes += linking.report["notes"]
    if linking.report["candidate_links"] or not linking.report["frame_pairs"]:
        return notes
    reach, unit = linking.settings.search_range, linking.tracks.calibration.unit
    cost = linking.settings.unmatched_cost
    if reach == "auto" and cost != "auto":
        twice = f"twice the unmatched cost of {in_unit(unit, cost, 4)}"
        nowhere = f"no two particles of consecutive frames are closer than {twice}"
        return [*notes, f"{nowhere}, so nothing was linked; {named('unmatched_cost')} changes it."]
    if reach == "auto":
        nowhere = "no two particles of consecutive frames are near each other, so nothing was linked"
        by_distance = f"{named('motion')} none with {named('search_range')} links over a distance that you choose"
        return [*notes, f"{nowhere}; {by_distance}."]
    nowhere = f"no two particles of consecutive frames are within the search range of {in_unit(unit, reach, 4)}"
    return [*notes, f"{nowhere}, so nothing was linked; {named('search_range')} changes it."]


def on_chance(linking: Linking) -> list[str]:
    """Return what is said of links that are hardly more than chance, as far as their motion was learned."""
    remedy = "A higher frame rate, or fewer false particles, would help."
    if linking.motion is not None and linking.motion.is_chance:
        return [
            "links lead to decoys placed among the particles nearly as often as to the particles: most of the links "
            f"are guesses, whatever their probability. {remedy}"
        ]
    if linking.motion is not None and linking.motion.is_unclear:
        return [
            "links can hardly be told from chance: the best ones make the movie less likely than none at all would, as "
            "where steps are as long as the spacing. More of them are wrong than is expected, up to twice as many on "
            f"simulated movies. {remedy}"
        ]
    return []


def on_repeats(linking: Linking) -> list[str]:
    """Return what is said of links of particles that may as well have moved on by a spacing."""
    if linking.motion is None or not linking.motion.repeats:
        return []
    return [
        "the particles lie as regularly as in a crystal: had all moved by one of its spacings more from frame to "
        "frame, it would look the same. The links take the shortest way; predict, from Python, says another one."
    ]


def on_doubt(linking: Linking) -> list[str]:
    """Return what makes links doubtful though they are the optimum: too few of them, or as long as they may be."""
    report = linking.report
    if not report["candidate_links"]:
        return []
    notes = [*on_chance(linking), *on_repeats(linking)]
    lost, lengths = _lost(linking), _track_lengths(linking)
    is_mostly_single = float(np.median(lengths)) == 1
    if lost > _MANY_LOST:
        single = " and the median track has length 1" if is_mostly_single else ""
        notes.append(
            f"{lost:.0%} of the particles have no link to the next frame{single}. The links are the best for these "
            "settings, which does not make them right: check that all particles were found and that the search range "
            "is longer than their steps."
        )
    elif is_mostly_single:
        share = (lengths == 1).sum() / lengths.sum()
        notes.append(
            f"more than half of the tracks are single detections, {share:.0%} of all detections: false ones, most "
            "likely, which a least track length leaves out."
        )
    step, asked = report["median_step"], linking.settings.search_range
    longest = np.inf if asked == "auto" else float(asked)
    if step is not None and step > _NEAR_THE_RANGE * longest:
        unit = linking.tracks.calibration.unit
        notes.append(
            f"half of the links are longer than {in_unit(unit, step)}, close to the search range of "
            f"{in_unit(unit, longest)}, which may be cutting off longer steps; try a longer one."
        )
    return notes


def _track_lengths(linking: Linking) -> np.ndarray:
    """Return the number of detections of each track."""
    from ...tracker.measuring.track_order import track_lengths

    return track_lengths(linking.tracks.table["track_id"].to_numpy())


def _lost(linking: Linking) -> float:
    """Return which share of the particles that have a next frame is not linked to it."""
    tracks = linking.tracks
    followed = np.isin(tracks.frame_numbers + tracks.frame_step, tracks.frame_numbers)
    return 1 - _linked_to_the_next(linking) / int(tracks.frame_sizes[followed].sum())


def _linked_to_the_next(linking: Linking) -> int:
    """Return how many particles are linked to the next frame."""
    if linking.is_frame_by_frame:
        return linking.report["links"]
    links = linking.links
    return links["source"][links["frames"] == linking.tracks.frame_step].nunique()


def on_reach(shares: Sequence[float]) -> list[str]:
    """Return what is to be said where the last quarter of the search range still allows many more links."""
    more = shares[-1] - shares[-2]
    if more <= _STILL_RISING:
        return []
    return [
        f"the last quarter of the search range still adds {more:.0%} of all possible links; a longer one may reach "
        "the rest, unless particles move farther than the distance to their neighbours."
    ]


def on_length(tracks: Tracks, min_length: int) -> list[str]:
    """Return what is to be said where the shortest length allowed leaves no track."""
    from ...tracker.measuring.track_order import track_lengths

    if min_length <= 1 or not len(tracks):
        return []
    longest = int(track_lengths(tracks.table["track_id"].to_numpy()).max())
    if longest >= min_length:
        return []
    return [f"no track is as long as --min-length {min_length}; the longest has length {longest}."]


def on_motionless(measures: pd.DataFrame) -> list[str]:
    """Return what is to be said where no track of a table of measures has two detections, so that none moves."""
    if measures.empty or (measures["length"] > 1).any():
        return []
    return ["each track has one detection, so nothing moves: speeds and mean squared displacements are empty."]


def on_lags(asked: Sequence[int], found: np.ndarray) -> list[str]:
    """Return which of the lags asked for have no displacements."""
    return [f"no two positions of a track are {lag} frames apart." for lag in asked if lag not in found]


def on_distances(asked: float, found: pd.DataFrame, points: Points) -> list[str]:
    """Return that pairs are looked for farther apart than particles can be, and of how many bins some are `found`."""
    from ...tracker.measuring.pair_correlation import BINS

    widest = float(np.linalg.norm(np.ptp(points.positions, axis=0))) if len(points) else 0.0
    if not 0.0 < widest < asked:
        return []
    unit = points.calibration.unit
    return [
        f"pairs are asked for up to {in_unit(unit, asked)} apart, and the box that holds all particles is only "
        f"{in_unit(unit, widest)} from corner to corner: the table has {len(found)} of {BINS} bins, each "
        f"{in_unit(unit, asked / BINS)} wide. A shorter distance has finer ones."
    ]


def on_carried(tracks: Tracks) -> list[str]:
    """Return that tracks surely move together where that makes a good part of how far they come."""
    from ...tracker.measuring.drift import are_carried, measure_drift

    if not are_carried(tracks):
        return []
    drift = measure_drift(tracks)
    return [
        f"the tracks move together: by {_way(drift)} {plural(tracks.calibration.unit)} between frames "
        f"{drift['frame'].iloc[0]} and {drift['frame'].iloc[-1]}. Mean squared displacements and diffusion hold that; "
        "--subtract-drift takes it off."
    ]


def _way(drift: pd.DataFrame) -> str:
    """Return how far a drift has gone along each axis in the end."""
    return ", ".join(f"{axis} {in_digits(float(drift[axis].iloc[-1]))}" for axis in AXES if axis in drift)


def on_drift(drift: pd.DataFrame | None, unit: str) -> list[str]:
    """Return what is to be said of the drift that was subtracted, `measure_drift`'s; None for none."""
    if drift is None or len(drift) < 2:
        return []
    first, last = drift["frame"].iloc[[0, -1]]
    n = drift["n"].iloc[1:]
    notes = [f"subtracted: a drift of {_way(drift)} {plural(unit)} between frames {first} and {last}."]
    if (n == 0).any():
        notes.append(
            f"of {len(n)} steps from one frame to the next {(n == 0).sum()} are crossed by no track; their drift is "
            "unknown and taken as zero."
        )
    if n.median() < _FEW_FOR_DRIFT:
        notes.append(
            f"the drift is estimated from few tracks ({n.median():.0f} per step): motion they share by chance is "
            "subtracted too, so displacements of each come out too small; mean squared displacements and intervals "
            "allow for that."
        )
    return notes
