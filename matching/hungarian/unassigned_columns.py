"""Columns that rounding left unassigned below their bound, at which the duals of unassigned columns must end.

A row whose link is released to be matched anew leaves its column behind, with a dual below the bound. The sides are
exchanged, and the same method grows trees from these columns, whose duals rise until they are matched or reach their
bound. What was optimal before stays so.
"""

from __future__ import annotations

import numpy as np

from ..paths.state import FREE, UNASSIGNED, State
from ..paths.state import start as starting_state


def columns_below(state: State, col_bound: np.ndarray) -> np.ndarray:
    """Return the unassigned columns that are not at their bound."""
    return np.flatnonzero((state.row_of_col < 0) & (state.v < col_bound) & (col_bound < state.none))


def exchanged(state: State, col_bound: np.ndarray, free: np.ndarray) -> State:
    """Return the state seen from the columns, of which those in `free` are not settled."""
    turned = starting_state(col_bound, state.row_bound)
    turned.r[:], turned.v[:] = state.v, state.r
    turned.col_of_row[:] = np.where(state.row_of_col < 0, UNASSIGNED, state.row_of_col)
    turned.col_of_row[free] = FREE
    turned.row_of_col[:] = np.maximum(state.col_of_row, FREE)
    linked = np.flatnonzero(state.col_of_row >= 0)
    turned.matched_cost[state.col_of_row[linked]] = state.matched_cost[linked]
    return turned


def take_back(turned: State, state: State) -> None:
    """Copy a state seen from the columns back; what rounding left above its bound is at it."""
    state.r[:], state.v[:] = turned.v, np.minimum(turned.r, turned.row_bound)
    state.col_of_row[:] = np.where(turned.row_of_col < 0, UNASSIGNED, turned.row_of_col)
    state.row_of_col[:] = np.maximum(turned.col_of_row, FREE)
    linked = np.flatnonzero(state.col_of_row >= 0)
    state.matched_cost[linked] = turned.matched_cost[state.col_of_row[linked]]
