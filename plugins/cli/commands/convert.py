"""`auctrack convert`: points or tracks from one format into another."""
# ruff: noqa: ARG001 - the options reach `given_settings` through the context

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...words.setting_options import OF_TABLE
from ..arguments import options
from ..arguments.command_settings import given_settings, usage
from ..arguments.taking import taking
from ..terminal import console

if TYPE_CHECKING:
    from ....tracker.points import Points


@taking(*OF_TABLE)
def command(
    ctx: typer.Context,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="IN", show_default=False, help="Points or tracks in any format that is read; - is standard input."
        ),
    ],
    result: Annotated[
        Path,
        typer.Argument(
            metavar="OUT", show_default=False, help="The file or folder to write; its ending chooses the format."
        ),
    ],
    drawn_diameter: Annotated[
        float | None,
        options.in_output(
            "LENGTH",
            "Diameter of the particles where the format draws them (ctc, trackmate), in the unit of the input. "
            "Default: that of the detection or, of labels, of a sphere of their median size, where the input tells it, "
            "else 5 voxels.",
            "--diameter",
        ),
    ] = None,
    image_shape: Annotated[
        str | None,
        options.in_output(
            "Z,Y,X",
            "Voxels of the movie along z,y,x (or y,x), for label images (ctc). Default: as the input tells, else "
            "as many as the positions need.",
        ),
    ] = None,
    format_: options.Format = None,
    overwrite: options.Overwrite = False,
    verbose: options.Verbose = False,
    log: options.Log = None,
) -> None:
    """Convert points or tracks to another program's format, with units, frame interval and lineage.

    A table with a column track_id (or another program's name for it) is read as tracks, anything else as points.
    Options supply what the input does not say: column names, units, the frame interval. What the output cannot hold is
    listed; units, lineage and the settings that made the input are always written beside it, to OUT.settings.json.

    Tables (.csv, .csv.gz, .tsv, .txt, .parquet) of trackpy, laptrack, btrack, ilastik, TrackMate, Imaris, napari,
    motile-tracker, celltrackR, ThunderSTORM and SMAP are read; so are laptrack's splits and merges, if split_df.csv and
    merge_df.csv are beside track_df.csv (or splits.csv beside tracks.csv), and TrackMate's edges.csv beside spots.csv.
    Read and written are:

    [bold]csv[/bold] (.csv): auctrack, trackpy, pandas

    [bold]parquet[/bold] (.parquet): auctrack, pandas, Arrow

    [bold]napari[/bold] (.napari.csv): napari's layers

    [bold]motile[/bold] (.motile.csv): napari-track-edit, motile-tracker

    [bold]trackmate[/bold] (.xml, .trackmate.xml): TrackMate

    [bold]isbi[/bold] (.isbi.xml, .xml): ISBI 2012 particle tracking challenge, Icy

    [bold]trackmate_tracks[/bold] (.xml): TrackMate's tracks alone (Export tracks to XML file); read only

    [bold]session[/bold] (.auctrack): sessions of corrections (write_session, napari); read only

    [bold]mastodon[/bold] (.mastodon): Mastodon's projects; read only

    [bold]utrack[/bold] (.mat): u-track's tracksFinal; read only

    [bold]geff[/bold] (.geff): GEFF (motile-tracker, Mastodon, traccuracy, …; needs the extra formats)

    [bold]ctc[/bold] (_RES): Cell Tracking Challenge folders (01_RES, 01_GT). Particles become spheres; tracks
    are cut where they miss a frame.

    [bold]Examples[/bold]

    auctrack convert movie.tracks.csv movie.xml

    auctrack convert movie.tracks.csv 01_RES --diameter 6 --image-shape 40,512,512

    auctrack convert spots.csv tracks.parquet --columns frame=Time,track_id=Cell --voxel 2,0.5,0.5
    """
    from ..terminal.destination import checked_format, make_ready, note_losses, refuse_other_ending

    checked_format(format_)
    refuse_other_ending(result, format_)
    given = given_settings(ctx.params).input
    drawn = _drawn(drawn_diameter, image_shape)
    from ....tracker.formats.registry import to_write
    from ....tracker.formats.sidecar import read_sidecar
    from ....tracker.formats.tables import read_either
    from ....tracker.formats.write import write_points, write_tracks
    from ....tracker.points import Tracks
    from ...words.notes import on_voxels
    from ..terminal.interrupt import held_back
    from ..terminal.standard_input import STANDARD_INPUT, table_file

    with usage("OUT"):
        into = to_write(result, format_)
    make_ready(
        result,
        overwrite=overwrite,
        inputs=[source],
        is_folder=into.is_folder,
        has_settings=True,
        elsewhere="another OUT",
    )
    name = "stdin" if source == STANDARD_INPUT else source.name
    with table_file(source) as file, console.at_work(name, "reading it"):
        points = read_either(file, **given.of_table)
        beside = read_sidecar(file)
    record: dict[str, Any] = {**({} if beside is None else beside.settings), "converted_from": str(source), **drawn}
    with held_back(result), console.at_work(result.name, "writing it"):
        if isinstance(points, Tracks):
            write_tracks(points, result, settings=record, overwrite=overwrite, format=format_)
        else:
            write_points(points, result, settings=record, overwrite=overwrite, format=format_)
    _report(points, result)
    console.note(*on_voxels(None if beside is None else beside.calibration, points, given.scale))
    note_losses(points, result, into)


def _drawn(diameter: float | None, image_shape: str | None) -> dict[str, Any]:
    """Return what was said for formats that draw particles, as their settings have it."""
    if diameter is not None and not 0 < diameter < math.inf:
        raise typer.BadParameter(f"needs a length above zero; got {diameter}.", param_hint="--diameter")
    lengths = [] if image_shape is None else image_shape.split(",")
    if image_shape is not None and not all(length.isdecimal() and int(length) for length in lengths):
        raise typer.BadParameter(
            f"needs whole numbers of voxels, such as 40,512,512; got {image_shape}.", param_hint="--image-shape"
        )
    said: dict[str, Any] = {"diameter": diameter, "image_shape": [int(length) for length in lengths] or None}
    return {name: value for name, value in said.items() if value is not None}


def _report(points: Points, result: Path) -> None:
    from ....tracker.points import Tracks

    rows = [("points", console.found_in(len(points), len(points.frame_numbers)))]
    if isinstance(points, Tracks):
        descended = f", {len(points.parents)} of which descend from others" if points.parents else ""
        rows.append(("tracks", f"{points.table['track_id'].nunique()}{descended}"))
    rows += [("units", points.calibration.in_words(points.ndim)), ("written", str(result))]
    console.show(console.aligned(rows))
