"""`auctrack score`: how well tracks agree with the truth."""
# ruff: noqa: ARG001 - `verbose` and `log` act where they are declared

from __future__ import annotations

import json
import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...tracker.errors import InvalidInput, InvalidSetting
from . import console, options
from .asked import asked_settings, usage

if TYPE_CHECKING:
    from ...tracker.points import Points, Tracks
    from ...tracker.scoring.agreement import Score

_TRUTH, _COUNTING = "Truth", "What counts"


def command(
    tracks: Annotated[
        Path,
        typer.Argument(metavar="TRACKS", show_default=False, help="Table of tracks to judge; - is standard input."),
    ],
    truth: Annotated[
        Path,
        typer.Argument(
            metavar="TRUTH",
            show_default=False,
            help="Table of real particles; track_id (or true_id) names them; - is standard input.",
        ),
    ],
    tolerance: Annotated[
        float | None,
        typer.Option(
            metavar="LENGTH",
            rich_help_panel=_COUNTING,
            help="A detection is right if a real particle is at most this far away, in the unit of the tracks. Left "
            "out: by the column true_id of the tracks, which simulated points have.",
        ),
    ] = None,
    max_missed_frames: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, rich_help_panel=_COUNTING, help="Count links across up to N missed frames too."
        ),
    ] = 0,
    divisions: Annotated[
        bool,
        typer.Option(
            "--divisions", metavar="", rich_help_panel=_COUNTING, help="Count links from mothers to daughters too."
        ),
    ] = False,
    truth_voxel: Annotated[
        str | None,
        typer.Option(
            metavar="Z,Y,X",
            rich_help_panel=_TRUTH,
            help="Size in µm of one coordinate step of the truth. Left out: what stands beside the truth, else the "
            "size that the tracks have.",
        ),
    ] = None,
    truth_columns: Annotated[
        str | None,
        typer.Option(
            metavar="OURS=THEIRS,…", rich_help_panel=_TRUTH, help="Columns of the truth, such as frame=t,track_id=cell."
        ),
    ] = None,
    frames: Annotated[
        str | None,
        typer.Option(
            metavar="FROM:TO[:STEP]",
            rich_help_panel=_TRUTH,
            help="Frames of the truth that count. Left out: those that were tracked, where that stands beside the "
            "tracks, else all.",
        ),
    ] = None,
    frame_step: options.FrameStep = None,
    as_json: options.Json = False,
    verbose: options.Verbose = False,
    log: options.Log = None,
) -> None:
    """Compare tracks with the truth: right detections, right links, complete tracks.

    A detection is right when it belongs to a real particle, a link when it joins two right detections of one particle.

    precision: the right share of what was found; recall: the found share of what is real; F1: their harmonic mean.

    complete: real tracks that one found track follows from end to end, with no other detection in it.

    covered: the share of a real track's detections that its best found track has, averaged over real tracks.

    pieces: how many found tracks share a real track, on average; 1 is perfect.

    switches: how often, along real tracks, one found track ends and another goes on.

    [bold]Examples[/bold]

    auctrack score movie.tracks.csv movie.truth.csv --tolerance 2

    auctrack score points.tracks.csv points.truth.csv --json
    """
    with _naming_options_of_truth():
        given = asked_settings({"voxel": truth_voxel, "columns": truth_columns, "frames": frames}).input
    from ...tracker.formats.tables import read_tracks
    from ...tracker.ranges import parse_frames
    from ...tracker.scoring.score import score_links
    from .standard_input import STANDARD_INPUT, table_file

    if tracks == truth == STANDARD_INPUT:
        raise typer.BadParameter("tracks and truth cannot both come from standard input.", param_hint="TRUTH")
    with _without_columns_of_tracks(), table_file(tracks) as file:
        found = read_tracks(file, frame_step=frame_step)
    if tolerance is None and "true_id" not in found.table.columns:
        raise typer.BadParameter(
            f"none was given, and {tracks} has no column true_id beside its track ids; so detections are judged by "
            "their distance from real particles. Give the largest distance that is still right, in "
            f"{found.calibration.unit}.",
            param_hint="--tolerance",
        )
    if tolerance is not None and not found.calibration.is_physical:
        console.note(f"the positions of {tracks} are in pixels of unknown size, and so is --tolerance.")
    with _naming_options_of_truth(), table_file(truth) as file:
        real = _read_truth(file, found, given, by_position=tolerance is not None)
    if frames is None and (tracked := _tracked_frames(tracks)) is not None:
        real = real.cut(parse_frames(tracked))
        console.note(f"only the frames that were tracked count (--frames {tracked}).")
    else:
        real = real.cut(given.frame_slice)
    real = _in_step(real, found)
    with usage():
        score = score_links(
            found, real, tolerance=tolerance, max_missed_frames=max_missed_frames, include_divisions=divisions
        )
    console.show(json.dumps(score.summary(), indent=2) if as_json else _table(score))


