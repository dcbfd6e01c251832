"""`auctrack track`: movies in, tracks out."""
# ruff: noqa: ARG001 - the options reach `given_settings` through the context

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...words.setting_options import DETECT, INPUT, LINK, REST
from ..arguments import options
from ..arguments.command_settings import given_settings
from ..arguments.taking import chosen, taking, typer_option
from ..terminal import console


@taking(*chosen(INPUT, DETECT, LINK))
def command(
    ctx: typer.Context,
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="INPUT",
            show_default=False,
            help="Movies (OME-TIFF, ImageJ, plain TIFF, OME-Zarr), tables of points (CSV, Parquet), folders, or quoted "
            "patterns.",
        ),
    ] = None,
    output: Annotated[
        Path,
        options.in_output(
            "FOLDER|FILE",
            "Where results go; created if needed. Default: the current folder. For a single input also the name of its "
            "file of tracks, whose ending chooses the format.",
            "--output",
            "-o",
            show_default=False,
        ),
    ] = Path(),
    format_: options.Format = None,
    min_length: Annotated[int | None, typer_option(REST["min_length"])] = None,
    picture: Annotated[
        bool,
        options.in_output(
            "",
            "Also draw the tracks over the movie's maximum projection, into NAME.tracks.png; where tracks are dense, "
            "only a part, named in the title (auctrack draw shows other parts).",
            "--picture",
        ),
    ] = False,
    summary: Annotated[
        Path | None,
        options.in_output(
            "FILE",
            "Where the JSON summary of this run goes. Default: auctrack-summary.json in the output folder, where "
            "inputs of other runs stay, so that the tasks of a Slurm array make one together; what it says of an input "
            "is kept if the options fit none.",
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    dry_run: Annotated[
        bool,
        options.in_output(
            "",
            "Only show how each input is read, and how many particles, how much memory and time to expect. "
            "Writes nothing except the file of --save-config.",
            "--dry-run",
        ),
    ] = False,
    config: options.Config = None,
    save_config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.toml",
            rich_help_panel="Settings",
            help="Write the settings given here to a TOML file, for --config in later runs; without an INPUT, do "
            "nothing else.",
        ),
    ] = None,
    verbose: options.Verbose = False,
    log: options.Log = None,
) -> None:
    """Follow every particle: read movies or point tables, and write one table of tracks for each.

    Each input gets NAME.tracks.csv (or the name that --output gives; NAME.SERIES.tracks.csv where --series chooses one
    of several) with the columns frame, z, y, x (in voxels of the movie), z_um, y_um, x_um (the same in µm, if the voxel
    size is known), t_s (time, if the frame interval is known), features, track_id, parent_track_id (the track it comes
    from, where particles divide or merge: --divisions, --merges), and link_probability and link_margin: how certain the
    link leading to the particle is (empty where a track begins; absent with --motion none or --linking jaqaman). Beside
    it, NAME.tracks.csv.settings.json holds the units, every setting, and the values that "auto" stood for.

    The TIFF files of a folder or pattern form one movie if each holds one time point; otherwise each file is a separate
    input. A result that is up to date is skipped; one made from another input or with other settings, or changed since,
    is replaced only with --overwrite. Results that would have the same name go into folders named as those of their
    inputs. An input that fails never stops the others. Ctrl-C keeps what is finished.

    [bold]Examples[/bold]

    auctrack track movie.ome.tif --picture

    auctrack track movie.tif --axes TZYX --voxel 2,0.5,0.5 --diameter 6

    auctrack track 'day1/*.tif' day2 --config ours.toml -o results --dry-run

    Exit codes: 0 success, 1 an input failed, 2 wrong usage (nothing was read), 130 interrupted.
    """
    from ..runs.inputs import only, plan
    from ..runs.outcome import exit_code
    from ..terminal.destination import checked_folder, checked_format, is_one_file

    checked_format(format_)
    settings = given_settings(ctx.params)
    if save_config is not None:
        from ....tracker.formats.write import write_whole
        from ..arguments.settings_file import settings_file

        if save_config.suffix.lower() != ".toml":
            raise typer.BadParameter(f"needs a name that ends in .toml; got {save_config}.", param_hint="--save-config")
        write_whole({save_config: settings_file(settings).encode()}, overwrite=overwrite)
        console.show(console.aligned([("settings", str(save_config))]))
        if not inputs:
            return
    if not inputs:
        raise typer.BadParameter("needs a movie, table, folder or quoted pattern, or several.", param_hint="INPUT")
    if "" in inputs:  # what a shell makes of a variable that is not set; as a path it is the current folder
        raise typer.BadParameter("an input needs a name; got an empty one.", param_hint="INPUT")
    if "-" in inputs:
        raise typer.BadParameter("movies are files; a table from standard input: auctrack link -", param_hint="INPUT")
    folder = checked_folder(output)
    jobs = plan(inputs, folder, format_ or "csv", settings.input)
    if is_one_file(output):
        jobs = [only(jobs, output, format_)]
    from ....tracker.formats.write import require_writable
    from ..runs import batch
    from ..runs.summary import NAME, is_worth_a_summary, write_summary

    require_writable(folder)
    if summary is not None:
        require_writable(summary.parent)
    if dry_run:
        from ..runs.dry_run import show_plan

        raise typer.Exit(show_plan(jobs, settings, overwrite=overwrite, picture=picture))
    outcomes = batch.run_all(jobs, settings, overwrite=overwrite, picture=picture)
    if summary is not None or is_worth_a_summary(jobs, outcomes, settings, folder):
        write_summary(summary or folder / NAME, outcomes, of_folder=summary is None)
    raise typer.Exit(exit_code([outcome.status for outcome in outcomes]))
