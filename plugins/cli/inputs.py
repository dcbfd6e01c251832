"""What the arguments of `auctrack track` stand for: which inputs there are, and where the result of each goes."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...tracker.errors import InvalidInput, InvalidSetting
from ...tracker.settings import InputSettings

TABLES = (".csv", ".csv.gz", ".tsv", ".txt", ".parquet")
MOVIES = (".ome.tiff", ".ome.tif", ".tiff", ".tif")
SUFFIXES = {"csv": ".tracks.csv", "parquet": ".tracks.parquet", "napari": ".tracks.napari.csv"}


@dataclass(frozen=True)
class Job:
    """One input and its result.

    Attributes
    ----------
    source : str
        File, folder or glob pattern of one movie, or a point table.
    files : tuple of Path
        The files behind it.
    result : Path
        Where its tracks go.
    """

    source: str
    files: tuple[Path, ...]
    result: Path


def plan(arguments: Sequence[str], folder: Path, kind: str, given: InputSettings) -> list[Job]:
    """Return one job an input.

    A file is one input. A folder or glob pattern is one movie when its TIFF files hold one time point each, and one input a
    file when they hold several, or are point tables.

    Parameters
    ----------
    arguments : sequence of str
    folder : Path
        Where results go.
    kind : str
        Format of the results, a key of `SUFFIXES`.
    given : InputSettings
        What was said about the inputs, needed to look into TIFF files that are silent about their axes.

    Raises
    ------
    InvalidSetting
        If two inputs would have the same result.
    InvalidInput
        If a folder or pattern holds nothing to read.
    """
    jobs = [
        Job(source, files, folder / (stem(source) + SUFFIXES[kind]))
        for argument in arguments
        for source, files in _expanded(argument, given)
    ]
    by_result: dict[Path, Job] = {}
    for job in jobs:
        other = by_result.setdefault(job.result, job)
        if other is not job:
            raise InvalidSetting(
                f"{other.source} and {job.source} would both be written to {job.result}. "
                "Track them in two calls with different --output folders."
            )
    return jobs


def stem(source: str) -> str:
    """Return the name of an input without folder and suffix: `a/b.ome.tif` is `b`, `a/frames*.tif` is `frames`."""
    name = Path(source).name.replace("*", "").replace("?", "") or Path(source).parent.name
    for suffix in (*MOVIES, *TABLES):
        if name.lower().endswith(suffix):
            name = name[: -len(suffix)]
            break
    return name.rstrip("._- ") or "movie"


def _expanded(argument: str, given: InputSettings) -> list[tuple[str, tuple[Path, ...]]]:
    path = Path(argument)
    if path.is_dir():
        found = sorted(file for file in path.iterdir() if _is_readable_name(file))
    elif glob.has_magic(argument) and not path.exists():
        found = sorted(Path(file) for file in glob.glob(argument))  # noqa: PTH207 - the pattern may hold a folder too
    else:
        return [(argument, (path,))]
    if not found:
        raise InvalidInput(f"{argument}: no TIFF files or point tables are there.")
    movies = tuple(file for file in found if file.name.lower().endswith(MOVIES))
    if movies and not _holds_many_frames(movies[0], given):
        return [(argument, movies)]
    return [(str(file), (file,)) for file in found]


def _is_readable_name(file: Path) -> bool:
    name = file.name.lower()
    return file.is_file() and not name.startswith(".") and name.endswith((*MOVIES, *TABLES)) and ".tracks." not in name


def _holds_many_frames(file: Path, given: InputSettings) -> bool:
    """Whether a TIFF holds more than one time point, as its metadata or the axes given say."""
    from ...tracker.tiff_stack import TiffStack

    with TiffStack(file, given.axes) as stack:
        return stack.size("T") > 1
