"""Planar movies in tables that have a z: it is the same for all of a frame, and says nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.editing.session import Session
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.motion.detections import ordered
from auctrack.tracker.linking.motion.detections.ordered import spread_axes
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points
from tests.tracker.linking.movies import walks


@pytest.fixture(scope="module")
def plane() -> Points:
    return walks(150, 10, ndim=2, step=0.6)[0]


def in_space(points: Points, z: float) -> Points:
    return Points(points.table.assign(z=z))


@pytest.mark.parametrize("z", [0.0, 7.5])
@pytest.mark.parametrize("motion", ["auto", "diffusion"])
def test_a_z_that_is_the_same_everywhere_changes_no_link(plane, z, motion):
    settings = LinkSettings(device="cpu", motion=motion)
    flat, deep = link_points(plane, settings), link_points(in_space(plane, z), settings)
    pd.testing.assert_frame_equal(flat.links, deep.links)
    assert deep.tracks.ndim == 3


@pytest.mark.parametrize("height", [0.0, 0.1, 3.0], ids="of the stage {} a frame".format)
@pytest.mark.parametrize("rounding", [0.0, 1e-15, 1e-6, 1e-3], ids="rounded to {}".format)
def test_a_z_that_a_frame_shares_but_for_rounding_changes_no_link(plane, height, rounding):
    z = 0.5 + height * plane.frames + rounding * np.random.default_rng(0).normal(size=len(plane))
    settings = LinkSettings(device="cpu")
    flat, deep = (link_points(points, settings).links for points in (plane, Points(plane.table.assign(z=z))))
    pd.testing.assert_frame_equal(flat.drop(columns="length"), deep.drop(columns="length"))


def test_one_detection_out_of_the_plane_makes_its_depth_an_axis(plane):
    assert spread_axes(Points(plane.table.assign(z=0.0))) == 2
    assert spread_axes(Points(plane.table.assign(z=[3.0] + [0.0] * (len(plane) - 1)))) == 3


@pytest.mark.parametrize("glance", [1, 20, 10**6])
def test_a_plane_is_one_however_few_detections_are_glanced_at(plane, glance, monkeypatch):
    monkeypatch.setattr(ordered, "GLANCE", glance)
    level = plane.table.assign(z=np.random.default_rng(0).normal(0, 1e-6, len(plane)))
    assert spread_axes(Points(level)) == spread_axes(Points(level.sample(frac=1, random_state=0))) == 2
    assert spread_axes(walks(150, 10, step=0.6)[0]) == 3


def test_one_particle_in_each_frame_has_no_plane():
    walk = pd.DataFrame({"frame": range(9), "z": np.arange(9.0), "y": 0.0, "x": 0.0})
    assert spread_axes(Points(walk)) == 3


def test_predictions_are_asked_for_along_all_axes_of_the_table(plane):
    asked = []

    def predict(points: Points, rows: np.ndarray, frames: np.ndarray) -> np.ndarray:
        asked.append(len(frames))
        return points.positions_of(rows)

    settings = {"device": "cpu", "max_missed_frames": 0}
    expected = link_points(plane, LinkSettings(predict=predict, **settings))
    deep = link_points(in_space(plane, 1.0), LinkSettings(predict=predict, **settings))
    assert sum(asked) > 0
    np.testing.assert_array_equal(deep.links[["source", "target"]], expected.links[["source", "target"]])


def test_what_is_corrected_is_weighed_by_the_same_model(plane):
    ways = {
        points.ndim: Session(link_points(points, LinkSettings(device="cpu"), editable=True))
        for points in (plane, in_space(plane, 0.0))
    }
    for ndim, session in ways.items():
        session.add_detection(4, (0.0, 3.0, 3.0)[-ndim:])
    links = [session.linking().links[["source", "target"]] for session in ways.values()]
    pd.testing.assert_frame_equal(*links)
