"""Which one is meant of several channels of a movie, or series of a file: by its number, or by its name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import InvalidSetting, UnknownChannel, UnknownSeries

ONLY_SERIES = ("series 0",)
"""Those of what holds one image and gives it no name."""
_SHOWN = 12
"""Names that a message lists: a plate has hundreds of series."""


def channel_number(given: int | str | None, names: tuple[str, ...], path: Path) -> int:
    """Return the number of a channel.

    Raises
    ------
    UnknownChannel
        If none is given, and there are several.
    InvalidSetting
        If it is not among them.
    """
    if given is None and len(names) > 1:
        problem = f"{path}: has {len(names)} channels ({_some(names)}); choose one."
        raise UnknownChannel(problem, **_choosing("channel", names))
    return _number(given, names, path, "channel")


def series_number(given: int | str | None, names: tuple[str, ...], path: Path, sizes: Sequence[str] = ()) -> int:
    """Return the number of a series, whose `sizes` are shown where they differ; raises as `channel_number` does."""
    if given is None and len(names) > 1:
        shown = [f"{name} ({size})" for name, size in zip(names, sizes, strict=True)] if len(set(sizes)) > 1 else names
        problem = f"{path}: holds {len(names)} images (series, such as positions): {_some(shown)}. Choose one."
        error = UnknownSeries(problem, **_choosing("series", names))
        error.names = names
        raise error
    return _number(given, names, path, "series")


def listed(names: Sequence[str], read: int | None = None) -> str:
    """Return names with their numbers, the one that is `read` marked; of many that one alone."""
    if read is not None and len(names) > _SHOWN:
        return f"{read}: {names[read]}  (read), of {len(names)}"
    return ", ".join(f"{number}: {name}{'  (read)' * (number == read)}" for number, name in enumerate(names))


def _choosing(setting: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Return how to choose, for an `InvalidInput`: by the last name, if no other is called so."""
    example = names[-1] if names.count(names[-1]) == 1 else str(len(names) - 1)
    said = f"Give its number or name, such as {setting}={example!r}."
    return {"in_python": said, "setting": setting, "examples": {example: ""}}


def _number(given: int | str | None, names: tuple[str, ...], path: Path, setting: str) -> int:
    """Return the number asked for; a name goes before a number written as text."""
    if given is None:
        return 0
    if isinstance(given, str):
        called = [n for n, name in enumerate(names) if name == given]
        called = called or [n for n, name in enumerate(names) if name.casefold() == given.casefold()]
        if len(called) > 1:
            several = f"{given!r} is the name of several of {path} ({_some(names)}); give the number."
            raise InvalidSetting(several, setting=setting)
        if called:
            return called[0]
    number = int(given) if not isinstance(given, str) or given.isdecimal() else -1
    if not 0 <= number < len(names):
        raise InvalidSetting(f"{given!r} is not among those of {path}, which has {_some(names)}.", setting=setting)
    return number


def _some(names: Sequence[str]) -> str:
    return listed(names[:_SHOWN]) + ", …" * (len(names) > _SHOWN)
