"""`--verbose` and `--log`: what the library says of its work, on the terminal and in a file."""

from __future__ import annotations

import contextlib
import logging
import platform
import shlex
import sys
from pathlib import Path
from types import TracebackType

import typer

from .... import __version__
from . import console

_OURS = logging.getLogger("auctrack")


def say_more(ctx: typer.Context, wanted: bool) -> bool:
    """Show on standard error, until the command ends, what the library says of its work (`--verbose`)."""
    if wanted:
        _listen(ctx, _Screen(logging.INFO))
    return wanted


def keep_log(ctx: typer.Context, file: Path | None) -> Path | None:
    """Append to a file, until the command ends, all that is said and shown, with times and details (`--log`).

    Raises
    ------
    OSError
        If the file cannot be opened.
    """
    if file is not None:
        handler = _LogFile(file, encoding="utf-8", errors="backslashreplace")
        handler.setFormatter(_Printable("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        _listen(ctx, handler)
        _OURS.info("%s", f"auctrack {__version__}, Python {platform.python_version()}, {platform.platform()}")
        _OURS.info("%s", shlex.join(sys.argv))
    return file


def _listen(ctx: typer.Context, handler: logging.Handler) -> None:
    """Take what the library logs until the whole run is over: a last message may come after a failure."""
    _OURS.addHandler(handler)
    _OURS.setLevel(logging.DEBUG)

    def leave() -> None:
        _OURS.removeHandler(handler)
        _OURS.setLevel(logging.NOTSET)
        handler.close()

    ctx.find_root().call_on_close(leave)


class _Printable(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return console.printable(super().format(record))


class _Screen(logging.Handler):
    """The terminal, which has seen already what the console said."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.name != console.__name__:
            console.to_screen(f"{record.name.removeprefix('auctrack.')}: {record.getMessage()}")


class _LogFile(logging.FileHandler):
    """A log whose disk may fill up: the work goes on without it."""

    def close(self) -> None:
        with contextlib.suppress(OSError):  # of what could not be written; `handleError` has said so
            super().close()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        del record
        error: tuple[type[BaseException] | None, BaseException | None, TracebackType | None] = sys.exc_info()
        _OURS.removeHandler(self)
        console.note(f"{self.baseFilename}: the log ends here, as it cannot be written ({error[1]}).")
