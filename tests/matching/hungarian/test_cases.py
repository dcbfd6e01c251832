"""The variants that are no defaults on every named hard case; `test_solvers` has the defaults."""

from __future__ import annotations

from typing import Any

import pytest

from ..cases import CASES, Case, assert_solves
from .variants import OTHERS


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("solver", OTHERS.values(), ids=OTHERS)
def test_a_named_case_is_solved_and_proven(solver: Any, case: Case):
    assert_solves(case, solver)
