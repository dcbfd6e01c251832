"""Where a result goes, by --output and --format, and whether it can go there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ....tracker.errors import OutputExists
from ....tracker.formats.registry import FORMATS, READ, WRITTEN, endings_of
from ....tracker.formats.sidecar import sidecar_path
from ....tracker.formats.write import require_files, require_folders, require_names, require_writable
from ....tracker.suffixes import ends_in
from . import console

if TYPE_CHECKING:
    from ....tracker.formats.registry import Format
    from ....tracker.points import Points

ELSEWHERE = "another name by --output"
SUFFIXES = {name: FORMATS[name].endings[0] for name in WRITTEN}


def checked_format(kind: str | None, known: tuple[str, ...] = tuple(SUFFIXES)) -> None:
    """Refuse what is no format of a table, as wrong usage."""
    if kind is not None and kind not in known:
        raise typer.BadParameter(f"needs one of {', '.join(known)}; got {kind!r}.", param_hint="--format")


def refuse_other_ending(result: Path, kind: str | None) -> None:
    """Refuse a name that readers take for another format than the one asked for, as wrong usage.

    Text of any layout may be in any text file: readers tell separators and columns by what is in it.
    """
    if kind is None or ends_in(result.name, *FORMATS[kind].endings):
        return
    is_text = SUFFIXES[kind].endswith(".csv")
    known = [ending for ending in (*READ, *endings_of(WRITTEN)) if ends_in(result.name, ending)]
    if known and not (is_text and ends_in(result.name, ".csv", ".tsv", ".txt")):
        ending = max(known, key=len)
        raise other_ending(result, kind, FORMATS[kind].endings, f"read as {ending}")


def other_ending(result: Path, kind: str, endings: Iterable[str], instead: str) -> typer.BadParameter:
    """Return the refusal of a name for a format that goes into names of some endings."""
    return typer.BadParameter(
        f"{kind} goes into names that end in {' or '.join(endings)}; got {result}, which would be {instead}. "
        "Change the name, or leave --format out.",
        param_hint="--format",
    )


def is_one_file(output: Path) -> bool:
    """Whether the name is that of a result, not of a folder of results."""
    return ends_in(output.name, *endings_of(WRITTEN)) and (
        not output.is_dir() or any(known.is_folder for known in _formats_of(output))
    )


def checked_folder(output: Path) -> Path:
    """Return where the results of a run go; refuse a name that looks like a file of a format that is none of ours.

    Raises
    ------
    typer.BadParameter
        If it ends in letters behind a dot and is no folder yet.
    """
    _refuse_standard_output(str(output))
    if is_one_file(output):
        return output.parent
    if output.suffix[1:].isalpha() and not output.is_dir():
        raise _unknown_ending(output, WRITTEN, ", and a folder of that name has to be made first")
    return output


def _refuse_standard_output(output: str) -> None:
    if output in ("-", "/dev/stdout"):
        raise typer.BadParameter(
            "results need a file, because their settings are written beside it; name a file or folder.",
            param_hint="--output",
        )


def _unknown_ending(output: object, known: tuple[str, ...], remedy: str = "") -> typer.BadParameter:
    """Return the refusal of a name that leaves the format open."""
    return typer.BadParameter(
        f"needs a folder, or a name that ends in {', '.join(endings_of(known))}; got {output}{remedy}.",
        param_hint="--output",
    )


def _formats_of(output: Path) -> list[Format]:
    return [known for ending, known in endings_of(WRITTEN).items() if ends_in(output.name, ending)]


def note_losses(points: Points, result: Path, into: Format) -> None:
    """Say what the format of a result cannot hold."""
    from ....tracker.formats.losses import loss_note

    note = loss_note(points, result, into)
    if note:
        console.note(note)


def destination(
    output: str | None, name: str, kind: str | None, folder: Path = Path(), known: tuple[str, ...] = tuple(SUFFIXES)
) -> Path:
    """Return the file of a result.

    Parameters
    ----------
    output : str or None
        A file, or a folder: one that exists, a name that ends in a slash, or without `kind` one that has no suffix.
    name : str
        Of the file without its suffix, where it goes into a folder.
    kind : str or None
        Format, a key of `SUFFIXES`; None leaves it to the name of the file, and is CSV in a folder.
    folder : Path
        Where it goes when there is no `output`.
    known : tuple of str
        Formats that the result can have.

    Raises
    ------
    typer.BadParameter
        If the name of the file leaves the format open, or is that of another. No work was done by then.
    """
    _refuse_standard_output(output or "")
    endings = list(endings_of(known))
    names_none = output is not None and not Path(output).suffix and not ends_in(output, *endings)
    has_no_format = names_none and kind is None
    is_folder = output is not None and Path(output).is_dir() and not is_one_file(Path(output))
    if output is None or has_no_format or output.endswith(("/", "\\")) or is_folder:
        return (folder if output is None else Path(output)) / f"{name}{SUFFIXES[kind or 'csv']}"
    if kind is None and not ends_in(output, *endings):
        raise _unknown_ending(output, known)
    refuse_other_ending(Path(output), kind)
    return Path(output)


def refuse_inputs(result: Path, inputs: Sequence[Path], elsewhere: str = ELSEWHERE) -> None:
    """Refuse a result in the place of what it is made of, even where replacing was asked for.

    `elsewhere` is what the user can choose instead, by what the command has.

    Raises
    ------
    OutputExists
    """
    if result.exists() and any(file.exists() and result.samefile(file) for file in inputs):
        raise OutputExists(f"{result} is the input itself, which would be lost; choose {elsewhere}.")


def make_ready(
    *results: Path,
    overwrite: bool,
    inputs: Sequence[Path] = (),
    is_folder: bool = False,
    has_settings: bool = False,
    elsewhere: str = ELSEWHERE,
) -> None:
    """Refuse, before any work is done, results that would replace others or their input, or cannot be written.

    `has_settings` is whether a file of settings goes beside each; `elsewhere` is as in `refuse_inputs`.

    Raises
    ------
    OutputExists
        If one exists and may not be replaced, or is one of `inputs`.
    OutputFailed
        If its name is too long, it is not a file, or its folder is not one or cannot be written into.
    """
    require_names([*results, *map(sidecar_path, results if has_settings else ())])
    for result in results:
        refuse_inputs(result, inputs, elsewhere)
        if result.exists() and not overwrite:
            raise OutputExists(f"{result} exists; give --overwrite to replace it, or choose {elsewhere}.")
        (require_folders if is_folder else require_files)([result])
        require_writable(result.parent)
