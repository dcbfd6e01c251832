"""Layers hardly thicker than particles are apart: their density is not what the spacing says."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.matching.device import cuda
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.motion.detections.ordered import NEAREST, ordered
from auctrack.tracker.linking.motion.gpu_ordered import ordered_on_gpu
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points
from tests.tracker.linking.movies import f1, table, walks

N, FRAMES = 400, 10


def layer(thickness: float, *, ndim: int = 3, tilt: float = 0.0, seed: int = 0) -> tuple[Points, np.ndarray]:
    """Walks in a plane at density 1, with a depth of its own for each detection, and who each is (-1: nobody)."""
    points, who = walks(N, FRAMES, ndim=2, step=0.3, persistence=0.0, missed=0.1, false=0.2, seed=seed)
    depth = thickness * np.random.default_rng(seed).random(len(who)) + tilt * points.frames
    places = np.column_stack([depth, points.positions])
    return table(points.frames, places[:, 3 - ndim :]), who


@pytest.mark.parametrize("thickness", [0.02, 0.1, 0.3, 1.0])
def test_the_density_of_a_layer_is_that_of_its_plane_over_its_thickness(thickness):
    movie = ordered(layer(thickness)[0])
    per_volume = 1.3 / thickness  # 1, less a tenth missed, .2 false, over the edge that particles leave
    assert np.exp(movie.log_density) / movie.spacing**3 == pytest.approx(per_volume, rel=0.35)


@pytest.mark.parametrize("ndim", [2, 3])
def test_elsewhere_the_spacing_says_it(ndim):
    movie = ordered(walks(N, FRAMES, ndim=ndim)[0])
    assert movie.log_density == ndim * np.log(NEAREST[ndim])


def test_a_layer_that_drifts_is_as_thin():
    still, drifting = (ordered(layer(0.1, tilt=tilt)[0]).log_density for tilt in (0.0, 3.0))
    assert drifting == pytest.approx(still, abs=0.01)


@pytest.mark.parametrize("ndim", [2, 3])
def test_along_a_channel_the_spacing_says_it_too(ndim):
    places = np.random.default_rng(0).random((4000, 3)) * [0.1, 0.2, 500.0]
    movie = ordered(table(np.repeat(np.arange(8), 500), places[:, 3 - ndim :]))
    assert movie.log_density == ndim * np.log(NEAREST[ndim])


@pytest.mark.parametrize("thickness", [0.02, 0.1, 0.3])
def test_a_depth_that_says_nothing_takes_hardly_anything_from_the_links(thickness):
    points, who = layer(thickness)
    plane, _ = layer(thickness, ndim=2)
    made = [link_points(each, LinkSettings(device="cpu", max_missed_frames=0)).links for each in (points, plane)]
    deep, flat = (f1(points, who, links["source"], links["target"]) for links in made)
    assert deep > flat - 0.03
    wrong = (who[made[0]["source"]] != who[made[0]["target"]]) | (who[made[0]["source"]] < 0)
    assert (1 - made[0]["probability"]).sum() == pytest.approx(wrong.sum(), rel=0.3)


@pytest.mark.parametrize("thickness", [0.0, 1e-9, 1e-4])
def test_a_plane_on_edge_that_is_thinner_than_steps_can_be_keeps_its_links(thickness):
    points, _ = layer(thickness)
    plane, _ = layer(thickness, ndim=2)
    on_edge = Points(points.table.rename(columns={"y": "z", "z": "y"}))
    made = [link_points(each, LinkSettings(device="cpu", max_missed_frames=0)) for each in (on_edge, plane)]
    edge, flat = (linking.report["expected_wrong"] for linking in made)
    assert len(made[0].links) == pytest.approx(len(made[1].links), rel=0.02)
    assert edge == pytest.approx(flat, rel=0.05)


@pytest.mark.gpu
@pytest.mark.parametrize("thickness", [0.1, 5.0], ids=["a layer", "a slab"])
def test_on_a_gpu_it_is_the_same(thickness):
    with cuda.using("cuda") as cp:
        points = layer(thickness)[0]
        there = ordered_on_gpu(cp, points, "auto")
        assert there is not None
        assert there.log_density == pytest.approx(ordered(points).log_density, abs=0.05)
