"""What the arguments of `auctrack track` stand for: which inputs there are, and where the result of each goes."""

from __future__ import annotations

import glob
import os
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from ....matching.errors import AuctrackError
from ....tracker.errors import InvalidInput, OutputExists, UnknownAxes
from ....tracker.formats.registry import READ, to_write
from ....tracker.formats.sidecar import sidecar_path
from ....tracker.formats.write import require_names, require_writable
from ....tracker.settings import InputSettings
from ....tracker.suffixes import MOVIES, OME_TIFF, TABLES, ends_in, without_ending
from ....tracker.zarr_attributes import is_image
from ..terminal import console
from ..terminal.destination import SUFFIXES, other_ending, refuse_inputs, refuse_other_ending
from .chosen_series import NO_CHOICE, ChosenSeries, chosen_series

OF_MEASURE = ".measures", ".msd", ".displacements", ".velocity_correlation", ".pair_correlation", ".intervals"
"""What `auctrack measure` puts behind the name of its tables."""
PRODUCTS = (".tracks.napari", ".tracks", ".points", ".truth", *OF_MEASURE)
"""What our commands put behind the name of an input."""


_PATTERN = str.maketrans("", "", "*?[]")
"""Takes what makes a pattern out of a name."""

_Movie = tuple[str, tuple[Path, ...], ChosenSeries]
"""An input as it was given, its files, and what is read of it."""


@dataclass(frozen=True)
class Job:
    """One input and its result.

    Attributes
    ----------
    source : str
        File, folder or glob pattern of one movie, or a point table.
    files : tuple of Path
        The files behind it; empty where there are none.
    result : Path
        Where its tracks go.
    rival : str or None
        An earlier input whose tracks go to the same place; then this one cannot be tracked.
    series : ChosenSeries
        What is read of a file.
    """

    source: str
    files: tuple[Path, ...]
    result: Path
    rival: str | None = None
    series: ChosenSeries = NO_CHOICE

    @property
    def name(self) -> str:
        """What it is called: the input, and which of several series in it."""
        return self.series.of(self.source)

    @property
    def bytes(self) -> int:
        """How much there is to read, as far as it is there."""
        return sum(file.stat().st_size for file in _parts(self.read) if file.is_file())

    @property
    def read(self) -> Sequence[Path]:
        """The files, and folders of chunks, that are read: of a plate those of the one image, called by its folder."""
        if self.series.number is None or len(self.files) != 1 or not is_image(self.files[0]):
            return self.files
        return [self.files[0] / str(self.series.asked)]

    @property
    def picture(self) -> Path:
        """Where its picture goes."""
        return self.result.with_name(stem(self.result.name) + ".tracks.png")


def plan(arguments: Sequence[str], folder: Path, kind: str, given: InputSettings) -> list[Job]:
    """Return one job an input.

    A file is one input. The TIFF files of a folder or glob pattern are one movie when they hold one time point each,
    and one input a file when they hold several; a folder that a pattern names is as one given by itself. A folder
    without TIFF files gives the tables in it, except those that our own commands wrote. What is broken or missing is a
    job too, which then fails with its own sentence. An input that is given twice is one job, and so are the files of
    an OME dataset that hold one movie, under the name of the first. Results that would have one name keep the folders
    of their inputs, from the one on that all of these share. Of a file with several series each that is asked for is
    a job, and is named behind the file.

    Parameters
    ----------
    arguments : sequence of str
    folder : Path
        Where results go.
    kind : str
        Format of the results, a key of `destination.SUFFIXES`.
    given : InputSettings
        What was said about the inputs, needed to look into TIFF files that are silent about their axes, and for series.
    """
    inputs: dict[tuple[str, ...], tuple[str, tuple[Path, ...]]] = {}
    for argument in arguments:
        for source, files in _expanded(argument, given):
            same = tuple(os.path.realpath(file) for file in files or (source,))  # resolve() dies of a loop of links
            if same in inputs:
                first = inputs[same][0]
                again = "is given twice" if first == source else f"is {first} by another name"
                console.note(f"{source} {again}; it is tracked once.")
            else:
                inputs[same] = source, files
    chosen = _each_once(
        [(source, files, one) for source, files in inputs.values() for one in chosen_series(source, given)]
    )
    names = [result_name(source, series) for source, _, series in chosen]
    kept = _kept_folders([source for source, _, _ in chosen], names)
    jobs: list[Job] = []
    first_of: dict[Path, str] = {}
    for (source, files, series), name, below in zip(chosen, names, kept, strict=True):
        result = folder / below / f"{name}.tracks{SUFFIXES[kind]}"
        jobs.append(Job(source, files, result, first_of.get(result), series))
        first_of.setdefault(result, source)
    return jobs


