"""`auctrack link`: a table of points in, tracks out."""
# ruff: noqa: ARG001 - the options reach `given_settings` through the context

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...words.setting_options import INPUT, LINK, OF_TABLE, REST
from ..arguments import options
from ..arguments.command_settings import given_settings
from ..arguments.taking import chosen, taking, typer_option
from ..terminal import console


@taking(*OF_TABLE, INPUT["frames"], INPUT["roi"], *chosen(LINK))
def command(
    ctx: typer.Context,
    points: Annotated[
        Path,
        typer.Argument(
            metavar="POINTS",
            show_default=False,
            help="Table of points: .csv, .csv.gz, .tsv, .txt or .parquet; - is standard input.",
        ),
    ],
    output: Annotated[
        str | None,
        options.in_output(
            "FILE|FOLDER",
            "Tracks; the ending of the name chooses the format (auctrack convert --help lists them). A folder, or "
            "left out: NAME.tracks.csv there, or in the current folder.",
            "--output",
            "-o",
        ),
    ] = None,
    format_: options.Format = None,
    min_length: Annotated[int | None, typer_option(REST["min_length"])] = None,
    overwrite: options.Overwrite = False,
    config: options.Config = None,
    verbose: options.Verbose = False,
    log: options.Log = None,
) -> None:
    """Link the particles of a table from frame to frame into tracks.

    The table needs the columns frame, y, x (and z if 3D), or the names that trackpy, laptrack, TrackMate or napari give
    them. Lengths are in the table's unit: pixels, unless the table or an option says otherwise. The result is the same
    table, rows in the same order, with a column track_id (an existing one is replaced), parent_track_id where particles
    divide or merge (--divisions, --merges), and link_probability and link_margin of the link leading to each row (not
    with --motion none or --linking jaqaman); units and settings are in FILE.settings.json beside it.

    [bold]Examples[/bold]

    auctrack link movie.points.csv --search-range 8

    auctrack link spots.csv --columns frame=Time,x=cx,y=cy --voxel 0.2,0.2

    auctrack link spots.csv --linking jaqaman --search-range 15 --divisions     (as TrackMate's LAP tracker)

    zcat spots.csv.gz | auctrack link - -o spots.tracks.csv
    """
    from ..terminal.destination import checked_format, destination, make_ready, note_losses

    checked_format(format_)
    settings = given_settings(ctx.params)
    from dataclasses import replace

    from ....tracker.formats.registry import to_write
    from ....tracker.formats.sidecar import own_calibration
    from ....tracker.formats.write import write_tracks
    from ....tracker.pipeline import stages
    from ....tracker.stage_seconds import StageSeconds
    from ...words.notes import on_voxels
    from ..runs.batch import report
    from ..runs.inputs import Job, stem
    from ..runs.record import as_drawn, tracking_record
    from ..terminal.interrupt import held_back
    from ..terminal.standard_input import table_file

    settings = replace(settings, input=replace(settings.input, kind="table"))
    with table_file(points) as file:
        job = Job(str(points), (file,), destination(output, f"{stem(str(file))}.tracks", format_))
        into = to_write(job.result, format_)
        make_ready(job.result, overwrite=overwrite, inputs=job.files, is_folder=into.is_folder, has_settings=True)
        result = console.watched(job.source, stages(file, settings), console.READING)
    writing = StageSeconds()
    with held_back(job.result), writing.of("write"), console.at_work(job.source, f"writing {job.result.name}"):
        drawn = as_drawn(file, result.tracks.calibration)
        record = {**tracking_record(job.source, settings, result), **drawn}
        write_tracks(result.tracks, job.result, settings=record, overwrite=overwrite, format=format_)
    report(job, result, record["figures"], {**result.seconds, **writing})
    console.note(*on_voxels(own_calibration(file), result.tracks, settings.input.scale))
    note_losses(result.tracks, job.result, into)
