"""`auctrack draw`: a picture of tracks that are there already, of the part one wants to see."""
# ruff: noqa: ARG001 - the options reach `given_settings` through the context

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...words.setting_options import OF_TABLE
from ..arguments import options
from ..arguments.command_settings import given_settings, input_beside
from ..arguments.taking import taking
from ..terminal import console

if TYPE_CHECKING:
    from ....tracker.points import Tracks
    from ....tracker.settings import InputSettings

_shown, _input = map(options.panel, ("What is shown", "Input"))


@taking(*OF_TABLE[:-1])
def command(
    ctx: typer.Context,
    tracks: Annotated[
        Path,
        typer.Argument(
            metavar="TRACKS", show_default=False, help="Table of tracks: .csv, .csv.gz, .tsv, .txt or .parquet."
        ),
    ],
    movie: Annotated[
        str | None,
        _input(
            "MOVIE",
            "Movie behind the tracks. Default: the one that they come from, as TRACKS.settings.json says; "
            "without one they are drawn on black.",
        ),
    ] = None,
    frames: Annotated[
        str | None,
        _shown("FROM:TO", "Frames to show, counted from 0; TO is excluded. Example: 80:100."),
    ] = None,
    roi: Annotated[
        str | None,
        _shown(
            "RANGES",
            "Region to show, in voxels: one from:to per axis, in the order z,y,x. Example: 10:14,:,: for a slab.",
        ),
    ] = None,
    only: Annotated[
        str | None,
        _shown(
            "ID,…",
            "Show only these tracks, by track_id. Example: 12,40 (track and report name doubtful ones).",
            "--tracks",
        ),
    ] = None,
    colour: Annotated[
        str | None,
        _shown(
            "track|time|speed|COLUMN",
            "One colour per track, or colours from early to late, from slow to fast steps, or by a measure of each "
            "track (mean_speed, see auctrack measure) or a column of numbers of the table. Default: by time where only "
            "the last frames are shown.",
        ),
    ] = None,
    min_length: Annotated[int, _shown("N", "Leave out tracks of fewer detections.", least=1)] = 1,
    output: Annotated[
        Path | None,
        options.in_output(
            "FOLDER|FILE.png",
            "Where the picture goes. Default: NAME.tracks.png beside the tracks.",
            "--output",
            "-o",
        ),
    ] = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Draw tracks over the maximum projection of their movie, from above, and in 3D from the side too.

    Where tracks cross too often to be told apart, only some are shown: the last 100 to 5 frames, and for each view a
    slab in depth, marked by dashed lines in the other view; if there are still too many, a region in the middle. The
    title says what is shown. --frames and --roi choose the part instead.

    [bold]Examples[/bold]

    auctrack draw movie.tracks.csv --overwrite

    auctrack draw movie.tracks.csv --tracks 12,40 -o two.png

    auctrack draw movie.tracks.csv --colour speed -o speeds.png

    auctrack draw movie.tracks.csv --frames 80:100 --roi 10:14,:,: --colour time -o late.png
    """
    from dataclasses import replace

    wanted = None if only is None else _ids(only)
    given = given_settings({**ctx.params, "min_length": None}).input
    if given.frame_slice is not None and given.frame_slice.step is not None:
        raise typer.BadParameter(f"needs FROM:TO, without a step; got {frames!r}.", param_hint="--frames")
    from ....tracker.measuring.measures import filter_by_length
    from ...words.notes import on_length
    from ..results.picture import write_picture
    from ..results.picture_part import Look
    from ..results.tracks_table import read_tracks_table
    from ..runs.inputs import stem
    from ..terminal.destination import make_ready
    from ..terminal.interrupt import held_back

    result = output or tracks.parent
    if result.is_dir() or not result.suffix:
        result /= f"{stem(tracks.name)}.tracks.png"
    if result.suffix.lower() != ".png":
        raise typer.BadParameter(f"needs a folder, or a name that ends in .png; got {output}.", param_hint="--output")
    make_ready(result, overwrite=overwrite, inputs=[tracks])
    read = read_tracks_table(tracks, tracks, given.of_table)
    source, how = movie_behind(tracks, movie)
    look = Look(given.frame_slice, given.roi_slices, colour, min_length)
    kept = filter_by_length(read if wanted is None else _named(read, wanted), min_length)
    console.note(*on_length(read, min_length))
    with held_back():
        how = replace(how, roi=None, frames=None)
        with console.at_work(tracks.name, "drawing it"):
            write_picture(kept, source, how, result, name=tracks.name, look=look, overwrite=overwrite)
    console.show(console.aligned([("picture", str(result))]))


def _ids(text: str) -> set[int]:
    """Return track ids that are separated by commas.

    Raises
    ------
    typer.BadParameter
        If one is no whole number.
    """
    try:
        return {int(part) for part in text.split(",")}
    except ValueError:
        raise typer.BadParameter(f"needs track ids such as 12,40; got {text!r}.", param_hint="--tracks") from None


def _named(tracks: Tracks, ids: set[int]) -> Tracks:
    """Return the tracks of these ids.

    Raises
    ------
    InvalidSetting
        If there is no such track.
    """
    import numpy as np

    from ....tracker.errors import InvalidSetting

    track_id = tracks.table["track_id"].to_numpy()
    if missing := sorted(ids - set(track_id.tolist())):
        named = f"track{'s' * (len(missing) > 1)} {', '.join(map(str, missing))}"
        raise InvalidSetting(f"names {named}, which {'are' if missing[1:] else 'is'} not there.", setting="tracks")
    return tracks.only(np.isin(track_id, [*ids]))


def movie_behind(tracks: Path, movie: str | None) -> tuple[str | None, InputSettings]:
    """Return the movie to draw over, None where there is none, and how it is read: as when the tracks were made.

    A movie that is no longer where it was is looked for beside the tracks, as when both were moved.

    Raises
    ------
    InvalidInput
        If the movie that the tracks come from is no longer there.
    """
    from dataclasses import replace

    from ....tracker.errors import InvalidInput
    from ....tracker.formats.sidecar import read_sidecar
    from ....tracker.settings import InputSettings

    sidecar = read_sidecar(tracks)
    record: dict[str, Any] = dict(sidecar.settings) if sidecar is not None else {}
    how = input_beside(tracks) or InputSettings()
    if movie is not None:
        return movie, replace(how, kind="auto") if how.kind == "table" else how
    source = record.get("source")
    if source is None or how.is_table(source):
        return None, how
    for place in (source, str(tracks.parent / Path(source).name)):
        if Path(place).exists() or glob.glob(place):  # noqa: PTH207 - the pattern may be absolute
            return place, how
    raise InvalidInput(f"{tracks}: the movie behind it, {source}, was not found. Give its path with --movie.")
