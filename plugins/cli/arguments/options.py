"""The options that commands share beside settings (`setting_options`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from ...words.setting_options import OUTPUT
from ..terminal.logs import keep_log, say_more

_MESSAGES = "Messages"


def panel(name: str) -> Callable[..., Any]:
    """Return what makes the options of one panel of a help page: of metavar, help, and names that are not its own.

    `least` is the least whole number that one takes.
    """

    def option(metavar: str, text: str, *names: str, least: int | None = None, **more: Any) -> Any:
        if least is not None:
            more["callback"] = _of_at_least(least)
        return typer.Option(*names, metavar=metavar, rich_help_panel=name, help=text, **more)

    return option


def _of_at_least(least: int) -> Callable[[int | None], int | None]:
    """Return what refuses less, in the words of settings."""

    def checked(value: int | None) -> int | None:
        if value is not None and value < least:
            raise typer.BadParameter(f"needs a whole number of at least {least}; got {value}.")
        return value

    return checked


in_output = panel(OUTPUT)

Config = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel="Settings",
        help="Settings from a TOML file, or from the NAME.settings.json beside an earlier result, which repeats it "
        "exactly. Options given here take precedence.",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        rich_help_panel=OUTPUT,
        help="Format of the result, such as csv, parquet, napari or trackmate (auctrack convert --help lists all). "
        "Default: by the ending of the file; CSV in a folder.",
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", metavar="", rich_help_panel=OUTPUT, help="Replace existing results.")
]
Json = Annotated[
    bool, typer.Option("--json", metavar="", rich_help_panel=OUTPUT, help="Print JSON, for programs to read.")
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        metavar="",
        rich_help_panel=_MESSAGES,
        callback=say_more,
        is_eager=True,
        help="Also say, on standard error, what is being done and with which settings.",
    ),
]
Log = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=_MESSAGES,
        callback=keep_log,
        is_eager=True,
        help="Append all messages to FILE, with times, every detail, and where in the program an error arose.",
    ),
]
