"""A sparse problem that changes edge by edge, with its optimal assignment and duals kept true after every change."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..certificate.assignment import Assignment
from ..certificate.certify import certify
from ..certificate.refine import refined
from ..problem import Problem
from .resettle import NONE, settle

Side = tuple[str, str, str, str, str]
ROWS: Side = ("row_first", "row_following", "row", "row_matched", "row_dual")
COLS: Side = ("col_first", "col_following", "col", "col_matched", "col_dual")
_OF_MEMBERS = {"row_first": NONE, "row_matched": NONE, "row_dual": 0.0, "row_dist": np.inf, "row_pred": NONE}
_EMPTY = _OF_MEMBERS | {name.replace("row", "col"): value for name, value in _OF_MEMBERS.items()}

Cells = tuple[str, np.ndarray, np.ndarray]
"""Some entries of an array: its name, where, and the values."""


@dataclass
class Changes:
    """What a change wrote over, to be taken back.

    Attributes
    ----------
    sizes : tuple of int
        Rows, columns and edges before.
    cells : list of (name, places, values)
        In the order in which they were written over.
    """

    sizes: tuple[int, int, int]
    cells: list[Cells] = field(default_factory=list)


class ChangingMatching:
    """An optimal assignment of a sparse problem whose edges come, go and change.

    Costs are those against leaving both ends unassigned, so that being unassigned costs nothing and all duals are at
    most 0. Rows and columns have no edge to begin with. Every change is followed by as many shortest augmenting paths
    as it left members whose dual does not fit: what it does not reach is not looked at.

    Attributes
    ----------
    n_rows, n_cols, n_edges : int
    row, col : int32 (edges,)
    cost : float64 (edges,)
        +inf where it is not allowed.
    row_matched, col_matched : int32 (rows,), (columns,)
        Edge of each, −1 = unassigned. Arrays may be longer than what they hold.
    row_dual, col_dual : float64 (rows,), (columns,)
    """

    def __init__(
        self,
        row: np.ndarray,
        col: np.ndarray,
        cost: np.ndarray,
        matched: np.ndarray,
        duals: tuple[np.ndarray, np.ndarray],
    ) -> None:
        """Take over an optimal assignment.

        Parameters
        ----------
        row, col : int (edges,)
        cost : float64 (edges,)
        matched : int (k,)
            Edges.
        duals : float64 (rows,), (columns,)
        """
        self.n_rows, self.n_cols, self.n_edges = len(duals[0]), len(duals[1]), len(row)
        self.row, self.col = row.astype(np.int32), col.astype(np.int32)
        self.cost = cost.astype(np.float64)
        self.row_first, self.row_following = _chained(self.row, self.n_rows)
        self.col_first, self.col_following = _chained(self.col, self.n_cols)
        self.row_dual, self.col_dual = (np.minimum(dual, 0.0) for dual in duals)
        self.row_matched, self.col_matched = (np.full(len(dual), NONE, np.int32) for dual in duals)
        self.row_matched[row[matched]], self.col_matched[col[matched]] = matched, matched
        self.row_dist, self.col_dist = (np.full(len(dual), np.inf) for dual in duals)
        self.row_pred, self.col_pred = (np.full(len(dual), NONE, np.int32) for dual in duals)
        self._changes = Changes((self.n_rows, self.n_cols, self.n_edges))

    # ---------------------------------------------------------------- looking

    def edges_of_row(self, i: int) -> list[int]:
        """Return the edges of a row, those that are not allowed included."""
        return _chain(self.row_first, self.row_following, i)

    def edges_of_col(self, j: int) -> list[int]:
        """Return the edges of a column, those that are not allowed included."""
        return _chain(self.col_first, self.col_following, j)

    def matched_edges(self) -> np.ndarray:
        """Return the edges of the assignment, by rows, int32."""
        matched = self.row_matched[: self.n_rows]
        return matched[matched != NONE]

    def problem(self) -> Problem:
        """Return the problem as it stands, without the edges that are not allowed: sparse, float64, one block."""
        allowed = np.flatnonzero(np.isfinite(self.cost[: self.n_edges]))
        place = self.row[allowed].astype(np.int64) * self.n_cols + self.col[allowed]
        order = allowed[np.argsort(place, kind="stable")]  # in order but for what was added: far faster than two keys
        indptr = np.concatenate([[0], np.cumsum(np.bincount(self.row[order], minlength=self.n_rows))])
        return Problem.sparse(
            (indptr, self.col[order], self.cost[order]), unmatched_cost=0.0, shape=(self.n_rows, self.n_cols)
        )

    def proof(self) -> Assignment:
        """Return the assignment of the whole, its certificate recomputed from the duals."""
        matched, col_of_row = self.matched_edges(), np.full(self.n_rows, -1, np.int32)
        col_of_row[self.row[matched]] = self.col[matched]
        problem = self.problem()
        return refined(problem, certify(problem, col_of_row, self.col_dual[: self.n_cols], solver="changing"))

    # ---------------------------------------------------------------- changing

    def begin(self) -> None:
        """Begin a change that is taken back as one."""
        self._changes = Changes((self.n_rows, self.n_cols, self.n_edges))

    def changes(self) -> Changes:
        """Return what was written over since `begin`."""
        return self._changes

    def take_back(self, changes: Changes) -> Changes:
        """Restore what a change wrote over, identically; return what takes this back in turn."""
        undone = Changes((self.n_rows, self.n_cols, self.n_edges))
        self.n_rows, self.n_cols, self.n_edges = changes.sizes
        for name, places, values in reversed(changes.cells):
            array = getattr(self, name)
            undone.cells.append((name, places, array[places].copy()))
            array[places] = values
        return undone

    def add_members(self, rows: int, cols: int) -> None:
        """Add rows and columns, which have no edge yet."""
        self.n_rows, self.n_cols = self.n_rows + rows, self.n_cols + cols
        for name, value in _EMPTY.items():
            self._grow(name, self.n_rows if name.startswith("row") else self.n_cols, value)
        for (first, _, _, matched, dual), new, count in ((ROWS, self.n_rows, rows), (COLS, self.n_cols, cols)):
            for name in (first, matched, dual):
                self._write(name, np.arange(new - count, new), _EMPTY[name])

    def add_edges(self, row: np.ndarray, col: np.ndarray, cost: np.ndarray) -> np.ndarray:
        """Add edges between rows and columns without one.

        Parameters
        ----------
        row, col : int (k,)
        cost : float64 (k,)
            Against leaving both ends unassigned; +inf where an edge is not allowed.

        Returns
        -------
        int64 (k,)
            Their numbers.
        """
        new = np.arange(self.n_edges, self.n_edges + len(row))
        self.n_edges += len(row)
        for name in ("row", "col", "cost", "row_following", "col_following"):
            self._grow(name, self.n_edges, 0)
        self._write("row", new, row)
        self._write("col", new, col)
        self._write("cost", new, np.full(len(new), np.inf))
        for e in new:
            for first, following, member, _, _ in (ROWS, COLS):
                own = np.array([getattr(self, member)[e]])
                self._write(following, np.array([e]), getattr(self, first)[own])
                self._write(first, own, np.array([e]))
        self.change(new, cost)
        return new

    def change(self, edges: np.ndarray, cost: np.ndarray | float) -> None:
        """Give edges other costs, and solve again.

        Parameters
        ----------
        edges : int (k,)
        cost : float64 (k,), or one number for all
            +inf where an edge is not allowed.
        """
        edges = np.asarray(edges, np.int64)
        old = self.cost[edges]
        self._write("cost", edges, cost)
        new = self.cost[edges]
        lowered = self._lowered(edges[new < old])
        freed = self.row_matched[lowered]
        freed = np.union1d(freed[freed != NONE], edges[(self.row_matched[self.row[edges]] == edges) & (new != old)])
        rows, cols = np.union1d(self.row[freed], lowered), self.col[freed]
        self._write("row_matched", self.row[freed], NONE)
        self._write("col_matched", cols, NONE)
        self._settle(rows, ROWS, COLS)
        self._settle(cols, COLS, ROWS)

    def _lowered(self, edges: np.ndarray) -> np.ndarray:
        """Lower the duals of rows until none of these edges is violated; return the rows."""
        slack = self.cost[edges] - self.row_dual[self.row[edges]] - self.col_dual[self.col[edges]]
        violated = slack < 0
        rows, place = np.unique(self.row[edges[violated]], return_inverse=True)
        excess = np.zeros(len(rows))
        np.minimum.at(excess, place, slack[violated])
        self._write("row_dual", rows, self.row_dual[rows] + excess)
        return rows

    def _settle(self, members: np.ndarray, side: Side, across: Side) -> None:
        """Settle those of some members that are unassigned and whose dual is below its bound."""
        own, other = (tuple(getattr(self, name) for name in names) for names in (side, across))
        matched, dual = own[3], own[4]
        name = side[2]
        scratch = getattr(self, f"{name}_dist"), getattr(self, f"{name}_pred")
        for k in members:
            if matched[k] != NONE or dual[k] == 0.0:
                continue
            before = settle(int(k), own, other, self.cost, *scratch)
            for names, (places, was_matched, was_dual) in ((side, before[:3]), (across, before[3:])):
                self._changes.cells += [(names[3], places, was_matched), (names[4], places, was_dual)]

    def _write(self, name: str, places: np.ndarray, values: np.ndarray | float) -> None:
        """Write into an array, and note what stood there."""
        array = getattr(self, name)
        self._changes.cells.append((name, np.asarray(places), array[places].copy()))
        array[places] = values

    def _grow(self, name: str, size: int, value: float) -> None:
        """Make an array at least so long, by half as much again where it is not."""
        array = getattr(self, name)
        if len(array) < size:
            more = np.full(size + size // 2 - len(array), value, array.dtype)
            setattr(self, name, np.concatenate([array, more]))


def _chained(member: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first edge of each member, and the edge of the same member after each edge, −1 after the last."""
    order = np.argsort(member, kind="stable")
    first, following = np.full(n, NONE, np.int32), np.full(len(member), NONE, np.int32)
    same = member[order[1:]] == member[order[:-1]]
    following[order[:-1][same]] = order[1:][same]
    begins = order[np.concatenate([[True], ~same])] if len(order) else order
    first[member[begins]] = begins
    return first, following


def _chain(first: np.ndarray, following: np.ndarray, k: int) -> list[int]:
    found: list[int] = []
    e = int(first[k])
    while e != NONE:
        found.append(e)
        e = int(following[e])
    return found
