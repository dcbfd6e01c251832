"""The auction on the CPU: which of the methods a problem goes through."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..certificate.matched import Matched, match_each
from ..named import named
from ..problem import Problem
from ..problem.convert import as_sparse
from .feasibility import check_feasible
from .matrix_free import match_points
from .options import AuctionOptions
from .phases import SMALL, match_by_auction
from .squared import is_made_square, match_squared

PAIRS_AT_ONCE = 2**22
"""Pairs of small point sets that are written out together: some 100 MB, however many the sets are."""


def small_apart(problem: Problem, group: np.ndarray) -> list[np.ndarray]:
    """Return a group of blocks in the parts that `match_on_cpu` takes, int (k,) each: runs of small point sets, others.

    Small ones are matched on all their pairs, since trees and curves take longer to make.
    """
    small = _are_small_points(problem)[group]
    pairs = np.cumsum(problem.n_rows_of_block[group[small]] * problem.n_cols_of_block[group[small]])
    runs = np.split(group[small], np.flatnonzero(np.diff(pairs // PAIRS_AT_ONCE)) + 1)
    return [part for part in (*runs, group[~small]) if len(part)]


def _are_small_points(problem: Problem) -> np.ndarray:
    """Which blocks are point sets of fewer than `SMALL` points a side, bool (blocks,)."""
    return (problem.kind == "points") & (np.maximum(problem.n_rows_of_block, problem.n_cols_of_block) < SMALL)


def match_on_cpu(problem: Problem, options: AuctionOptions) -> Matched:
    """Match graphs and small point sets side by side, matrices and others one after the other, as `Auction.match` says.

    Either all point sets or none are small (`small_apart`).
    """
    check_feasible(problem)
    if options.variant == "paper":
        match = named(".papers.vasconcelos_2009.cpu:match_as_in_the_paper")
    elif problem.kind == "sparse" or _are_small_points(problem).all():
        return match_by_auction(as_sparse(problem), options)
    elif options.matrix == "only" and options.is_exact and is_made_square(problem):
        match = match_squared
    else:
        match = match_points if problem.kind == "points" else match_by_auction
    return match_each(problem, partial(match, options=options))