def _each_once(chosen: Sequence[_Movie]) -> list[_Movie]:
    """Return movies with all their files, without those that are one before them in an OME dataset, and say so."""
    found: dict[object, list[_Movie]] = {}
    datasets: dict[str, tuple[tuple[str, ...], ...]] = {}
    for source, files, series in chosen:
        of_movie, number = _in_dataset(files, series, datasets)
        same = (of_movie, number) if of_movie else (source, series)
        found.setdefault(same, []).append((source, tuple(map(Path, of_movie)) or files, series))
    notes: list[str] = []
    for (first, *_), *others in found.values():
        if others:
            more = f" and {len(others) - 1} more are files" if len(others) > 1 else " is a file"
            notes.append(f"{others[0][0]}{more} of the same movie as {first}; it is tracked once.")
    console.note(*dict.fromkeys(notes))
    return [same[0] for same in found.values()]


def _in_dataset(
    files: Sequence[Path], series: ChosenSeries, known: dict[str, tuple[tuple[str, ...], ...]]
) -> tuple[tuple[str, ...], int | None]:
    """Return the files of the movie that is read of an OME dataset, and its number there; no files of what is none.

    `known` are those of all movies of a dataset, by each file of it.
    """
    from ....tracker.reading.tiff import files_of_series

    path = os.path.realpath(files[0]) if len(files) == 1 and ends_in(files[0].name, *OME_TIFF) else ""
    if path and path not in known:
        try:
            movies = files_of_series(Path(path))
        except (AuctrackError, OSError, MemoryError):
            movies = ()
        paths = tuple(tuple(map(os.path.realpath, of_one)) for of_one in movies)
        known |= dict.fromkeys([path, *(each for of_one in paths for each in of_one)], paths)
    dataset = known.get(path, ())
    own = [number for number, of_one in enumerate(dataset) if path in of_one]
    number = own[0] if series.number is None and len(own) == 1 else series.number
    return () if number is None or not dataset else dataset[number], number


def only(jobs: Sequence[Job], result: Path, kind: str | None) -> Job:
    """Return the one job of a run whose result was named.

    Raises
    ------
    typer.BadParameter
        If there are several, or the name is that of another format than the one asked for.
    """
    if len(jobs) != 1:
        raise typer.BadParameter(
            f"needs a folder, as each of {len(jobs)} inputs gets its own files there; got {result}.",
            param_hint="--output",
        )
    refuse_other_ending(result, kind)
    if kind is not None and (by_name := to_write(result, None).name) != kind:
        raise other_ending(result, kind, [SUFFIXES[kind]], f"written as {by_name}")
    return replace(jobs[0], result=result)


