"""What is seen around peaks: grey levels in and around them, the response beside them, how they fade inwards."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.tracker.detecting.around import PLANES, Sight, seen_around
from auctrack.tracker.detecting.blobs import laplacian_of_gaussian, sigma_of

FRAMES = [
    ((7, 20, 30), [2.0, 1.0, 1.0], 6.6),
    ((25, 20), [1.0, 1.5], 8.0),
    ((1, 3), [1, 1], 4),
    ((3, 9, 8), [1, 1, 1], 3),
]


def by_definition(grey, voxel, radius, scale):
    distance = np.sqrt(sum(((i - v) * s) ** 2 for i, v, s in zip(np.indices(grey.shape), voxel, scale, strict=True)))
    shell = grey[(distance > radius) & (distance <= 1.5 * radius)]
    return grey[distance <= radius].mean(), shell.mean() if shell.size else 0.0, shell.std() if shell.size else 0.0


@pytest.fixture(params=FRAMES, ids=lambda frame: str(frame[0]))
def looked_at(request):
    """Return grey levels and response, peaks, and what is seen around them."""
    shape, scale, diameter = request.param
    rng = np.random.default_rng(0)
    grey, response = rng.normal(1000.0, 50.0, (2, *shape)).astype(np.float32)
    voxels = rng.integers(0, shape, (40, len(shape)))
    voxels[0], voxels[1] = 0, np.array(shape) - 1
    scale = np.array(scale)
    places = np.ravel_multi_index(tuple(voxels.T), shape)
    return (
        grey,
        response,
        voxels,
        diameter,
        scale,
        seen_around(response, grey, places, Sight.of(diameter, tuple(scale.tolist()))),
    )


def test_mean_and_deviation_are_those_of_all_voxels_in_the_image_at_those_distances(looked_at):
    grey, _, voxels, diameter, scale, seen = looked_at
    wanted = [by_definition(grey.astype(float), voxel, diameter / 2, scale) for voxel in voxels]
    np.testing.assert_allclose(np.transpose([seen.inside, seen.around, seen.spread]), wanted)


def test_the_response_is_that_of_the_peak_and_of_those_beside_it(looked_at):
    _, response, voxels, _, _, seen = looked_at
    np.testing.assert_array_equal(seen.height, response[tuple(voxels.T)])
    for axis, size in enumerate(response.shape):
        for held, step in ((seen.before, -1), (seen.after, 1)):
            beside = voxels.copy()
            beside[:, axis] = np.clip(beside[:, axis] + step, 0, size - 1)
            np.testing.assert_array_equal(held[axis], response[tuple(beside.T)])


def test_profiles_are_those_of_the_outermost_planes_filtered_on_their_own(looked_at):
    grey, _, voxels, diameter, scale, seen = looked_at
    sigma, near = sigma_of(diameter, scale), {peak: row for row, peak in enumerate(seen.near.tolist())}
    for axis, size in enumerate(grey.shape):
        if size == 1:
            continue
        across = sigma.copy()
        across[axis] = 0.0
        filtered = laplacian_of_gaussian(grey, across)
        for side in (0, 1):
            rank = voxels[:, axis] if side == 0 else size - 1 - voxels[:, axis]
            for peak in np.flatnonzero((rank < 2) & (2 * rank < size)):
                for plane in range(min(PLANES, size)):
                    at = voxels[peak].copy()
                    at[axis] = plane if side == 0 else size - 1 - plane
                    assert seen.profiles[axis, side, near[peak], plane] == pytest.approx(filtered[tuple(at)], abs=1e-3)


def test_a_shell_without_voxels_is_zero():
    even = np.ones((2, 2), np.float32)
    seen = seen_around(even, even, np.zeros(1, np.int64), Sight.of(18.0, (1.0, 1.0)))
    assert seen.around == [0.0]
    assert seen.spread == [0.0]
