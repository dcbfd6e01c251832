"""Whether a shift that particles share is one of all: it is taken off only where links are as likely without it.

Particles that stream two ways elect now the one way, now the other. Taken off, that tears apart what goes on as it
came. Places that are rounded to planes farther apart than particles elect whichever plane.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ..settings import Motion
from .drift import drift_of
from .ordered import Ordered
from .other_starts import best_of, margin_of, sample_of
from .recipe import may_know_links, over_one_frame


def without_drift(movie: Ordered, motion: Motion) -> Ordered:
    """Return the movie with the shifts of all between consecutive frames taken off; `drift` has what was taken."""
    drift = drift_of(movie)
    if not drift.any():
        return movie
    without = replace(movie, position=movie.position - movie.of_each(drift), drift=drift)
    return without if is_of_all(without, motion) else movie


def is_of_all(movie: Ordered, motion: Motion) -> bool:
    """Return whether links are not clearly likelier where the drift is put back; tried on a sample.

    Parameters
    ----------
    movie : Ordered
        Drift taken off.
    motion : str
        Where links know of no others, whichever shift is taken off hardly matters, and nothing is tried.
    """
    if not may_know_links(motion):
        return True
    without, is_inner = sample_of(movie)
    if len(without.pairs_apart(1)[0]) < 2:
        return True
    as_it_came = replace(without, position=without.position + without.of_each(without.drift))
    learned = partial(over_one_frame, motion=motion)
    put_back, taken_off = (
        best_of(sample, is_inner, learned, may_leave_flow=motion == "auto")[1] for sample in (as_it_came, without)
    )
    # Where links are no better than none at all (0 nats), the fewer there are the likelier they are.
    return put_back <= max(taken_off, 0.0) + margin_of(without)
