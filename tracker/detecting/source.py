"""What particles are looked for in: a movie that was opened, or what `read_movie` opens."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InvalidInput, InvalidSetting
from ..reading.arrays import Array
from ..reading.movie import read_movie

if TYPE_CHECKING:
    from ..reading.frames import FrameSource


def opened(movie: FrameSource | str | Path | Array, said: Mapping[str, Any]) -> AbstractContextManager[FrameSource]:
    """Return a movie to be entered, which is closed at the end if it was opened here, by what is `said` of it.

    Raises
    ------
    InvalidInput, UnknownAxes, UnknownScale, UnknownChannel, UnknownSeries
        As `read_movie` does; or if it is none of these.
    InvalidSetting
        As `read_movie` does; or if something is said of a movie that was opened.
    """
    said = {name: value for name, value in said.items() if value is not None}
    if isinstance(movie, (str, Path)):
        return read_movie(movie, **said)
    if not hasattr(movie, "origin"):
        if isinstance(movie, Array):
            return read_movie(movie, **said)
        raise InvalidInput(
            f"movie needs a Movie; got {type(movie).__name__}. An array, or the path of a file, will do: it is opened "
            "by auctrack.read_movie."
        )
    if said:
        raise InvalidSetting(
            "is said where a movie is opened, and this one was.",
            in_python="Give it to auctrack.read_movie.",
            setting=next(iter(said)),
        )
    return nullcontext(movie)  # pyright: ignore[reportReturnType, reportArgumentType]
