"""The blob filters: as the kernels say in double precision, at every border, and alike for any number of threads."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy import ndimage

from auctrack.tracker.detecting.blobs import blob_response, gaussian_kernels, laplacian_of_gaussian, sigma_of


def product(image, kernels):
    """Correlate one axis after the other in float64, mirrored at the borders."""
    along = functools.partial(ndimage.correlate1d, mode="reflect")
    return functools.reduce(lambda held, axis: along(held, kernels[axis], axis=axis), range(image.ndim), image)


def log_by_definition(image, sigma):
    gauss, second = zip(*map(gaussian_kernels, sigma), strict=True)
    axes = range(image.ndim)
    return -sum(product(image, [second[i] if i == bent else gauss[i] for i in axes]) for bent in axes)


def dog_by_definition(image, sigma):
    narrow, wide = ([gaussian_kernels(s * 1.6**half)[0] for s in sigma] for half in (-0.5, 0.5))
    return (product(image, narrow) - product(image, wide)) / np.log(1.6)


@pytest.mark.parametrize("method", ["log", "dog"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 70), (200, 31), (1, 40, 40), (2, 3, 4), (9, 65, 33), (40, 7, 130)])
def test_the_response_is_that_of_its_kernels_in_double_precision(shape, method):
    image = np.random.default_rng(1).normal(100.0, 10.0, shape)
    scale = np.array([2.0, 1.0, 1.0])[-len(shape) :]
    for diameter in (2.0, 7.3):
        sigma = sigma_of(diameter, scale).tolist()
        wanted = log_by_definition(image, sigma) if method == "log" else dog_by_definition(image, sigma)
        response = blob_response(image.astype(np.float32), diameter, scale, method)
        assert response.dtype == np.float32
        np.testing.assert_allclose(response, wanted, atol=1e-4)


def test_an_axis_of_sigma_0_is_left_alone():
    image = np.random.default_rng(2).normal(0.0, 10.0, (4, 30, 20)).astype(np.float32)
    alone = np.stack([laplacian_of_gaussian(plane, np.array([1.5, 2.0])) for plane in image])
    np.testing.assert_array_equal(laplacian_of_gaussian(image, np.array([0.0, 1.5, 2.0])), alone)


@pytest.mark.parametrize("level", [0.1, 30_000.0, -1e9])
def test_an_even_image_of_any_level_answers_exactly_zero(level):
    image = np.full((9, 40, 30), level, dtype=np.float32)
    assert not laplacian_of_gaussian(image, np.array([1.1, 1.7, 2.3])).any()


def test_the_response_is_the_same_to_the_last_bit_for_any_number_of_threads():
    image = np.random.default_rng(3).normal(100.0, 10.0, (5, 300, 41)).astype(np.float32)
    one = blob_response(image, 5.0, np.ones(3))
    for threads in (2, 3, 7):
        np.testing.assert_array_equal(blob_response(image, 5.0, np.ones(3), threads=threads), one)


def test_a_view_a_read_only_image_and_its_copy_answer_alike():
    image = np.random.default_rng(4).normal(100.0, 10.0, (40, 30)).astype(np.float32)
    locked = image.copy()
    locked.flags.writeable = False
    wanted = blob_response(image, 5.0, np.ones(2))
    np.testing.assert_array_equal(blob_response(locked, 5.0, np.ones(2)), wanted)
    np.testing.assert_array_equal(blob_response(np.repeat(image, 2, axis=1)[:, ::2], 5.0, np.ones(2)), wanted)
