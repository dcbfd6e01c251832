"""Real detections with a truth, from a folder of tables that others published."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from ....tracker.points import Points
from .known_links import UNKNOWN
from .movies import STEPS_IN_RANGE, LinkingInput


@dataclass(frozen=True)
class RealMovie:
    """Where a movie's detections are, and what about them is no secret.

    Attributes
    ----------
    file : str
        Below the folder of all: a table of frame, z, y, x, true_id, and parent_id where particles divide.
    every : int
        Which frames are linked: every first, second, …
    missed : int
        Frames that a particle may be missing.
    depth : float
        What one step along z counts in those along y and x.
    """

    file: str
    every: int = 1
    missed: int = 0
    depth: float = 1.0


REAL_MOVIES = {
    "mosquito swarm, every 5th frame": RealMovie("mosquito_swarm/tracks_m.csv.gz", every=5, missed=1),
    "stretched gel, every 4th frame": RealMovie("stretch_3d/truth.csv.gz", every=4),
    "PTV tracers, every 3rd frame": RealMovie("ptv_tracers/tracks_mm.csv.gz", every=3),
    "T cells": RealMovie("tcells_3d/tracks_um.csv", missed=1),
    "T cells, every 2nd frame": RealMovie("tcells_3d/tracks_um.csv", every=2, missed=1),
    "Phallusia embryo": RealMovie("phallusia_pm03/truth.csv.gz"),
    "Phallusia embryo, every 5th frame": RealMovie("phallusia_pm03/truth.csv.gz", every=5),
    "HL60 nuclei": RealMovie("hl60_3d/truth.csv", depth=2.0),
}


def read_movie(movie: RealMovie, folder: Path) -> LinkingInput:
    """Return the detections of every so many frames, and the range that suits their true steps."""
    table = pd.read_csv(folder / movie.file)
    if "parent_id" in table:  # some tables name the parent at the first appearance only
        table["parent_id"] = table.groupby("true_id")["parent_id"].transform("max")
    frame = table["frame"] - table["frame"].min()
    table = table[frame % movie.every == 0].assign(frame=frame // movie.every).reset_index(drop=True)
    table["z"] *= movie.depth
    if "is_detection_only" in table:
        table.loc[table["is_detection_only"].astype(bool), "true_id"] = UNKNOWN
    step = _mean_step(table)
    return LinkingInput(Points(table), STEPS_IN_RANGE * step, step, movie.missed, "parent_id" in table)


def _mean_step(table: pd.DataFrame) -> float:
    """Return the mean length of the true steps from frame to frame."""
    ordered = table[table["true_id"] >= 0].sort_values(["true_id", "frame"])
    step = ordered[["frame", "z", "y", "x", "true_id"]].diff().to_numpy()[1:]
    return float(np.linalg.norm(step[(step[:, 0] == 1) & (step[:, 4] == 0), 1:4], axis=1).mean())
