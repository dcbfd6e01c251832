"""Notes on results that look like success and are empty or doubtful, and on images that are something else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np

from ...tracker.calibrating.digits import counted, in_digits, in_unit, plural
from ...tracker.calibrating.units import TIMES, is_pixel, micrometres_of
from ...tracker.points import AXES
from ...tracker.settings import Settings
from .setting_options import option_of

if TYPE_CHECKING:
    import pandas as pd

    from ...tracker.calibrating.calibration import Calibration
    from ...tracker.detecting.settings import DetectSettings
    from ...tracker.linking.result import Linking
    from ...tracker.points import Points, Tracks
    from ...tracker.reading.frames import FrameSource
    from ...tracker.reading.movie import Movie
    from ...tracker.scoring.frame_shift import FrameShift

Named = Callable[[str], str]
"""What a face of the program calls a setting."""
_FLAT, _ROUGH = 0.9, 0.5
"""Share of touching pixels above 0 that are equal: at least this in label images, less than that in camera images."""
_MANY_LOST = 0.2
"""Share of particles without a link to the next frame: on movies that are tracked well it is below."""
_NEAR_THE_RANGE = 0.6
"""Median link over search range: links between unrelated neighbours come to 0.7 (2D) and 0.8 (3D) of it."""
_FEW_FOR_DRIFT = 20
"""Tracks that go from a frame to the next, median, below which a drift holds much of their own steps: a twentieth."""
_SLANTED = 0.01
"""Share of a frame that is slanted padding: less is a corner that a camera does not see."""
_SQUARE = 0.01
"""Share by which y and x of a voxel differ at most that was rounded: pixels of cameras and of scans are square."""
_OTHER_TONE = 2.0
"""Response of the other tone over that of the tone looked for: at most 0.3 on movies where the tone is right."""
_MOST_STACKED = 50
"""Movies in one table: where frame numbers fall back more often, rows are in another order."""
_FEW_KNOWN = 0.5
"""Share of the names of tracks that are in a truth, below which the two name particles differently."""
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


def on_tolerance(truth: Points, tolerance: float) -> list[str]:
    """Return what is to be said where detections count as right that are nearer to another real particle."""
    from ...tracker.linking.gate.spacing import mean_spacing

    spacing = mean_spacing(truth)
    if spacing is None or tolerance <= spacing / 2:
        return []
    unit = truth.calibration.unit
    return [
        f"the tolerance is more than half of the {in_unit(unit, spacing)} between real particles and their nearest "
        f"neighbours, so a detection may count for the wrong one; try {in_unit(unit, spacing / 2)} or less."
    ]


def on_frame_shift(tracks: Points, truth: Points, tolerance: float) -> list[str]:
    """Return what is to be said where tracks and truth do not number their frames alike."""
    from ...tracker.scoring.frame_shift import frame_shift

    return _on_numbers(tracks, truth, frame_shift(tracks, truth, tolerance), "within --tolerance of a real particle")


def on_frames_beyond(tracks: Points, truth: Points, named: Named = option_of) -> list[str]:
    """Return what is to be said of detections before and after the frames that the truth has."""
    known = truth.timeline.numbers or truth.frame_numbers
    if not len(known) or not len(tracks):
        return []
    first, last = int(known[0]), int(known[-1])
    beyond = int(((tracks.frames < first) | (tracks.frames > last)).sum())
    if not beyond:
        return []
    return [
        f"{counted(beyond, 'detection')} {'is' if beyond == 1 else 'are'} in frames that the truth, of frames {first} "
        f"to {last}, has not, and wrong by that. If only these were looked at for it, {named('frames')} "
        f"{first}:{last + 1} leaves the others out."
    ]


def on_names(tracks: Points, truth: Points) -> list[str]:
    """Return what is to be said where the `true_id` of tracks does not lead to particles of a truth."""
    from ...tracker.linking.gate.spacing import mean_spacing
    from ...tracker.scoring.frame_shift import frame_shift_by_name
    from ...tracker.scoring.names import real_names, real_particles, whole_numbers

    named = replace(tracks, table=tracks.table[tracks.table["true_id"] >= 0].reset_index(drop=True))
    real = real_particles(truth)
    if not len(named) or not len(real):
        return []
    known = float(np.isin(whole_numbers(named, "true_id"), real_names(real)).mean())
    if known < _FEW_KNOWN:
        return [
            f"only {known:.0%} of the detections that true_id says to be real are of particles that the truth has: the "
            "two tables seem to name particles differently. --tolerance judges by position, whatever the names."
        ]
    spacing = mean_spacing(real)
    shift = None if spacing is None else frame_shift_by_name(named, real, spacing)
    near = "" if spacing is None else f"within {in_unit(real.calibration.unit, spacing)}"
    return _on_numbers(tracks, truth, shift, f"{near} of the particle that true_id names")


def _on_numbers(tracks: Points, truth: Points, shift: FrameShift | None, where: str) -> list[str]:
    """Return what is said of other frame numbers by which more detections lie near real particles; None: of none."""
    if shift is None:
        return []
    first, first_real = tracks.frame_numbers[0], truth.frame_numbers[0]
    more = f"{abs(shift.frames)} {'more' if shift.frames > 0 else 'less'}"
    times, parts = shift.times.as_integer_ratio()
    other = [f"multiplied by {times}"] * (times > 1) + [f"divided by {parts}"] * (parts > 1)
    other += [more] * (shift.frames != 0)
    begin = "" if first == first_real else f"; the tracks begin with frame {first}, the truth with {first_real}"
    return [
        f"frames seem to be numbered differently: if the numbers of the tracks were {' and then '.join(other)}, "
        f"{shift.after:.0%} of their detections would lie {where} instead of {shift.before:.0%}, and far nearer"
        f"{begin}. Renumber one of the tables."
    ]


def on_truth_scale(tracks: Points, truth: Points, tolerance: float) -> list[str]:
    """Return what is to be said where a truth seems to be in another unit than it is taken to be in."""
    from ...tracker.scoring.truth_scale import truth_scale

    if (other := truth_scale(tracks, truth, tolerance)) is None:
        return []
    unit, sizes = truth.calibration.unit, ",".join(f"{size:g}" for size in other.scale)
    taken = "are lengths already" if set(other.scale) == {1.0} else "are in the voxels of the tracks"
    return [
        f"the positions of the truth seem to be in another unit: if they {taken} (in {unit}: --truth-voxel {sizes}), "
        f"{other.after:.0%} of the detections lie within --tolerance of a real particle instead of {other.before:.0%}."
    ]


def on_truth_axes(tracks: Points, truth: Points, tolerance: float) -> list[str]:
    """Return what is to be said where a truth seems to have its axes in another order, or to be mirrored."""
    from ...tracker.scoring.truth_axes import truth_axes

    if (other := truth_axes(tracks, truth, tolerance)) is None:
        return []
    order = ",".join(f"{axis}={name}" for axis, name in other.names.items())
    mirrored = " and ".join(f"{in_digits(total)} - {axis} in place of {axis}" for axis, total in other.mirrored.items())
    how = f"to have other axes: by its columns {order} (--truth-columns)" if order else f"to be mirrored: by {mirrored}"
    return [
        f"the truth seems {how}, {other.after:.0%} of the detections lie within --tolerance of a real particle instead "
        f"of {other.before:.0%}."
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


def on_doubt(linking: Linking) -> list[str]:
    """Return what makes links doubtful though they are the optimum: too few of them, or as long as they may be."""
    report = linking.report
    if not report["candidate_links"]:
        return []
    notes = on_chance(linking)
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


def on_movie(movie: Movie, settings: Settings) -> list[str]:
    """Return what is to be said of times and sizes, and of the middle frame: values missing, padding, labels."""
    sizes = [*_on_odd_interval(movie), *_on_oblong_pixels(movie)]
    if movie.is_mask:
        return [*sizes, _on_truth_values(str(movie.path), are_labels=settings.input.kind == "labels")]
    image = movie.frame(movie.frame_numbers[len(movie) // 2])
    if settings.input.kind != "labels":
        return [*sizes, *on_image(image, str(movie.path), as_labels="give --labels")]
    return [*sizes, *_on_missing_values(image), *_on_rough_labels(image, str(movie.path))]


def _on_odd_interval(movie: Movie) -> list[str]:
    """Return what is to be said of a frame interval in a unit that is not known, which is not taken."""
    if not movie.odd_interval:
        return []
    return [
        f"the file says {movie.odd_interval} between frames, and that unit is not one of {', '.join(TIMES)}: times are "
        f"in frames unless {option_of('frame_interval')} is given."
    ]


def _on_oblong_pixels(movie: Movie) -> list[str]:
    """Return what is to be said of a voxel size that was given and differs along y and x, as where it begins with x."""
    *_, y, x = movie.calibration.scale
    if movie.source != "given" or abs(y - x) <= _SQUARE * max(y, x):
        return []
    size = f"{y:g} along y and {x:g} {movie.calibration.unit} along x"
    return [f"a voxel is {size}, and pixels are hardly ever oblong: {option_of('scale')} is in the order z,y,x."]


def _on_truth_values(name: str, *, are_labels: bool) -> str:
    if are_labels:
        return f"{name} is a mask of truth values: each of its regions is a particle, and those that touch are one."
    return f"{name} is a mask of truth values: give --labels, and each of its regions is a particle."


def on_image(image: np.ndarray, name: str, *, as_labels: str, named: Named = option_of) -> list[str]:
    """Return what is to be said of a frame in which particles are detected; `as_labels`: what to do if it is labels."""
    return [
        *_on_missing_values(image),
        *_on_padding(image, named),
        *_on_unsaid_labels(image, name, as_labels),
    ]


def _on_padding(image: np.ndarray, named: Named) -> list[str]:
    """Return what is to be said of an even border that is no rectangle: its steps are taken for particles."""
    from ...tracker.detecting.padding import slanted_share

    share = slanted_share(image)
    if share < _SLANTED:
        return []
    return [
        f"{share:.0%} of the middle frame is even padding with slanted borders, as around a rotated frame; particles "
        f"may be found along them. Leave them out ({named('roi')}), or write NaN there."
    ]


def _on_missing_values(image: np.ndarray) -> list[str]:
    """Return what is to be said of voxels that hold no number."""
    missing = 1 - float(np.isfinite(image).mean())
    if not missing:
        return []
    return [f"{missing:.2%} of the middle frame holds no numbers (NaN or infinite); no particles are found there."]


def _on_rough_labels(image: np.ndarray, name: str) -> list[str]:
    """Return what is to be said of labels that are a mask, or plainly none: few of their touching pixels are equal."""
    equal = _flatness(image)
    if equal is None:
        return []
    from ...tracker.detecting.labels import on_mask

    if mask := on_mask(image, name):
        return mask
    rough = f"only {equal:.0%} of its touching pixels are equal, as if labels were single pixels"
    advice = f"{name} does not look like labels: {rough}. Without --labels, particles are detected."
    return [advice] if equal < _ROUGH else []


def _on_unsaid_labels(image: np.ndarray, name: str, as_labels: str) -> list[str]:
    """Return what is to be said of a frame that is plainly labels: nearly all its touching pixels above 0 are equal."""
    equal = _flatness(image)
    is_whole, has_background = np.issubdtype(image.dtype, np.integer), not image.all()
    if equal is None or equal < _FLAT or not (is_whole and has_background and len(np.unique(image[image > 0])) > 1):
        return []
    flat = f"{equal:.0%} of its touching pixels above 0 are equal"
    return [f"{name} looks like labels: {flat}. If each particle has its own number in it, {as_labels}."]


def on_tone(movie: FrameSource, settings: DetectSettings, named: Named = option_of) -> list[str]:
    """Return what is to be said where blobs of the other tone, which are not looked for, stand out far more."""
    from ...tracker.detecting.diameter import responses_by_tone

    bright, dark = responses_by_tone(movie, settings.known_diameter)
    asked, other = (bright, dark) if settings.bright_on_dark else (dark, bright)
    if other <= _OTHER_TONE * asked:
        return []
    option = named("bright_on_dark")
    tones, remedy = ("dark", f"{option} finds those") if settings.bright_on_dark else ("bright", f"leave {option} out")
    times = f"{other / asked:.0f} times as strongly as the others" if asked else "and others do not"
    return [f"{tones} blobs of this diameter stand out, {times}; if they are the particles, {remedy}."]


def _flatness(image: np.ndarray) -> float | None:
    """Return which share of pixels above 0 next to each other along x is equal; None where there are none."""
    left, right = image[..., :-1], image[..., 1:]
    both = (left > 0) & (right > 0)
    return float(np.mean(left[both] == right[both])) if both.any() else None
