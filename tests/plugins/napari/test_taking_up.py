"""Saved results are opened and corrected with the links that they have, without being linked anew."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.formats.graph import edges_of
from auctrack.tracker.formats.tables import read_tracks
from auctrack.tracker.formats.write import write_tracks
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.points import Points, Tracks

from ...tracker.linking.movies import walks
from .conftest import finish, process_events
from .test_by_mouse import mouse  # noqa: F401 - a fixture
from .test_correcting import chosen, links, press, tracked  # noqa: F401 - a fixture among them
from .test_edits import drag

needs_geff = pytest.mark.skipif(find_spec("geff") is None, reason="needs the package geff")


def saved_tracks() -> Tracks:
    """Tracks that no linking makes: two of them exchange their ends."""
    points = Points(walks(60, 6, seed=4)[0].table, Calibration((0.5, 0.5, 0.5), "µm"))
    tracks = link_points(points).tracks
    ids, late = tracks.table["track_id"], tracks.table["frame"] >= 3
    one, other = [track for track, length in ids.value_counts(sort=False).items() if length == 6][:2]
    crossed = ids.where(~late, ids.replace({one: other, other: one}))
    return replace(tracks, table=tracks.table.assign(track_id=crossed), parents={})


def expected(table: Points) -> set[tuple[float, ...]]:
    """Links as positions of both their ends, whatever the order of the rows."""
    places = table.table[["frame", *table.axes]].to_numpy()
    return {(*places[source], *places[target]) for source, target in edges_of(table)}


def shown(widget) -> set[tuple[float, ...]]:
    table = widget.parts.session.linked.linking.tracks
    places = table.table[["frame", *table.axes]].to_numpy()
    return {(*places[source], *places[target]) for source, target in links(widget)}


def test_tracks_whose_movie_is_deleted_are_an_input_like_any_other(viewer, tracked, tmp_path):  # noqa: F811
    found, box = links(tracked), tracked.parts.input.layer_box
    viewer.layers.remove("movie")
    finish(tracked)
    assert [box.itemText(k) for k in range(box.count())] == ["tracks of movie"] == [box.currentText()]
    tracked.running.take_up()
    finish(tracked)
    assert links(tracked) == found
    tracked.taking_away.export(str(tmp_path / "kept.csv"))
    finish(tracked)
    assert len(read_tracks(tmp_path / "kept.csv").table) == len(tracked.parts.session.linked.linking.tracks.table)


@pytest.fixture
def tracks() -> Tracks:
    return saved_tracks()


@pytest.fixture(params=["tracks layer", "points layer"])
def taken_up(request, viewer, open_widget, tracks, tmp_path):
    """The widget after saved tracks were opened from their file, or their particles with `track_id`, and taken up."""
    if request.param == "tracks layer":
        write_tracks(tracks, tmp_path / "saved.csv", settings={})
        viewer.open(str(tmp_path / "saved.csv"), plugin="auctrack")
    else:
        data = tracks.table[["frame", "z", "y", "x"]].to_numpy()
        viewer.add_points(data, features=tracks.table[["track_id"]], name="saved.csv")
    widget = open_widget()
    finish(widget)
    widget.parts.input.take_up_button.click()
    finish(widget)
    assert widget.parts.bar.error.text() == ""
    results = widget.parts.results
    results.tabs.setCurrentIndex(results.tabs.count() - 1)
    viewer.window._qt_window.activateWindow()
    return widget


def test_saved_tracks_that_are_linked_anew_are_said_to_be(viewer, open_widget, tracks, tmp_path):
    """Run all is what one is used to press; the saved links are behind the button above."""
    write_tracks(tracks, tmp_path / "saved.csv", settings={})
    viewer.open(str(tmp_path / "saved.csv"), plugin="auctrack")
    widget = open_widget()
    finish(widget)
    assert widget.parts.results.count.text().startswith("No tracks yet: Check and correct its links shows those that")
    widget.parts.bar.run_button.click()
    finish(widget)
    assert "the saved ones, and corrections of them, are shown by Check and correct" in widget.parts.bar.warnings.text()
    widget.parts.input.take_up_button.click()
    finish(widget)
    assert "the saved ones" not in widget.parts.bar.warnings.text()


def take_up_again(viewer, widget, path) -> None:
    """Export the tracks as they stand, open the file and take its tracks up."""
    widget.taking_away.export(str(path))
    finish(widget)
    viewer.open(str(path), plugin="auctrack")
    widget.parts.input.choose_layer(path.name)
    finish(widget)
    widget.parts.input.take_up_button.click()
    finish(widget)


def test_links_are_those_of_the_file(taken_up, tracks):
    assert shown(taken_up) == expected(tracks)
    assert "Linking would not make" in taken_up.parts.bar.warnings.text()
    assert not taken_up.parts.results.command_button.isEnabled()


def test_corrections_of_a_session_are_back_on_the_page_that_they_are_made_on(viewer, taken_up, mouse, tmp_path):  # noqa: F811
    results = taken_up.parts.results
    for key in ("n", "b"):
        press(viewer, key)
        finish(taken_up)
    taken_up.taking_away.export(str(tmp_path / "left.auctrack"))
    finish(taken_up)
    results.tabs.setCurrentIndex(0)
    viewer.open(str(tmp_path / "left.auctrack"), plugin="auctrack")
    taken_up.parts.input.choose_layer("left.auctrack")
    finish(taken_up)
    mouse.click(taken_up.parts.input.take_up_button)
    finish(taken_up)
    assert results.tabs.currentWidget() is results.doubtful
    assert "Corrections so far: 1." in taken_up.parts.bar.status.text()


def test_corrections_that_saved_tracks_hold_already_are_refused_with_the_reason(viewer, taken_up, tmp_path):
    for key in ("n", "b"):
        press(viewer, key)
        finish(taken_up)
    after = shown(taken_up)
    take_up_again(viewer, taken_up, tmp_path / "mine.csv")
    taken_up.correcting.replay(str(tmp_path / "mine.csv.corrections.json"))
    finish(taken_up)
    assert "they already contain them" in taken_up.parts.bar.error.text()
    assert shown(taken_up) == after


def test_what_linking_would_not_make_is_looked_at_first_and_broken(viewer, taken_up):
    assert taken_up.parts.session.suspicious["why"].iloc[0] == "unlikely"
    press(viewer, "n")
    wrong = chosen(taken_up)
    press(viewer, "b")
    finish(taken_up)
    assert wrong not in links(taken_up)
    assert "unlikely" in set(taken_up.parts.session.suspicious["why"])
    press(viewer, "u")
    finish(taken_up)
    assert wrong in links(taken_up)


@pytest.mark.parametrize(
    "name", ["theirs.xml", "theirs.csv", "theirs.motile.csv", pytest.param("theirs.geff", marks=needs_geff)]
)
def test_right_links_come_for_wrong_ones_of_others(viewer, open_widget, mouse, tracks, name, tmp_path):  # noqa: F811
    """All by the mouse and two keys; what came is drawn as new, and undone link by link."""
    right = expected(link_points(Points(tracks.table.drop(columns="track_id"), tracks.calibration)).tracks)
    write_tracks(tracks, tmp_path / name, settings={})
    viewer.open(str(tmp_path / name), plugin="auctrack")
    widget = open_widget()
    finish(widget)
    mouse.click(widget.parts.input.take_up_button)
    finish(widget)
    begun = links(widget)
    press(viewer, "n")
    finish(widget)
    for key in "bb":
        assert chosen(widget) in begun
        press(viewer, key)
        finish(widget)
    assert len(begun - links(widget)) == len(links(widget) - begun) == 2
    assert "2 other links new (solid)" in widget.parts.bar.status.text()
    assert len(shown(widget)) == len(right)
    for _ in "bb":
        press(viewer, "u")
        finish(widget)
    assert links(widget) == begun


def test_a_link_against_the_odds_that_is_confirmed_leaves_the_list(viewer, taken_up):
    press(viewer, "n")
    right = chosen(taken_up)
    press(viewer, "c")
    finish(taken_up)
    listed = taken_up.parts.session.suspicious
    assert right in links(taken_up)
    assert right not in set(zip(listed["source"], listed["target"], strict=True))


def test_corrected_tracks_are_saved_and_taken_up_once_more(viewer, taken_up, tmp_path):
    press(viewer, "n")
    press(viewer, "b")
    finish(taken_up)
    after = shown(taken_up)
    take_up_again(viewer, taken_up, tmp_path / "corrected.csv")
    assert shown(taken_up) == after
    assert expected(read_tracks(tmp_path / "corrected.csv")) == after


@pytest.mark.usefixtures("taken_up")
def test_their_layer_makes_room_for_what_is_drawn_of_it(viewer):
    own = viewer.layers["saved.csv"]
    assert own.visible == (type(own).__name__ != "Tracks")


def test_particles_without_tracks_offer_no_links(viewer, open_widget, tracks):
    viewer.add_points(tracks.table[["frame", "z", "y", "x"]].to_numpy(), name="particles")
    widget = open_widget()
    finish(widget)
    assert not widget.parts.input.take_up_button.isVisibleTo(widget)


@pytest.mark.usefixtures("taken_up")
def test_a_session_that_was_saved_goes_on_where_it_was_left(viewer, taken_up, open_widget, tmp_path):
    press(viewer, "n")
    finish(taken_up)
    press(viewer, "c")
    finish(taken_up)
    press(viewer, "b")
    finish(taken_up)
    taken_up.taking_away.export(str(tmp_path / "left.auctrack"))
    finish(taken_up)
    assert "left.auctrack" in taken_up.parts.bar.status.text()
    before, looked_at = shown(taken_up), int(taken_up.parts.results.progress.text().split()[0])
    assert taken_up.parts.session.n_corrections == 2

    viewer.layers.clear()
    viewer.open(str(tmp_path / "left.auctrack"), plugin="auctrack")
    widget = open_widget()
    finish(widget)
    widget.parts.input.take_up_button.click()
    finish(widget)
    assert shown(widget) == before
    assert widget.parts.session.n_corrections == 2
    assert (
        widget.parts.session.suspicious["looked_at"].sum() == taken_up.parts.session.suspicious["looked_at"].sum() > 0
    )
    press(viewer, "u")
    finish(widget)
    assert widget.parts.session.n_corrections == 1
    assert shown(widget) != before
    press(viewer, "Shift-U")
    finish(widget)
    assert shown(widget) == before
    press(viewer, "n")
    finish(widget)
    assert int(widget.parts.results.progress.text().split()[0]) >= looked_at > 1  # this one may be one of them


def test_a_session_shows_frame_plane_and_sizes_as_they_were_left(viewer, widget, tmp_path):
    """Also the second time: what a session was taken up with is saved with it again; also after it was linked anew."""
    widget.running.run_all()
    finish(widget)
    press(viewer, "n")
    finish(widget)
    press(viewer, "b")
    finish(widget)
    viewer.dims.set_current_step((0, 1), (4, 2))
    process_events()
    size, parts = viewer.layers["particles of movie"].size[0], widget.parts
    assert size > 0
    for name in ("first.auctrack", "second.auctrack"):
        widget.taking_away.export(str(tmp_path / name))
        finish(widget)
        viewer.open(str(tmp_path / name), plugin="auctrack")
        parts.input.choose_layer(name)
        finish(widget)
        viewer.dims.set_current_step((0, 1), (0, 7))
        widget.running.run_all()  # which knows no size
        finish(widget)
        parts.input.take_up_button.click()
        finish(widget)
        assert viewer.dims.current_step[:2] == (4, 2)
        np.testing.assert_allclose(viewer.layers[f"particles of {name}"].size, size)
        assert parts.session.n_unsaved == 0
        assert "which no command can make" in parts.results.command_button.toolTip()


def test_why_no_command_is_offered_is_said_where_it_is_grey(viewer, widget):
    from qtpy.QtCore import QPoint
    from qtpy.QtGui import QHelpEvent
    from qtpy.QtWidgets import QApplication, QToolTip

    button = widget.parts.results.command_button

    def tip() -> str:
        """What is said while the mouse rests on the button."""
        QToolTip.hideText()
        place = QPoint(3, 3)
        QApplication.sendEvent(button, QHelpEvent(QHelpEvent.Type.ToolTip, place, button.mapToGlobal(place)))
        return QToolTip.text()

    widget.parts.steps.setCurrentWidget(widget.parts.results)
    process_events()
    assert not button.isEnabled()
    assert "No tracks yet" in tip()
    widget.running.run_all()
    finish(widget)
    assert button.isEnabled()
    assert "terminal" in tip()
    particles = viewer.layers["particles of movie"]
    drag(particles, 4, 2)
    finish(widget)
    assert not button.isEnabled()
    assert "by hand" in tip()
