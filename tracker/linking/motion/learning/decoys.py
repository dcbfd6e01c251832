"""Whether links are more than chance: do they lead to particles rather than to decoys?

What is learned from guesses fits them, and finds them probable. So every other frame gets a decoy beside each particle,
which nothing leads to. A wrong link leads to either as often; the surplus of links to particles is right (the
target-decoy search of Elias & Gygi, Nature Methods 4, 2007, for spectra).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..detections.ordered import Ordered
from .belief import Belief
from .likelihood import best_links

ASTRAY = 3.0
"""Spacings from a particle to its decoy, root mean square: as dense there, and too far for a step to tell."""
FEWEST_RIGHT, DEVIATIONS = 0.25, 2.0
"""Share of the links that must be right beyond so many standard deviations of what chance may bring."""


def are_chance(movie: Ordered, learned: Callable[[Ordered], Belief]) -> bool:
    """Return whether the links that are learned lead to particles hardly more often than to decoys.

    Parameters
    ----------
    movie : Ordered
        On the host.
    learned : callable
        What is believed of a movie.
    """
    decoyed, is_asked, is_decoy = with_decoys(movie)
    ends = np.concatenate(best_links(learned(decoyed)))
    to_decoys = int(is_decoy[ends].sum())
    to_particles = int(is_asked[ends].sum()) - to_decoys
    return is_chance(to_particles, to_decoys)


def is_chance(to_particles: float, to_decoys: float) -> bool:
    """Return whether so many links to particles are hardly more than chance makes, as so many to decoys tell."""
    surplus, spread = to_particles - to_decoys, float(np.sqrt(to_particles + to_decoys))
    return surplus < FEWEST_RIGHT * to_particles + DEVIATIONS * spread


def with_decoys(movie: Ordered) -> tuple[Ordered, np.ndarray, np.ndarray]:
    """Return a movie with a decoy beside each particle of every other frame.

    Returns
    -------
    movie : Ordered
    is_asked, is_decoy : bool (detections,)
        Which are of such a frame, and which of them are decoys.
    """
    frames = len(movie.number)
    has_decoys = np.arange(frames) % 2 == 1
    of = np.flatnonzero(movie.of_each(has_decoys))
    moves = np.random.default_rng(0).normal(scale=ASTRAY / np.sqrt(movie.ndim), size=(len(of), movie.ndim))
    least, most = movie.position.min(axis=0), movie.position.max(axis=0)
    place = least + abs(movie.position[of] + moves - least)
    place = most - abs(most - place)  # thrown back at the borders, behind which no link looks
    order = np.argsort(np.append(movie.frame, movie.frame[of]), kind="stable")
    decoyed = replace(
        movie,
        position=np.concatenate([movie.position, place])[order],
        starts=np.append(0, np.cumsum(np.diff(movie.starts) * (1 + has_decoys))),
        host_row=np.append(movie.row, movie.row[of])[order],
        rank=np.arange(len(order), dtype=np.int32),
    )
    return decoyed, decoyed.of_each(has_decoys), order >= len(movie)
