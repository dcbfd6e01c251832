"""Where a result goes, by --output and --format, and whether it can go there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from ...tracker.errors import OutputExists
from ...tracker.formats.write import require_files, require_writable

SUFFIXES = {"csv": ".csv", "parquet": ".parquet", "napari": ".napari.csv"}


def checked_format(kind: str | None, known: tuple[str, ...] = tuple(SUFFIXES)) -> None:
    """Refuse what is no format of a table, as wrong usage."""
    if kind is not None and kind not in known:
        raise typer.BadParameter(f"needs one of {', '.join(known)}; got {kind!r}.", param_hint="--format")


def checked_folder(output: Path) -> None:
    """Refuse the name of a table where a folder is needed, as wrong usage; one that is a folder already is fine."""
    if output.name.lower().endswith(tuple(SUFFIXES.values())) and not output.is_dir():
        raise typer.BadParameter(
            f"needs a folder, as every input gets files of its own there; got {output}.", param_hint="--output"
        )


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
        If the name of the file leaves the format open. No work was done by then.
    """
    has_no_format = output is not None and kind is None and not Path(output).suffix
    if output is None or has_no_format or output.endswith(("/", "\\")) or Path(output).is_dir():
        return (folder if output is None else Path(output)) / f"{name}{SUFFIXES[kind or 'csv']}"
    endings = [SUFFIXES[known_kind] for known_kind in known]
    if kind is None and not output.lower().endswith(tuple(endings)):
        raise typer.BadParameter(
            f"needs a folder, or a name that ends in {', '.join(endings)}; got {output}.", param_hint="--output"
        )
    return Path(output)


def refuse_inputs(result: Path, inputs: Sequence[Path]) -> None:
    """Refuse a result in the place of what it is made of, even where replacing was asked for.

    Raises
    ------
    OutputExists
    """
    if result.exists() and any(file.exists() and result.samefile(file) for file in inputs):
        raise OutputExists(
            f"{result} is the input itself, which would be lost; choose another name or folder by --output."
        )


def make_ready(*results: Path, overwrite: bool, inputs: Sequence[Path] = ()) -> None:
    """Refuse, before any work is done, results that would replace others or their input, or cannot be written.

    Raises
    ------
    OutputExists
        If one exists and may not be replaced, or is one of `inputs`.
    OutputFailed
        If it is no file, or its folder is none or cannot be written into.
    """
    for result in results:
        refuse_inputs(result, inputs)
        if result.exists() and not overwrite:
            raise OutputExists(f"{result} exists; give --overwrite to replace it, or another name by --output.")
        require_files([result])
        require_writable(result.parent)
