"""Jonker and Volgenant's method on eight small matrices of one shape side by side, and the terms of their proof.

Each bid waits for the one before it, and a processor idles through most of a small matrix. Bids of other matrices need
not wait: each of eight has a lane of all vectors, and takes the steps of `small_blocks` to the last bit. Those that
are done wait for the others.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

import numpy as np

from ..certificate.certify import prove_matrices
from ..jit.compiled import BORROWING, compiled
from ..jit.eight import (
    BITS,
    LANES,
    both,
    either,
    filled,
    greater,
    how_many,
    less,
    lesser,
    load,
    minus,
    numbered,
    pick,
    plus,
    same,
    size,
    store,
    times,
    turn,
)
from ..tolerance import EPS, SHARE, ULPS
from .small_blocks import BEYOND, LONGEST_CHAIN, NO_PLACE, WIDEST, augment, match_one_by_one

WIDEST_OF_EIGHT = {512: WIDEST, 256: 20, 128: 12}[BITS]
"""Columns up to which eight blocks side by side are sooner done than one by one; answers are the same."""


@compiled
def scratch_of_eight_blocks(v):
    """Return what eight blocks are matched in: costs of a row, column duals, rows that hold columns, row duals.

    Numbers of the eight blocks stand beside each other, column after column, or row after row.
    """
    length = WIDEST * LANES
    return np.empty(length, v.dtype), np.empty(length, v.dtype), np.empty(length, np.int64), np.empty(length, v.dtype)


@compiled(**BORROWING)
def match_small_blocks(run, offsets, data, none, is_float, found, proof, scratch, counts):
    """Match blocks and prove them as `blocks._match_run`: eight at a time where they are alike, others one by one."""
    (b, end, lo), (row_offsets, col_offsets) = run, offsets
    has_zero_slack = proves = True
    while b < end:
        n, m = row_offsets[b + 1] - row_offsets[b], col_offsets[b + 1] - col_offsets[b]
        to, lo_to = b + LANES, lo + LANES * n * m
        zero = proven = is_matched = False
        if _go_together(b, end, lo, offsets, data):
            place = b, row_offsets[b], col_offsets[b], n, m
            is_matched = _match_eight(place, data[lo:], none, found, scratch, counts)
            if is_matched:
                zero, proven = _prove(place, data[lo:], none, is_float, found, proof, scratch[1])
        if not is_matched:
            to, lo_to = b, lo
            while to < end and (to < b + LANES or not _go_together(to, end, lo_to, offsets, data)):
                n, m = row_offsets[to + 1] - row_offsets[to], col_offsets[to + 1] - col_offsets[to]
                to, lo_to = to + 1, lo_to + n * m
            own = b, to, lo
            at, failed = match_one_by_one(own, offsets, data, none, found, scratch[0], counts)
            if at >= 0:
                return at, failed, False, False
            zero, proven = prove_matrices(own, offsets, (data, None, None), is_float, found, proof)
        has_zero_slack, proves = has_zero_slack and zero, proves and proven
        b, lo = to, lo_to
    return -1, -1, has_zero_slack, proves


@compiled(**BORROWING)
def _go_together(b, end, lo, offsets, data):
    """Whether eight blocks from b on, whose costs begin at `lo`, are of one shape and soonest done side by side."""
    row_offsets, col_offsets = offsets
    n, m = row_offsets[b + 1] - row_offsets[b], col_offsets[b + 1] - col_offsets[b]
    read = lo + LANES * (n * m + 1)  # as much is read beyond their costs
    if end - b < LANES or m > WIDEST_OF_EIGHT or read > len(data):
        return False
    are_alike = True
    for k in range(b + 1, b + LANES):
        are_alike &= row_offsets[k + 1] - row_offsets[k] == n and col_offsets[k + 1] - col_offsets[k] == m
    return are_alike


@compiled(**BORROWING)
def _match_eight(place, data, none, found, scratch, counts):
    """Match eight blocks from a place on: (block, first row, first column, rows, columns); return whether they can be.

    Column duals, and the rows that hold columns, are left in the scratch for `_prove`.
    """
    (_, r0, c0, n, m), (one, eight) = place, scratch
    (col_of_row, row_of_col, _, v, _, _), (costs, v8, holders, _) = found, eight
    _begin(data, none, n, m, costs, v8, holders)
    can_be, some_wait = _bid(data, none, n, m, costs, v8, holders, counts)
    for k in range(LANES if can_be else 0):
        rows, cols = col_of_row[r0 + k * n : r0 + k * n + n], row_of_col[c0 + k * m : c0 + k * m + m]
        for j in range(m):
            cols[j] = holders[j * LANES + k]
            if cols[j] >= 0:
                rows[cols[j]] = j
        if some_wait:
            can_be &= _augment(k, data[k * n * m :], none, rows, cols, v8, holders, one, counts)
        for j in range(m):
            v[c0 + k * m + j] = v8[j * LANES + k]
    for i in range(0 if can_be else LANES * n):
        col_of_row[r0 + i] = -1
    for j in range(0 if can_be else LANES * m):
        row_of_col[c0 + j] = -1
    return can_be


@compiled(**BORROWING)
def _augment(k, cost, none, col_of_row, row_of_col, v8, holders, scratch, counts):
    """Match rows of block k that wait along shortest paths; return whether all have one."""
    _, v, paths = scratch
    m = len(row_of_col)
    n_waiting = 0
    for i in range(len(col_of_row)):
        n_waiting += col_of_row[i] < 0
    if n_waiting == 0:
        return True
    for j in range(-(-m // LANES) * LANES):
        v[j] = v8[j * LANES + k] if j < m else -none - BEYOND
    failed = augment(cost, none, col_of_row, row_of_col, v, paths, counts)
    for j in range(m):
        v8[j * LANES + k], holders[j * LANES + k] = v[j], row_of_col[j]
    return failed < 0


@compiled(**BORROWING)
def _read_row(i, n, m, data, costs):
    """Read the costs of a row of each block, given eight numbers of rows."""
    blocks = times(numbered(np.int64(0)), filled(n * m))
    for first in range(0, m, LANES):
        turn(costs, first * LANES, data, plus(plus(blocks, filled(first)), times(i, filled(m))))


@compiled(**BORROWING)
def _begin(data, none, n, m, costs, v, holders):
    """Set column duals as `small_blocks._begin` does; no column is held."""
    nones, zeros, nobody = filled(none), filled(v.dtype.type(0)), filled(np.int64(-1))
    for j in range(m):
        store(v, j * LANES, nones)
        store(holders, j * LANES, nobody)
    for i in range(n if n == m else 0):
        _read_row(filled(i), n, m, data, costs)
        for j in range(m):
            store(v, j * LANES, lesser(load(costs, j * LANES, nones), load(v, j * LANES, nones)))
    for j in range(m):
        low = load(v, j * LANES, nones)
        store(v, j * LANES, pick(less(low, nones), low, zeros))


@compiled(**BORROWING)
def _bid(data, none, n, m, costs, v, holders, counts):
    """Let the rows of each block bid as `small_blocks._bid` does; return whether all can, and whether some wait."""
    nones, nowhere, nobody = filled(none), filled(NO_PLACE), filled(np.int64(-1))
    zero, one = filled(np.int64(0)), filled(np.int64(1))
    end, longest = filled(n), filled(np.int64(LONGEST_CHAIN))
    row = i = chain = zero
    n_waiting = 0
    active = less(row, end)
    while how_many(active) > 0:
        counts[0] += how_many(active)
        chain = plus(chain, one)
        _read_row(i, n, m, data, costs)
        best, second, at, holder, paid, before = _two_least(m, none, costs, v, holders)
        if how_many(both(active, same(at, nowhere))) > 0:
            return False, False
        if how_many(both(both(active, same(second, best)), less(nobody, holder))) > 0:
            at, holder, paid, before = _unassigned_if_any(m, best, (at, holder, paid, before), costs, v, holders)
        lowered = pick(less(second, nones), lesser(minus(paid, second), before), before)
        is_held = less(nobody, holder)
        waits = both(both(active, is_held), either(less(longest, chain), same(lowered, before)))
        n_waiting += how_many(waits)
        at = pick(waits, nowhere, pick(active, at, nowhere))
        for j in range(m):
            is_own = same(at, filled(j))
            store(v, j * LANES, pick(is_own, lowered, load(v, j * LANES, nones)))
            store(holders, j * LANES, pick(is_own, i, load(holders, j * LANES, nobody)))
        follows = both(is_held, less(at, nowhere))
        row = plus(row, pick(follows, zero, pick(active, one, zero)))
        i = pick(follows, holder, lesser(row, minus(end, one)))
        chain = pick(follows, chain, zero)
        active = less(row, end)
    return True, n_waiting > 0


@compiled(forceinline=True)
def _two_least(m, none, costs, v, holders):
    """Return the least and the second least c - v of a row, and of the first column of the least: where, who, c, v."""
    nones, nobody = filled(none), filled(np.int64(-1))
    best = second = paid = before = nones
    at, holder = filled(NO_PLACE), nobody
    for j in range(m):
        c, own = load(costs, j * LANES, nones), load(v, j * LANES, nones)
        value = minus(c, own)
        lower = less(value, best)
        second = lesser(second, greater(value, best))
        best, paid, before = pick(lower, value, best), pick(lower, c, paid), pick(lower, own, before)
        at, holder = pick(lower, filled(j), at), pick(lower, load(holders, j * LANES, nobody), holder)
    return best, second, at, holder, paid, before


@compiled(forceinline=True)
def _unassigned_if_any(m, best, found, costs, v, holders):
    """Return of the first unassigned column that is as good as the best one what `_two_least` found of that."""
    at, holder, paid, before = found
    nobody = filled(np.int64(-1))
    for j in range(m - 1, -1, -1):
        c, own = load(costs, j * LANES, best), load(v, j * LANES, best)
        is_free = both(same(load(holders, j * LANES, nobody), nobody), same(minus(c, own), best))
        at, holder = pick(is_free, filled(j), at), pick(is_free, nobody, holder)
        paid, before = pick(is_free, c, paid), pick(is_free, own, before)
    return at, holder, paid, before


@compiled(**BORROWING)
def _prove(place, data, none, is_float, found, proof, scratch):
    """Fill in the best row duals, and the sums of `certify.prove_matrices`, which knows what they mean."""
    b, r0, _, n, m = place
    costs, v, holders, r = scratch
    nones, zero, nobody = filled(none), filled(v.dtype.type(0)), filled(np.int64(-1))
    unit = filled(v.dtype.type(1))
    eps = v.dtype.type(0) if is_float is None else EPS
    cost = lost = gap = total = rounded = above = n_paid = zero
    cheapest = nones
    n_slack = 0
    for i in range(n):
        _read_row(filled(i), n, m, data, costs)
        low, least, largest, paid, dual = _look_at_row(i, m, nones, zero, costs, v, holders)
        store(r, i * LANES, low)
        slack = minus(minus(paid, dual), low)
        size_paid = size(paid)
        largest = greater(greater(largest, size(low)), greater(size_paid, size(dual)))
        n_slack += how_many(less(times(filled(ULPS * eps), largest), slack))
        added = plus(cost, paid)
        is_larger = less(size(cost), size_paid)
        lost = plus(lost, plus(minus(pick(is_larger, paid, cost), added), pick(is_larger, cost, paid)))
        cost, gap, total = added, plus(gap, slack), plus(total, size_paid)
        rounded, above = plus(rounded, times(filled(2 * eps), size(low))), plus(above, minus(paid, least))
        is_paid = less(zero, size_paid)
        cheapest = pick(is_paid, lesser(size_paid, cheapest), cheapest)
        n_paid = plus(n_paid, pick(is_paid, unit, zero))
    for j in range(m if n < m else 0):
        slack = pick(same(load(holders, j * LANES, nobody), nobody), minus(zero, load(v, j * LANES, zero)), zero)
        n_slack += how_many(less(times(filled(ULPS * eps), size(slack)), slack))
        gap = plus(gap, slack)
    for k in range(LANES):
        for i in range(n):
            found[2][r0 + k * n + i] = r[i * LANES + k]
    n_in_doubt = _note(b, is_float, (plus(cost, lost), lost, gap, total), (rounded, cheapest, n_paid, above), proof)
    return n_slack == 0, n_slack == 0 and n_in_doubt == 0


@compiled(forceinline=True)
def _note(b, is_float, sums, told, proof):
    """Write the sums of the eight blocks from b on, and which are in doubt by what is told of them; return how many."""
    cost, lost, gap, total = sums
    rounded, cheapest, n_paid, above = told
    all_sums, rounding, in_doubt = proof
    n_in_doubt = 0
    if is_float is not None:
        zero, gap = filled(0.0), plus(gap, rounded)
        borne = pick(less(zero, n_paid), times(times(filled(SHARE), cheapest), n_paid), zero)
        above = times(filled(SHARE), above)
        is_in_doubt = either(less(borne, gap), both(less(zero, above), less(above, gap)))
        n_in_doubt = how_many(is_in_doubt)
        store(rounding, b, rounded)
        store(in_doubt, b, is_in_doubt)
    store(all_sums[0], b, cost)
    store(all_sums[1], b, lost)
    store(all_sums[2], b, gap)
    store(all_sums[3], b, total)
    return n_in_doubt


@compiled(forceinline=True)
def _look_at_row(i, m, nones, zero, costs, v, holders):
    """Return the least c - v and the least c, the size of the first's terms, and what row i pays and its column's v."""
    low = least = nones
    largest = paid = dual = zero
    row, nobody = filled(i), filled(np.int64(-1))
    for j in range(m):
        c, own = load(costs, j * LANES, nones), load(v, j * LANES, nones)
        value = minus(c, own)
        lower = less(value, low)
        low, largest = pick(lower, value, low), pick(lower, greater(size(c), size(own)), largest)
        least = lesser(c, least)
        is_own = same(load(holders, j * LANES, nobody), row)
        paid, dual = pick(is_own, c, paid), pick(is_own, own, dual)
    return low, least, largest, paid, dual
