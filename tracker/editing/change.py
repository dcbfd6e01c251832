"""What an act did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

Link = tuple[int, int]
"""Source and target, as ids of detections."""


@dataclass(frozen=True)
class Change:
    """What an act, its undoing or its redoing did.

    Attributes
    ----------
    act : mapping
        As recorded: `act`, its name, and its arguments.
    gone, made : tuple of (source, target)
        Every link that went, and every one that came.
    others_gone, others_made : tuple of (source, target)
        What changed besides: those among them that do not join two of the detections that the act names, that it did
        not itself confirm or forbid, and that did not come or go with a detection.
    added, removed, moved : tuple of int
        Detections that came, went, and have another place.
    touched : tuple of int
        Detections whose duals or links were looked at again: how sure their links are may have changed.
    """

    act: Mapping[str, Any]
    gone: tuple[Link, ...]
    made: tuple[Link, ...]
    others_gone: tuple[Link, ...]
    others_made: tuple[Link, ...]
    added: tuple[int, ...]
    removed: tuple[int, ...]
    moved: tuple[int, ...]
    touched: tuple[int, ...]

    def reversed(self) -> Change:
        """Return what its undoing does."""
        return replace(
            self,
            gone=self.made,
            made=self.gone,
            others_gone=self.others_made,
            others_made=self.others_gone,
            added=self.removed,
            removed=self.added,
        )
