"""Another layer, unit or voxel size after a run: the same result as in a widget that has seen nothing before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from .conftest import PHYSICAL, finish, same_tracks, spots

SAMPLES = Path(__file__).parents[3] / "sample_data"
FLAT = (96, 96)


def tracks_of(widget):
    """Run everything; return the tracks and the sentence on them."""
    widget.running.run_all()
    finish(widget)
    assert widget.parts.bar.error.text() == ""
    return widget.parts.session.data.tracks.table, widget.parts.bar.status.text() + widget.parts.link.learned.text()


def assert_as_in_a_fresh_widget(viewer, widget, open_widget, layer: str) -> None:
    """Run the widget and one that is opened now over a layer; both give the same."""
    table, said = tracks_of(widget)
    viewer.window.remove_dock_widget(widget.parent())
    opened_now = open_widget()
    opened_now.parts.input.choose_layer(layer)
    fresh, said_by_fresh = tracks_of(opened_now)
    same_tracks(table, fresh)
    assert said == said_by_fresh
    assert "as given" not in said


def add_other_movie(viewer) -> str:
    other = spots(particles=30, seed=1, shape=FLAT)
    viewer.add_image(other, name="other", scale=(10, 0.2, 0.2), units=("s", "µm", "µm"))
    return "other"


def add_table(viewer) -> str:
    viewer.open(str(SAMPLES / "points.csv"), plugin="auctrack")
    return "points.csv"


@pytest.mark.parametrize("add", [add_other_movie, add_table])
def test_another_layer_gets_nothing_of_the_one_before(viewer, widget, open_widget, add):
    tracks_of(widget)
    name = add(viewer)
    widget.parts.input.choose_layer(name)
    assert_as_in_a_fresh_widget(viewer, widget, open_widget, name)


def test_a_voxel_size_entered_after_a_run_takes_no_pixels_for_micrometres(viewer, open_widget):
    viewer.add_image(spots(particles=30, shape=FLAT), name="movie")
    widget = open_widget()
    tracks_of(widget)
    widget.parts.input.sizes[1].setValue(0.2)
    widget.parts.input.sizes[2].setValue(0.2)
    assert_as_in_a_fresh_widget(viewer, widget, open_widget, "movie")


def test_suggestions_are_no_settings_of_the_user(viewer, widget, open_widget):
    widget.suggesting.suggest_detection()
    finish(widget)
    motion = widget.parts.link.motion
    motion.setCurrentIndex(motion.findData("none"))
    widget.running.run_detect()
    finish(widget)
    widget.suggesting.suggest_linking()
    finish(widget)
    assert widget.parts.link.search_range.text().startswith("auto: ")
    motion.setCurrentIndex(motion.findData("auto"))
    widget.parts.input.choose_layer(add_other_movie(viewer))
    assert widget.parts.link.search_range.text() == "auto"
    assert_as_in_a_fresh_widget(viewer, widget, open_widget, "other")


def test_a_suggestion_still_to_come_is_not_shown_for_another_layer(viewer, widget):
    widget.suggesting.suggest_detection()
    widget.parts.input.choose_layer(add_other_movie(viewer))
    finish(widget)
    assert widget.parts.detect.diameter.text() == "auto"
    assert widget.parts.detect.reason.text() == ""


def test_what_was_typed_stays_until_its_unit_is_another_one(viewer, widget):
    widget.parts.detect.diameter.setValue(2.5)
    widget.parts.link.search_range.setValue(3.0)
    widget.parts.input.choose_layer(add_other_movie(viewer))
    assert widget.parts.detect.settings.diameter == 2.5
    tracks_of(widget)
    assert widget.parts.detect.diameter.text() == "2.5 µm"
    assert widget.parts.session.linked.linking.settings.search_range == 3.0
    viewer.add_image(spots(), name="in pixels")
    widget.parts.input.choose_layer("in pixels")
    assert widget.parts.detect.settings.diameter == widget.parts.link.settings.search_range == "auto"
    assert "Lengths are in pixels now" in widget.parts.bar.status.text()


def test_dark_particles_are_found_anew(widget):
    tracks_of(widget)
    widget.parts.detect.fields.ticks["bright_on_dark"].setChecked(True)
    assert (widget.parts.detect.diameter.text(), widget.parts.detect.threshold.text()) == ("auto", "auto")


@pytest.mark.parametrize("leave", ["remove", "choose"])
def test_status_table_and_curves_go_with_their_layer(viewer, widget, leave):
    tracks_of(widget)
    results = widget.parts.results
    widget.looking.choose_track(int(results.kept["track_id"].iloc[0]))
    finish(widget)
    assert not results.plots[0].is_empty
    if leave == "remove":
        viewer.layers.clear()
    else:
        viewer.add_image(spots(seed=1), name="other", **PHYSICAL)
        widget.parts.input.choose_layer("other")
    finish(widget)
    assert widget.parts.bar.status.text() == ""
    assert results.plots_title.text() == "Click a particle in the viewer, or a row of the table."
    assert all(chart.is_empty for chart in results.plots)
    assert (results.tracks.table.count, results.suspicious.count, len(results.filters.charts)) == (0, 0, 0)
    assert results.count.text() == "No tracks yet: run the steps before."
    assert not results.export_button.isEnabled()


def test_points_in_pixels_after_a_movie_in_micrometres(viewer, widget, open_widget):
    tracks_of(widget)
    data = np.column_stack([np.repeat(np.arange(5), 2), np.tile([[1.0, 1], [90, 90]], (5, 1))])
    viewer.add_points(data, name="beads")
    widget.parts.input.choose_layer("beads")
    assert_as_in_a_fresh_widget(viewer, widget, open_widget, "beads")
