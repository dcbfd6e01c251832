"""A binary heap of columns, the nearest on top, that can move a column up when its distance falls.

`heap` (size or more,) holds the columns, `dist` (columns,) their distances, and `place` (columns,) where in the heap
each of them is.
"""

# Types of numba kernels live in their docstrings: numba infers them.
# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

from .compiled import BORROWING, compiled

UNSEEN = -1
"""Place of a column that was never in the heap."""


@compiled(inline="always")
def append(column, heap, size, place):
    """Put a column at the bottom, from where it has to `rise`; return the new size."""
    _put(column, size, heap, place)
    return size + 1


@compiled(inline="always")
def pop(heap, size, dist, place):
    """Take the column on top out, whose place is left as it was; return the new size."""
    size -= 1
    _put(heap[size], 0, heap, place)
    _sink(heap, size, dist, place)
    return size


@compiled(**BORROWING)
def rise(heap, at, dist, place):
    """Move the column at `at` up until its parent is no farther."""
    j = heap[at]
    while at > 0:
        parent = (at - 1) >> 1
        if dist[heap[parent]] <= dist[j]:
            break
        _put(heap[parent], at, heap, place)
        at = parent
    _put(j, at, heap, place)


@compiled(**BORROWING)
def _sink(heap, size, dist, place):
    """Move the column on top down until no child is nearer."""
    if size == 0:
        return
    j = heap[0]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and dist[heap[child + 1]] < dist[heap[child]]:
            child += 1
        if dist[heap[child]] >= dist[j]:
            break
        _put(heap[child], at, heap, place)
        at = child
    _put(j, at, heap, place)


@compiled(inline="always")
def _put(column, at, heap, place):
    """Put a column into the heap at `at`, and note that it is there."""
    heap[at] = column
    place[column] = at
