"""Whether a shift that particles share is one of all: it is taken off only where links are as likely without it.

Particles that stream two ways elect now the one way, now the other. Taken off, that tears apart what goes on as it
came. Places that are rounded to planes farther apart than particles elect whichever plane.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ..settings import Motion
from .drift import drift_of
from .ordered import Ordered
from .other_starts import Learn, best_of, margin_of, sample_of
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
    learned, margin = partial(over_one_frame, motion=motion), margin_of(without)
    put_back = _likeliest(as_it_came, is_inner, learned, motion)
    # Links no better than none at all (0 nats) say nothing: the fewer there are the likelier they are.
    return put_back <= margin or put_back <= _likeliest(without, is_inner, learned, motion) + margin


def _likeliest(sample: Ordered, is_inner: np.ndarray, learned: Learn, motion: Motion) -> float:
    return best_of(sample, is_inner, learned, may_leave_flow=motion == "auto")[1]
