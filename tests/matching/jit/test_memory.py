"""Bits, atomic claims and prefetching keep their word inside kernels."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from auctrack.matching.jit.bitset import add, empty_bits, has, remove
from auctrack.matching.jit.prefetch import prefetch
from auctrack.matching.papers.azad_2012.atomics import claim, fetch_add


def test_bits_are_a_set():
    members = np.random.default_rng(0).choice(1000, 300, replace=False)
    bits = empty_bits(1000)
    for v in members:
        add(bits, int(v))
    for v in members[:100]:
        remove(bits, int(v))
    assert [v for v in range(1000) if has(bits, v)] == sorted(members[100:].tolist())


@njit(parallel=True)
def _race(owner, winners, counter, attempts):
    for attempt in prange(attempts):
        if claim(owner, attempt % len(owner), 1):
            winners[fetch_add(counter, 0, 1)] = attempt % len(owner)


def test_each_place_is_claimed_by_exactly_one_thread():
    owner, winners, counter = np.zeros(5000, np.int32), np.full(5000, -1), np.zeros(1, np.int32)
    _race(owner, winners, counter, 500_000)
    assert counter[0] == 5000
    assert np.array_equal(np.sort(winners), np.arange(5000))


@njit
def _prefetch_all(values):
    for k in range(len(values)):
        prefetch(values, k)


def test_prefetching_changes_nothing():
    values = np.arange(100)
    _prefetch_all(values)
    assert np.array_equal(values, np.arange(100))
