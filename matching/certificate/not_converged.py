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
    """

    def __init__(self, message: str, *, assignment: Assignment | None = None, blocks: np.ndarray = NO_BLOCKS) -> None:
        super().__init__(message)
        self.assignment = assignment
        self.blocks = blocks

    def restated(self, restate: Callable[[Assignment], Assignment]) -> NotConverged:
        """Return the error with its answer, where it has one, as that of the problem that another was solved for."""
        known = self.assignment
        return NotConverged(str(self), assignment=None if known is None else restate(known), blocks=self.blocks)
