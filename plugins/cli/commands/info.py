"""`auctrack info`: what is in a file, and which settings suit it."""
# ruff: noqa: ARG001 - the options reach `given_settings` through the context

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ....tracker.calibrating.digits import counted, in_digits, in_unit, plural
from ....tracker.errors import InvalidInput
from ...words.errors import sentence
from ...words.setting_options import DETECT, INPUT, as_options
from ..arguments import options
from ..arguments.command_settings import given_settings
from ..arguments.taking import chosen, taking
from ..terminal import console

if TYPE_CHECKING:
    import numpy as np

    from ....tracker.detecting.settings import DetectSettings
    from ....tracker.first_look import FirstLook
    from ....tracker.formats.registry import Format
    from ....tracker.linking.result import Linking
    from ....tracker.linking.unmatched_cost.measured import UnmatchedCost
    from ....tracker.points import Points
    from ....tracker.reading.movie import Movie
    from ....tracker.settings import Settings

Facts = tuple[dict[str, Any], str]
"""What was found, for programs; and the same as text."""

_PARTS = (0.25, 0.5, 0.75, 1.0)
"""Of the search range, at which the links it allows are counted."""
_UNMATCHED_COSTS = (0.5, 0.75, 1.0, 1.5, 2.0)
"""Of the unmatched cost, at which links, lost and new particles are counted."""
_DO, _LITTLE = 0.95, 0.01
"""F1 of links that will do for most ends, and what of it may go where half the frames are left out."""
_FRAMES = 5
"""Frames of a movie in which particles are looked for: enough to see how far they step."""


@taking(*chosen(INPUT, DETECT, without="intensity intensity_channel separation method"))
def command(
    ctx: typer.Context,
    source: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            show_default=False,
            help="A movie (file, folder or quoted pattern), a table or a file of tracks; - is a "
            "table from standard input.",
        ),
    ],
    as_json: options.Json = False,
    verbose: options.Verbose = False,
    log: options.Log = None,
) -> None:
    """Show what is in a file and which settings suit it, with the reasons.

    For a movie: axes, voxel size, frame interval, frames, channels, series; a diameter, a threshold and a search
    range, from a few of its frames; which frames are frozen, shifted as a whole, or very different from the one before
    (in the first 2 GiB). For a table or a file of tracks: the columns recognised, frames, points per frame, and a
    search range. For both: the F1 that links are expected to reach, now and at half the frame rate (estimated from the
    first frames if there are over 100,000 particles).

    [bold]Examples[/bold]

    auctrack info movie.ome.tif

    auctrack info movie.tif --axes TZYX --voxel 2,0.5,0.5 --json
    """
    from ..runs.chosen_series import only_series
    from ..runs.inputs import tables_of
    from ..terminal.standard_input import STANDARD_INPUT, table_file

    settings = given_settings(ctx.params)
    if tables := tables_of(source, settings.input):
        one, folder = shlex.quote(tables[0]), shlex.quote(source)
        raise InvalidInput(
            f"{source}: holds {counted(len(tables), 'table')} and no movie. Ask for one of them, such as auctrack info "
            f"{one}; auctrack track {folder} --dry-run shows what to expect of each."
        )
    if Path(source) != STANDARD_INPUT:
        settings = only_series(source, settings.input).settings(settings)
        _tell(source, settings, "auctrack track", source, as_json=as_json)
        return
    settings = replace(settings, input=replace(settings.input, kind="table"))
    with table_file(STANDARD_INPUT) as file:
        _tell(str(file), settings, "auctrack link", source, as_json=as_json)


