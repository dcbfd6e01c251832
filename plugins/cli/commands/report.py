"""`auctrack report`: a page about every table of tracks."""
# ruff: noqa: ARG001 - `verbose` and `log` act where they are declared

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from ....tracker.errors import InvalidInput
from ...words.errors import columns_option, sentence
from ..arguments import options
from ..runs.outcome import SOME_FAILED
from ..terminal import console

if TYPE_CHECKING:
    from ....tracker.points import Tracks
    from ...report.movie_report import Result

INDEX = "index.html"
_input = options.panel("Input")


def command(
    tracks: Annotated[
        list[Path],
        typer.Argument(
            metavar="TRACKS",
            show_default=False,
            help="Tables of tracks, folders of them (those with TABLE.settings.json beside), or quoted patterns.",
        ),
    ],
    movie: Annotated[
        str | None,
        _input(
            "MOVIE",
            "Movie behind the tracks, where it is no longer where TRACKS.settings.json says. For one table only.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        options.in_output(
            "FOLDER|FILE.html",
            "Where the pages go; of one table also the name of its page. Default: beside each table.",
            "--output",
            "-o",
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    verbose: options.Verbose = False,
    log: options.Log = None,
) -> None:
    """Write a page about a result: the input, the settings, the tracks, their motion, and how certain it is.

    NAME.report.html is self-contained, pictures included, and opens in any browser, offline too. It shows: the movie,
    voxel size and frames; frames that are frozen, shifted or very different from the others; every setting, and whether
    it was measured or given; what was learned of the motion; counts per frame; histograms of track length, displacement
    and gaps; the mean squared displacement with its intervals; doubtful links, if the table has a column
    link_probability, by link and by track, and the accuracy expected, now and at half the frame rate; how the links
    were proven; and the command that repeats the run. For several tables, index.html lists the pages.

    [bold]Examples[/bold]

    auctrack report results/movie.tracks.csv

    auctrack report results -o pages
    """
    from ....tracker.formats.write import write_whole
    from ...report.index_page import index_page
    from ...report.movie_report import figures, movie_page
    from ..runs.one_input import failure_of
    from ..runs.track_tables import all_tables
    from ..terminal.destination import make_ready

    tables, without = all_tables(tracks)
    if not tables:
        raise typer.Exit(SOME_FAILED)
    if movie is not None and len(tables) > 1:
        raise typer.BadParameter(f"is for one table; got {len(tables)}.", param_hint="--movie")
    listed: dict[str, tuple[str, dict[str, str]]] = {}
    folder = output or tables[0].parent
    pages = _pages(tables, output)
    make_ready(*pages.values(), *[folder / INDEX] * (len(pages) > 1), overwrite=overwrite, inputs=[*pages])

    def write(table: Path, page: Path) -> None:
        with console.at_work(table.name, "measuring and drawing its page"):
            result = _result(table, movie)
            content = movie_page(result).encode()
        write_whole({page: content}, overwrite=overwrite)
        console.show(console.aligned([("report", str(page))]))
        listed[table.name] = quote(Path(os.path.relpath(page, folder)).as_posix()), figures(result)

    if len(pages) == 1:
        write(*next(iter(pages.items())))
    else:
        failures = [failure_of(str(each[0]), partial(write, *each)) for each in pages.items()]
        without = without or any(failures)
    if len(pages) > 1 and listed:
        write_whole({folder / INDEX: index_page(listed).encode()}, overwrite=overwrite)
        console.show(console.aligned([("index", str(folder / INDEX))]))
    if without:
        raise typer.Exit(SOME_FAILED)


def _pages(tables: Sequence[Path], output: Path | None) -> dict[Path, Path]:
    """Return the page of each table: the one that was named, or one in a folder, that of the table unless said.

    A table that is given twice, as beside its folder, has one.

    Raises
    ------
    typer.BadParameter
        If one is named for several tables, or what looks like a file of another kind and is no folder yet.
    InvalidInput
        If two tables would have one page.
    """
    from ..runs.inputs import stem

    is_folder = output is None or output.is_dir() or not output.suffix[1:].isalpha()
    if output is not None and not is_folder:
        if output.suffix.lower() not in (".html", ".htm"):
            raise typer.BadParameter(
                f"needs a folder, or for one table a name that ends in .html; got {output}, and a folder of that name "
                "has to be made first.",
                param_hint="--output",
            )
        if len(tables) > 1:
            raise typer.BadParameter(
                f"needs a folder, as each of {len(tables)} tables gets its own page there; got {output}.",
                param_hint="--output",
            )
        return {tables[0]: output}
    once = {table.resolve(): table for table in tables}.values()
    pages = {table: (output or table.parent) / f"{stem(table.name)}.report.html" for table in once}
    twice = next((page for page, count in Counter(pages.values()).items() if count > 1), None)
    if twice is not None:
        raise InvalidInput(
            f"two tables of the same name would both get {twice}; leave --output out, and each gets its page beside it."
        )
    return pages


def _result(table: Path, movie: str | None) -> Result:
    """Read a table, what stands beside it, and the movie where it is still there."""
    from ....tracker.formats.sidecar import read_sidecar
    from ...report.movie_report import Result
    from ..results.tracks_table import read_tracks_table

    try:
        read, sidecar = read_tracks_table(table, table, {}), read_sidecar(table)
    except InvalidInput as error:
        if error.setting != "columns":
            raise
        convert = f"auctrack convert {shlex.quote(str(table))} NEW.tracks.csv {columns_option(error)}"
        raise InvalidInput(f"{error.problem} Convert it, and report on what that writes: {convert}.") from None
    settings: dict[str, Any] = {} if sidecar is None else dict(sidecar.settings)
    return Result(table, read, settings, *_seen(table, read, movie))


def _seen(table: Path, tracks: Tracks, movie: str | None) -> tuple[list[str], bytes, bool]:
    """Return what is odd about the movie's frames, the picture, and whether there is a movie behind it."""
    from ....tracker.pipeline import open_movie
    from ....tracker.reading.frame_faults import frame_faults
    from ..results.picture import png
    from ..results.picture_part import Look
    from .draw import movie_behind

    try:
        source, how = movie_behind(table, movie)
    except InvalidInput as error:
        console.note(f"{sentence(error)} Its frames are not looked at.")
        return [], png(tracks, None, console.printable(table.name), Look()), False
    if source is None or how.is_table(source):
        return [], png(tracks, None, console.printable(table.name), Look()), False
    with open_movie(source, how) as opened:
        faults = [] if how.kind == "labels" else frame_faults(opened).lines()
        return faults, png(tracks, opened, console.printable(Path(source).name), Look()), True
