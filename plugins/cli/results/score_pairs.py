"""Which tables of tracks and of truth belong together."""

from __future__ import annotations

from pathlib import Path

from ....tracker.errors import InvalidInput
from ....tracker.suffixes import TABLES, TRUTH
from ..terminal.standard_input import STANDARD_INPUT

_ENDINGS = (".tracks", ".truth")


def paired(tracks: Path, truth: Path) -> dict[str, tuple[Path, Path]]:
    """Return the tables of tracks and truth by movie: two tables, or those of one name in two folders.

    Raises
    ------
    InvalidInput
        If one is a folder and the other none, no name is in both, or a table has no partner.
    """
    if not (is_folder_of_tables(tracks) or is_folder_of_tables(truth)):
        return {"standard input" if tracks == STANDARD_INPUT else movie_name(tracks): (tracks, truth)}
    if not (is_folder_of_tables(tracks) and is_folder_of_tables(truth)):
        folder = tracks if is_folder_of_tables(tracks) else truth
        raise InvalidInput(
            f"tracks and truth need to be two tables, or two folders of tables; {folder} is a folder of tables and the "
            "other is not."
        )
    found, real = (_tables(folder, ending) for folder, ending in zip((tracks, truth), _ENDINGS, strict=True))
    unpaired = sorted(found.keys() - real.keys())
    if unpaired or not found:
        missing = (
            f"tables of tracks without truth: {', '.join(unpaired)}" if unpaired else f"no table of tracks in {tracks}"
        )
        raise InvalidInput(
            f"a table of tracks, such as {tracks / 'NAME.tracks.csv'}, needs its truth, such as "
            f"{truth / f'NAME{TRUTH}'}; {missing}. Rename or move them."
        )
    return {name: (found[name], real[name]) for name in sorted(found)}


def is_folder_of_tables(path: Path) -> bool:
    """Whether it is a folder that is not itself the tracks of one movie, as some formats are."""
    from ....tracker.formats.registry import holds_points

    return path.is_dir() and not holds_points(path)


def movie_name(table: Path) -> str:
    """Return the name of a table without what says that it is one.

    Examples
    --------
    >>> movie_name(Path("out/cells.tracks.csv.gz"))
    'cells'
    """
    name = table.name
    for ending in (*TABLES, *_ENDINGS):
        name = name.removesuffix(ending)
    return name


def _tables(folder: Path, ending: str) -> dict[str, Path]:
    """Return the tables of a folder by movie; where some are named `ending`, only those."""
    tables = [path for path in sorted(folder.iterdir()) if path.name.endswith(TABLES)]
    named = [path for path in tables if ending in path.name]
    return {movie_name(path): path for path in named or tables}