def _tell(source: str, settings: Settings, command: str, given: str, *, as_json: bool) -> None:
    """Show what is in a file, and the command that suits it; `given` is what the user calls the file."""
    with console.quick_progress(given):
        facts, text = (_of_table if settings.input.is_table(source) else _of_movie)(source, settings)
    if not as_json:
        console.show(text)
    if "needed" in facts:
        raise InvalidInput(f"{facts['needed']}")
    with console.quick_progress(given):
        measured_in = facts["suggested"]["seconds"] if "suggested" in facts else 0.0
        seen, text = _of_points(source, _with_suggestion(settings, facts), measured_in)
    seen_in_part = (
        "" if settings.input.is_table(source) else " (measured on all frames, so numbers may differ slightly)"
    )
    track = " ".join([command, shlex.quote(given), *map(shlex.quote, as_options(settings))])
    if as_json:
        console.show(json.dumps({**facts, **seen, "command": track}, indent=2, ensure_ascii=False))
    else:
        console.show(f"\n{text}\n\nAll this is automatic{seen_in_part} in: {track}")


def _with_suggestion(settings: Settings, facts: Mapping[str, Any]) -> Settings:
    """Return settings with the diameter and threshold that were found, so that they are not looked for twice."""
    if "suggested" not in facts:
        return settings
    found = {name: facts["suggested"][name] for name in ("diameter", "threshold")}
    return replace(settings, detect=replace(settings.detect, **found))


def _of_movie(source: str, settings: Settings) -> Facts:
    from ....tracker.reading.frame_faults import frame_faults
    from ...words.image_notes import on_movie, on_tone
    from ..runs.silent_file import opened_in_part

    given = settings.input
    movie, unknown = opened_in_part(source, given)
    with movie:
        calibration = movie.calibration
        facts: dict[str, Any] = {
            "kind": "label movie" if given.kind == "labels" else "movie",
            "axes": movie.axes,
            "frame_shape": list(movie.shape),
            "pixels": str(movie.dtype),
            "voxel_size": None if "scale" in unknown else list(calibration.scale[3 - movie.ndim :]),
            "unit": None if "scale" in unknown else calibration.unit,
            "frame_interval": calibration.frame_interval,
            "time_unit": calibration.time_unit,
            "frames": len(movie),
            "channels": list(movie.channels),
            "series": list(movie.series_names),
        }
        text = console.indented(movie.describe())
        if unknown:
            known = [line for line in text.splitlines() if line.split()[0] not in unknown]
            return {**facts, "needed": " ".join(unknown.values())}, "\n".join([*known, *_not_known(movie, unknown)])
        if given.kind != "labels":
            try:
                suggested, rows = _suggested_detection(movie, settings)
            except InvalidInput as error:
                return {**facts, "needed": f"{source}: {sentence(error)}"}, text
            facts |= suggested
            text += "\n\n" + console.aligned(rows)
            console.note(*on_tone(movie, _with_suggestion(settings, facts).detect))
        console.note(*on_movie(movie, settings))
        faults = frame_faults(movie)
        console.note(*faults.lines())
        facts["odd_frames"] = asdict(faults)
    return facts, text


def _not_known(movie: Movie, unknown: Mapping[str, str]) -> list[str]:
    """Return lines in place of those that would tell what was only supposed."""
    from ....tracker.reading.chosen import listed

    instead = {
        "scale": "not known",
        "channels": f"{listed(movie.channels)}; one must be chosen",
        "series": f"{listed(movie.series_names)}; one must be chosen, all else is of the first",
    }
    return [f"  {fact:<9} {instead[fact]}" for fact in unknown]


