"""Whether a shift that particles share is one of all: it is subtracted only where links are as likely without it.

Particles that stream two ways elect now the one way, now the other. Taken off, that tears apart what goes on as it
came. Places that are rounded to planes farther apart than particles elect whichever plane.
"""

from __future__ import annotations

from dataclasses import replace

from ...settings import Motion
from ..detections.ordered import Ordered
from ..learning.other_starts import Tried, best_of, margin_of, sample_of
from ..recipe import OverOneFrame, may_know_links
from .drift import drift_of


def without_drift(movie: Ordered, motion: Motion) -> tuple[Ordered, Tried | None]:
    """Return the movie with the shifts of all between consecutive frames subtracted; `drift` has what was.

    And what its sample's likeliest links came of, where that was asked.
    """
    drift, repeats = drift_of(movie)
    movie = replace(movie, repeats=repeats)
    if not drift.any():
        return movie, None
    without = replace(movie, position=movie.position - movie.of_each(drift), drift=drift)
    is_shared, tried = is_of_all(without, motion)
    return (without, tried) if is_shared else (movie, None)


def is_of_all(movie: Ordered, motion: Motion) -> tuple[bool, Tried | None]:
    """Return whether links are not clearly likelier where the drift is put back; tried on a sample.

    And what the likeliest links of the sample without it came of, where that was asked.

    Parameters
    ----------
    movie : Ordered
        Drift subtracted.
    motion : str
        Where links know of no others, whichever shift is subtracted hardly matters, and nothing is tried.
    """
    if not may_know_links(motion):
        return True, None
    without, is_inner = sample_of(movie)
    if len(without.pairs_apart(1)[0]) < 2:
        return True, None
    as_it_came = replace(without, position=without.position + without.of_each(without.drift))
    learn, margin = OverOneFrame(motion, spreads=False), margin_of(without)
    _, put_back = best_of(as_it_came, is_inner, learn)
    if put_back <= margin:  # links no better than none at all (0 nats) say nothing: the fewer, the likelier they are
        return True, None
    tried = best_of(without, is_inner, learn)
    return put_back <= tried.likelihood + margin, tried
