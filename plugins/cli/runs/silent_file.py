"""Movies that do not say what must be known of them: all that is missing is asked for at once."""

from __future__ import annotations

from dataclasses import replace

from ....matching.errors import AuctrackError
from ....tracker.errors import InvalidInput, UnknownAxes, UnknownChannel, UnknownScale
from ....tracker.pipeline import open_movie
from ....tracker.reading.movie import Movie
from ....tracker.settings import InputSettings
from ...words.errors import sentence


def opened(source: str, given: InputSettings) -> Movie:
    """Open a movie; an error of its axes says what is missing of the voxel size too."""
    try:
        return open_movie(source, given)
    except UnknownAxes as error:
        raise _with_unknown_scale(error, source, given) from None


def opened_in_part(source: str, given: InputSettings) -> tuple[Movie, dict[str, str]]:
    """Open a movie; where it does not say all, in pixels or at its first channel, with what is needed by its fact."""
    try:
        return opened(source, given), {}
    except UnknownScale as error:
        fact, needed, supposed = "scale", sentence(error), replace(given, unit="pixel")
    except UnknownChannel as error:
        fact, needed, supposed = "channels", sentence(error), replace(given, channel=0)
    movie, unknown = opened_in_part(source, supposed)
    return movie, {fact: needed, **unknown}


def _with_unknown_scale(error: UnknownAxes, source: str, given: InputSettings) -> InvalidInput:
    """Return an error of axes with what is to be said of the voxel size too, so that one does not come after the other.

    That is found by the first axes that the file may have.
    """
    if given.axes is not None or not error.examples:
        return error
    try:
        movie, unknown = opened_in_part(source, replace(given, axes=next(iter(error.examples))))
    except AuctrackError:
        return error
    movie.close()
    needed = unknown.get("scale", "").removeprefix(f"{source}: ")
    return InvalidInput(f"{sentence(error)} And {needed}") if needed else error
