"""The candidate links and duals of first order's frame pairs, gathered for corrections."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ....matching.certificate.assignment import Assignment
from ....matching.problem import Problem
from ....matching.problem.convert import as_sparse
from ...calibrating.digits import in_digits
from ...errors import InvalidSetting
from ..gate.candidates import CandidateLinks, WideGate
from ..gate.fitting_range import give_shorter
from ..solution import Edges, KeepSolution, LinkGain, LinkSolution, edges_of


@dataclass
class PairSolutions:
    """What has been kept of the frame pairs so far.

    Attributes
    ----------
    n : int
        Rows of the points table.
    keeping : KeepSolution
    candidates : int
    is_whole : bool
        Whether nothing was left out: only candidate links that are written out, and not too many, are at hand.
    """

    n: int
    keeping: KeepSolution
    candidates: int = 0
    is_whole: bool = True
    parts: list[tuple[np.ndarray, np.ndarray, Edges]] = field(default_factory=list)

    def add(self, candidates: CandidateLinks | WideGate, problem: Problem, answer: Assignment) -> None:
        """Keep what one solve was made of.

        Raises
        ------
        InvalidSetting
            If they are always to be kept, and are too many to write out.
        """
        self.candidates += 0 if problem.indices is None else len(problem.indices)
        is_written = isinstance(candidates, CandidateLinks) or self.keeping is KeepSolution.ALWAYS
        self.is_whole &= is_written and self.keeping.takes(self.candidates)
        if not self.is_whole:
            self.parts.clear()
            return
        if isinstance(candidates, WideGate) and problem.kind != "dense":
            raise InvalidSetting(
                "editable needs candidate links that can be written out, as corrections may call for any of them; from "
                f"frame {candidates.earlier.number} to {candidates.later.number} more than {candidates.more_than} are "
                f"within {in_digits(candidates.radius)}. {give_shorter(candidates)}; a lower unmatched_cost leaves out "
                "long links too."
            )
        self.parts.append((candidates.row_points, candidates.col_points, edges_of(as_sparse(problem), answer)))

    def solution(self, gain: LinkGain) -> LinkSolution | None:
        """Return all of it as one, None where something was not to be kept."""
        if not self.is_whole or not self.keeping.takes(0):
            return None
        out_dual, into_dual = np.zeros((2, self.n, 2))
        for rows, cols, edges in self.parts:
            out_dual[rows, 0], into_dual[cols, 0] = edges.row_dual, edges.col_dual
        source = [rows[edges.row] for rows, _, edges in self.parts]
        target = [cols[edges.col] for _, cols, edges in self.parts]
        first = np.zeros(sum(map(len, source)), bool)
        return LinkSolution(
            _laid(source, np.int64),
            _laid(target, np.int64),
            first,
            first,
            _laid([edges.weight for _, _, edges in self.parts], np.float64),
            _laid([edges.made for _, _, edges in self.parts], np.bool_),
            out_dual,
            into_dual,
            divisions=False,
            merges=False,
            gain=gain,
        )


def _laid(parts: list[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate([np.empty(0, dtype), *parts], dtype=dtype)
