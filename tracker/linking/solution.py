"""What a linking was solved from, kept for corrections: candidate links, duals, and what other links would gain."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np

from ...matching.certificate.assignment import Assignment
from ...matching.certificate.certify import block_of
from ...matching.problem import Problem
from ...matching.problem.csr import rows_of

MOST_AT_HAND = 10_000_000
"""Candidate links that are kept at most where nobody has asked for corrections yet: 0.5 GB."""


class KeepSolution(Enum):
    """Whether a linking keeps what corrections start from."""

    NOTHING = "nothing"
    AT_HAND = "at hand"
    """Only where the linking asked for holds it anyway, so that nothing is done in another way for it."""
    ALWAYS = "always"

    def takes(self, candidates: int) -> bool:
        """Whether so many candidate links, written out, are kept."""
        return self is KeepSolution.ALWAYS or (self is KeepSolution.AT_HAND and candidates <= MOST_AT_HAND)


class LinkGain(Protocol):
    """What a link between any two detections gains against both its ends staying unlinked."""

    @property
    def most_frames(self) -> int:
        """Longest link, in frames of the movie's step."""
        ...

    def radius(self, lag: int) -> float:
        """Return how long a link over `lag` steps may be, in the unit of the positions."""
        ...

    def of(self, lag: int, source: np.ndarray, target: np.ndarray, frames: np.ndarray) -> np.ndarray:
        """Return what links gain.

        Parameters
        ----------
        lag : int
            Steps of the movie, at most `most_frames`.
        source, target : float64 (k, d)
            Physical positions; one of them may be a single row.
        frames : int64 (1, 2)
            Frame numbers of both.

        Returns
        -------
        float64 (k,)
            −inf for what is out of reach.
        """
        ...


@dataclass(frozen=True)
class LinkSolution:
    """The candidate links with a gain, in the order of their problem, and the proof of the answer.

    Attributes
    ----------
    source, target : int64 (edges,)
        Rows of the points table.
    second_out, second_into : bool (edges,)
        Whether the edge stands for the second link out of its source (a division), or into its target (a merge).
    weight : float64 (edges,)
        Its gain against both its ends staying unlinked there, above 0.
    made : bool (edges,)
        The links.
    out_dual, into_dual : float64 (n, 2)
        Per detection the dual, at most 0, of its first and of its second link out, and of those into it.
    divisions, merges : bool
        Whether second links of either kind may be made.
    gain : LinkGain
    """

    source: np.ndarray
    target: np.ndarray
    second_out: np.ndarray
    second_into: np.ndarray
    weight: np.ndarray
    made: np.ndarray
    out_dual: np.ndarray
    into_dual: np.ndarray
    divisions: bool
    merges: bool
    gain: LinkGain


@dataclass(frozen=True)
class Edges:
    """Written-out edges of one problem, rows and columns counted over all blocks, and their answer.

    Attributes
    ----------
    row, col : int64 (edges,)
    weight : float64 (edges,)
        Unmatched costs of both ends less the cost.
    made : bool (edges,)
    row_dual, col_dual : float64 (rows,), (columns,)
        Less the unmatched cost.
    """

    row: np.ndarray
    col: np.ndarray
    weight: np.ndarray
    made: np.ndarray
    row_dual: np.ndarray
    col_dual: np.ndarray


def edges_of(problem: Problem, answer: Assignment) -> Edges:
    """Return the edges of a sparse problem, and the answer's, against leaving both ends unassigned."""
    assert problem.indptr is not None
    assert problem.indices is not None
    row = rows_of(problem.indptr)
    col = problem.indices + problem.col_offsets[block_of(problem.row_offsets, row)]
    row_bound, col_bound = problem.dual_bounds()
    weight = row_bound[row] + col_bound[col] - problem.data
    made = answer.col_of_row[row] == problem.indices
    return Edges(row, col, weight, made, answer.row_duals - row_bound, answer.col_duals - col_bound)
