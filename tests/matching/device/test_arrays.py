"""Reductions that CuPy need not compile say what NumPy's say, on the host and on a GPU, real or stood in for."""

import tracemalloc

import numpy as np
import pytest

from auctrack.matching.device import cuda
from auctrack.matching.device.arrays import (
    all_true,
    any_true,
    argmax_of_rows,
    ascending,
    begins_of,
    count_true,
    counts_of,
    median,
)

from ..hungarian.host_kernels import HostArray


class OnDevice(HostArray):
    """An array of the host that does what CuPy does without compiling for seconds, and refuses all else."""

    def __array_function__(self, func, types, args, kwargs):
        assert func.__name__ in {"sort", "diff", "searchsorted", "flatnonzero", "arange"}, func
        if func is np.searchsorted:
            assert args[0].dtype == args[1].dtype, "one of them is copied in the other's type"
        plain = [each.view(np.ndarray) if isinstance(each, OnDevice) else each for each in args]
        return func(*plain, **kwargs).view(OnDevice)

    def _refused(self, *_, **__):
        pytest.fail("CuPy compiles this at its first call")

    any = all = argmax = argmin = _refused


@pytest.fixture(params=["cpu", "stand-in", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request, monkeypatch):
    if request.param == "stand-in":
        monkeypatch.setattr(cuda, "is_device_array", lambda array: isinstance(array, OnDevice))
    return request.param


def placed(values, device):
    return {"cpu": np.asarray, "stand-in": lambda array: array.view(OnDevice), "cuda": _sent}[device](values)


def _sent(values):
    return cuda.cupy().asarray(values)


@pytest.mark.parametrize("mask", [[], [False], [True], [False, True], [False] * 999 + [True], [True] * 1000])
def test_masks(mask, device):
    mask = np.array(mask, bool)
    there = placed(mask, device)
    assert any_true(there) == mask.any()
    assert all_true(there) == mask.all()
    assert count_true(there) == mask.sum()


def test_masks_of_two_axes_and_of_every_other_number(device):
    there = placed(np.arange(12).reshape(3, 4) > 10, device)
    assert any_true(there)
    assert not all_true(there)
    assert not any_true(there.ravel()[::2])
    assert all_true(there.ravel()[11::2])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint16])
@pytest.mark.parametrize("count", [1, 2, 7, 1000])
def test_the_median_is_numpys_to_the_last_bit(count, dtype, device):
    values = (np.random.default_rng(count).random(count) * 1000).astype(dtype)
    assert median(placed(values.copy(), device)) == float(np.median(values))


def test_the_median_of_a_table_is_that_of_all_its_numbers(device):
    assert median(placed(np.array([[1.0, 9.0, 2.0], [8.0, 3.0, 7.0]]), device)) == 5.0


def test_the_median_of_many_numbers_on_the_host_takes_no_copy_of_them():
    values = np.random.default_rng(0).random(1_000_000)
    tracemalloc.start()
    try:
        median(values)
        assert tracemalloc.get_traced_memory()[1] < values.nbytes / 8
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("rows", [[], [7], [7, 3], [7, 3, 9, 0]])
def test_rows_in_their_order(rows, device):
    there = ascending(cuda.cupy() if device == "cuda" else np, placed(np.array(rows, np.int32), device))
    assert cuda.to_host(there).tolist() == sorted(rows)


@pytest.mark.parametrize("members", [[], [0], [4], [0, 0, 2, 2, 2, 4]])
def test_where_numbers_begin(members, device):
    begins = cuda.to_host(begins_of(placed(np.array(members, np.int32), device), 5))
    assert begins.dtype == np.int64
    assert begins.tolist() == [sum(member < number for member in members) for number in range(6)]


def test_the_first_of_the_greatest_in_each_row(device):
    rows = np.random.default_rng(0).integers(0, 4, (50, 7)).astype(np.float64)
    assert cuda.to_host(argmax_of_rows(placed(rows, device))).tolist() == rows.argmax(axis=1).tolist()
    assert cuda.to_host(argmax_of_rows(placed(np.zeros((2, 3)), device))).tolist() == [0, 0]


@pytest.mark.parametrize("members", [[], [3], [4, 0, 2, 0, 2, 2]])
def test_how_often_numbers_are_there(members, device):
    counts = cuda.to_host(counts_of(placed(np.array(members, np.int64), device), 5))
    assert counts.tolist() == [members.count(number) for number in range(5)]
