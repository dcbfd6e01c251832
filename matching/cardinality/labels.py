"""Labels of columns for push-relabel: bounds from below of their alternating distances to a free column."""

from __future__ import annotations

import numpy as np

from ..jit.bitset import Bits, add, has
from ..jit.compiled import compiled
from ..jit.prefetch import prefetch
from .graph import IntArray

# how many queue entries ahead a column's pointer and its rows are fetched; rows in a cache line
_FAR, _NEAR = 16, 8
_LINE = 16


@compiled
def global_relabel(
    indptr_t: IntArray,
    indices_t: IntArray,
    col_of_row: IntArray,
    row_of_col: IntArray,
    label: IntArray,
    bound_of_row: IntArray,
    queue: IntArray,
    visited: Bits,
    n_active: int,
) -> int:
    """Exact distances to the free columns; ``rows + columns`` where there is no path. Returns the number of levels.

    Stops at the level where the last of the `n_active` active rows is met; what lies farther keeps its label or takes
    the next level's, whichever is larger, so labels never fall. A column that came in as unreachable stays so:
    augmenting paths never cross the part that has lost its free columns.
    `bound_of_row` receives the distances of the free rows.
    """
    n_rows, n_columns = len(col_of_row), len(row_of_col)
    unreachable = np.int32(n_rows + n_columns)
    visited[:] = np.uint64(0)
    tail = 0
    for j in range(n_columns):
        if row_of_col[j] < 0:
            label[j] = 0
            queue[tail] = j
            tail += 1
        elif label[j] != unreachable:
            label[j] = -1 - label[j]  # not met yet; the old label can be recovered
    bound_of_row[:] = unreachable
    head = 0
    distance = np.int32(0)
    while head < tail and n_active > 0:
        end = tail
        while head < end:
            j = queue[head]
            if head + _FAR < tail:
                prefetch(indptr_t, queue[head + _FAR])
                first = indptr_t[queue[head + _NEAR]]
                prefetch(indices_t, first)
                prefetch(indices_t, first + _LINE // 2)
            head += 1
            for e in range(indptr_t[j], indptr_t[j + 1]):
                i = indices_t[e]
                if not has(visited, i):
                    add(visited, i)
                    c = col_of_row[i]
                    if c >= 0:
                        label[c] = distance + 2
                        queue[tail] = c
                        tail += 1
                    else:
                        bound_of_row[i] = distance + 1
                        n_active -= 1
        distance += 2
    farther = unreachable if head == tail else min(distance + 2, unreachable)
    for j in range(n_columns):
        if label[j] < 0:
            label[j] = max(-1 - label[j], farther)
    return int(distance) // 2
