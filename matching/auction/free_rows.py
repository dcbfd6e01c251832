"""A matrix made square: rows that take the columns left over, at no cost; in NumPy's arrays or CuPy's."""

from __future__ import annotations

from typing import Any


def with_free_rows(cp: Any, cost: Any, forbidden: Any, columns: int) -> tuple[Any, Any]:
    """Return costs, and forbidden pairs where there are any, with rows at no cost for as many as there are columns.

    Both are flat, row by row, as those of a problem; `cp` is the module of their arrays.
    """
    added = columns * columns - len(cost)
    cost = cp.concatenate([cost, cp.zeros(added, cost.dtype)])
    return cost, None if forbidden is None else cp.concatenate([forbidden, cp.zeros(added, bool)])


def prices_without_free_rows(cp: Any, v: Any, is_left_over: Any, bound: Any) -> Any:
    """Return the prices of columns without these rows, which hold columns of the highest price: the bound."""
    return cp.where(is_left_over, bound, v - v.max() + bound)
