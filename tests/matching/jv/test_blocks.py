"""What large matrices are compiled for: that some of their costs are equal, or that none are."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.matching import Problem
from auctrack.matching.jv.blocks import TIES_PAY, _may_tie

RNG = np.random.default_rng(0)
WHOLE = RNG.integers(0, 300, (300, 300))


@pytest.mark.parametrize(
    ("cost", "tie"),
    [
        pytest.param(WHOLE, True, id="whole numbers"),
        pytest.param(0.1 * WHOLE, True, id="tenths"),
        pytest.param(WHOLE % 7 * np.eye(300), True, id="one value off the diagonal"),
        pytest.param(RNG.random((300, 300)), None, id="reals"),
        pytest.param(RNG.permutation(90_000).reshape(300, 300), None, id="whole numbers that differ"),
        pytest.param(WHOLE[:, : TIES_PAY - 1], None, id="narrow"),
    ],
)
def test_ties_are_seen_where_it_pays(cost: np.ndarray, tie: bool | None) -> None:
    assert _may_tie(Problem.dense(cost)) is tie
