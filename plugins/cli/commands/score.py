"""`auctrack score`: how well tracks agree with the truth."""
# ruff: noqa: ARG001 - `verbose` and `log` act where they are declared

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ....tracker.calibrating.digits import plural
from ....tracker.errors import InvalidInput
from ....tracker.suffixes import PLAIN_TABLES
from ...words.setting_options import INPUT
from ..arguments import options
from ..arguments.command_settings import given_settings, usage
from ..arguments.taking import typer_option
from ..results.no_positions import some_of, without_positions
from ..results.score_pairs import is_folder_of_tables, paired
from ..results.score_table import SHOWN, by_movie, links_of_one
from ..results.score_truth import TRUTH_OPTIONS, in_frames_that_count, read_truth
from ..results.tracks_table import read_tracks_table
from ..terminal import console
from ..terminal.standard_input import STANDARD_INPUT, table_file

if TYPE_CHECKING:
    from ....tracker.points import Points, Tracks
    from ....tracker.settings import InputSettings

_truth, _counting = map(options.panel, ("Truth", "What counts"))
_OWN_TOLERANCE = {"isbi": "the ISBI challenge took 5 pixels", "sparse": "the Biohub competition took 7 µm"}
"""Kinds of score that judge detections by their distance alone."""

_COUNTS_FOR = {"max_missed_frames": "links", "divisions": "links", "frame_tolerance": "lineages"}
"""The kind of scores that takes account of an option."""


