"""The one error that carries an answer; the others are in `matching.errors`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import AuctrackError
from .assignment import Assignment

NO_BLOCKS = np.empty(0, np.int64)
"""Where a budget is that of the whole problem."""


class NotConverged(AuctrackError, RuntimeError):
    """An iteration budget ran out before the answer was proven.

    Attributes
    ----------
    assignment : Assignment or None
        The matched edges made so far, with duals that bound the optimum from below. Its gap is +inf where a member that
        must be matched is still unassigned, and the proven one where no matched edge is missing.
    blocks : int array
        Of matrices solved at once, those that the budget did not suffice for; all others ended within it.
    is_far : bool
        Whether several times the budget would not have sufficed either, as far as the solver can tell.
    """

    def __init__(
        self,
        message: str,
        *,
        assignment: Assignment | None = None,
        blocks: np.ndarray = NO_BLOCKS,
        is_far: bool = False,
    ) -> None:
        super().__init__(message)
        self.assignment = assignment
        self.blocks = blocks
        self.is_far = is_far

    def restated(self, restate: Callable[[Assignment], Assignment]) -> NotConverged:
        """Return the error with its answer, where it has one, as that of the problem that another was solved for."""
        known = None if self.assignment is None else restate(self.assignment)
        return NotConverged(str(self), assignment=known, blocks=self.blocks, is_far=self.is_far)