def _suggested_detection(movie: Movie, settings: Settings) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return diameter and threshold for a movie, and why."""
    from ....tracker.detecting.detect import resolve_settings
    from ....tracker.detecting.diameter import suggest_diameter
    from ....tracker.first_look import with_seconds
    from ....tracker.resources import device_of_detection

    asked, where, budget = settings.detect, settings.link.device, settings.link.memory_budget

    def measured() -> tuple[DetectSettings, str]:
        known, why = asked, "as given"
        if asked.diameter == "auto":
            suggestion = suggest_diameter(movie, bright_on_dark=asked.bright_on_dark, device=where, budget=budget)
            known, why = replace(asked, diameter=suggestion.diameter), suggestion.reason
        return resolve_settings(movie, known, where, budget=budget), why

    on_gpu = device_of_detection(movie, settings) != "cpu"
    (found, why), seconds = with_seconds(movie, measured, on_gpu=on_gpu)
    how = "as given" if asked.threshold is not None else "where the peaks of noise end in up to five frames"
    facts = {"diameter": found.known_diameter, "diameter_reason": why, "threshold": found.threshold, "seconds": seconds}
    rows = [
        ("diameter", f"{in_unit(movie.calibration.unit, found.known_diameter)}. {why}"),
        ("threshold", f"{found.threshold:.4g}: {how}"),
    ]
    return {"suggested": facts}, rows


def _of_table(source: str, settings: Settings) -> Facts:
    from ....tracker.formats.columns.csv import read_table_file
    from ....tracker.formats.columns.dialects import our_names
    from ....tracker.formats.columns.table_units import self_stated
    from ....tracker.formats.registry import to_read
    from ....tracker.formats.sidecar import read_sidecar
    from ...words.notes import on_table

    console.note(*on_table(settings))
    path = Path(source)
    known = to_read(path)
    if known is not None:
        return _of_format(path, known)
    table, _ = read_table_file(path, read_sidecar(path))
    named, dialect = our_names(table, settings.input.columns, source)
    known_names = _known_names()
    columns = {ours: theirs for ours, theirs in zip(named.columns, table.columns, strict=True) if ours in known_names}
    features = self_stated(named, dialect, source).table
    others = [str(name) for name in features.columns if name not in known_names]
    physical = [str(name) for name in named.columns if name not in features.columns]
    facts = {
        "kind": "table",
        "rows": len(table),
        "columns": columns,
        "column_names_of": dialect.program if dialect else None,
        "other_columns": others,
        "physical_columns": physical,
    }
    pairs = ", ".join(ours if ours == theirs else f"{ours} (here {theirs})" for ours, theirs in columns.items())
    rows = [
        ("table", f"{source}, {len(table)} rows"),
        ("columns", f"{pairs}; names of {facts['column_names_of'] or 'your choice'}"),
        ("others", ", ".join(others) or "none"),
    ]
    if physical:
        rows.append(("physical", f"{', '.join(physical)}, which state units"))
    return facts, console.aligned(rows)


def _known_names() -> set[str]:
    """Return the columns of points and tracks that are no features."""
    from ....tracker.formats.columns.dialects import ROLES
    from ....tracker.formats.tables import TRACK_COLUMNS
    from ....tracker.parent_columns import PARENT_COLUMNS

    return {*ROLES, *TRACK_COLUMNS, *PARENT_COLUMNS}


def _of_format(path: Path, known: Format) -> Facts:
    """Look at points or tracks in another program's format."""
    from ....tracker.formats.tables import read_either
    from ....tracker.points import Tracks

    points = read_either(path)
    parents = points.parents if isinstance(points, Tracks) else {}
    tracks = points.table["track_id"].nunique() if isinstance(points, Tracks) else 0
    known_names = _known_names()
    others = [str(name) for name in points.table.columns if name not in known_names]
    kind = "tracks" if isinstance(points, Tracks) else "points"
    facts = {
        "kind": kind,
        "format": known.name,
        "rows": len(points),
        "tracks": tracks,
        "descendants": len(parents),
        "other_columns": others,
    }
    rows = [
        (kind, f"{path}, of {known.program}"),
        ("points", str(len(points))),
        ("tracks", f"{tracks}, {len(parents)} of which descend from others"),
        ("others", ", ".join(others) or "none"),
    ]
    return facts, console.aligned(rows)


