"""Linking with motion learned from the movie itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from ..margins import link_margins
from ..points import Points
from .learning import Belief
from .ordered import ordered
from .recipe import believed
from .whole_movie import assignment


@dataclass(frozen=True)
class Learned:
    links: pd.DataFrame
    belief: Belief
    report: dict


def link_learned(points: Points, *, max_missed_frames: int | Literal["auto"] = "auto") -> Learned:
    movie = ordered(points)
    belief = believed(movie, max_missed_frames)
    problem, answer = assignment(belief.graph, belief.weight)
    source, target = answer.links()
    margin = link_margins(problem, answer)
    links = pd.DataFrame(
        {
            "source": movie.row[source],
            "target": movie.row[target],
            "margin": margin,
            "probability": 1 / (1 + np.exp(-margin)),
        }
    )
    return Learned(links, belief, {"is_optimal": answer.is_optimal})
