"""The pair correlation of particles whose places are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist

from auctrack import pair_correlation, read_points
from auctrack.tracker.errors import InvalidInput, InvalidSetting

from ...refusals import refused

VOXEL = (2.0, 0.5, 0.25)


def points_of(places: np.ndarray, scale=VOXEL):
    """Points at `places` (frames, particles, axes) in µm."""
    frames, n, ndim = places.shape
    voxels = places.reshape(-1, ndim) / scale[-ndim:]
    table = pd.DataFrame({"frame": np.repeat(np.arange(frames), n), **dict(zip("zyx"[-ndim:], voxels.T, strict=True))})
    return read_points(table.sample(frac=1, random_state=0), scale=scale[-ndim:])


@pytest.mark.parametrize("box", [(9.0, 6.0), (4.0, 9.0, 6.0)])
def test_pairs_of_one_frame_are_counted_in_their_bin(box):
    places = np.random.default_rng(1).random((3, 40, len(box))) * box
    table = pair_correlation(points_of(places), 5.0)
    counts = np.histogram(np.concatenate([pdist(each) for each in places]), 100, (0.0, 5.0))[0]
    assert table["n"].tolist() == counts.tolist()
    np.testing.assert_allclose(table["distance"], np.arange(0.025, 5.0, 0.05))


@pytest.mark.parametrize(
    ("box", "reach"),
    [((9.0, 6.0), 6.0), ((9.0, 1.0), 6.0), ((5.0, 5.0, 5.0), 4.0), ((1.0, 9.0, 9.0), 6.0)],
    ids=["plane", "strip", "cube", "slab"],
)
def test_it_is_1_of_particles_anywhere_up_to_the_border_and_farther_than_the_box_is_wide(box, reach):
    places = np.random.default_rng(2).random((60, 300, len(box))) * box
    table = pair_correlation(points_of(places), reach)
    error = 2 / np.sqrt(table["n"])  # pairs of one particle are not independent: more than the root of their number
    assert (abs(table["pair_correlation"] - 1) < 4 * error)[table["n"] > 100].all()
    assert abs(table["pair_correlation"][10:].mean() - 1) < 0.01


def test_a_lattice_has_its_neighbours():
    """Each particle within has 4 at 1, 4 at √2, as many by area as there are: an area of 1 has one."""
    side = np.arange(100.0)
    places = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(1, -1, 2)
    table = pair_correlation(points_of(places), 2.5)
    around = table["pair_correlation"] * 2 * np.pi * table["distance"] * 0.025
    for distance in (1.0, 2**0.5, 2.0, 5**0.5):
        shell = abs(table["distance"] - distance) < 0.1
        assert around[shell].sum() == pytest.approx(8 if distance == 5**0.5 else 4, rel=0.04)
    assert table["n"][table["distance"] < 0.9].sum() == 0


def test_particles_on_a_plane_in_space_are_those_of_the_plane():
    flat = np.random.default_rng(3).random((5, 200, 2)) * 9
    in_space = np.concatenate([np.full((5, 200, 1), 4.0), flat], axis=2)
    pd.testing.assert_frame_equal(pair_correlation(points_of(in_space)), pair_correlation(points_of(flat)))


def test_bins_in_which_no_pair_can_be_are_left_out():
    table = pair_correlation(points_of(np.random.default_rng(4).random((2, 20, 2))), 5.0)
    assert table["distance"].max() < 2**0.5
    assert (np.isfinite(table)).all(axis=None)


def test_where_there_is_no_pair_there_is_no_row():
    places = np.random.default_rng(5).random((3, 1, 2))
    for none in (points_of(places), points_of(places).only(np.zeros(3, bool)), points_of(np.ones((1, 2, 2)))):
        table = pair_correlation(none)
        assert list(table) == ["distance", "pair_correlation", "n"]
        assert not len(table)


def test_what_is_no_length_or_no_points_is_refused():
    points = points_of(np.random.default_rng(6).random((1, 9, 2)))
    for wrong in (0, -1.0, np.inf, "far"):
        with refused(InvalidSetting, setting="max_distance"):
            pair_correlation(points, wrong)
    with refused(InvalidInput):
        pair_correlation(points.table)