@contextmanager
def _naming_options_of_truth() -> Generator[None]:
    """Have errors name the options of this command, which are about the truth."""

    def ours(text: str) -> str:
        return re.sub(r"--(columns|voxel)\b", r"--truth-\1", text)

    try:
        yield
    except InvalidInput as error:
        raise type(error)(error.problem, as_options=ours(error.as_options)) from None
    except InvalidSetting as error:
        raise InvalidSetting(ours(str(error))) from None
    except typer.BadParameter as error:
        raise typer.BadParameter(ours(error.message)) from None


@contextmanager
def _without_columns_of_tracks() -> Generator[None]:
    """Have errors say what helps where no option does: the tracks are ours as a rule, and their names are known."""
    try:
        yield
    except InvalidInput as error:
        raise type(error)(error.problem, as_options=error.as_options and "Rename its columns.") from None


def _read_truth(path: Path, found: Tracks, given: Any, *, by_position: bool) -> Points:
    """Read the truth; without units of its own it is in the coordinates of the tracks."""
    from ...tracker.formats.tables import read_points, read_tracks

    read = read_tracks if by_position else read_points
    real = read(path, columns=given.columns, scale=given.scale)
    calibration = found.calibration
    if real.calibration.is_physical or not calibration.is_physical:
        return real
    sizes = calibration.scale[3 - real.ndim :]
    console.note(
        f"{path} does not say its units; its positions are taken to be in the same steps as those of the tracks, "
        f"{' × '.join(f'{size:g}' for size in sizes)} {calibration.unit} ({','.join(real.axes)}). "
        "If not, give --truth-voxel."
    )
    return read(path, columns=given.columns, scale=sizes, unit=calibration.unit)


def _in_step(real: Points, found: Tracks) -> Points:
    """Cut the truth to the frames that tracks of every k-th frame can have."""
    step = found.frame_step
    if step <= real.frame_step or not len(found):
        return real
    console.note(f"the tracks are of every {step}th frame, and only those frames of the truth count.")
    return real.cut(slice(int(found.frames.min()) % step, None, step))


def _tracked_frames(tracks: Path) -> str | None:
    """Return the frames that were tracked, where the settings beside the tracks name a part of the movie."""
    from ...tracker.formats.sidecar import read_sidecar
    from ...tracker.settings import Settings

    sidecar = read_sidecar(tracks)
    if sidecar is None or "effective" not in sidecar.settings:
        return None
    return Settings.from_mapping(sidecar.settings["effective"]).input.frames


def _table(score: Score) -> str:
    rows = [
        f"  {'':<11}{'real':>9}{'found':>9}{'right':>9}{'precision':>11}{'recall':>9}{'F1':>9}",
        *(
            f"  {name:<11}{part.real:>9}{part.predicted:>9}{part.correct:>9}"
            f"{part.precision:>11.4f}{part.recall:>9.4f}{part.f1:>9.4f}"
            for name, part in (("detections", score.detections), ("links", score.links))
        ),
        f"  {'tracks':<11}{score.tracks.real:>9}{score.tracks.predicted:>9}{score.tracks.complete:>9}"
        f"   {score.tracks.completeness:.1%} complete, {score.tracks.mean_coverage:.1%} covered on average,",
        f"  {'':<38}   {score.tracks.mean_fragments:.2f} pieces a track, {score.tracks.switches} switches of identity",
    ]
    return "\n".join(rows)
