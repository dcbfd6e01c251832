"""The `auctrack` command: its list of commands, and what every error and Ctrl-C turns into."""

from __future__ import annotations

import logging
import signal
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ... import __version__
from ...matching.errors import AuctrackError
from ...tracker.unknown_settings import other_words
from ..words.errors import sentence
from ..words.setting_options import option_of
from .arguments.slips import slip_in
from .commands import bench, convert, detect, draw, info, link, measure, report, score, simulate, track, warm_up
from .runs.outcome import INTERRUPTED, SOME_FAILED
from .terminal import console
from .terminal.freed_memory import keep_freed_memory
from .terminal.idle_threads import let_idle_threads_sleep
from .terminal.interrupt import CtrlCAsItself
from .terminal.unread import outlive_readers

_LOG = logging.getLogger(__name__)

_FOR_SEVERAL = {
    "link": "It links one table, whose result is named by -o; auctrack track links each of several, or of a folder",
    "detect": "It takes one movie: of several files its folder, or a pattern in quotes",
    "info": "It looks at one input: of a movie of several files the folder, or a pattern in quotes",
}
"""What is said of more inputs than a command takes, as a pattern without quotes makes them."""


class _OneSentence(TyperGroup):
    """A group in which an error that we know ends in one sentence and its exit code, never in a traceback."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that words call, unless there is a slip in them."""
        name, command, rest = super().resolve_command(ctx, args)
        known = {option for each in getattr(command, "params", ()) for option in each.opts}
        if slip := slip_in(rest, known):
            ctx.fail(console.printable(slip))
        return name, command, rest

    def invoke(self, ctx: Any) -> Any:
        logging.getLogger("tifffile").setLevel(logging.CRITICAL)  # what it finds wrong with a file, our sentence says
        try:
            with CtrlCAsItself(typer.Exit, typer.BadParameter):
                return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = console.printable(error.message)
            raise
        except KeyboardInterrupt:
            console.say("interrupted; nothing half-written was left")
            raise typer.Exit(INTERRUPTED) from None
        except (AuctrackError, OSError, MemoryError) as error:
            console.fail(sentence(error))
            _LOG.debug("where it failed", exc_info=error)
            raise typer.Exit(SOME_FAILED) from None
        except Exception as error:
            _name_what_was_meant(error)
            raise


def _name_what_was_meant(error: Any) -> None:
    """Have the error of an option that is none propose what other programs call so, not what is spelt alike.

    And that of several inputs where one is taken say what takes them.
    """
    if "unexpected extra argument" in getattr(error, "message", "") and error.ctx.command.name in _FOR_SEVERAL:
        error.message = f"{error.message}. {_FOR_SEVERAL[error.ctx.command.name]}."
    name = getattr(error, "option_name", None)
    if name is None or not hasattr(error, "possibilities"):
        return
    known = {option for each in error.ctx.command.params for option in each.opts}
    meant = {option_of(word) for word in other_words(name.lstrip("-").replace("-", "_"))} & known
    if meant:
        error.possibilities = sorted(meant)
    elif instead := _said_of_result(name, error.ctx) or _said_of_others(name, error.ctx):
        error.message, error.possibilities = f"{error.message}. {instead}", None


def _said_of_result(name: str, ctx: Any) -> str:
    """Return that a result is named without an option, where it is an argument."""
    arguments = [each.metavar for each in ctx.command.params if each.param_type_name == "argument"]
    if name not in ("-o", "--output") or "OUT" not in arguments:
        return ""
    return f"The result is named without it: auctrack {ctx.command.name} {' '.join(arguments)}"


def _said_of_others(name: str, ctx: Any) -> str:
    """Return which other commands have an option; none where none has."""
    commands = ctx.parent.command.commands.values() if ctx.parent else ()
    others = [str(each.name) for each in commands if any(name in given.opts for given in each.params)]
    if len(others) < 2:
        return "".join(f"auctrack {other} has it." for other in others)
    return f"auctrack {', '.join(others[:-1])} and {others[-1]} have it."


def _page(doc: str) -> str:
    """Return a docstring as a help page: paragraphs flow with the terminal's width, examples stand out."""
    paragraphs = [" ".join(paragraph.split()) for paragraph in doc.split("\n\n")]
    return "\n\n".join(
        f"[cyan]$ {paragraph}[/cyan]" if paragraph.startswith("auctrack ") else paragraph for paragraph in paragraphs
    )


app = typer.Typer(
    name="auctrack",
    cls=_OneSentence,
    help=_page(
        """
    Follow every particle in a 2D or 3D movie.

    Links are found by solving one assignment problem over the whole movie, and each result is proven optimal.
    Start with [bold]auctrack info MOVIE[/bold] (what is in the file, and which settings suit it), then
    [bold]auctrack track MOVIE[/bold] (movie in, tracks out). Lengths are in the movie's unit, usually µm; axes are
    always in the order z, y, x.
    """
    ),
    epilog="Exit codes: 0 success; 1 an input failed, did not match an option, or its result could not be written; 2 "
    "wrong usage: an option that is invalid for any input, refused before anything is read; 130 interrupted. "
    "Each command has its own page: auctrack track --help.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for _module in (track, info, detect, link, convert, draw, measure, report, simulate, score):
    app.command(
        name=_module.__name__.rpartition(".")[2],
        help=_page(_module.command.__doc__ or ""),
        no_args_is_help=True,
    )(_module.command)
app.command(name="warm-up", help=_page(warm_up.command.__doc__ or ""))(warm_up.command)
app.add_typer(bench.app, name="bench")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"auctrack {__version__}")
        raise typer.Exit


@app.callback()
def _root(  # pyright: ignore[reportUnusedFunction] - typer calls it
    version: Annotated[
        bool,
        typer.Option(
            "--version", metavar="", callback=_show_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    del version


def _warnings_are_notes() -> None:
    """Have what the library warns of shown as notes; this is done to all of the process, which is ours."""
    otherwise = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *where: Any) -> None:
        if issubclass(category, UserWarning):
            console.warn(str(message))
        else:
            otherwise(message, category, *where)

    warnings.showwarning = show


def main() -> None:
    """Run the command line."""
    outlive_readers()
    keep_freed_memory()
    let_idle_threads_sleep()
    _warnings_are_notes()
    try:
        app()
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the work is over: Ctrl-C must not change how it ended
