"""What an act wrote over in mappings, so that it can be taken back."""

from __future__ import annotations

from typing import Any

NOTHING = object()
"""What stood under a key that was not there."""

Entries = list[tuple[dict[Any, Any], Any, Any]]
"""(mapping, key, what stood there), in the order of writing."""


class Journal:
    """Writes into mappings and notes what stood there."""

    def __init__(self) -> None:
        self._entries: Entries = []

    def begin(self) -> None:
        """Begin an act."""
        self._entries = []

    def entries(self) -> Entries:
        """Return what was written over since `begin`."""
        return self._entries

    def put(self, mapping: dict[Any, Any], key: Any, value: Any) -> None:
        """Set one entry."""
        self._entries.append((mapping, key, mapping.get(key, NOTHING)))
        mapping[key] = value

    def drop(self, mapping: dict[Any, Any], key: Any) -> None:
        """Take one entry away, if it is there."""
        if key in mapping:
            self._entries.append((mapping, key, mapping.pop(key)))


def taken_back(entries: Entries) -> Entries:
    """Restore what was written over; return what takes this back in turn."""
    undone: Entries = []
    for mapping, key, value in reversed(entries):
        undone.append((mapping, key, mapping.get(key, NOTHING)))
        if value is NOTHING:
            del mapping[key]
        else:
            mapping[key] = value
    return undone
