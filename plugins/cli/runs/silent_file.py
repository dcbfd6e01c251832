"""Movies that do not say what must be known of them: all that is missing is asked for at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ....matching.errors import AuctrackError
from ....tracker.errors import InvalidInput, UnknownAxes, UnknownChannel, UnknownScale, UnknownSeries
from ....tracker.pipeline import open_movie
from ....tracker.reading.movie import Movie
from ....tracker.settings import InputSettings
from ...words.errors import sentence
from ...words.setting_options import option_of

_Unsaid = UnknownAxes | UnknownScale | UnknownChannel | UnknownSeries
_UNSAID = (UnknownAxes, UnknownScale, UnknownChannel, UnknownSeries)


def opened(source: str, given: InputSettings) -> Movie:
    """Open a movie; an error of what must be said of it says all that must be."""
    try:
        return open_movie(source, given)
    except _UNSAID as error:
        raise _with_the_rest(error, source, given) from None


def opened_in_part(source: str, given: InputSettings) -> tuple[Movie, dict[str, str]]:
    """Open a movie; where it does not say all, in pixels, its first channel or series, with what is needed by its fact.

    Raises
    ------
    InvalidInput
        If it does not say its axes, with all that is needed.
    """
    try:
        return open_movie(source, given), {}
    except UnknownAxes as error:
        raise _with_the_rest(error, source, given) from None
    except (UnknownScale, UnknownChannel, UnknownSeries) as error:
        fact, needed = _FACTS[type(error)], sentence(error)
        movie, unknown = opened_in_part(source, _supposing(error, given))
    return movie, {fact: needed, **unknown}


_FACTS: Mapping[type[InvalidInput], str] = {
    UnknownScale: "scale",
    UnknownChannel: "channels",
    UnknownSeries: "series",
}


def _supposing(error: _Unsaid, given: InputSettings) -> InputSettings:
    """Return settings by which the rest can be read: the first axes that a file may have, pixels, its first channel."""
    if isinstance(error, UnknownAxes):
        return replace(given, axes=next(iter(error.examples)))
    if isinstance(error, UnknownScale):
        return replace(given, unit="pixel")
    return replace(given, channel=0) if isinstance(error, UnknownChannel) else replace(given, series=0)


def _with_the_rest(error: _Unsaid, source: str, given: InputSettings) -> InvalidInput:
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