def _kept_folders(sources: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return below which folder each result goes: none, but of inputs whose results would have one name their own."""
    parents = [os.path.dirname(os.path.splitdrive(os.path.abspath(source))[1]) for source in sources]  # noqa: PTH100, PTH120
    shared = Counter(names)
    alike = {parent for parent, name in zip(parents, names, strict=True) if shared[name] > 1}
    if len(alike) < 2:
        return [""] * len(names)
    common = os.path.commonpath(alike)
    console.note(f"some inputs have the same name; their results keep their folders below {common}.")
    return [
        os.path.relpath(parent, common) if shared[name] > 1 else "" for parent, name in zip(parents, names, strict=True)
    ]


def refuse_hopeless(job: Job) -> None:
    """Refuse, before any work, an input that is not there, or whose result has no place or no name to be written under.

    Raises
    ------
    OutputExists, InvalidInput, OutputFailed
    """
    _refuse_rival(job)
    _refuse_missing(job)
    require_names([job.result, sidecar_path(job.result)])
    require_writable(job.result.parent)


def _refuse_rival(job: Job) -> None:
    """Refuse an input whose result would take the place of another's, or its own.

    Raises
    ------
    OutputExists
    """
    if job.rival is not None:
        raise OutputExists(
            f"{job.result} is where the tracks of {job.rival} go. Track {job.source} in a call of its own, with "
            "another --output folder."
        )
    refuse_inputs(job.result, job.files)


def _refuse_missing(job: Job) -> None:
    """Refuse an input that is not there, before anything is said of an earlier result in its place.

    Raises
    ------
    InvalidInput
    """
    if not job.files and not Path(job.source).is_dir():
        raise InvalidInput(f"{job.source}: no file matches this name.")
    inside = [*Path(job.source).iterdir()] if not job.files else []
    if not job.files and not inside:
        raise InvalidInput(f"{job.source}: the folder is empty.")
    if inside and all(each.is_dir() or each.name.startswith(".") for each in inside):
        pattern = shlex.quote(str(Path(job.source) / "*"))
        raise InvalidInput(f"{job.source}: holds folders only. Give them by a pattern, such as {pattern}.")
    own = sorted(each for each in inside if each.name.lower().endswith(TABLES) and product_of(each.name))
    if own:
        pattern = shlex.quote(str(Path(job.source) / f"*{product_of(own[0].name)}{own[0].suffix}"))
        raise InvalidInput(
            f"{job.source}: the tables there are auctrack's own, such as {own[0].name}, and no movie is there. Give "
            f"those that are to be linked by name, or by a pattern, such as {pattern}."
        )
    for file in job.files:
        if not file.exists():
            what = "is a link that leads to no file" if file.is_symlink() else "there is no such file"
            raise InvalidInput(f"{file}: {what}.")


def files_behind(job: Job, given: InputSettings) -> tuple[Path, ...]:
    """Return the files that decide the result, as far as they are there; reading says it of those that are not."""
    intensity = [file for _, files in _expanded(given.intensity, given) for file in files] if given.intensity else []
    return tuple(file for file in _parts([*job.read, *intensity]) if file.is_file())


def _parts(files: Sequence[Path]) -> Iterator[Path]:
    """Return the files, and of folders what is in them."""
    return (part for file in files for part in (sorted(file.rglob("*")) if file.is_dir() else [file]))


def stem(source: str) -> str:
    """Return the name of an input without folder, suffix and product.

    `a/b.ome.tif` is `b`, `b.points.csv` is `b`, `a/frames*.tif` is `frames`, `a/*.tif` is `a`.
    """
    name = without_ending(_without_suffix(source), PRODUCTS).rstrip("._- ")
    return name or Path(os.path.realpath(source)).parent.name or "movie"


def result_name(source: str, series: ChosenSeries) -> str:
    """Return the name of a result without its kind and suffix: that of its input, with the series chosen of several."""
    return f"{stem(source)}.{series.part}" if series.part else stem(source)


def product_of(source: str) -> str:
    """Return which of `PRODUCTS` stands behind the name of an input, empty for none."""
    name = _without_suffix(source)
    return name[len(without_ending(name, PRODUCTS)) :].lower()


def _without_suffix(source: str) -> str:
    name = Path(source).name.translate(_PATTERN)
    return without_ending(name, (*MOVIES, *READ, *SUFFIXES.values()))


def _expanded(argument: str, given: InputSettings) -> list[tuple[str, tuple[Path, ...]]]:
    path = Path(argument)
    try:
        if is_image(path):
            return [(argument, (path,))]
        if path.is_dir() and not given.is_table(path):
            found = sorted(file for file in path.iterdir() if not file.name.startswith("."))
            found = [file for file in found if not file.is_dir() or is_image(file)]  # what is no file fails by name
            movies = [file for file in found if file.name.lower().endswith(MOVIES)]
            found = movies or [file for file in found if _is_input_table(file)]
        elif glob.has_magic(argument) and not path.exists():
            found = sorted(map(Path, glob.glob(argument)))  # noqa: PTH207 - the pattern may hold a folder too
        else:
            return [(argument, (path,))]
    except OSError:
        found = []
    if not found:
        return [(argument, ())]
    movies = tuple(file for file in found if file.name.lower().endswith(MOVIES))
    if len(movies) == len(found) > 1 and _are_frames_of_one_movie(movies, given):
        return [(argument, movies)]
    each = (_expanded(str(file), given) if file.is_dir() else [(str(file), (file,))] for file in found)
    return [one for several in each for one in several]


def tables_of(folder: str, given: InputSettings) -> list[str]:
    """Return the tables that a folder gives, each an input of its own; none of what is no such folder."""
    inside = _expanded(folder, given) if Path(folder).is_dir() else []
    return [source for source, files in inside if files and source != folder and given.is_table(source)]


def _is_input_table(file: Path) -> bool:
    """Whether a file of a folder is a table to track: a .txt may be anything, and must be named itself."""
    name = file.name.lower()
    is_table, named = name.endswith(TABLES) and not name.endswith(".txt"), name.translate(_PATTERN)
    return is_table and without_ending(named, TABLES) == _without_suffix(name) and not product_of(name)


def _are_frames_of_one_movie(files: Sequence[Path], given: InputSettings) -> bool:
    """Whether TIFF files hold one time point each: what the first says that can be read, its first series for any."""
    from ....tracker.reading.tiff import TiffStack

    for file in files:
        try:
            with TiffStack(file, given.axes, None if given.series is None else 0) as stack:
                return stack.size("T") == 1
        except UnknownAxes:
            return True
        except InvalidInput:
            continue
    return False
