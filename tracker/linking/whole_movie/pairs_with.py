"""Pairs of places that hold the same of n values."""

from __future__ import annotations

import numpy as np


def with_the_same(left: np.ndarray, right: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of places of either that hold the same of n values."""
    order = np.argsort(right, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(right, minlength=n))])
    count = np.diff(starts)[left]
    one = np.repeat(np.arange(len(left)), count)
    of_one = np.arange(len(one)) - np.repeat(np.cumsum(count) - count, count)
    return one, order[starts[left[one]] + of_one]
