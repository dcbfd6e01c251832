"""What the user says about the input: axes, frames, region, intensity; tracking and the copied command heed it."""

from __future__ import annotations

import re

import numpy as np
import pytest
import tifffile
import typer

from auctrack.plugins.cli.app import app
from auctrack.plugins.napari.layers.layer_axes import NO_TIME, ROW

from .conftest import PHYSICAL, assert_copies_give_these_tracks, finish, spots
from .test_input_stays_true import press_until

FLAT = spots(shape=(64, 64))
DEEP = spots(shape=(4, 64, 64))


def choose(box, data) -> None:
    box.setCurrentIndex(box.findData(data))


def silent_file(path, pixels):
    """Write a TIFF that says nothing of its axes."""
    tifffile.imwrite(path, pixels, metadata=None, photometric="minisblack")
    return path


def test_a_file_silent_about_its_axes_waits_until_they_are_chosen(viewer, open_widget, tmp_path):
    path = silent_file(tmp_path / "plain.tif", FLAT)
    viewer.add_image(FLAT, name="measured", scale=(10, 0.5, 0.5), units=("s", "µm", "µm"), axis_labels=("t", "y", "x"))
    widget = open_widget()
    panel = widget.parts.input
    assert (panel.sizes[1].number, panel.unit_box.currentText(), panel.interval.number) == (0.5, "µm", 10)
    viewer.open(str(path), plugin="auctrack")
    panel.choose_layer("plain")
    assert (panel.sizes[1].number, panel.unit_box.currentText(), panel.interval.number) == (1, "pixel", None)
    assert "does not say what its axes of 6 × 64 × 64 are" in panel.problem.text()
    assert not widget.parts.bar.run_button.isEnabled()
    choose(panel.axes.order, "TYX")
    assert panel.summary.text() == "6 frames of y × x = 64 × 64 (if that is not so, choose the axes)"
    widget.running.run_all()
    finish(widget)
    words = assert_copies_give_these_tracks(widget, path, tmp_path)
    assert words[words.index("--axes") + 1] == "TYX"


def test_a_row_of_pages_is_divided_into_time_and_z(viewer, open_widget, tmp_path):
    path = silent_file(tmp_path / "pages.tif", DEEP.reshape(-1, 64, 64))
    viewer.open(str(path), plugin="auctrack")
    widget = open_widget()
    panel = widget.parts.input
    choose(panel.axes.order, ROW)
    assert not widget.parts.bar.run_button.isEnabled()  # until it is known how many planes a time point has
    panel.axes.planes.setValue(5)
    assert "TZ5YX" in panel.problem.text()
    panel.axes.planes.setValue(4)
    np.testing.assert_array_equal(np.asarray(panel.layer.data), DEEP)
    assert not viewer.layers[0].visible
    widget.running.run_all()
    finish(widget)
    words = assert_copies_give_these_tracks(widget, path, tmp_path)
    assert words[words.index("--axes") + 1] == "TZ4YX"


@pytest.mark.parametrize(
    ("scale", "units"),
    [
        ((1, 10, 0.5, 0.5), ("pixel",) * 4),
        ((1, 10, 0.5, 0.5), ("µm", "s", "µm", "µm")),
        ((10, 1, 0.5, 0.5), ("s", "µm", "µm", "µm")),  # lengths are right, and which axis they are of is not
    ],
)
def test_z_before_time_is_put_in_order(viewer, open_widget, scale, units):
    viewer.add_image(DEEP.transpose(1, 0, 2, 3), name="movie", scale=scale, units=units)
    widget = open_widget()
    choose(widget.parts.input.axes.order, "ZTYX")
    layer = widget.parts.input.layer
    assert layer.name == "movie (in order)"
    np.testing.assert_array_equal(layer.data, DEEP)
    np.testing.assert_array_equal(layer.scale, [10, 1, 0.5, 0.5])
    assert len(widget.parts.session.source.frame_numbers) == 6


def test_frames_that_were_saved_as_planes_are_tracked_once_that_is_said(viewer, open_widget):
    """As ImageJ saves a movie unless it is told which axis is time: its spacing of planes is no interval."""
    given = {"axis_labels": ("z", "y", "x"), "scale": (2, 0.5, 0.5), "units": ("µm", "µm", "µm")}
    viewer.add_image(FLAT, name="stack", **given)
    widget = open_widget()
    panel = widget.parts.input
    assert "is depth" in panel.problem.text()
    assert panel.axes.order.currentText() == "choose…"  # none of them is in effect
    assert not widget.parts.bar.run_button.isEnabled()
    press_until(panel.axes.order, "TYX")
    assert panel.problem.text() == ""
    widget.running.run_all()
    finish(widget)
    calibration = widget.parts.session.data.tracks.calibration
    assert (calibration.frame_interval, calibration.unit, calibration.scale[1:]) == (None, "µm", (0.5, 0.5))
    assert viewer.layers["tracks of stack"].axis_labels == viewer.layers["stack"].axis_labels == ("t", "y", "x")


