"""Every tolerance of the solvers and their proofs, and why it is what it is.

Integers have none: their duals and gaps are exact. Kernels state theirs themselves; a test holds
them to these (`test_tolerance`).
"""

from __future__ import annotations

import numpy as np

EPS = float(np.finfo(np.float64).eps)
"""One ulp of 1: a result of one operation is within half of it."""

ULPS = 64
"""Proven optimal: every term of the gap within this many ulp of the largest number that went into it. Duals are sums
along paths; those of correct solvers stay within some ten ulp, and a wrong edge is off by far more."""

REMATCH_ULPS = 16
"""A matched edge whose slack is beyond this is matched again while a GPU still holds the costs: a fourth of `ULPS`, so
that what later searches add does not reach it."""

SHARE = 1e-9
"""Part of what its own matched edges cost that the gap of a proven answer may be: no cost is measured better."""

SLACK_ULPS = 4
"""An auction's matched edge has zero slack within this: the rounding of one difference and of its two terms."""

PRICING_ULPS = 16
"""A pair contradicts prices by more than this: less is the rounding of its cost and of both duals."""

BID_ULPS = 16
"""Least increment of a bid, in ulp of the largest price: below it a bid might change nothing, and never end."""

FINEST_ULPS = 2
"""Last increment of an auction that goes on until only rounding is left, in ulp of the largest price: two to four of
the steps between floats there, so that a bid still lowers a column's dual. An eighth of `REMATCH_ULPS`: so few rows
whose own terms are small are matched again (city block, 4,000 rows: 44,000 scans; with 16 and 20 ulp 2.9 million)."""

LOST_ULPS = 8
"""A gap within this part of what a connected part costs is lost when costs are added up, and cannot be told from 0."""

PAIR_ULPS = 4
"""Of the second of two floats (`float_pairs`), where it is not small beside the first."""

SHORTEST_ULPS = 8
"""By how many ulp of the dearest exchange a dual must be too high for Bellman and Ford's search to lower it."""

NEAR_ULPS = 2.0**20
"""Pairs whose slack is beyond this are left out where large point sets are settled: rounding moves no dual as far."""

PAIRS_LOSE = 2.0**-64
"""Part of what is paid that pairs of floats lose where costs span sixty decades; a wrong edge costs more than that."""

PAIR_ROUNDING = 2.0**-96
"""Part of a move's terms by which it must lower a label held as two floats: less is their rounding."""

FLOAT_SCREEN = 2.0**-50
"""Where a move falls short by this part of its terms in floats, it does in pairs of floats too, and is not tried."""

FAR = 2.0**10
"""Unmatched costs are far above all costs from this many times the dearest exchange on: nearer, they cost three of the
sixteen digits at most."""

STATED = 1e-12
"""Part by which a stated cost or gap may differ from the sum found: the order of addition is free."""

DUALS_BEYOND_COSTS = 8.0
"""No optimal dual needs more than a path's length times the largest cost; auctions overshoot that, never by this."""

BOX_MARGIN = 2e-15
"""Part by which a distance to a box is taken for less than it was computed: nine ulp, for a sum of three squares. The
GPU's tree takes sixteen."""

CELL_MARGIN = 1e-9
"""Part by which a search through cells or a k-d tree goes beyond a radius, and part of a cell by which it goes beyond
the cells: what it finds is compared exactly."""

BILINEAR = 1e-12
"""Part of the largest cost that products of coordinates may leave of it, for costs to count as those of points."""

LEAST_TRACE = 1e-20
"""Variance of a set, the largest coordinate being 1: below it there are no digits left of where a point is."""

GATE_MARGIN = 1e-12
"""Part by which the search for pairs worth matching goes beyond their distance: what it finds is compared exactly."""
