"""What an act was about: where the user is led after it, and what is chosen once it is undone or made again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ....tracker.editing.acts import named
from ....tracker.editing.change import Change, Link
from ....tracker.editing.session import Session as EditSession


@dataclass(frozen=True)
class ActSubject:
    """What an act was about.

    Attributes
    ----------
    places : list of list of float
        Frame and z, y, x or y, x, in steps, of the first particle or two of it, or where they were until they went. The
        last one is where the user is led: where the link ends, else to the particle.
    link : (source, target) or None
        As ids of detections, where it was about one link, which is there.
    particles : tuple of int
        Detections that are there, in the order of the act; none where there is such a link.
    """

    places: list[list[float]]
    link: Link | None
    particles: tuple[int, ...]


def subject_of(change: Change, edits: EditSession, place_of: Callable[[int], list[float] | None]) -> ActSubject | None:
    """Return what an act was about, its change at hand; None where nothing of it has a place any more."""
    about = [*dict.fromkeys([*_named(change.act), *change.added, *change.removed, *change.moved])]
    there = tuple(filter(edits.is_there, about))
    places = [place for place in map(place_of, (there or about)[:2]) if place is not None]
    if not places:
        return None
    is_link = len(about) == len(there) == 2 and there[1] in edits.successors(there[0])
    return ActSubject(places, (there[0], there[1]) if is_link else None, () if is_link else there)


def _named(act: Mapping[str, Any]) -> list[int]:
    """Return the detections that an act is about: of two links whose targets are swapped only these, the first last."""
    return [act["second"][1], act["first"][1]] if act["act"] == "swap_links" else named(act)