def _of_points(source: str, settings: Settings, measured_in: float) -> Facts:
    """Look at the particles of some frames of a movie, whose settings were measured in so many seconds, or a table."""
    from ....tracker.first_look import first_look
    from ....tracker.linking.frame_pairs.first_order import first_order
    from ....tracker.stepwise import finished
    from ...words.notes import on_linking

    look = first_look(source, settings, _FRAMES, measured_in=measured_in)
    of_table = settings.input.is_table(source)
    linking = finished(first_order(look.points, settings.link.without_motion()))
    facts, rows = _seen(look, linking, settings)
    if of_table:
        facts |= _of_frames(look.points)
    if linking.report["candidate_links"]:
        more, further = _of_links(look.points, linking, settings)
        facts, rows = facts | more, rows + further
    detected = not of_table and "quality" in look.points.table
    console.note(*on_linking(linking, detected=detected, of_table=of_table))
    return {"particles": facts}, console.aligned(rows)


def _seen(look: FirstLook, linking: Linking, settings: Settings) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return how many particles there are, how far apart and how far they go, and what tracking them takes."""
    from ....tracker.linking.gate.spacing import mean_spacing
    from ..runs.batch import pixels_note
    from ..runs.expected import memory_in_words, time_in_words

    points, numbers = look.points, look.points.frame_numbers
    per_frame = points.table.groupby("frame").size()
    low, middle, high = (int(value) for value in per_frame.quantile([0.0, 0.5, 1.0])) if len(per_frame) else (0, 0, 0)
    unit, spacing, step = points.calibration.unit, mean_spacing(points), linking.report["median_step"]
    facts = {
        "frames_seen": look.frames_seen,
        "memory_gb": look.bytes / 1e9,
        "gpu_memory_gb": look.gpu_bytes / 1e9,
        "memory_budget_gb": settings.link.memory_budget_gb,
        "least_memory_budget_gb": look.least_budget / 1e9 or None,
        "expected_seconds": dict(look.seconds),
        "most_seconds_linking": look.most_linking or None,
        "most_memory_gb": look.most_bytes / 1e9 or None,
        "expected_devices": dict(look.seconds.devices),
        "points_per_frame": {"least": low, "median": middle, "most": high},
        "spacing": spacing,
        "median_step": step,
        "search_range": linking.settings.search_range,
        "unmatched_cost": linking.settings.unmatched_cost,
        "unmatched_cost_reason": _measured_cost(linking).reason,
    }
    where = " to ".join(map(str, numbers[:: max(len(numbers) - 1, 1)]))
    where = f"{'frames' if len(numbers) > 1 else 'frame'} {where or 'none'}"
    rows = [
        ("seen in", f"{where}, {points.calibration.in_words(points.ndim)}{pixels_note(points, settings)}"),
        ("points", f"{middle} per frame (median), {low} to {high}"),
        ("spacing", "not known" if spacing is None else f"{in_unit(unit, spacing)} to the nearest neighbour (mean)"),
        ("step", "not known" if step is None else f"{in_unit(unit, step)} from frame to frame (median)"),
        ("memory", memory_in_words(look)),
        ("takes", time_in_words(look)),
    ]
    return facts, rows


def _of_frames(points: Points) -> dict[str, Any]:
    """Return the frames and the calibration of a table, which `_of_movie` has of a movie."""
    numbers, stated = points.frame_numbers, points.calibration
    facts = {"frames": len(numbers), "first_frame": _whole(numbers[:1]), "last_frame": _whole(numbers[-1:])}
    facts |= {"missing_frames": _missing(points), "frame_step": points.frame_step, "unit": stated.unit}
    return facts | {"voxel_size": stated.scale, "frame_interval": stated.frame_interval}


def _of_links(points: Points, linking: Linking, settings: Settings) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return what other ranges and unmatched costs would bring, and the F1 expected; say what is doubtful."""
    from ....tracker.linking.gate.spacing import WIDEST, mean_spacing
    from ...words.notes import on_doubt, on_reach

    unit, cost, search_range = points.calibration.unit, _measured_cost(linking), linking.settings.search_range
    nearly_all = (
        f"{WIDEST:g} × the spacing; beyond it nearly all particles compete"
        if mean_spacing(points)
        else "as wide as the data, as no two particles are apart in one frame"
    )
    unmatched_costs, table = _unmatched_costs(linking, cost.distance)
    reach, text = _reach(points, search_range)
    console.note(*on_doubt(linking), *on_reach([each["share"] for each in reach]))
    expected, row = _expected_f1(points, settings)
    rows = [
        ("range", f"{in_unit(unit, search_range)}: {nearly_all}"),
        ("unlinked", f"unmatched cost {in_unit(unit, cost.distance)}, {cost.reason}"),
        *table,
        ("reach", text),
        ("learned", "range and unmatched cost are those of --motion none; learned motion, the default, finds its own"),
        *row,
    ]
    return {"unmatched_costs": unmatched_costs, "reach": reach, "expected_f1": expected}, rows