def command(
    tracks: Annotated[
        Path,
        typer.Argument(
            metavar="TRACKS",
            show_default=False,
            help="Table of tracks to judge, or a folder of them; - is standard input.",
        ),
    ],
    truth: Annotated[
        Path,
        typer.Argument(
            metavar="TRUTH",
            show_default=False,
            help="Table of real particles, or a folder of them; track_id (or true_id) names them; - is standard input.",
        ),
    ],
    kind: Annotated[
        str,
        _counting(
            "|".join(SHOWN),
            "links: detections, links and whole tracks. lineages: those of cell tracking (DET, TRA, LNK, CHOTA, "
            "divisions and more). isbi: α, β, JSC and RMSE of the ISBI 2012 challenge. sparse: edge and division "
            "Jaccard, where only some particles are in the truth.",
            "--scores",
        ),
    ] = "links",
    tolerance: Annotated[
        float | None,
        _counting(
            "LENGTH",
            "A detection is correct if a real particle is at most this far away, in the unit of the tracks (isbi: "
            "closer than this; the challenge used 5 pixels, the Biohub competition 7 µm). Default: use the column "
            "true_id of the tracks, which simulated points have.",
        ),
    ] = None,
    max_missed_frames: Annotated[
        int,
        _counting("N", "links: count links across up to N missed frames too.", least=0),
    ] = 0,
    divisions: Annotated[
        bool,
        _counting("", "links: count links from mothers to daughters too.", "--divisions"),
    ] = False,
    frame_tolerance: Annotated[
        int,
        _counting("N", "lineages: a division may come up to N frames early or late.", least=0),
    ] = 0,
    truth_voxel: Annotated[
        str | None,
        _truth(
            "Z,Y,X",
            "Size in µm of one coordinate step of the truth. Default: from the settings beside the truth, else that "
            "of the tracks.",
        ),
    ] = None,
    truth_columns: Annotated[
        str | None,
        _truth("OURS=THEIRS,…", "Columns of the truth, such as frame=t,track_id=cell."),
    ] = None,
    frames: Annotated[
        str | None,
        _truth(
            "FROM:TO[:STEP]",
            "Frames that count, of tracks and truth, such as those that were linked by hand. Default: those that were "
            "tracked, if the settings beside the tracks say so, else all.",
        ),
    ] = None,
    frame_step: Annotated[int | None, typer_option(INPUT["frame_step"])] = None,
    as_json: options.Json = False,
    output: Annotated[
        Path | None,
        options.in_output(
            "FILE", "Also write every figure into a table, one row per movie; .csv or .parquet.", "--output", "-o"
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    verbose: options.Verbose = False,
    log: options.Log = None,
) -> None:
    """Compare tracks with the truth: correct detections and links, complete tracks, lineages.

    A detection is correct if it belongs to a real particle, a link if it joins two correct detections of one particle.
    Given two folders, tables of the same name are compared (cells.tracks.csv with cells.truth.csv), one row per movie.

    [bold]--scores links[/bold]. precision: the share of what was found that is correct; recall: the share of what is
    real that was found; F1: their harmonic mean.

    gap links: links across any number of missed frames; they are counted separately, except that --max-missed-frames N
    counts those across up to N among the links. Real ones join a particle before and after frames in which it was not
    found, or is not in the truth; a link that skips a detection of its own particle is wrong.

    complete: real tracks that a single found track follows from end to end, with no other detection in it.

    covered: the share of a real track's detections held by the found track that has most of them, averaged over real
    tracks.

    pieces: how many found tracks share a real track, on average; 1 is perfect.

    switches: how often, along real tracks, one found track ends and another takes over.

    [bold]--scores lineages[/bold]. DET, LNK, TRA: 1 minus the work of correcting detections, links, or both, as a
    fraction of making them from scratch. CHOTA, HOTA: detections and how they are joined, into lineages and into
    tracks. CT: tracks found whole; TF: longest part of a real track found in one piece; BC: divisions; CCA: lengths of
    cell cycles. A link across missed frames is one edge, and correct if the truth has the same one.

    [bold]--scores isbi[/bold]. α: 1 minus the gated distance of paired tracks as a fraction of the largest; β: the same
    with spurious tracks counted against it; JSC, JSCθ: correct detections, and tracks, as a share of correct, missed
    and spurious ones; RMSE: of correct detections. Links are not counted; a frame missing from a track is a missed
    detection.

    [bold]--scores sparse[/bold]. edge and division Jaccard: correct ones as a share of correct, wrong and missed ones;
    what was found where the truth has nothing is not judged.

    [bold]Examples[/bold]

    auctrack score movie.tracks.csv movie.truth.csv --tolerance 2

    auctrack score points.tracks.csv points.truth.csv --json

    auctrack score results truths --scores lineages --tolerance 5 --frame-tolerance 1 -o scores.csv
    """
    if kind not in SHOWN:
        raise typer.BadParameter(f"needs one of {', '.join(SHOWN)}; got {kind!r}.", param_hint="--scores")
    _refuse_idle(kind, max_missed_frames=max_missed_frames, divisions=divisions, frame_tolerance=frame_tolerance)
    if tracks == truth == STANDARD_INPUT:
        raise typer.BadParameter("tracks and truth cannot both come from standard input.", param_hint="TRUTH")
    if output is not None and not output.name.lower().endswith(PLAIN_TABLES):
        raise typer.BadParameter(f"needs a name in {' or '.join(PLAIN_TABLES)}; got {output}.", param_hint="--output")
    from ..terminal.destination import make_ready

    given = given_settings({"voxel": truth_voxel, "columns": truth_columns, "frames": frames}, TRUTH_OPTIONS).input
    score = _scorer(kind, tolerance, max_missed_frames, frame_tolerance, divisions=divisions)
    by_name: dict[str, Any] = {}
    pairs = paired(tracks, truth)
    if output is not None:
        make_ready(output, overwrite=overwrite, inputs=[table for pair in pairs.values() for table in pair])
    for name, (of_tracks, of_truth) in pairs.items():
        with console.at_work(str(of_tracks), "comparing it with the truth"):
            has_lineage = tolerance is not None or kind == "lineages" or divisions
            found, real = _read_pair(of_tracks, of_truth, given, tolerance, frame_step, as_tracks=has_lineage)
            by_name[name] = score(found, real)
        if tolerance is not None:
            is_apart = kind == "links" and not by_name[name].detections.correct
            console.note(*_on_distances(of_tracks, found, real, tolerance, kind, is_apart=is_apart))
    summaries = {name: of.summary() for name, of in by_name.items()}
    if output is not None:
        _write(output, summaries, overwrite=overwrite)
    one = next(iter(by_name)) if len(by_name) == 1 and not is_folder_of_tables(tracks) else None
    if as_json:
        console.show(json.dumps(summaries if one is None else summaries[one], indent=2, ensure_ascii=False))
    elif one is not None and kind == "links":
        console.show(links_of_one(by_name[one], max_missed_frames))
    else:
        console.show(by_movie(kind, summaries))


def _refuse_idle(kind: str, **given: int) -> None:
    """Refuse what scores of a kind take no account of, as wrong usage."""
    for name, value in given.items():
        if value and _COUNTS_FOR[name] != kind:
            raise typer.BadParameter(
                f"is of --scores {_COUNTS_FOR[name]}, and these are {kind}.", param_hint=f"--{name.replace('_', '-')}"
            )


def _on_distances(
    tracks: Path, found: Tracks, real: Points, tolerance: float, kind: str, *, is_apart: bool
) -> list[str]:
    """Return what is to be said of how far detections and real particles are apart; `is_apart` if none is right."""
    from ...words.truth_notes import on_frame_shift, on_frames_beyond, on_tolerance, on_truth_axes, on_truth_scale

    pair = found, real, tolerance
    shifted = on_truth_scale(*pair) or on_frame_shift(*pair) or on_truth_axes(*pair)
    elsewhere = (
        f"no detection of {tracks} lies within --tolerance of a real particle in its frame; are both tables of one "
        "movie, and in one unit (--truth-voxel)?"
    )
    beyond = [] if shifted or kind == "sparse" else on_frames_beyond(found, real)
    return [*shifted, *[elsewhere] * (is_apart and not shifted), *beyond, *on_tolerance(real, tolerance)]


def _scorer(
    kind: str, tolerance: float | None, max_missed_frames: int, frame_tolerance: int, *, divisions: bool
) -> Callable[[Tracks, Points], Any]:
    """Return what makes scores of one kind."""
    from ....tracker.calibrating.lengths import require_length

    if tolerance is not None:
        with usage():
            require_length("tolerance", tolerance)
    if kind in _OWN_TOLERANCE:
        if tolerance is None:
            raise typer.BadParameter(
                f"--scores {kind} needs the largest distance at which a detection is right; {_OWN_TOLERANCE[kind]}.",
                param_hint="--tolerance",
            )
        from ....tracker.scoring.isbi import score_isbi
        from ....tracker.scoring.sparse import score_sparse

        return partial(score_isbi, gate=tolerance) if kind == "isbi" else partial(score_sparse, tolerance=tolerance)
    if kind == "lineages":
        from ....tracker.scoring.lineage_score import score_lineages

        return partial(score_lineages, tolerance=tolerance, frame_tolerance=frame_tolerance)
    from ....tracker.scoring.score import score_links

    return partial(score_links, tolerance=tolerance, max_missed_frames=max_missed_frames, include_divisions=divisions)


def _read_pair(
    tracks: Path,
    truth: Path,
    given: InputSettings,
    tolerance: float | None,
    frame_step: int | None,
    *,
    as_tracks: bool,
) -> tuple[Tracks, Points]:
    """Read tracks, and the truth in their units and frames, `as_tracks` with its lineage."""
    with _without_columns_of_tracks(), table_file(tracks) as file:
        found = read_tracks_table(file, tracks, {"frame_step": frame_step})
    from ...words.truth_notes import on_names

    if tolerance is None and "true_id" not in found.table.columns:
        raise InvalidInput(
            f"{tracks}: has no column true_id beside its track ids, so detections are judged by their distance from "
            f"real particles. Give the largest that is still right by --tolerance, in {plural(found.calibration.unit)}."
        )
    if tolerance is not None and not found.calibration.is_physical:
        console.note(f"the positions of {tracks} are in pixels of unknown size, and so is --tolerance.")
    if tolerance is not None:
        real = read_truth(truth, tracks, found, given, as_tracks=as_tracks)
        return in_frames_that_count(found, real, given.frame_slice), real
    some, found = some_of(found), without_positions(found)
    real = read_truth(truth, tracks, found, given, as_tracks=as_tracks)
    found = in_frames_that_count(found, real, given.frame_slice)
    console.note(*on_names(some.only(some.table["frame"].isin(found.frame_numbers).to_numpy()), real))
    return found, without_positions(real)


@contextmanager
def _without_columns_of_tracks() -> Generator[None]:
    """Have errors say what helps where no option does: the tracks are ours as a rule, and their names are known."""
    try:
        yield
    except InvalidInput as error:
        if error.setting != "columns":
            raise
        raise InvalidInput(f"{error.problem} Rename its columns.") from None


def _write(output: Path, summaries: dict[str, dict[str, Any]], *, overwrite: bool) -> None:
    """Write one row per movie."""
    import pandas as pd

    from ....tracker.formats.write import plain_table, write_whole

    table = pd.DataFrame([{"movie": name, **of} for name, of in summaries.items()])
    write_whole({output: plain_table(table, output.suffix.removeprefix("."))}, overwrite=overwrite)
