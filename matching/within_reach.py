"""Two point sets matched within a radius, in memory that is bounded however many pairs are that near.

The matrix-free auction grows a graph until no pair within reach contradicts its prices (`auction.matrix_free`). The
proof is that of all pairs within reach: those next to zero slack are looked for once more and join the graph, so that
its row duals are the least of all, and whatever is left out is dearer than its duals by more than the gap and all
rounding, which changes no proof (`certificate.near_pairs`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from .auction.matrix_free import AllowedPairs, match_within
from .auction.pair_graph import with_pairs
from .certificate.above_least import barely_above_least
from .certificate.assignment import Assignment
from .certificate.certify import Slackness, assembled, complementary_slackness, doubted, inverse, settled, within
from .certificate.cheap_edges import cheap_edges
from .certificate.exact_gap import exact_gap
from .certificate.near_pairs import MOST, of_pairs
from .certificate.refine import refined
from .points.box_tree import build_tree
from .points.grid import largest_square
from .points.hilbert import hilbert_orders
from .points.pricing import contradictions
from .problem import Problem
from .problem.costs import best_row_duals, pair_costs
from .problem.csr import rows_of
from .solving import solve
from .tolerance import FAR

LOOKS = 8
"""Refinements at most: of 100 problems with squares that span 50 powers of ten one proves 83, and four all."""

Prove = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[Problem, Assignment]]
"""Called with `col_of_row`, column duals and keys of pairs; see `_proven`."""


def solve_within(
    problem: Problem, radius: float, forbidden: np.ndarray | None = None, most_edges: float = np.inf
) -> tuple[Problem, Assignment]:
    """Match two point sets over their pairs of at most `radius`, to proven optimality; on a CPU.

    Parameters
    ----------
    problem : Problem
        Two point sets, one block on the host, with one `unmatched_cost` of at least 0 for all.
    radius : float
        Longest pair that may be matched.
    forbidden : int64 (k, 2), optional
        Rows and columns of pairs that are not to be matched either.
    most_edges : float
        Pairs that are held at a time, about; some 16 of each row and column at least.

    Returns
    -------
    graph : Problem
        Sparse: the matched pairs and others near to them, whose optimum is that of all pairs within reach.
    answer : Assignment
        Of that graph; what it says of its proof is true of all pairs within reach.
    """
    reach = AllowedPairs(
        largest_square(radius), np.empty((0, 2), np.int64) if forbidden is None else forbidden, most_edges
    )
    stated = problem.row_unmatched, problem.col_unmatched
    assert stated[0] is not None
    # As in `presolve.high_unmatched_costs`: from there on as many as possible are matched, and digits would be lost.
    exchange = 2.0 * min(problem.shape) * (reach.longest if problem.metric == "squared" else radius)
    is_far = 2.0 * float(stated[0].max(initial=0.0)) > FAR * exchange > 0.0
    if is_far:
        halves = (np.full(size, exchange / 2) for size in problem.shape)
        problem = replace(problem, **dict(zip(("row_unmatched", "col_unmatched"), halves, strict=True)))
    found, pairs = match_within(problem, reach)
    prove = partial(_proven, problem, reach, stats=found.stats)
    graph, answer = prove(found.col_of_row, found.col_duals, rows_of(pairs[0]) * problem.n_cols + pairs[1])
    if not answer.is_optimal:
        graph, answer = _refined(prove, graph, answer, most_edges)
    if not is_far:
        return graph, answer
    graph = replace(graph, row_unmatched=stated[0], col_unmatched=stated[1])
    at_stated = solve(graph, "jv", "cpu")
    return graph, replace(at_stated, is_optimal=at_stated.is_optimal and answer.is_optimal)


def _refined(prove: Prove, graph: Problem, answer: Assignment, most_edges: float) -> tuple[Problem, Assignment]:
    """Refine and look for near pairs by turns until the answer is proven; return it as it was where it never is.

    Each look brings some pairs a row, of those that the duals before it were too far off to leave out.
    """
    tried = graph, answer
    for _ in range(LOOKS):
        better = refined(*tried)
        tried = prove(better.col_of_row, better.col_duals, _keys(tried[0]))
        if tried[1].is_optimal:
            return tried
        if tried[0].n_edges > most_edges:
            break
    return graph, answer


def _proven(
    problem: Problem,
    reach: AllowedPairs,
    col_of_row: np.ndarray,
    v: np.ndarray,
    keys: np.ndarray,
    stats: dict[str, float],
) -> tuple[Problem, Assignment]:
    """Return the graph with all pairs that a proof over all within reach may look at, and the answer with its proof.

    Where these are too many, as points at one place have, the proof has to do without them, but for those between
    cheap edges.
    """
    graph, row_of_col = _with_least(problem, reach, keys), inverse(problem, col_of_row)
    v = np.minimum(v, problem.dual_bounds()[1])
    near, is_all = np.zeros(1), True
    while is_all and len(near):  # they may lower a row's dual by a rounding, and raise the gap by it
        r, sums = _sums(graph, col_of_row, row_of_col, v)
        near, is_all = _near_pairs(problem, reach, graph, r, v, within(float(sums.gap[0]), r, v))
        graph = of_pairs(problem, np.union1d(_keys(graph), near))
    r, sums = _sums(graph, col_of_row, row_of_col, v)
    duals = col_of_row, row_of_col, r, v
    if is_all:
        sums = settled(graph, *duals, sums)
    elif sums.has_zero_slack.all() and not sums.proves and not barely_above_least(graph, *duals[:2], sums.gap).any():
        cheap = cheap_edges(problem, *duals, partial(_costs_of, problem, reach))
        is_borne = cheap is not None and (not cheap.problem.n_edges or exact_gap(*cheap)[1])
        sums = sums._replace(proves=is_borne)
    return graph, assembled(graph, *duals, sums, solver="auction", device="cpu", stats=stats)


def _sums(
    graph: Problem, col_of_row: np.ndarray, row_of_col: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, Slackness]:
    """Return the best row duals beside column duals, and what the terms of a proof by them add up to."""
    r, sizes = best_row_duals(graph, v)
    sums = complementary_slackness(graph, col_of_row, row_of_col, r, v, sizes)
    return r, doubted(graph, col_of_row, row_of_col, sums)


def _near_pairs(
    problem: Problem, reach: AllowedPairs, graph: Problem, r: np.ndarray, v: np.ndarray, slack: float
) -> tuple[np.ndarray, bool]:
    """Return the keys of the pairs within reach of up to `slack` that the graph lacks, and whether these are all.

    Of each row they are those of the least.
    """
    assert problem.x is not None
    assert problem.y is not None
    row_order, col_order = hilbert_orders(problem.x, problem.y)
    row_at, col_at = np.argsort(row_order), np.argsort(col_order)
    rows, cols = np.divmod(np.concatenate([_keys(graph), reach.forbidden @ [problem.n_cols, 1]]), problem.n_cols)
    nothing = np.zeros(problem.n_rows + 1, np.int64), np.empty(0, np.int32)
    known = with_pairs(nothing, np.stack([row_at[rows], col_at[cols]], axis=1))
    tree, points = build_tree(problem.y[col_order]), build_tree(problem.x[row_order]).points
    question = tree, points, r[row_order], v[col_order], problem.metric == "squared", MOST
    columns, counts = contradictions(*question, -slack, known, reach.longest)
    is_found = np.arange(MOST) < counts[:, None]
    keys = row_order[np.nonzero(is_found)[0]] * problem.n_cols + col_order[columns[is_found]]
    return keys, bool(counts.max() < MOST)


def _with_least(problem: Problem, reach: AllowedPairs, keys: np.ndarray) -> Problem:
    """Return the graph of some pairs and each row's cheapest, which proofs ask for and forbidden pairs may keep out."""
    for row in np.unique(reach.forbidden[:, 0]):
        costs = _costs_of(problem, reach, np.array([row]), np.arange(problem.n_cols))[0]
        if costs.min() < np.inf:
            keys = np.append(keys, row * problem.n_cols + costs.argmin())
    return of_pairs(problem, np.unique(keys))


def _costs_of(problem: Problem, reach: AllowedPairs, rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
    """Return the matrix of the costs of some rows and columns, +inf where they may not be matched."""
    assert problem.x is not None
    assert problem.y is not None
    costs = pair_costs(problem.x[rows], problem.y[cols], problem.metric)
    costs[pair_costs(problem.x[rows], problem.y[cols], "squared") > reach.longest] = np.inf
    here = np.isin(reach.forbidden[:, 0], rows) & np.isin(reach.forbidden[:, 1], cols)
    costs[
        tuple(np.searchsorted(side, ends) for side, ends in zip((rows, cols), reach.forbidden[here].T, strict=True))
    ] = np.inf
    return costs


def _keys(graph: Problem) -> np.ndarray:
    assert graph.indptr is not None
    assert graph.indices is not None
    return rows_of(graph.indptr) * graph.n_cols + graph.indices
