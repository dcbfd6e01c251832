"""Track many inputs: skip what is up to date, go on after a failure."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from .... import __version__
from ....tracker.calibrating.digits import counted, in_unit
from ....tracker.calibrating.units import is_pixel
from ....tracker.compiling import seconds_compiling
from ....tracker.errors import OutputExists
from ....tracker.formats.checksum import Checksum
from ....tracker.formats.graph import count_divisions, count_merges
from ....tracker.formats.leftovers import remove_leftovers
from ....tracker.formats.registry import to_write
from ....tracker.formats.sidecar import Sidecar, own_calibration, read_sidecar, sidecar_path
from ....tracker.formats.tables import read_tracks
from ....tracker.formats.write import write_tracks, write_whole
from ....tracker.linking.result import Linking
from ....tracker.pipeline import TrackingResult, open_movie, stages
from ....tracker.points import Points, Tracks
from ....tracker.settings import Settings
from ....tracker.stage_seconds import StageSeconds
from ...words.candidates import links_of_candidates
from ...words.given_limits import given_limits
from ...words.image_notes import on_movie, on_tone
from ...words.notes import (
    on_doubt,
    on_frozen_frames,
    on_length,
    on_linking,
    on_single_frames,
    on_table,
    on_voxels,
)
from ...words.setting_options import option_of
from ..terminal import console
from ..terminal.destination import note_losses
from ..terminal.interrupt import CtrlCAsItself, held_back
from .fingerprint import key_of
from .inputs import Job, refuse_hopeless
from .one_input import failure_of
from .outcome import Outcome
from .record import as_drawn, tracking_record
from .silent_file import opened

_SURE, _SHOWN = 0.9, 5
"""Probability below which a link is doubtful, and how many such are named."""
_ALIKE = 4  # times the bytes of what was tracked, on average, of which the time that it took still tells
_PIXELS_NOTE = "; lengths are in pixels, as no unit is known (--voxel or --unit gives one)"


def run_all(jobs: Sequence[Job], settings: Settings, *, overwrite: bool, picture: bool) -> list[Outcome]:
    """Track every input in turn. Ctrl-C ends the run: what is finished stays, the rest is not started."""
    outcomes = [Outcome(job.source, str(job.result), series=job.series) for job in jobs]
    is_table = settings.input.is_table
    try:
        with CtrlCAsItself():
            for number, (job, outcome) in enumerate(zip(jobs, outcomes, strict=True)):
                if len(jobs) > 1:
                    console.say(f"[{number + 1}/{len(jobs)}] {job.name}{_time_left(jobs, outcomes)}")
                _run_or_fail(job, job.series.settings(settings), outcome, overwrite=overwrite, picture=picture)
        of_movies = [out.figures for job, out in zip(jobs, outcomes, strict=True) if not is_table(job.source)]
        console.note(*on_single_frames([figures["frames"] for figures in of_movies if figures is not None]))
    except KeyboardInterrupt:
        console.say("interrupted; nothing half-written was left")
        for outcome in [outcome for outcome in outcomes if outcome.status == "not started"][:1]:
            outcome.status, outcome.message = "interrupted", _what_is_whole(outcome, picture=picture)
            if outcome.message is not None:
                console.say(f"{outcome.name}: {outcome.message}")
    return outcomes


def _what_is_whole(outcome: Outcome, *, picture: bool) -> str | None:
    """Return what an input that was interrupted has by then; None for nothing."""
    if outcome.figures is None:
        return None
    drawn = "is drawn" if outcome.picture is not None else "was not drawn; the same command draws it"
    return f"{outcome.result} is whole" + (f", and its picture {drawn}" if picture else "")


def _run_or_fail(job: Job, settings: Settings, outcome: Outcome, *, overwrite: bool, picture: bool) -> None:
    """Track one input, and say what is wrong with it where it cannot be."""
    began = time.monotonic()
    run = partial(_run_one, job, settings, outcome, overwrite=overwrite, picture=picture)
    with seconds_compiling() as compiling:
        try:
            failure = failure_of(job.source, run)
            if failure is not None:
                outcome.status, outcome.message, outcome.is_refused = "failed", failure.message, failure.is_refused
        finally:
            outcome.seconds, outcome.compiling = round(time.monotonic() - began, 3), compiling.total


def _time_left(jobs: Sequence[Job], outcomes: Sequence[Outcome]) -> str:
    """Return how long the rest takes, byte for byte, if it is like what was tracked; what was skipped tells nothing.

    What was compiled on the way is not compiled again. Much smaller inputs tell nothing either: most of their time goes
    where that of larger ones does not.
    """
    seconds = sum(max(of.seconds - of.compiling, 0.0) for of in outcomes if of.status == "tracked")
    done, waiting = (
        [job.bytes for job, outcome in zip(jobs, outcomes, strict=True) if outcome.status == status]
        for status in ("tracked", "not started")
    )
    if not sum(done) or sum(waiting) * len(done) > _ALIKE * sum(done) * len(waiting):
        return ""
    left = seconds / sum(done) * sum(waiting)
    return f", about {left:.0f} s left for all" if left >= 1 else ""


def _run_one(job: Job, settings: Settings, outcome: Outcome, *, overwrite: bool, picture: bool) -> None:
    refuse_hopeless(job)
    key = key_of(job, settings)
    standing = None if overwrite else refusal_of_standing(job, key, settings, picture=picture)
    if standing is None and job.result.exists() and not overwrite:
        _leave_as_it_is(job, settings, outcome, picture=picture)
        return
    described = describe(job, settings)  # a wrong option is named before what it would replace
    if standing is not None:
        raise standing
    opening = console.READING if settings.input.is_table(job.source) else console.LOOKING
    result = console.watched(job.source, stages(job.source, settings), opening)
    if settings.input.is_table(job.source):
        described = as_drawn(job.source, result.tracks.calibration)
        console.note(*on_voxels(own_calibration(Path(job.source)), result.tracks, settings.input.scale))
    record: dict[str, Any] = {"fingerprint": key, **tracking_record(job.source, settings, result), **described}
    writing = StageSeconds()
    try:
        with held_back(), writing.of("write"), console.at_work(job.source, f"writing {job.result.name}"):
            write_tracks(result.tracks, job.result, settings=record, overwrite=overwrite)
            outcome.figures = record["figures"]
    except OutputExists:
        if not is_up_to_date(job, key, settings):  # else another run into this folder was faster
            raise
        _leave_as_it_is(job, settings, outcome, picture=picture)
        return
    report(job, result, record["figures"], {**result.seconds, **writing})
    note_losses(result.tracks, job.result, to_write(job.result, None))
    if picture:
        _draw(job, settings, outcome, result.tracks, read_sidecar(job.result))
    _point_out_old_picture(job)
    outcome.status = "tracked"


def refusal_of_standing(job: Job, key: str, settings: Settings, *, picture: bool) -> OutputExists | None:
    """Return the refusal of an earlier result or picture that is in the way; none of one that is up to date."""
    try:
        if is_up_to_date(job, key, settings):
            return None
    except OutputExists as error:
        return error
    if picture and job.picture.exists():
        return OutputExists(f"{job.picture} exists; give --overwrite to replace it, or another --output folder.")
    return None


def _leave_as_it_is(job: Job, settings: Settings, outcome: Outcome, *, picture: bool) -> None:
    """Draw what lacks its picture, and remove what runs that were killed left of this result."""
    for place in (job.result, sidecar_path(job.result), job.picture):
        remove_leftovers(place)
    sidecar = read_sidecar(job.result)
    outcome.figures = None if sidecar is None else sidecar.settings.get("figures")
    if picture and not job.picture.exists():
        _draw(job, settings, outcome, read_tracks(job.result), sidecar)
    elif picture:
        _refuse_changed_picture(job, sidecar)
        outcome.picture = str(job.picture)
    _point_out_old_picture(job)
    outcome.status = "up to date"
    console.show(f"{job.source}: {job.result} is up to date")


def _point_out_old_picture(job: Job) -> None:
    if job.picture.exists() and job.picture.stat().st_mtime_ns < job.result.stat().st_mtime_ns:
        console.note(f"{job.picture} shows earlier tracks; --picture with --overwrite redraws it.")


def _refuse_changed_picture(job: Job, sidecar: Sidecar | None) -> None:
    """Refuse a picture that was drawn of these tracks and is not what was written."""
    drawn = None if sidecar is None else sidecar.pictures.get(job.picture.name)
    if drawn is not None and drawn != Checksum.of(job.picture):
        raise OutputExists(
            f"{job.picture} has changed since it was drawn: it was truncated or edited. Give --overwrite to redraw "
            f"it, or move it elsewhere."
        )


def _draw(job: Job, settings: Settings, outcome: Outcome, tracks: Tracks, sidecar: Sidecar | None) -> None:
    """Draw the picture; one that stands there by now is of the same tracks, by another run into this folder."""
    from ..results.picture import picture_of
    from ..results.picture_part import Look

    look = Look(min_length=settings.min_length)
    image = picture_of(tracks, job.source, settings.input, job.result.name, look)
    contents: dict[Path, bytes] = {}
    if sidecar is not None:
        drawn = replace(sidecar, pictures={job.picture.name: Checksum.of_bytes(image)})
        contents[sidecar_path(job.result)] = drawn.to_json(__version__)
    with held_back():
        write_whole({**contents, job.picture: image}, overwrite=True)
        outcome.picture = str(job.picture)
    console.show(console.aligned([("picture", str(job.picture))]))


def is_up_to_date(job: Job, key: str, settings: Settings) -> bool:
    """Whether the result stands there with this fingerprint, as it was written.

    Raises
    ------
    OutputExists
        If a result stands there that comes from another input or other settings, or is not what was written.
    """
    if not job.result.exists():
        return False
    sidecar = read_sidecar(job.result)
    if sidecar is not None and sidecar.settings.get("fingerprint") == key:
        if sidecar.table == Checksum.of(job.result):
            return True
        raise OutputExists(
            f"{job.result} has changed since it was written: it was truncated or edited. Give --overwrite to redo it, "
            f"or another --output folder."
        )
    raise OutputExists(
        f"{job.result} exists, and {_origin(sidecar, settings)}. Give --overwrite to replace it, or another --output "
        "folder."
    )


def _origin(sidecar: Sidecar | None, settings: Settings) -> str:
    """Return where an earlier result comes from, as far as what stands beside it says that."""
    asked = None if sidecar is None else sidecar.settings.get("asked")
    if not isinstance(asked, Mapping):
        return "nothing beside it says how it was made"
    then, now = (_flat(each) for each in (asked, json.loads(json.dumps(settings.to_mapping()))))
    differ = [option_of(name) for name in now | then if now.get(name) != then.get(name)]
    of_others = f"was made with other settings: {', '.join(differ)}"
    return of_others if differ else "comes from another input, or another version of auctrack"


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings by their names, out of the sections that they stand in."""
    sections = [each if isinstance(each, Mapping) else {name: each} for name, each in settings.items()]
    return {name: value for section in sections for name, value in section.items()}


