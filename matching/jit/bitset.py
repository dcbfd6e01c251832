"""Sets of vertices as bits: a visited check then stays in the first cache levels, which is what searches wait for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .compiled import compiled

Bits = NDArray[np.uint64]


def empty_bits(n: int) -> Bits:
    """The empty subset of n vertices."""
    return np.zeros((n + 63) // 64, np.uint64)


@compiled
def has(bits: Bits, v: Any) -> bool:
    """Whether v is a member."""
    return (bits[v >> 6] >> np.uint64(v & 63)) & np.uint64(1) != np.uint64(0)


@compiled
def add(bits: Bits, v: Any) -> None:
    """Make v a member."""
    bits[v >> 6] |= np.uint64(1) << np.uint64(v & 63)


@compiled
def remove(bits: Bits, v: Any) -> None:
    """Make v no member."""
    bits[v >> 6] &= ~(np.uint64(1) << np.uint64(v & 63))


@compiled
def mark_matched(partner: NDArray[np.int32], bits: Bits) -> None:
    """Fill `bits` with the matched vertices."""
    bits[:] = np.uint64(0)
    for v in range(len(partner)):
        if partner[v] >= 0:
            add(bits, v)