def test_frames_of_a_file_that_were_saved_as_planes_are_tracked_once_that_is_said(viewer, open_widget, tmp_path):
    path = tmp_path / "stack.ome.tif"
    sizes = {"PhysicalSizeZ": 2, "PhysicalSizeY": 0.5, "PhysicalSizeX": 0.5}
    tifffile.imwrite(path, FLAT, ome=True, photometric="minisblack", metadata={"axes": "ZYX", **sizes})
    viewer.open(str(path), plugin="auctrack")
    widget = open_widget()
    panel = widget.parts.input
    assert "has only one frame" in panel.problem.text()
    choose(panel.axes.order, "ZTYX")
    assert panel.summary.text() == "6 frames of y × x = 64 × 64"
    assert panel.source.calibration.scale[1:] == (0.5, 0.5)
    widget.running.run_all()
    finish(widget)
    assert widget.parts.session.data.tracks.table["frame"].nunique() == 6


def test_depth_taken_for_time_is_said_and_taken_back(viewer, open_widget):
    viewer.add_image(FLAT, name="stack")
    widget = open_widget()
    panel = widget.parts.input
    assert widget.parts.bar.run_button.isEnabled()
    choose(panel.axes.order, NO_TIME)
    assert "has no time axis" in panel.problem.text()
    assert not widget.parts.bar.run_button.isEnabled()
    choose(panel.axes.order, "TYX")
    assert widget.parts.bar.run_button.isEnabled()


def test_a_colour_image_is_explained_and_has_no_axes_to_choose(viewer, open_widget):
    viewer.add_image(np.zeros((5, 16, 16, 3), np.uint8), rgb=True, name="photo")
    widget = open_widget()
    assert "colour (RGB)" in widget.parts.input.problem.text()
    assert not widget.parts.input.axes.isVisibleTo(widget)


def ome_file(path, pixels):
    sizes = {"PhysicalSizeZ": 1, "PhysicalSizeY": 0.5, "PhysicalSizeX": 0.5, "TimeIncrement": 10}
    tifffile.imwrite(path, pixels, ome=True, photometric="minisblack", metadata={"axes": "TZYX", **sizes})
    return path


def test_frames_and_region_hold_for_the_tracks_and_for_the_copied_command(viewer, open_widget, tmp_path):
    path = ome_file(tmp_path / "movie.ome.tif", DEEP)
    viewer.open(str(path), plugin="auctrack")
    viewer.add_shapes([np.array([[2, 0], [2, 31.5], [30, 31.5], [30, 0]])], name="left", scale=(1, 1))  # µm
    widget = open_widget()
    part = widget.parts.input.part
    assert (part.first.value(), part.last.value()) == (0, 5)
    part.first.setValue(1)
    part.last.setValue(4)
    part.region.setCurrentText("left")
    assert "only frames 1 to 4; only the region 0:4 × 4:61 × 0:64" in widget.parts.input.summary.text()
    widget.running.run_all()
    finish(widget)
    table = widget.parts.session.data.tracks.table
    assert set(table["frame"]) == {1, 2, 3, 4}
    assert table["y"].between(4, 60).all()
    words = assert_copies_give_these_tracks(widget, path, tmp_path)
    assert words[words.index("--frames") + 1] == "1:5"
    assert words[words.index("--roi") + 1] == "0:4,4:61,0:64"


def test_frames_of_points_are_restricted_too(viewer, open_widget):
    data = np.column_stack([np.repeat(np.arange(5), 2), np.tile([[1.0, 1], [9, 9]], (5, 1))])
    viewer.add_points(data, name="beads")
    widget = open_widget()
    widget.parts.input.part.last.setValue(2)
    widget.running.run_all()
    finish(widget)
    assert widget.parts.session.data.tracks.frames.max() == 2
    assert len(widget.parts.session.data.measures) == 2


