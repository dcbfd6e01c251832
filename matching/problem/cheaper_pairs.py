"""Matrices in which all but few pairs cost the same, and none more: ones beside few zeros, a sentinel for no match."""

from __future__ import annotations

import numpy as np

from .problem import Problem

FEWEST = 200
"""Rows or columns below which no such cost is looked for: so small a matrix is solved as soon."""

SEEN = 64
"""Pairs that are looked at before all of them."""

MOST_CHEAP = 1 / 16
"""Share of the pairs that are cheaper, above which hardly a row has to pay the highest cost, and `jv` is soon done."""


def cheaper_pairs(matrix: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray, float] | None:
    """Return the pairs that cost less than the highest cost, as indptr, indices and costs, and that cost.

    None of small matrices, and where these pairs are more than `MOST_CHEAP` of all.

    Parameters
    ----------
    matrix : Problem
        A single matrix on the host, without a mask.
    """
    if min(matrix.shape) < FEWEST:
        return None
    seen = matrix.data[:: len(matrix.data) // SEEN]
    if np.count_nonzero(seen < seen.max()) > 3 * MOST_CHEAP * len(seen):
        return None
    highest = matrix.data.max()
    cheap = np.flatnonzero(matrix.data < highest)
    if len(cheap) > MOST_CHEAP * len(matrix.data):
        return None
    row, col = np.divmod(cheap, matrix.n_cols)
    begin = np.searchsorted(row, np.arange(matrix.n_rows + 1))
    return begin, col.astype(np.int32), matrix.data[cheap], highest.item()
