"""Why a problem has no assignment: Hall's condition, and the members that break it."""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import Infeasible
from ..jit.compiled import compiled
from ..problem.outline import Outline
from .certify import block_of


def infeasible(
    problem: Outline,
    infeasible_row: int | np.ndarray,
    indptr: np.ndarray,
    indices: np.ndarray | None,
    allowed: np.ndarray | None,
    col_of_row: np.ndarray,
    row_of_col: np.ndarray,
) -> Infeasible:
    """Return the error that names the rows which cannot all be matched.

    Parameters
    ----------
    problem : Problem
        A batch only where `indices` are given, counted over all blocks.
    infeasible_row : int or int array
        Rows from which no augmenting path starts.
    indptr, indices : int64 (rows + 1,), int (edges,) or None
        The graph; None when the k-th entry of a row is column k.
    allowed : bool (edges,) or None
    col_of_row, row_of_col : int32
        The matching that cannot be extended to them, counted as in `indptr` and `indices`.

    Returns
    -------
    Infeasible
        Names the rows and columns that alternating paths from the infeasible rows reach, in the first block that has an
        infeasible row. If these are all unmatched rows of a maximum matching, every maximum matching gives the same
        names.
    """
    rows = np.flatnonzero(_reached(np.atleast_1d(infeasible_row), indptr, indices, allowed, row_of_col))
    columns = col_of_row[rows]
    return of_first_block(rows, np.sort(columns[columns >= 0]), problem.row_offsets, problem.col_offsets)


def violator_where_it_lies(
    row: int, reached_from: Callable[[np.ndarray], np.ndarray], col_of_row: np.ndarray, row_of_col: np.ndarray
) -> Infeasible:
    """Return the error that names the rows which keep `row` from being matched, of a matrix that is not on the host.

    Parameters
    ----------
    row : int
        A row from which no augmenting path starts.
    reached_from : callable
        Tells which columns any of the given rows may be matched with, bool (columns,); asked once for each row.
    col_of_row, row_of_col : int32 (rows,), (columns,)
        A matching that leaves it unassigned and has no path from it.
    """
    columns = np.zeros(len(row_of_col), np.bool_)
    members: list[np.ndarray] = []
    rows = np.array([row])
    while len(rows):
        members.append(rows)
        new = reached_from(rows) & ~columns
        columns |= new
        rows = row_of_col[new]
    whole = [np.array([0, len(side)]) for side in (col_of_row, row_of_col)]
    return of_first_block(np.sort(np.concatenate(members)), np.flatnonzero(columns), *whole)


def of_first_block(
    rows: np.ndarray, columns: np.ndarray, row_offsets: np.ndarray, col_offsets: np.ndarray
) -> Infeasible:
    """Return the error that names the given rows and columns of one block: the first that has any of the rows.

    Parameters
    ----------
    rows, columns : int (k,), int (l,)
        Ascending, counted over all blocks.
    row_offsets, col_offsets : int64 (blocks + 1,)
        As in `Problem`.
    """
    b = int(block_of(row_offsets, rows[:1])[0])
    members = [
        (side[(side >= offsets[b]) & (side < offsets[b + 1])] - offsets[b]).tolist()
        for side, offsets in ((rows, row_offsets), (columns, col_offsets))
    ]
    error = Infeasible(rows=members[0], columns=members[1])
    return error.in_block(b) if len(row_offsets) > 2 else error


@compiled
def _reached(infeasible_row, indptr, indices, allowed, row_of_col):
    """Mark the rows that alternating paths from `infeasible_row` reach; with no free column they break Hall's
    condition.

    `cardinality.hall_violator` asks the same of a graph; here dense rows and masks are read as they are, uncopied.
    """
    seen = np.zeros(len(indptr) - 1, np.bool_)
    seen[infeasible_row] = True
    stack = list(infeasible_row)
    while len(stack):
        i = stack.pop()
        lo = indptr[i]
        for e in range(lo, indptr[i + 1]):
            if allowed is not None and not allowed[e]:
                continue
            k = row_of_col[e - lo if indices is None else indices[e]]
            if not seen[k]:
                seen[k] = True
                stack.append(k)
    return seen
