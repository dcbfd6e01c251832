"""A wrong choice of layer is explained before anything runs."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.plugins.napari.layers.layer_axes import (
    NO_TIME,
    ROW,
    UNDECIDED,
    AxesChoice,
    axes_choices,
    rearranged,
    rearranged_layers,
)
from auctrack.plugins.napari.layers.layer_input import read_layer
from auctrack.plugins.napari.layers.layer_movie import Restriction
from auctrack.plugins.napari.layers.layer_part import region_of, restricted, with_intensity
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
    assert source.summary == "5 frames of y × x = 9 × 8 (if that is not so, choose the axes)"


@pytest.mark.parametrize(
    ("placed", "is_other"),
    [
        ({"shear": [0, 0, 0.5]}, True),
        ({"affine": np.diag([1, 1, 2, 1.0])}, True),
        ({"affine": np.diag([1, 1, 1, 1.0])}, False),
        ({"rotate": [30, 0, 0], "translate": (3, 4, 5)}, False),
        ({}, False),
    ],
)
def test_a_layer_whose_lengths_are_others_in_the_viewer_says_so(layers, placed, is_other):
    movie = layers.Image(np.zeros((5, 9, 8)), scale=(7, 0.5, 0.3), **placed)
    points = layers.Points([[0, 1, 1], [1, 1, 1]], scale=(7, 0.5, 0.3), **placed)
    assert [("by its scale" in read_layer(layer).summary) for layer in (movie, points)] == [is_other] * 2


def test_one_frame_is_no_movie(layers):
    assert "only one frame" in refused(layers.Image(np.zeros((1, 5, 9, 9))))
    assert "tracking needs several" in refused(layers.Image(np.zeros((1, 5, 9, 9))))


def test_five_axes_are_to_be_named(layers):
    assert "say under Axes which is which" in refused(layers.Image(np.zeros((2, 2, 5, 9, 9))))


def test_points_need_time_first(layers):
    assert "time in the first column" in refused(layers.Points(np.zeros((5, 2))))
    assert "in frame 0" in refused(layers.Points(np.zeros((5, 4))))
    assert "whole numbers" in refused(layers.Points(np.random.default_rng(0).random((5, 4))))
    assert "no points" in refused(layers.Points(np.zeros((0, 4))))


def test_other_layers_are_refused(layers):
    assert "Image, Labels, Points or Tracks" in refused(layers.Shapes())


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


# --- axes -------------------------------------------------------------------------------------------------------------


def numbered(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape)).reshape(shape)


@pytest.mark.parametrize("letters", ["TZYX", "ZTYX"])
def test_axes_that_the_user_names_are_put_in_order(letters):
    wanted = numbered(3, 2, 4, 5)
    given = wanted.transpose(["TZYX".index(axis) for axis in letters])
    (found,) = rearranged(given, AxesChoice(letters))
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("letters", ["TCYX", "CTYX", "TCZYX", "ZCTYX"])
def test_channels_become_a_movie_each(letters):
    sizes = {"T": 3, "C": 2, "Z": 6, "Y": 4, "X": 5}
    given = numbered(*(sizes[axis] for axis in letters))
    found = rearranged(given, AxesChoice(letters))
    assert [movie.shape for movie in found] == [tuple(sizes[axis] for axis in "TZYX" if axis in letters)] * 2
    last = [slice(None)] * len(letters)
    last[letters.index("C")], last[letters.index("T")] = 1, 2
    plane = given[tuple(last)]
    np.testing.assert_array_equal(found[1][2], plane)


def test_of_a_multiscale_image_the_full_size_is_put_in_order(layers):
    image = layers.Image([numbered(4, 3, 16, 18), numbered(4, 3, 8, 9)], multiscale=True, name="movie")
    ((data, about, kind),) = rearranged_layers(image, AxesChoice("ZTYX"), None)
    assert (data.shape, about["name"], kind) == ((3, 4, 16, 18), "movie (in order)", "image")


def test_planes_of_all_time_points_in_one_row_are_divided():
    (found,) = rearranged(numbered(12, 4, 5), AxesChoice(ROW, 4))
    np.testing.assert_array_equal(found, numbered(3, 4, 4, 5))
    assert AxesChoice(ROW, 4).of_file == "TZ4YX"
    with pytest.raises(InvalidInput, match=r"\b5\b.*\b12\b"):
        rearranged(numbered(12, 4, 5), AxesChoice(ROW, 5))


@pytest.mark.parametrize("ndim", [3, 4, 5])
def test_every_choice_of_axes_names_each_axis_once(ndim):
    for letters in axes_choices(ndim):
        if letters not in (ROW, NO_TIME):
            assert len(set(letters)) == len(letters) == ndim
            assert "T" in letters
    assert NO_TIME in axes_choices(ndim)


def test_a_single_image_has_no_axes_to_choose():
    assert axes_choices(2) == {}


def test_a_layer_said_to_have_no_time_is_refused(layers):
    layer = layers.Image(np.zeros((5, 9, 9)), metadata={"auctrack": {"axes_choice": NO_TIME}})
    assert "has no time axis" in refused(layer)


def test_undecided_axes_are_to_be_chosen(layers):
    layer = layers.Image(np.zeros((5, 9, 9)), metadata={"auctrack": {"axes_choice": UNDECIDED}})
    assert "choose them under Axes" in refused(layer)


# --- the part that is tracked -----------------------------------------------------------------------------------------


def test_some_frames_and_a_region_of_a_movie(layers):
    data = numbered(6, 2, 9, 8)
    whole = read_layer(layers.Image(data, **PHYSICAL))
    part = restricted(whole, Restriction((2, 4), (slice(0, 2), slice(3, 7), slice(1, 8))))
    assert part.frame_numbers == (2, 3, 4)
    assert part.source.shape == (2, 4, 7)
    assert part.source.origin == (0, 3, 1)
    np.testing.assert_array_equal(part.source.frame(3), data[3, :, 3:7, 1:8])
    assert "only frames 2 to 4" in part.summary


def test_some_frames_and_a_region_of_points(layers):
    data = np.column_stack([np.repeat(np.arange(6), 3), np.tile([[1.0, 1], [5, 5], [8, 2]], (6, 1))])
    whole = read_layer(layers.Points(data))
    part = restricted(whole, Restriction((1, 3), (slice(0, 6), slice(0, 9))))
    assert part.frame_numbers == (1, 2, 3)
    assert part.source.table["y"].max() == 5
    with pytest.raises(InvalidInput):
        restricted(whole, Restriction(None, (slice(20, 30), slice(0, 9))))


def test_one_frame_is_no_part_to_track(layers):
    with pytest.raises(InvalidInput):
        restricted(read_layer(layers.Image(np.zeros((6, 9, 8)))), Restriction((2, 2)))


def test_a_region_is_the_box_around_the_shapes_in_the_layers_steps(layers):
    movie = layers.Image(np.zeros((6, 2, 90, 80)), **PHYSICAL)
    drawn = layers.Shapes([np.array([[5, 10], [5, 20], [15, 20], [15, 10]])])  # in µm: steps of 0.5
    assert region_of(drawn, movie, (2, 90, 80)) == (slice(0, 2), slice(10, 31), slice(20, 41))
    beyond = layers.Shapes([np.array([[40, 10], [40, 90], [60, 90], [60, 10]])])
    assert region_of(beyond, movie, (2, 90, 80)) == (slice(0, 2), slice(80, 90), slice(20, 80))
    with pytest.raises(InvalidInput):
        region_of(layers.Shapes([np.array([[99, 99], [99, 120], [120, 120], [120, 99]])]), movie, (2, 90, 80))
    with pytest.raises(InvalidInput):
        region_of(layers.Shapes(), movie, (2, 90, 80))


def test_intensity_is_measured_in_a_movie_of_the_labels_shape(layers):
    labels = read_layer(layers.Labels(np.ones((4, 9, 8), int)))
    part = restricted(labels, Restriction((1, 2), (slice(0, 5), slice(0, 8))))
    seen = with_intensity(part, layers.Image(np.zeros((4, 9, 8)))).intensity
    assert (seen.frame_numbers, seen.source.shape) == ((1, 2), (5, 8))
    with pytest.raises(InvalidInput):
        with_intensity(labels, layers.Image(np.zeros((3, 9, 8))))
    with pytest.raises(InvalidInput):
        with_intensity(labels, layers.Image(np.zeros((4, 9, 9))))
