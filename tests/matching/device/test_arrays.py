"""Reductions that CuPy need not compile say what NumPy's say, on the host and on a GPU."""

import numpy as np
import pytest

from auctrack.matching.device import cuda
from auctrack.matching.device.arrays import all_true, any_true, argmax_of_rows, begins_of, count_true, counts_of, median

ON_BOTH = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])


def placed(values, device):
    return values if device == "cpu" else cuda.cupy().asarray(values)


@ON_BOTH
@pytest.mark.parametrize("mask", [[], [False], [True], [False, True], [False] * 999 + [True], [True] * 1000])
def test_masks(mask, device):
    mask = np.array(mask, bool)
    there = placed(mask, device)
    assert any_true(there) == mask.any()
    assert all_true(there) == mask.all()
    assert count_true(there) == mask.sum()


@ON_BOTH
def test_masks_of_two_axes_and_of_every_other_number(device):
    there = placed(np.arange(12).reshape(3, 4) > 10, device)
    assert any_true(there)
    assert not all_true(there)
    assert not any_true(there.ravel()[::2])
    assert all_true(there.ravel()[11::2])


@ON_BOTH
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint16])
@pytest.mark.parametrize("count", [1, 2, 7, 1000])
def test_the_median_is_numpys_to_the_last_bit(count, dtype, device):
    values = (np.random.default_rng(count).random(count) * 1000).astype(dtype)
    assert median(placed(values.copy(), device)) == float(np.median(values))


@ON_BOTH
@pytest.mark.parametrize("members", [[], [0], [4], [0, 0, 2, 2, 2, 4]])
def test_where_numbers_begin(members, device):
    begins = cuda.to_host(begins_of(placed(np.array(members, np.int32), device), 5))
    assert begins.dtype == np.int64
    assert begins.tolist() == [sum(member < number for member in members) for number in range(6)]


@ON_BOTH
def test_the_first_of_the_greatest_in_each_row(device):
    rows = np.random.default_rng(0).integers(0, 4, (50, 7)).astype(np.float64)
    assert cuda.to_host(argmax_of_rows(placed(rows, device))).tolist() == rows.argmax(axis=1).tolist()
    assert cuda.to_host(argmax_of_rows(placed(np.zeros((2, 3)), device))).tolist() == [0, 0]


@ON_BOTH
@pytest.mark.parametrize("members", [[], [3], [4, 0, 2, 0, 2, 2]])
def test_how_often_numbers_are_there(members, device):
    counts = cuda.to_host(counts_of(placed(np.array(members, np.int64), device), 5))
    assert counts.tolist() == [members.count(number) for number in range(5)]
