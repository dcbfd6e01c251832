"""Grey levels within a particle and around it."""

from __future__ import annotations

import numpy as np

from auctrack.tracker.detecting.surroundings import surroundings


def by_definition(grey, voxel, radius, scale):
    distance = np.sqrt(sum(((i - v) * s) ** 2 for i, v, s in zip(np.indices(grey.shape), voxel, scale, strict=True)))
    shell = grey[(distance > radius) & (distance <= 1.5 * radius)]
    return grey[distance <= radius].mean(), shell.mean() if shell.size else 0.0, shell.std() if shell.size else 0.0


def test_mean_and_deviation_are_those_of_all_voxels_in_the_image_at_those_distances():
    rng = np.random.default_rng(0)
    for shape, scale, radius in (((7, 20, 30), [2.0, 1.0, 1.0], 3.3), ((25, 20), [1.0, 1.5], 4.0), ((1, 3), [1, 1], 2)):
        grey = rng.normal(1000.0, 50.0, shape).astype(np.float32)
        voxels = rng.integers(0, shape, (40, len(shape)))
        voxels[0], voxels[1] = 0, np.array(shape) - 1
        wanted = [by_definition(grey.astype(float), voxel, radius, scale) for voxel in voxels]
        np.testing.assert_allclose(np.transpose(surroundings(grey, voxels, radius, np.array(scale))), wanted)


def test_a_shell_without_voxels_is_zero():
    _, around, spread = surroundings(np.ones((2, 2), np.float32), np.zeros((1, 2), np.int64), 9.0, np.ones(2))
    assert around == [0.0]
    assert spread == [0.0]
