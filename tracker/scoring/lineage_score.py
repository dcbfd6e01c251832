"""Lineages against the true ones, by the scores of the field.

Detections are matched to real ones first, one to one; all scores are made of that one matching.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..kinds import require_whole
from ..points import Points, Tracks, require
from .agreement import Agreement
from .aogm import Repairs, repairs
from .biology import branching_correctness, cell_cycle_accuracy, complete_tracks, track_fractions
from .chota import chota, hota
from .comparison import Comparison
from .divisions import score_divisions
from .identities import match_rows
from .lineages import Lineages
from .names import names_of, real_particles, whole_numbers


@dataclass(frozen=True)
class LineageScore:
    """Agreement of lineages with the truth; every figure but `repairs.aogm` is 1 at best.

    Parameters
    ----------
    nodes, edges, divisions : Agreement
        Detections; links, across gaps and to daughters too; divisions within the frame tolerance.
    repairs : Repairs
        AOGM and its counts, DET, TRA and LNK.
    chota, hota : float
        Higher order tracking accuracy, of lineages and of tracks.
    ct, tf, bc, cca : float
        Complete tracks, track fractions, branching correctness within the frame tolerance, cell cycle accuracy.
    """

    nodes: Agreement
    edges: Agreement
    divisions: Agreement
    repairs: Repairs
    chota: float
    hota: float
    ct: float
    tf: float
    bc: float
    cca: float

    def summary(self) -> dict[str, float | int | None]:
        """Return every figure by name, in reading order; None where it is undefined, as JSON wants it."""
        values: dict[str, float | int] = {}
        for name, of in (("node", self.nodes), ("edge", self.edges), ("division", self.divisions)):
            values |= {f"{name}_f1": of.f1, f"{name}_precision": of.precision, f"{name}_recall": of.recall}
            values |= {f"real_{name}s": of.real, f"predicted_{name}s": of.predicted, f"correct_{name}s": of.correct}
        mend = self.repairs
        values |= {"DET": mend.det, "TRA": mend.tra, "LNK": mend.lnk, "AOGM": mend.aogm}
        values |= {"wrong_meanings": mend.wrong_meanings, "CHOTA": self.chota, "HOTA": self.hota}
        values |= {"CT": self.ct, "TF": self.tf, "BC": self.bc, "CCA": self.cca}
        return {name: None if math.isnan(value) else value for name, value in values.items()}


def score_lineages(
    tracks: Tracks, truth: Points, *, tolerance: float | None = None, frame_tolerance: int = 0
) -> LineageScore:
    """Score tracks and their divisions as cell tracking does.

    Parameters
    ----------
    tracks : Tracks
        The prediction. Rows with a negative `track_id` are detections without a track.
    truth : Points
        Every real particle, named by `track_id` or, without that column, by `true_id`, and who divides into whom
        (`parents`, where it is `Tracks`); rows with a negative name are left out. For a truth that has only some of
        the particles see `score_sparse`.
    tolerance : float, optional
        Detections are assigned to particles by position, at most this far apart, in the unit of the calibration (see
        `match_points`). None: by identity, the column `true_id` of `tracks`.
    frame_tolerance : int
        By how many frames a division may come early or late.

    Returns
    -------
    LineageScore

    Raises
    ------
    InvalidInput
        If a track or a particle is twice in one frame, names are missing, or the tables' units or dimensions differ.
    InvalidSetting
        If a tolerance is out of range.

    Notes
    -----
    A link of a track across frames where it is missing is one edge. Tracks are cut at divisions and merges, wherever
    `track_id` changes: a mother with one daughter is one track with it.

    Examples
    --------
    >>> from auctrack import read_tracks, score_lineages
    >>> truth = read_tracks("sample_data/movie.truth.csv")
    >>> score_lineages(truth, truth, tolerance=1).chota
    1.0
    """
    require(Tracks, tracks)
    require(Points, truth, "truth")
    frame_tolerance = require_whole(frame_tolerance, 0, "frame_tolerance")
    truth = real_particles(truth)
    found, real = (
        Lineages.of(tracks, whole_numbers(tracks, "track_id")),
        Lineages.of(truth, names_of(truth)),
    )
    compared = Comparison(found, real, match_rows(tracks, truth, tolerance))
    return LineageScore(
        nodes=Agreement(len(real), len(found), int((compared.match >= 0).sum())),
        edges=Agreement(len(real.edges), len(found.edges), int(compared.found_edge.sum())),
        divisions=score_divisions(compared, frame_tolerance),
        repairs=repairs(compared),
        chota=chota(compared),
        hota=hota(compared),
        ct=complete_tracks(compared),
        tf=track_fractions(compared),
        bc=branching_correctness(compared, frame_tolerance),
        cca=cell_cycle_accuracy(compared),
    )
