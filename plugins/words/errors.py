"""Errors as the command line says them: settings by the names of their options, and what helps in options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .setting_options import OPTIONS, in_words, option_of

if TYPE_CHECKING:
    from ...tracker.errors import InvalidInput


def sentence_in_words(error: InvalidInput) -> str:
    """Return what is wrong with an input, and what helps where there are no options, as in a window."""
    if error.setting != "bright_on_dark":
        return error.problem if error.in_python and error.setting else str(error)
    ((bright, case),) = error.examples.items()
    return f"{error.problem} If {case}, {'clear' if bright else 'tick'} “{in_words(error.setting)}”."


def sentence(error: BaseException, options: Mapping[str, str] = OPTIONS) -> str:
    """Return an error as a sentence for the user; `options` are what a command calls settings otherwise."""
    from ...matching.errors import AuctrackError, DeviceUnavailable
    from ...tracker.errors import InvalidInput, InvalidSetting, OutputExists

    if isinstance(error, InvalidInput):
        return f"{error.problem} {remedy(error, options)}".strip()
    if isinstance(error, InvalidSetting) and error.setting:
        instead = "" if error.wanted is None else _instead(*error.wanted, options)
        return f"{option_of(error.setting, options)} {error.problem} {instead}".strip()
    if isinstance(error, OutputExists) and error.in_python:
        return f"{error.problem} Give --overwrite to replace it, or choose another name."
    if isinstance(error, DeviceUnavailable):  # of the solvers, which know no options
        return re.sub(r"^device\b|\bdevice(?==| cpu)", option_of("device", options), str(error))
    if isinstance(error, AuctrackError):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory; cut the movie with --roi or --frames (auctrack track --dry-run estimates)."
    if isinstance(error, OSError):
        return f"{error.filename or 'the system'}: {error.strerror or error}."
    return f"unexpected {type(error).__name__}: {error}"


def _instead(setting: str, value: str, options: Mapping[str, str]) -> str:
    """Return which option makes another one useful."""
    return f"Give {option_of(setting, options)} {value}, or leave this out."


def remedy(error: InvalidInput, options: Mapping[str, str] = OPTIONS) -> str:
    """Return which option says what an input does not; empty where none does."""
    from ...tracker.errors import SeveralMovies

    if isinstance(error, SeveralMovies):
        return "Give the movies one by one; auctrack track, with --dry-run too, takes the folder, each file as a movie."
    if not error.setting:
        return ""
    option = option_of(error.setting, options)
    if error.setting == "columns":
        return f"Say which is which: {columns_option(error, options)}."
    if error.setting == "unit":
        ((wanted, found),) = error.examples.items()
        return _brought_to(wanted, found)
    if error.setting == "axes":
        return (
            f"Say which is which: {', '.join(f'{option} {axes} if {case}' for axes, case in error.examples.items())}."
        )
    ((example, case),) = error.examples.items()
    if error.setting == "frames":
        return f"The frames before it can be read on their own: {option} {example}."
    if error.setting in ("channel", "intensity_channel", "series"):
        each = f"; auctrack track takes each in turn by {option} all" if error.setting == "series" else ""
        return f"Give its number or name, such as {option} {shlex.quote(example)}{each}."
    if error.setting == "bright_on_dark":
        return f"If {case}, {'leave out' if example else 'give'} {option}."
    letters, sizes = "Z,Y,X"[-2 * len(example) + 1 :], ",".join(f"{size:g}" for size in example)
    return (
        f"Give {option} {letters} in µm, for instance {option} {sizes} if {case}, or --unit pixel to measure distances "
        "in pixels."
    )


def columns_option(error: InvalidInput, options: Mapping[str, str] = OPTIONS) -> str:
    """Return the option that says which column is which, for a table whose columns were not recognised."""
    from ...tracker.errors import UnknownColumns

    names = ",".join(f"{ours}={theirs}" for ours, theirs in error.examples.items())
    unit = error.unit if options is OPTIONS and isinstance(error, UnknownColumns) else ""  # score takes none
    said = f" --unit {shlex.quote(unit)}" if unit else ""
    return f"{option_of(error.setting, options)} {shlex.quote(names)}{said}"


def _brought_to(wanted: str, found: str) -> str:
    """Return what brings tracks to the unit of their truth; one in pixels takes that of the tracks."""
    how = "--voxel Z,Y,X" if found == "pixel" else f"--unit {wanted}"
    return f"auctrack convert TRACKS NEW {how} brings them to that of the truth."


def naming(source: str, error: BaseException) -> str:
    """Return an error as a sentence that names the input."""
    message = sentence(error)
    return message if source in message else f"{source}: {message}"
