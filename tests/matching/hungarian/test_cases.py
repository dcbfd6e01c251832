"""Both variants on every named hard case."""

from __future__ import annotations

from typing import Any

import pytest

from auctrack.matching.hungarian import HungarianClassical, HungarianTree

from ..cases import CASES, Case, assert_solves

SOLVERS = [
    HungarianClassical(),
    HungarianClassical(variant="paper"),
    HungarianTree(),
    HungarianTree(variant="paper"),
    HungarianTree(variant="sequential"),
]
NAMES = ["classical", "classical-sequential", "tree", "tree-paper", "tree-sequential"]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
def test_a_named_case_is_solved_and_proven(solver: Any, case: Case):
    assert_solves(case, solver)