def describe(job: Job, settings: Settings) -> dict[str, Any]:
    """Show what the input is taken to be, before anything runs; return what is recorded of it beside results."""
    if settings.input.is_table(job.source):
        console.show(console.aligned([("table", job.source)]))
        console.note(*on_table(settings))
        return {}
    with opened(job.source, settings.input) as movie:
        console.show(console.indented(movie.describe()))
        console.note(*on_movie(movie, settings))
        return {"image_shape": movie.whole_shape}


def report(job: Job, result: TrackingResult, made: Mapping[str, Any], seconds: Mapping[str, float]) -> None:
    """Show what came out, `figures` of the result, and where the time went, in seconds a stage."""
    unit = result.tracks.calibration.unit
    detected = result.settings.detect
    rows: list[tuple[str, str]] = []
    of_table = result.settings.input.is_table(job.source)
    was_detected = "quality" in result.linking.tracks.table and not of_table
    if was_detected:
        rows.append(("detect", detected.in_words(unit)))
    found = console.found_in(made["points"], made["frames"])
    is_flat = result.tracks.ndim == 2 and of_table
    plane = ", in 2D (y, x)" if is_flat else ""  # where a column of z went by another name, that is how one sees it
    rows += [("points", f"{found}{plane}{pixels_note(result.tracks, result.settings)}")]
    if made["candidate_links"]:
        rows += [
            *_how(result.linking),
            ("links", f"{links_of_candidates(made)}, {_proof(made)}"),
        ]
    rows += _doubtful(result.linking)
    rows += [
        ("tracks", f"{made['tracks']}, {_median_length(made, result.tracks)}" if made["tracks"] else "0"),
        *([("divisions", f"{count_divisions(result.tracks)}")] if result.linking.settings.divisions else []),
        *([("merges", f"{count_merges(result.tracks)}")] if result.linking.settings.merges else []),
        ("written", str(job.result)),
        ("took", console.stages(seconds, result.seconds.devices, digits=1)),
    ]
    console.show(console.aligned(rows))
    console.note(*on_linking(result.linking, detected=was_detected, of_table=of_table))
    console.note(*on_frozen_frames(result.linking.tracks), *on_doubt(result.linking))
    console.note(*on_length(result.linking.tracks, result.settings.min_length))
    console.note(*result.notes)
    if was_detected:
        note_tone(job.source, result.settings)


