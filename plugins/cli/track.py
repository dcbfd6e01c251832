"""`auctrack track`: movies in, tracks out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import options


def command(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT…",
            show_default=False,
            help="Movies (OME-TIFF, ImageJ, plain TIFF), point tables (CSV, Parquet), folders or quoted glob patterns.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", rich_help_panel="Output", help="Where results go.")
    ] = Path(),
    format_: Annotated[
        str, typer.Option("--format", metavar="csv|parquet|napari", rich_help_panel="Output", help="Format of the tracks.")
    ] = "csv",
    picture: Annotated[
        bool, typer.Option("--picture", rich_help_panel="Output", help="Also draw the tracks over the movie, as PNG.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", rich_help_panel="Output", help="Say what would be read and how large it is; track nothing."
        ),
    ] = False,
    summary: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", rich_help_panel="Output", help="JSON summary; auctrack-summary.json in the output folder."
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    min_length: options.MinLength = None,
    config: options.Config = None,
    axes: options.Axes = None,
    voxel: options.Voxel = None,
    unit: options.Unit = None,
    frame_interval: options.FrameInterval = None,
    channel: options.Channel = None,
    frames: options.Frames = None,
    roi: options.Roi = None,
    labels: options.Labels = False,
    intensity: options.Intensity = None,
    columns: options.Columns = None,
    diameter: options.Diameter = None,
    threshold: options.Threshold = None,
    method: options.Method = None,
    dark: options.Dark = False,
    search_range: options.SearchRange = None,
    unmatched_cost: options.UnmatchedCost = None,
    cost: options.Cost = None,
    solver: options.Solver = None,
    device: options.Device = None,
) -> None:
    """Follow every particle: movies or point tables in, a table of tracks for each out.

    Each input gets NAME.tracks.csv in the output folder: the columns frame, z, y, x, the particle's features and
    track_id; its units and every setting that took effect stand beside it in NAME.tracks.csv.settings.json.

    A folder or quoted pattern of TIFF files with one time point each is one movie; otherwise each file is an input of its
    own. A result that is up to date is skipped, one that is not is only replaced with --overwrite. A broken input
    never stops the others.

    Examples:

      auctrack track movie.ome.tif

      auctrack track movie.tif --axes TZYX --voxel 2,0.5,0.5 --diameter 6 --search-range 8 -o results

      auctrack track 'frames/t*.tif' spots.csv --config settings.toml --dry-run
    """
    from ...tracker.errors import InvalidSetting
    from ...tracker.settings import Settings
    from . import batch
    from .inputs import SUFFIXES, plan

    if format_ not in SUFFIXES:
        raise InvalidSetting(f"--format needs one of {', '.join(SUFFIXES)}; got {format_!r}.")
    stated = options.settings_mapping(
        config,
        axes=axes,
        voxel=voxel,
        unit=unit,
        frame_interval=frame_interval,
        channel=channel,
        frames=frames,
        roi=roi,
        labels=labels,
        intensity=intensity,
        columns=columns,
        diameter=diameter,
        threshold=threshold,
        method=method,
        dark=dark,
        search_range=search_range,
        unmatched_cost=unmatched_cost,
        cost=cost,
        solver=solver,
        device=device,
        min_length=min_length,
    )
    settings = batch.check_settings(stated, Settings.from_mapping)
    jobs = plan(inputs, output, format_, settings.input)
    if dry_run:
        from .dry_run import show

        raise typer.Exit(show(jobs, settings))
    output.mkdir(parents=True, exist_ok=True)
    outcomes = batch.run_all(jobs, settings, overwrite=overwrite, picture=picture)
    batch.write_summary(summary or output / "auctrack-summary.json", outcomes)
    raise typer.Exit(_exit_code(outcomes))


def _exit_code(outcomes: list[batch.Outcome]) -> int:  # noqa: F821
    states = {outcome.status for outcome in outcomes}
    if "interrupted" in states:
        return 130
    return 1 if "failed" in states else 0
