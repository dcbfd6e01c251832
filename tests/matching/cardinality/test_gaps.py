"""What `choose` measures of a graph's order."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.matching.cardinality.best import _neighbour_gap


@pytest.mark.parametrize(("degree", "stride"), [(2, 1), (5, 1), (5, 3), (100, 7), (1, 1)])
def test_the_gap_is_the_median_between_successive_columns_of_sampled_rows(degree: int, stride: int) -> None:
    rng = np.random.default_rng(degree)
    rows = np.sort(rng.integers(0, 1000, (50, degree)), axis=1)
    gaps = np.diff(rows[::stride, :64], axis=1)
    expected = np.median(gaps) if gaps.size else np.inf
    assert _neighbour_gap(np.arange(51) * degree, rows.reshape(-1).astype(np.int32), stride) == expected
