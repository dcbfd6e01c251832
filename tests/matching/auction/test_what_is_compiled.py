"""A first solve waits for no kernel that its problem does not need."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from auctrack.matching import solve
from auctrack.matching.auction import phases


def test_phases_are_not_compiled_where_bids_without_an_increment_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def compiled(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(phases, "_solve_parts", compiled)
    cost = np.random.default_rng(0).random((200, 200)) + 1
    cost[cost > 1.1] = 0
    assert solve(csr_matrix(cost + 3 * np.eye(200)), "auction", "cpu").is_optimal
