"""The `auctrack` command: its list of commands, and what every error and Ctrl-C turns into."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ... import __version__
from ...matching.errors import AuctrackError
from ...tracker.errors import InvalidSetting
from . import detect, info, link, measure, score, simulate, track
from .console import fail, stderr

ALL_GOOD, SOME_FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130

app = typer.Typer(
    name="auctrack",
    help="""
    Follow every particle of a 3D movie. Each pair of frames is solved as an assignment problem, to proven optimality.

    Start with [bold]auctrack info MOVIE[/bold] (what is in the file?), then [bold]auctrack track MOVIE[/bold] (movie in,
    tracks out). Distances are in the movie's physical unit, µm as a rule; axes are always in the order z, y, x.
    """,
    epilog="Exit codes: 0 all good, 1 some inputs failed, 2 wrong usage, 130 interrupted.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)

for command in (track, detect, link, measure, simulate, score, info):
    app.command(name=command.__name__.rpartition(".")[2])(command.command)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"auctrack {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    del version


def main() -> None:
    """Run the command line; every failure ends in one sentence and its exit code, never in a traceback."""
    try:
        app(standalone_mode=True)
    except InvalidSetting as error:
        fail(str(error))
        sys.exit(USAGE)
    except AuctrackError as error:
        fail(str(error))
        sys.exit(SOME_FAILED)
    except OSError as error:
        fail(f"{error.filename or 'system'}: {error.strerror or error}.")
        sys.exit(SOME_FAILED)
    except KeyboardInterrupt:
        stderr().print("interrupted")
        sys.exit(INTERRUPTED)
