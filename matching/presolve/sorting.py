"""Costs that sorting solves: both sides lie along a line, and it never pays to cross matched edges.

Where c_ij + c_kl ≤ c_il + c_kj for rows i before k and columns j before l (G. Monge's condition, 1781), as with any
convex function of the distance on a line, matching the first to the first, the second to the second and so on is the
cheapest. Then column duals exist that rise from one column to the next by no more than c_i,i+1 - c_ii and by no less
than c_i+1,i+1 - c_i+1,i: what they add up to along the line proves it for all pairs.

The orders are read from the costs of four rows and columns, and 3 n further costs show whether neighbours satisfy the
condition. Nothing is taken on trust: the certificate looks at all pairs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..certificate.assignment import Assignment
from ..certificate.certify import MOST_PAIRS, certify
from ..certificate.float_pairs import difference
from ..certificate.refine import refined
from ..device import cuda
from ..problem import Problem
from ..problem.costs import edge_costs
from ..tolerance import EPS, SHARE, ULPS

FEWEST = 256
"""Rows below which no order is looked for: a matrix this small is solved as soon as it is looked at."""

ROUNDS = 3
"""Times that each side is ordered by the ends of the other; distances say nothing of what lies beyond those ends."""

SAMPLE = 32
"""Rows and columns of a matrix, or up to twice as many, by which it is decided whether to look at all of them."""


def calls_for_sorting(problem: Problem) -> bool:
    """Return whether every so many rows and columns of a matrix may be sorted, as those of one that sorting solves may.

    Where the matrix lies on a GPU, these alone are fetched.
    """
    if problem.kind != "dense" or not problem.must_match_all(FEWEST) or not problem.allows_all:
        return False
    step = problem.n_rows // SAMPLE
    some = Problem.dense(cuda.to_host(problem.cost_matrix[::step, ::step]))
    return _duals(some, *_orders(some)) is not None


def by_sorting(problem: Problem) -> Assignment | None:
    """Return the optimum of a problem that sorting solves, proven as far as rounding lets; None of others.

    Parameters
    ----------
    problem : Problem
        On the host. Only single problems of equal sides, without an `unmatched_cost`, and with all pairs allowed are
        looked at, from `FEWEST` rows.
    """
    if not problem.must_match_all(FEWEST) or not problem.allows_all:
        return None
    rows, cols = _orders(problem)
    v = _duals(problem, rows, cols)
    if v is None:
        return None
    col_of_row = np.empty(problem.n_rows, np.int32)
    col_of_row[rows] = cols
    duals = np.empty_like(v)
    duals[cols] = v
    answer = refined(problem, certify(problem, col_of_row, duals, solver="sorting"))
    return answer if answer.is_optimal or _is_beyond_proof(problem, answer) else None


def _is_beyond_proof(problem: Problem, answer: Assignment) -> bool:
    """Whether only rounding prevents a proof, for so many points that no solver would do better."""
    return problem.kind == "points" and problem.n_edges > MOST_PAIRS and answer.gap <= SHARE * answer.cost


def _costs(problem: Problem, rows: ArrayLike, cols: ArrayLike) -> np.ndarray:
    """Return c_ij of pairs of a single problem; a side of one member stands beside all of the other."""
    rows, cols = (np.ascontiguousarray(side) for side in np.broadcast_arrays(rows, cols))
    return edge_costs(problem, rows, np.zeros(len(rows), np.int64), cols)


def _orders(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and columns in the orders that the differences of two columns, and of two rows, call for."""
    everything = np.arange(problem.n_rows)
    far_col = int(_costs(problem, [0], everything).argmax())
    from_far = _costs(problem, everything, [far_col])
    first, last = int(from_far.argmax()), int(from_far.argmin())
    rows = cols = everything
    for _ in range(ROUNDS):
        cols = np.argsort(_costs(problem, [first], everything) - _costs(problem, [last], everything))
        rows = np.argsort(_costs(problem, everything, cols[:1]) - _costs(problem, everything, cols[-1:]))
        first, last = int(rows[0]), int(rows[-1])
    return rows, cols


def _duals(problem: Problem, rows: np.ndarray, cols: np.ndarray) -> np.ndarray | None:
    """Return column duals, in the order of the line, that prove sorting right; None where neighbours contradict it."""
    own = _costs(problem, rows, cols)
    most = _costs(problem, rows[:-1], cols[1:]) - own[:-1]
    least = own[1:] - _costs(problem, rows[1:], cols[:-1])
    rounding = 0 if problem.is_integer else ULPS * EPS * np.maximum(abs(own[:-1]), abs(own[1:]))
    if (least > most + rounding).any():
        return None
    rises = least + (most - least) // 2 if problem.is_integer else least + (most - least) / 2
    rises = np.append(0, rises)
    return _sums(rises, len(rises) // 2)


def _sums(terms: np.ndarray, origin: int) -> np.ndarray:
    """Return the running sums less that at the origin; of floats each is rounded once (Neumaier's compensation).

    So duals near the origin, which are small, are exact to their own last digit, as cheap edges beside them need.
    """
    plain = np.cumsum(terms)
    if terms.dtype.kind == "i":
        return plain - plain[origin]
    before = np.append(0.0, plain[:-1])
    part = plain - before
    lost = np.cumsum((before - (plain - part)) + (terms - part))
    high, low = difference.py_func(plain, lost, plain[origin], lost[origin])
    return high + low
