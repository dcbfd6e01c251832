"""Movies that do not say what must be known of them: all that is missing is asked for at once."""

from __future__ import annotations

from dataclasses import replace

from ....matching.errors import AuctrackError
from ....tracker.errors import InvalidInput, UnknownAxes, UnknownChannel, UnknownScale
from ....tracker.pipeline import open_movie
from ....tracker.reading.movie import Movie
from ....tracker.settings import InputSettings
from ...words.errors import sentence
from ...words.setting_options import option_of


def opened(source: str, given: InputSettings) -> Movie:
    """Open a movie; an error of what must be said of it says all that must be."""
    try:
        return open_movie(source, given)
    except (UnknownAxes, UnknownScale, UnknownChannel) as error:
        raise _with_the_rest(error, source, given) from None


def opened_in_part(source: str, given: InputSettings) -> tuple[Movie, dict[str, str]]:
    """Open a movie; where it does not say all, in pixels or at its first channel, with what is needed by its fact.

    Raises
    ------
    InvalidInput
        If it does not say its axes, with all that is needed.
    """
    try:
        return open_movie(source, given), {}
    except UnknownAxes as error:
        raise _with_the_rest(error, source, given) from None
    except (UnknownScale, UnknownChannel) as error:
        fact, needed = "scale" if isinstance(error, UnknownScale) else "channels", sentence(error)
        movie, unknown = opened_in_part(source, _supposing(error, given))
    return movie, {fact: needed, **unknown}


def _supposing(error: UnknownAxes | UnknownScale | UnknownChannel, given: InputSettings) -> InputSettings:
    """Return settings by which the rest can be read: the first axes that a file may have, pixels, its first channel."""
    if isinstance(error, UnknownAxes):
        return replace(given, axes=next(iter(error.examples)))
    return replace(given, unit="pixel") if isinstance(error, UnknownScale) else replace(given, channel=0)


def _with_the_rest(
    error: UnknownAxes | UnknownScale | UnknownChannel, source: str, given: InputSettings
) -> InvalidInput:
    """Return an error with what else is to be said of the movie, so that one does not come after the other."""
    is_of_axes = isinstance(error, UnknownAxes)
    if is_of_axes and (given.axes is not None or not error.examples):
        return error
    supposed = _supposing(error, given)
    try:
        movie, unknown = opened_in_part(source, supposed)
    except AuctrackError:
        return error
    movie.close()
    if is_of_axes and "C" in str(supposed.axes):  # how many there are depends on which dimension they are
        unknown.pop("channels", None)
    first = sentence(error)
    needed = [
        _without_file(said.removeprefix(f"{source}: "), first).replace("has ", "it has ", fact == "channels")
        for fact, said in unknown.items()
    ]
    if is_of_axes and given.channel is None and any("C" in axes for axes in error.examples):
        needed.append(f"with C, {option_of('channel')} is needed too, such as {option_of('channel')} 0 for the first.")
    return InvalidInput(" And ".join([first, *needed])) if needed else error


def _without_file(said: str, first: str) -> str:
    """Return a sentence without the file that it begins with, if `first` begins with the same one."""
    file, ends, rest = said.partition(": ")
    return rest if ends and first.startswith(file + ends) else said