def _measured_cost(linking: Linking) -> UnmatchedCost:
    assert linking.unmatched_cost is not None  # first order has one
    return linking.unmatched_cost


def _expected_f1(points: Points, settings: Settings) -> tuple[dict[str, float | None], list[tuple[str, str]]]:
    """Return the F1 that links are expected to reach, now and at half the frame rate."""
    from ....tracker.linking.advice.expected_accuracy import expected_f1, known_links, mean_probability
    from ...words.notes import on_chance

    known = known_links(points, settings.link)
    now = None if known is None else mean_probability(known)
    if known is not None:
        console.note(*on_chance(known))
    halved = None if now is None else expected_f1(points, settings.link, every=2)
    facts = {"now": now, "half_the_frame_rate": halved}
    if now is None:
        return facts, []
    # Of a movie only some frames are looked at; the report, which has them all, finds another half rate.
    among = len(points.frame_numbers)
    text = f"links between what was detected in {among} frames are expected to reach an F1 of {now:.3f}"
    if halved is not None:
        text += f", at half the frame rate {halved:.3f}"
        text += "; half the frames would do" if halved > max(_DO, now - _LITTLE) else ""
    return facts, [("accuracy", text + ("; more frames a second would make them surer" if now < _DO else ""))]


def _unmatched_costs(linking: Linking, chosen: float) -> tuple[list[dict[str, float]], list[tuple[str, str]]]:
    """Return what other unmatched costs would make of the same points, for programs and as rows of a table."""
    from ....tracker.linking.advice.unmatched_costs import at_unmatched_costs

    made = at_unmatched_costs(linking.tracks, linking.settings, [part * chosen for part in _UNMATCHED_COSTS])
    unit = linking.tracks.calibration.unit
    lines = [f"{'at':<16}{'links':>9}{'lost':>8}{'new':>8}"]
    lines += [f"{in_unit(unit, at.unmatched_cost):<16}{at.links:>9}{at.lost:>8.1%}{at.new:>8.1%}" for at in made]
    return [asdict(at) for at in made], [("" if k else "unmatched costs", line) for k, line in enumerate(lines)]


def _reach(points: Points, search_range: Any) -> tuple[list[dict[str, float]], str]:
    """Return how many links the range and shorter ones allow, for programs and as text: may it be shorter?"""
    from ....tracker.linking.advice.reach import reach

    allowed = reach(points, [part * search_range for part in _PARTS])
    facts = [
        {"search_range": float(length), "links": int(links), "share": float(share)}
        for length, links, share in zip(allowed.ranges, allowed.links, allowed.shares, strict=True)
    ]
    shares = ", ".join(f"{share:.0%}" for share in allowed.shares)
    lengths = ", ".join(in_digits(length) for length in allowed.ranges)
    unit = points.calibration.unit
    return facts, (
        f"ranges of {lengths} {plural(unit)} allow {shares} of all possible links (particles that enter or leave have "
        "no partner nearby, so this need not reach 100%)"
    )


def _missing(points: Points) -> int:
    """Return how many frames that were looked at between the first and the last have no points."""
    numbers = points.frame_numbers
    return int(points.timeline.count(numbers[:1], numbers[-1:])[0]) - len(numbers) if len(numbers) else 0


def _whole(numbers: np.ndarray) -> int | None:
    return int(numbers[0]) if len(numbers) else None
