"""Whether a truth has the axes that it is taken to have."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.scoring.truth_axes import truth_axes

from ..linking.movies import walks

VOXELS = Calibration((2.0, 0.5, 0.5), "µm")


@pytest.fixture(params=[Calibration(), VOXELS], ids=["pixels", "µm"], scope="module")
def pair(request):
    """What was found of a movie, and its truth."""
    truth = walks(200, 8, missed=0, false=0)[0]
    near = truth.table.sample(frac=0.95, random_state=1)
    near[["z", "y", "x"]] += np.random.default_rng(2).normal(0.0, 0.02, (len(near), 3))
    return tuple(replace(truth, table=table, calibration=request.param) for table in (near, truth.table))


@pytest.mark.parametrize("order", [order for order in permutations("zyx") if order != tuple("zyx")])
def test_axes_in_another_order_are_found(pair, order):
    tracks, truth = pair
    other = truth.table.assign(**{name: truth.table[axis] for axis, name in zip("zyx", order, strict=True)})
    found = truth_axes(tracks, replace(truth, table=other), 0.2)
    assert found is not None
    assert found.names == {axis: name for axis, name in zip("zyx", order, strict=True) if axis != name}
    assert found.before < 0.3 < 0.9 < found.after
    assert not found.mirrored


@pytest.mark.parametrize("axes", ["z", "y", "yx"])
def test_mirrored_axes_are_found_and_where_their_mirror_stands(pair, axes):
    tracks, truth = pair
    found = truth_axes(tracks, replace(truth, table=truth.table.assign(**{a: 5 - truth.table[a] for a in axes})), 0.3)
    assert found is not None
    assert found.mirrored == pytest.approx(dict.fromkeys(axes, 5), abs=0.1)
    assert found.before < 0.3 < 0.9 < found.after
    assert not found.names


def test_nothing_is_found_where_axes_are_right_or_the_movie_is_another(pair):
    tracks, truth = pair
    others = replace(walks(200, 8, seed=9)[0], calibration=truth.calibration)
    for other in (truth, others, replace(truth, table=truth.table[:0])):
        assert truth_axes(tracks, other, 0.2) is None


def test_in_2d_too():
    flat = walks(200, 8, missed=0, false=0, ndim=2)[0]
    turned = replace(flat, table=flat.table.rename(columns={"x": "y", "y": "x"}))
    assert truth_axes(flat, flat, 0.2) is None
    found = truth_axes(flat, turned, 0.2)
    assert found is not None
    assert (found.names, found.after) == ({"y": "x", "x": "y"}, 1.0)
