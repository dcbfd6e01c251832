"""A wrong choice of layer is explained before anything runs."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.plugins.napari.layer_input import read_layer
from auctrack.tracker.errors import InvalidInput

from .conftest import PHYSICAL


@pytest.fixture
def layers(display):  # noqa: ARG001 - napari wants its settings first
    from napari import layers

    return layers


def refused(layer) -> str:
    with pytest.raises(InvalidInput) as error:
        read_layer(layer)
    return str(error.value)


def test_a_colour_image_is_refused(layers):
    assert "RGB" in refused(layers.Image(np.zeros((5, 9, 9, 3), np.uint8), rgb=True))


def test_an_image_without_time_is_refused(layers):
    assert "needs a time axis" in refused(layers.Image(np.zeros((9, 9))))


def test_depth_is_not_taken_for_time(layers):
    by_label = layers.Image(np.zeros((5, 9, 9)), axis_labels=("z", "y", "x"))
    by_unit = layers.Image(np.zeros((5, 9, 9)), units=("µm", "µm", "µm"))
    assert "is depth" in refused(by_label)
    assert "is depth" in refused(by_unit)


def test_a_first_axis_without_a_name_is_taken_for_time_and_said_to_be(layers):
    source = read_layer(layers.Image(np.zeros((5, 9, 8))))
    assert source.summary == "5 frames of y × x = 9 × 8 (if the first axis is depth, this is no movie)"


def test_one_frame_is_no_movie(layers):
    assert "only one frame" in refused(layers.Image(np.zeros((1, 5, 9, 9))))


def test_channels_are_to_be_split(layers):
    assert "Split" in refused(layers.Image(np.zeros((2, 2, 5, 9, 9))))


def test_points_need_time_first(layers):
    assert "time in the first column" in refused(layers.Points(np.zeros((5, 2))))
    assert "in frame 0" in refused(layers.Points(np.zeros((5, 4))))
    assert "whole numbers" in refused(layers.Points(np.random.default_rng(0).random((5, 4))))
    assert "no points" in refused(layers.Points(np.zeros((0, 4))))


def test_other_layers_are_refused(layers):
    assert "Image, Labels or Points" in refused(layers.Shapes())


def test_a_movie_is_read_with_its_calibration(layers):
    source = read_layer(layers.Image(np.zeros((5, 4, 9, 8)), **PHYSICAL))
    assert (source.kind, source.ndim, len(source.frame_numbers)) == ("movie", 3, 5)
    assert source.calibration.scale == (1, 0.5, 0.5)
    assert (source.calibration.unit, source.calibration.frame_interval) == ("µm", 10)


def test_lengths_in_other_units_become_micrometres(layers):
    source = read_layer(layers.Image(np.zeros((5, 9, 8)), scale=(2, 325, 325), units=("min", "nm", "nm")))
    assert source.calibration.scale == pytest.approx((1, 0.325, 0.325))
    assert (source.calibration.unit, source.calibration.frame_interval) == ("µm", 120)


def test_a_multiscale_image_is_tracked_at_full_size(layers):
    pyramid = [np.zeros((5, 16, 16)), np.zeros((5, 8, 8))]
    assert read_layer(layers.Image(pyramid, multiscale=True)).source.shape == (16, 16)


def test_frames_are_those_of_the_layer(layers):
    data = np.arange(3 * 1 * 4 * 5).reshape(3, 1, 4, 5)
    movie = read_layer(layers.Image(data)).source
    assert movie.shape == (4, 5)
    np.testing.assert_array_equal(movie.frame(2), data[2, 0])
