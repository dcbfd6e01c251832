"""Tracks coloured by any column, with a bar that says in numbers and a unit what the colours mean."""

from __future__ import annotations

import numpy as np
import pytest

from .conftest import finish, process_events


@pytest.fixture
def tracked(widget):
    widget.running.run_all()
    finish(widget)
    widget.parts.steps.setCurrentWidget(widget.parts.results)
    return widget


def test_another_layer_without_tracks_has_no_bar(viewer, tracked):
    choose(tracked, "mean_speed")
    assert tracked.parts.results.colour.bar.isVisibleTo(tracked.parts.results)
    viewer.add_points(np.column_stack([np.arange(4), np.zeros((4, 2))]), name="others")
    tracked.parts.input.choose_layer("others")
    assert not tracked.parts.results.colour.bar.isVisibleTo(tracked.parts.results)


def choose(widget, column: str) -> None:
    """Choose a column in the box by keys, as far down as it stands."""
    from qtpy.QtCore import Qt
    from qtpy.QtTest import QTest

    box = widget.parts.results.colour.feature
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_Home)
    for _ in range(box.findData(column)):
        QTest.keyClick(box, Qt.Key.Key_Down)
    assert box.currentData() == column
    finish(widget)
    process_events()


@pytest.mark.parametrize(
    ("column", "title"),
    [
        ("mean_speed", "mean speed (µm/s)"),
        ("z", "z (µm)"),
        ("smallest_margin", "smallest margin (nats)"),
        ("length", "length (detections)"),
        ("quality", "quality"),
    ],
)
def test_the_bar_has_the_name_and_the_unit_of_the_column(tracked, column, title):
    bar = tracked.parts.results.colour.bar
    choose(tracked, column)
    assert bar.isVisibleTo(tracked.parts.results)
    assert bar.title == title == tracked.parts.results.colour.feature.currentText()


def test_its_numbers_are_the_percentiles_and_say_that_others_lie_beyond(tracked):
    results = tracked.parts.results
    choose(tracked, "mean_speed")
    of_points = results.data.tracks.table["track_id"].map(results.data.measures.set_index("track_id")["mean_speed"])
    for field, share in zip(results.colour.percentiles, (10, 90), strict=True):
        field.setValue(share)
    finish(tracked)
    low, high = np.nanpercentile(of_points, (10, 90))
    assert results.colour.bar.numbers == (f"≤ {low:.4g}", f"{(low + high) / 2:.4g}", f"≥ {high:.4g}")
    for field, share in zip(results.colour.percentiles, (0, 100), strict=True):
        field.setValue(share)
    finish(tracked)
    assert results.colour.bar.numbers[0] == f"{np.nanmin(of_points):.4g}"


def test_positions_are_physical_on_the_bar(tracked):
    results = tracked.parts.results
    for field, share in zip(results.colour.percentiles, (0, 100), strict=True):
        field.setValue(share)
    choose(tracked, "x")
    x = results.data.tracks.table["x"] * 0.5  # µm a voxel
    assert results.colour.bar.numbers[::2] == (f"{x.min():.4g}", f"{x.max():.4g}")


def test_the_bar_has_the_colours_of_the_canvas_from_end_to_end(viewer, tracked):
    bar = tracked.parts.results.colour.bar
    choose(tracked, "first_frame")
    choose(tracked, "frame")
    picture = bar.grab().toImage()
    row = bar.height() // 2
    ends = [np.array(picture.pixelColor(x, row).getRgbF()[:3]) for x in (0, picture.width() - 1)]
    layer = viewer.layers["tracks of movie"]
    for frame, colour in zip((0, 5), ends, strict=True):
        drawn = layer.track_colors[layer.data[:, 1] == frame][0, :3]
        np.testing.assert_allclose(colour, drawn, atol=0.04)


def test_colours_that_tell_tracks_apart_have_no_bar(tracked):
    bar = tracked.parts.results.colour.bar
    choose(tracked, "z")
    choose(tracked, "track")
    assert not bar.isVisibleTo(tracked.parts.results)


def test_lines_of_the_lineages_have_the_colours_of_the_canvas(viewer, tracked):
    results = tracked.parts.results
    choose(tracked, "mean_quality")
    results.tabs.setCurrentWidget(results.lineage.parentWidget())
    process_events()
    layer, track = viewer.layers["tracks of movie"], int(results.kept["track_id"].iloc[0])
    place = results.lineage.place_of(results.lineage.line_of(track), 1).toPoint()
    drawn = np.array(results.lineage.viewport().grab().toImage().pixelColor(place).getRgbF()[:3])
    np.testing.assert_allclose(drawn, layer.track_colors[layer.data[:, 0] == track][0, :3], atol=0.05)
