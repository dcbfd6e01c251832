"""What an act came to: the difference between what it wrote over and what stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...matching.paths.changing import NONE, Changes
from .change import Change, Link
from .corrected import Corrected
from .journal import NOTHING, Entries


def outcome(movie: Corrected, act: Mapping[str, Any], own: set[int], entries: Entries, changes: Changes) -> Change:
    """Return what an act did.

    Parameters
    ----------
    movie : Corrected
        After the act.
    act : mapping
        As recorded.
    own : set of int
        Detections that the act names.
    entries, changes
        What it wrote over.
    """
    old, new = edges_exchanged(movie, changes)
    were, are = ({movie.link_of(edge) for edge in edges.values()} for edges in (old, new))
    for link, was in _first(entries, movie.pins).items():
        if was is not NOTHING:
            were.add(link)
        if link in movie.pins:
            are.add(link)
    stay = {link for link in were ^ are if _stands_by(movie, link, {*old, *new})}
    gone, made = sorted(were - are - stay), sorted(are - were - stay)
    detections = movie.detections
    added = {d for d, was in _first(entries, detections.added).items() if was is NOTHING}
    removed = {*_first(entries, detections.gone)}
    said = {*_first(entries, movie.pins), *(link for link in _first(entries, movie.bans) if link in movie.bans)}

    def is_other(link: Link) -> bool:
        return not own.issuperset(link) and link not in said and (added | removed).isdisjoint(link)

    return Change(
        act,
        tuple(gone),
        tuple(made),
        tuple(filter(is_other, gone)),
        tuple(filter(is_other, made)),
        tuple(sorted(added)),
        tuple(sorted(removed)),
        tuple(sorted(_first(entries, detections.places))),
        tuple(sorted(own | added | _touched(movie, changes))),
    )


def edges_exchanged(movie: Corrected, changes: Changes) -> tuple[dict[int, int], dict[int, int]]:
    """Return the matched edge of every row that a change wrote to, before it and now; rows without one are left out."""
    before: dict[int, int] = {}
    for name, places, values in changes.cells:
        if name == "row_matched":
            for row, edge in zip(places.tolist(), values.tolist(), strict=True):
                before.setdefault(row, edge)
    now = {row: int(movie.matching.row_matched[row]) for row in before}
    old, new = ({row: edge for row, edge in of.items() if edge != NONE} for of in (before, now))
    return old, new


def _stands_by(movie: Corrected, link: Link, rows: set[int]) -> bool:
    """Whether a link stands by another row than those: as first and as second one at once, where both are worth it."""
    own = range(link[0] * movie.ways_out, (link[0] + 1) * movie.ways_out)
    edges = [int(movie.matching.row_matched[row]) for row in own if row not in rows]
    return any(edge != NONE and movie.link_of(edge) == link for edge in edges)


def _first(entries: Entries, mapping: dict[Any, Any]) -> dict[Any, Any]:
    """Return what stood under each key of a mapping that was written to."""
    first: dict[Any, Any] = {}
    for written, key, was in entries:
        if written is mapping:
            first.setdefault(key, was)
    return first


def _touched(movie: Corrected, changes: Changes) -> set[int]:
    """Return the detections whose duals were written to."""
    ways = {"row_dual": movie.ways_out, "col_dual": movie.ways_in}
    return {k // ways[name] for name, places, _ in changes.cells if name in ways for k in places.tolist()}