def test_labels_measure_the_intensity_of_the_movie_chosen(viewer, open_widget, tmp_path):
    labels = ome_file(tmp_path / "cells.ome.tif", (DEEP > 40).astype(np.uint8))
    movie = ome_file(tmp_path / "movie.ome.tif", DEEP)
    viewer.open(str(movie), plugin="auctrack")
    viewer.open(str(labels), plugin="auctrack", layer_type="labels")
    widget = open_widget()
    panel = widget.parts.input
    panel.choose_layer("movie")
    assert not panel.part.intensity.isVisibleTo(widget)  # of a movie there is none to choose
    panel.choose_layer("cells")
    assert panel.part.intensity.isVisibleTo(widget)
    panel.part.intensity.setCurrentText("movie")
    panel.part.last.setValue(3)
    widget.running.run_all()
    finish(widget)
    assert widget.parts.bar.error.text() == ""
    assert widget.parts.session.data.tracks.table["mean_intensity"].min() > 40
    assert "mean_mean_intensity" in widget.parts.session.data.measures
    words = assert_copies_give_these_tracks(widget, labels, tmp_path)
    assert words[words.index("--intensity") + 1] == str(movie)


def test_a_region_drawn_anew_is_heeded_at_the_next_run(viewer, open_widget):
    viewer.add_image(DEEP, name="movie", **PHYSICAL)
    shapes = viewer.add_shapes([np.array([[0, 0], [0, 31.5], [31.5, 31.5], [31.5, 0]])], name="box")
    widget = open_widget()
    widget.parts.input.part.region.setCurrentText("box")
    whole = widget.parts.session.source.source.shape
    shapes.data = [np.array([[0, 0], [0, 31.5], [15, 31.5], [15, 0]])]
    widget.running.run_detect()
    finish(widget)
    assert widget.parts.session.source.source.shape < whole
    assert widget.parts.session.detected.points.table["y"].max() <= 31


@pytest.mark.parametrize("kind", ["movie", "points"])
def test_nothing_is_left_out_until_the_user_says_so(viewer, open_widget, kind):
    if kind == "movie":
        viewer.add_image(DEEP, name="movie", **PHYSICAL)
    else:
        viewer.add_points(np.column_stack([np.arange(6), np.zeros((6, 2))]), name="beads")
    widget = open_widget()
    assert widget.parts.session.source.frame_numbers == tuple(range(6))
    assert widget.parts.session.source.part.region is None


def test_a_layer_that_is_renamed_stays_the_input_and_keeps_its_results(viewer, open_widget):
    movie = viewer.add_image(DEEP, name="movie", **PHYSICAL)
    viewer.add_image(DEEP, name="other", **PHYSICAL)
    widget = open_widget()
    widget.parts.input.choose_layer("movie")
    widget.running.run_detect()
    finish(widget)
    movie.name = "embryo"
    assert widget.parts.input.layer is movie
    assert widget.parts.session.detected is not None
    viewer.layers.remove(movie)
    assert widget.parts.input.layer.name == "other"
    assert widget.parts.session.detected is None


def test_the_widget_begins_with_the_layer_that_is_selected(viewer, open_widget):
    viewer.add_image(np.zeros((9, 9)), name="photo")
    viewer.add_image(FLAT, name="movie")
    viewer.add_image(FLAT, name="other")
    viewer.layers.selection.active = viewer.layers["movie"]
    widget = open_widget()
    assert widget.parts.input.layer_box.currentText() == "movie"
    assert widget.parts.session.source.kind == "movie"
    assert widget.parts.steps.currentWidget() is widget.parts.detect


def test_detection_is_the_first_step_again_once_a_movie_is_chosen(viewer, open_widget):
    viewer.add_image(np.zeros((9, 9)), name="photo")
    widget = open_widget()
    assert widget.parts.steps.currentWidget() is widget.parts.link
    viewer.add_image(FLAT, name="movie")
    widget.parts.input.choose_layer("movie")
    assert widget.parts.steps.currentWidget() is widget.parts.detect


def test_every_field_says_what_the_command_line_calls_it(open_widget):
    from qtpy.QtWidgets import QWidget

    tips = " ".join(part.toolTip() for part in open_widget().findChildren(QWidget))
    named = set(re.findall(r"On the command line: (--[\w-]+)(?: and (--[\w-]+))?", tips))
    track = typer.main.get_command(app).commands["track"]
    known = {option for parameter in track.params for option in parameter.opts}
    named = {option for pair in named for option in pair if option}
    assert named <= known
    settings = "diameter threshold separation method dark motion features max-missed-frames divisions merges"
    settings += " search-range unmatched-cost cost linking gap-closing-range division-range merge-range"
    settings += " link-penalties gap-closing-penalties division-penalties merge-penalties"
    settings += " solver device memory-budget"
    source = "axes voxel unit frame-interval frames roi intensity"
    assert named == {f"--{name}" for name in f"{settings} {source}".split()}
