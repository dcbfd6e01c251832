"""The links that a detection of a session might have: what acts at random choose from."""

from __future__ import annotations

from auctrack import Session


def candidates_of(session: Session, detection: int) -> list[tuple[int, int]]:
    """Return the possible links out of and into a detection, those that save most first."""
    movie = session._movie
    saved: dict[tuple[int, int], float] = {}
    for edge in (*movie.edges_from(detection), *movie.edges_into(detection)):
        link = movie.link_of(edge)
        if all(map(movie.detections.is_there, link)) and movie.weight(edge) > 0:
            saved[link] = max(saved.get(link, 0.0), movie.weight(edge))
    return sorted(saved, key=lambda link: -saved[link])
