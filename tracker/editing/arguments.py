"""What the arguments of acts hold: one detection, several, a link, several links."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any


def _is_one(value: object) -> bool:
    """Whether something may name a detection: which ids there are is asked when the act is done."""
    return isinstance(value, Hashable) and not isinstance(value, bool)


def _are_several(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_one, value))


def _is_link(value: object) -> bool:
    return _are_several(value) and len(value) == 2  # pyright: ignore[reportArgumentType]


def _are_links(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_link, value))


def _are_measures(value: object) -> bool:
    return value is None or isinstance(value, Mapping)


_DETECTION = _is_one, "one detection"
_DETECTIONS = _are_several, "a list of detections"
_LINK = _is_link, "a link, its source and its target"
_LINKS = _are_links, "a list of links, each its source and its target"
_HOLD: dict[str, tuple[Callable[[object], bool], str]] = {
    "source": _DETECTION,
    "target": _DETECTION,
    "detection": _DETECTION,
    "mother": _DETECTION,
    "daughters": _DETECTIONS,
    "detections": _DETECTIONS,
    "first": _LINK,
    "second": _LINK,
    "links": _LINKS,
    "pinned": _LINKS,
    "forbidden": _LINKS,
    "measures": (_are_measures, "numbers by the names of columns"),
}


def problem_with(arguments: Mapping[str, Any]) -> str:
    """Return which argument of an act holds something else than it needs, and what it needs; empty if none does."""
    for name, value in arguments.items():
        holds, needed = _HOLD.get(name, (None, ""))
        if holds is not None and not holds(value):
            return f"{name} needs {needed}; got {value!r}."
    return ""
