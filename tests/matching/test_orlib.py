"""J. E. Beasley's OR-Library: published optima come out exactly, from dense and from sparse files."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import coo_array

from auctrack.matching import JV, Problem, solve, verify

from .cases import JV_FORMS

DENSE = {100: 305, 200: 475, 300: 626, 400: 804, 500: 991, 600: 1176, 700: 1362, 800: 1552}
SPARSE = {800: 2239, 1500: 5839, 3000: 18696, 5000: 48533}


def _numbers(path: Path) -> np.ndarray:
    """Read all numbers of an instance as int64."""
    return np.array(gzip.decompress(path.read_bytes()).split(), dtype=np.int64)


@pytest.mark.parametrize("solver", JV_FORMS, ids=str)
@pytest.mark.parametrize(("n", "optimum"), DENSE.items())
def test_dense(real_data, n: int, optimum: int, solver: JV):
    problem = Problem.dense(_numbers(real_data(f"orlib/assign{n}.txt.gz"))[1:].reshape(n, n))
    answer = solve(problem, solver)
    assert answer.cost == optimum
    assert answer.gap == 0
    assert verify(problem, answer)


@pytest.mark.parametrize(("n", "optimum"), SPARSE.items())
def test_sparse(real_data, n: int, optimum: int):
    rows, cols, cost = _numbers(real_data(f"orlib/assignp{n}.txt.gz"))[1:].reshape(-1, 3).T
    problem = Problem.sparse(coo_array((cost, (rows - 1, cols - 1)), shape=(n, n)))
    answer = solve(problem, JV(form="sparse"))
    assert answer.cost == optimum
    assert answer.gap == 0
    assert verify(problem, answer)
