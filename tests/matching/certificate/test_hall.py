"""What cannot be matched whole is refused by name: the members that share too few partners, and those partners."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from auctrack.matching import Infeasible, Problem, solve
from auctrack.matching.certificate.hall import infeasible, violator_where_it_lies
from auctrack.matching.paths import gpu_dense

from ..cases import ON_CPU


def _refused(cost, solver):
    with pytest.raises(Infeasible) as caught:
        solve(cost, solver, device="cpu")
    return caught.value


def _all_but(n_rows, n_columns, rows, columns):
    """Costs where these rows may only be matched with these columns."""
    cost = np.ones((n_rows, n_columns))
    cost[np.ix_(rows, np.setdiff1d(np.arange(n_columns), columns))] = np.inf
    return cost


@pytest.mark.parametrize("solver", ON_CPU, ids=str)
def test_the_message_names_the_rows_and_their_columns(solver):
    error = _refused(_all_but(5, 6, [1, 3], [2]), solver)
    assert str(error).startswith("rows 1, 3 may be matched with only 1 column (2), so not all can be. ")
    assert (error.rows, error.columns, error.side) == ((1, 3), (2,), "rows")


@pytest.mark.parametrize("solver", ON_CPU, ids=str)
def test_columns_are_named_where_they_are_the_shorter_side(solver):
    error = _refused(_all_but(5, 6, [1, 3], [2]).T, solver)
    assert str(error).startswith("columns 1, 3 may be matched with only 1 row (2), so not all can be. ")
    assert (error.rows, error.columns, error.side) == ((2,), (1, 3), "columns")


@pytest.mark.parametrize("solver", ON_CPU, ids=str)
def test_of_many_only_the_first_are_named_and_none_is_said(solver):
    error = _refused(_all_but(9, 9, np.arange(7), np.arange(6)), solver)
    some = "0, 1, 2, 3, 4, …"
    assert str(error).startswith(f"rows {some} (7 in all) may be matched with only 6 columns ({some}), so ")
    assert error.rows == tuple(range(7))
    assert str(_refused(_all_but(9, 9, [8], []), solver)).startswith("row 8 may be matched with no column. ")


@pytest.mark.parametrize("at_once", [1, 25, 2**20])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_a_matrix_is_read_where_it_lies_some_rows_at_a_time(seed, masked, at_once, monkeypatch):
    monkeypatch.setattr(gpu_dense, "LOOKED_AT", at_once)
    allowed = np.random.default_rng(seed).random((12, 12)) < 0.12
    col_of_row = maximum_bipartite_matching(csr_array(allowed), perm_type="column")
    row_of_col = np.full(12, -1)
    row_of_col[col_of_row[col_of_row >= 0]] = np.flatnonzero(col_of_row >= 0)
    row = int(np.flatnonzero(col_of_row < 0)[0])
    cost = np.where(allowed | masked, 1.0, np.inf)
    costs = gpu_dense.DeviceCosts(np, cost, ~allowed if masked else None, *np.zeros((2, 12)))
    found = violator_where_it_lies(row, costs.allowed_from, col_of_row, row_of_col)
    graph = np.arange(13) * 12, None, allowed.ravel()
    expected = infeasible(Problem.dense(cost), row, *graph, col_of_row, row_of_col)
    assert (found.rows, found.columns) == (expected.rows, expected.columns)
    assert len(found.rows) == len(found.columns) + 1
