"""`auctrack detect`: a movie in, a table of its particles out."""
# ruff: noqa: ARG001 - the options reach `given_settings` through the context

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from ....tracker.errors import InvalidInput
from ...words.setting_options import DETECT, INPUT, LINK
from ..arguments import options
from ..arguments.command_settings import given_settings
from ..arguments.taking import chosen, taking
from ..terminal import console


@taking(*chosen(INPUT, without="frame_step columns"), *chosen(DETECT), LINK["device"], LINK["memory_budget"])
def command(
    ctx: typer.Context,
    movie: Annotated[
        str,
        typer.Argument(metavar="MOVIE", show_default=False, help="One movie: a file, a folder or a quoted pattern."),
    ],
    output: Annotated[
        str | None,
        options.in_output(
            "FILE|FOLDER",
            "Points table; .csv, .parquet or .napari.csv, or a folder. Default: NAME.points.csv in the current folder "
            "(NAME.SERIES.points.csv of one of several series).",
            "--output",
            "-o",
        ),
    ] = None,
    format_: options.Format = None,
    overwrite: options.Overwrite = False,
    config: options.Config = None,
    verbose: options.Verbose = False,
    log: options.Log = None,
) -> None:
    """Find the particles in every frame and write their positions, for auctrack link.

    The table has one row per particle: frame, and z, y, x in voxels of the movie (z_um, y_um, x_um: in µm). Units and
    settings stand beside it in FILE.settings.json.

    quality: the response of the filter at the peak, in grey levels: roughly the particle's contrast; --threshold is its
    lower limit.

    intensity: mean grey level within half a diameter of the particle's centre.

    snr: signal-to-noise ratio: that mean minus the mean of the shell around the particle (1 to 1.5 radii), divided by
    the shell's standard deviation.

    [bold]Examples[/bold]

    auctrack detect movie.ome.tif --diameter 6

    auctrack detect masks.tif --labels --voxel 2,0.5,0.5 -o cells.csv
    """
    from ..terminal.destination import checked_format, destination, make_ready

    checked_format(format_)
    settings = given_settings(ctx.params)
    from ....tracker.formats.write import write_points
    from ....tracker.pipeline import finding
    from ....tracker.stage_seconds import StageSeconds
    from ...words.notes import on_points
    from ..runs.batch import describe, note_tone
    from ..runs.chosen_series import only_series
    from ..runs.inputs import Job, result_name
    from ..runs.record import run_record
    from ..terminal.interrupt import held_back

    series = only_series(movie, settings.input)
    settings = series.settings(settings)
    result = destination(output, f"{result_name(movie, series)}.points", format_)
    make_ready(result, overwrite=overwrite, has_settings=True)
    if settings.input.is_table(movie):
        raise InvalidInput(f"{movie} is a table, whose particles are found already; auctrack link links them.")
    described, seconds = describe(Job(movie, (), result), settings), StageSeconds()
    found = console.watched(movie, finding(movie, settings, seconds))
    points, found_with = found.points, found.settings
    effective = settings if found_with is None else replace(settings, detect=found_with)
    with held_back(result), seconds.of("write"):
        record = {**run_record(movie, settings, effective), **described}
        write_points(points, result, settings=record, overwrite=overwrite, format=format_)
    rows: list[tuple[str, str]] = []
    if found_with is not None:
        rows.append(("detect", found_with.in_words(points.calibration.unit)))
    rows += [
        ("points", console.found_in(len(points), len(points.frame_numbers))),
        ("written", str(result)),
        ("took", console.stages(seconds, seconds.devices, digits=1)),
    ]
    console.show(console.aligned(rows))
    if not len(points):
        console.note(*on_points(points, detected=found_with is not None))
    console.note(*found.notes)
    if found_with is not None:
        note_tone(movie, effective)
