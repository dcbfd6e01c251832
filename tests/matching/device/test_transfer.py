"""What goes to a GPU through pinned memory comes back as it was."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.matching.device import cuda, transfer


@pytest.mark.gpu
@pytest.mark.parametrize("n", [0, 1, 2**20 + 7, 5 * 2**20])
@pytest.mark.parametrize("worth", [0, 2**62])
def test_columns_come_back_as_they_were(monkeypatch, n, worth):
    monkeypatch.setattr(transfer, "WORTH_STAGING", worth)
    rng = np.random.default_rng(n)
    columns = [rng.random(n), rng.integers(0, 9, n), rng.random((n, 3))[:, 1], rng.random(n).astype(np.float32)]
    with cuda.using() as cp:
        there = transfer.uploaded(cp, columns)
        assert all(array.flags.c_contiguous for array in there)
        for _ in range(2):  # pinned memory is used again
            for column, back in zip(columns, transfer.downloaded(cp, there), strict=True):
                np.testing.assert_array_equal(back, column)
                assert back.dtype == column.dtype


def test_parts_are_copied_whole(monkeypatch):
    monkeypatch.setattr(transfer, "_PART", 3)
    of = [np.arange(10.0), np.arange(4), np.empty(0)]
    to = [np.zeros_like(array) for array in of]
    transfer._copy_parts(list(zip(to, of, strict=True)))
    for wanted, found in zip(of, to, strict=True):
        np.testing.assert_array_equal(found, wanted)
