"""Reductions and broadcasts of shards that lie in one memory, and values of blocks spread over their members."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from auctrack.matching.device.arrays import spread
from auctrack.matching.device.collectives import Copies


@pytest.fixture
def parts() -> list[np.ndarray]:
    return [np.array([1, 5, 3]), np.array([4, 2, 3]), np.array([0, 9, -1])]


@pytest.mark.parametrize(("said", "value"), [("all_min", [0, 2, -1]), ("all_max", [4, 9, 3]), ("broadcast", [1, 5, 3])])
def test_every_part_ends_with_the_same(parts: list[np.ndarray], said: str, value: list[int]) -> None:
    getattr(Copies(np), said)(parts)
    assert [part.tolist() for part in parts] == [value] * 3


def test_parts_of_any_lengths_are_gathered_in_order() -> None:
    assert Copies(np).gathered([np.array([1, 2]), np.array([], int), np.array([3])]).tolist() == [1, 2, 3]


@pytest.mark.parametrize("sizes", [[4], [3, 2], [2, 0, 3], [0]])
def test_each_member_gets_the_value_of_its_block(sizes: list[int]) -> None:
    for dtype in (np.float64, np.int32):
        values = np.arange(1, len(sizes) + 1, dtype=dtype)
        spread_out = spread(np, values, np.array(sizes))
        assert spread_out.tolist() == np.repeat(values, sizes).tolist()
        assert spread_out.dtype == dtype


def test_of_one_block_no_more_than_its_value_goes_to_the_device() -> None:
    assert spread(SimpleNamespace(full=np.full), np.array([2.5]), np.array([3])).tolist() == [2.5] * 3