def _median_length(made: Mapping[str, Any], points: Points) -> str:
    """Return the median length of tracks beside the frames that were looked at, those without particles too."""
    timeline, present = points.timeline, points.frame_numbers
    frames = len(timeline.numbers) if timeline.numbers is not None else timeline.count(present[0], present[-1])
    return f"median length {made['median_length']:g} of {counted(int(frames), 'frame')}"


def note_tone(source: str, settings: Settings) -> None:
    """Say where blobs of the other tone stand out in a movie more than those that were detected."""
    with open_movie(source, settings.input) as movie:
        console.note(*on_tone(movie, settings.detect))


def _how(linking: Linking) -> list[tuple[str, str]]:
    """Return how links were chosen: what was learned, or the range and the unmatched cost."""
    unmatched_cost, unit = linking.unmatched_cost, linking.tracks.calibration.unit
    said = [*linking.report["learned"], *given_limits(linking)]
    if unmatched_cost is not None:
        said = [
            f"search range {in_unit(unit, linking.settings.search_range, 4)}",
            f"unmatched cost {in_unit(unit, unmatched_cost.distance, 4)}, {unmatched_cost.reason}",
        ]
    return [("" if k else "link", line) for k, line in enumerate(said)]


def _doubtful(linking: Linking) -> list[tuple[str, str]]:
    """Return the least sure links by the track and the frame that they lead to, and how many more there are."""
    if linking.is_frame_by_frame:
        return []
    links = linking.links[linking.links["probability"] < _SURE]
    if not len(links):
        return []
    table = linking.tracks.table
    least = linking.doubtful(min(_SHOWN, len(links)))
    target = least["target"].to_numpy()
    each = zip(
        table["track_id"].to_numpy()[target], table["frame"].to_numpy()[target], least["probability"], strict=True
    )
    shown = ", ".join(f"track {name} at frame {frame} ({probability:.2f})" for name, frame, probability in each)
    more = f"; {len(links)} below {_SURE:g} in all, by link_probability in the table" if len(links) > len(least) else ""
    return [("doubtful", shown + more)]


def pixels_note(points: Points, settings: Settings) -> str:
    """Return what is said where lengths are in pixels and nobody asked for it."""
    unit = settings.input.unit
    wanted = unit is not None and is_pixel(unit)
    return "" if points.calibration.is_physical or wanted else _PIXELS_NOTE


def _proof(made: Mapping[str, Any]) -> str:
    proof = "proven optimal" if made["is_optimal"] else f"gap {made['gap']:.3g}"
    return f"{proof} (solver {made['solver']}, {made['device']})"
