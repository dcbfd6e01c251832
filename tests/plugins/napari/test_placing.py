"""Particles added, moved and deleted, by our keys and by napari's own tools, over an image and without one."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

from auctrack.plugins.napari.session.placing import adding
from auctrack.tracker.errors import InvalidEdit

from .conftest import PHYSICAL, finish, process_events, spots
from .test_by_mouse import mouse, on_canvas  # noqa: F401 - a fixture
from .test_clicked_particles import CHOSEN, click_all, rows_at
from .test_correcting import links, press
from .test_edits import press_delete
from .test_on_the_canvas import click, drag, lines, place_of, point_at, show  # noqa: F401 - a fixture among them

MEASURES = ["quality", "intensity", "snr"]


@pytest.fixture
def movie(viewer, open_widget):
    """The widget over a movie of spots, tracked."""
    viewer.add_image(spots(), name="movie", **PHYSICAL)
    widget = open_widget()
    widget.running.run_all()
    finish(widget)
    viewer.window._qt_window.activateWindow()
    return widget


def table(widget):
    return widget.parts.session.linked.linking.tracks.table


def acts(widget) -> list[str]:
    return [act["act"] for act in widget.parts.session.corrections._edits.acts]


def particles(viewer):
    (layer,) = (layer for layer in viewer.layers if layer.name.startswith("particles of"))
    return layer


def drawn(viewer) -> np.ndarray:
    return np.array(particles(viewer).data)


def use_tool(viewer, mode: str):
    """Take one of napari's own tools for points, as its button does."""
    layer = particles(viewer)
    viewer.layers.selection.active, layer.mode = layer, mode
    process_events()
    return layer


def delete_one(viewer, widget, mouse, row: int) -> np.ndarray:  # noqa: F811
    """Delete a particle, and return its place."""
    place = place_of(widget, row)
    click_all(viewer, widget, mouse, place)
    press(viewer, "x")
    finish(widget)
    return place


def look_from(viewer, ndisplay: int) -> None:
    viewer.dims.ndisplay = ndisplay
    viewer.scene.camera.angles = (10, 30, 100)


# --- where an added particle is, and what it measures ------------------------------------------------------------


@pytest.mark.parametrize("ndisplay", [2, 3])
def test_a_particle_added_over_an_image_is_placed_and_measured_like_a_detected_one(viewer, movie, mouse, ndisplay):  # noqa: F811
    """Pointed at from a voxel beside its middle, in the plane nearest to it."""
    look_from(viewer, ndisplay)
    known = table(movie).iloc[3].copy()
    place = delete_one(viewer, movie, mouse, 3)
    beside = place + ([0, 0, 0.8, -0.8] if ndisplay == 2 else [0, 0, 0.4, -0.4])
    show(viewer, beside)
    point_at(viewer, beside)
    press(viewer, "i")
    finish(movie)
    added = table(movie).iloc[-1]
    for name in ("frame", "z", "y", "x", *MEASURES):
        assert added[name] == pytest.approx(known[name], rel=1e-6)


def test_where_no_particle_is_near_it_is_where_the_mouse_is_in_the_plane_shown(viewer, movie):
    places = table(movie)[["z", "y", "x"]].to_numpy()
    grid = np.stack(np.meshgrid([3.0], np.arange(8, 56.0), np.arange(8, 56.0), indexing="ij"), axis=-1).reshape(-1, 3)
    away = np.linalg.norm((grid[:, None] - places) * [1, 0.5, 0.5], axis=2).min(axis=1)
    empty = grid[np.argmax(away)]
    show(viewer, (2, 2.88, *empty[1:]))  # the plane 3 is shown
    point_at(viewer, (2, 2.88, *empty[1:]))
    press(viewer, "i")
    finish(movie)
    added = table(movie).iloc[-1]
    np.testing.assert_allclose(added[["z", "y", "x"]].astype(float), empty, atol=4)  # a peak of the noise at most
    assert np.isfinite(added[MEASURES].astype(float)).all()


def test_it_is_said_where_a_particle_is_not_at_a_peak_of_the_image(movie):
    """Of places on a grid some are by a peak of the noise, some by none, and one beside it by another particle's."""
    edits, ground = movie.parts.session._corrections()._opened(), movie.correcting._ground()
    notes = set()
    frame, z, y, x = place_of(movie, 3)
    grid = np.mgrid[3:4, 8:56:2, 8:56:2].reshape(3, -1).T.astype(float).tolist()
    for place in ([round(z), y + 1.2, x], *grid):
        with suppress(InvalidEdit):  # another one is exactly there
            act, note = adding(edits, ground, (round(frame), place))
            assert (note == "") == (act["position"] != place)
            notes.add(note)
    at_a_peak, without_one, taken = sorted(notes)
    assert at_a_peak == ""
    assert "No peak is near" in without_one
    assert "of another particle" in taken


def test_beside_a_particle_that_has_the_peak_it_is_where_the_mouse_is(viewer, movie):
    """Two that touch are one peak: the user says where the second one is."""
    frame, z, y, x = place_of(movie, 3)
    beside, n = (frame, round(z), y + 1.2, x), len(table(movie))
    show(viewer, beside)
    point_at(viewer, beside)
    press(viewer, "i")
    finish(movie)
    assert len(table(movie)) == n + 1
    np.testing.assert_allclose(place_of(movie, n), beside, atol=0.3)
    assert np.isfinite(table(movie)[MEASURES].iloc[n].astype(float)).all()


def test_without_an_image_it_is_where_the_mouse_is_and_measures_are_missing(viewer, open_widget):
    data = np.array([(frame, 4.0, row * 12.0, 10.0 * frame) for frame in range(5) for row in range(4)])
    viewer.add_points(data, features={"intensity": np.arange(20.0)}, name="beads")
    widget = open_widget()
    widget.running.run_all()
    finish(widget)
    viewer.window._qt_window.activateWindow()
    show(viewer, (2, 4, 18, 25))
    point_at(viewer, (2, 4, 18, 25))
    press(viewer, "i")
    finish(widget)
    np.testing.assert_allclose(place_of(widget, 20), (2, 4, 18, 25), atol=0.5)
    assert np.isnan(table(widget)["intensity"].iloc[20])
    assert table(widget)["intensity"].notna().sum() == 20


def test_a_moved_particle_measures_what_is_where_it_is_now(viewer, movie, mouse):  # noqa: F811
    place, before = place_of(movie, 3), table(movie).iloc[3].copy()
    to = np.add(place, (0, 0, 2, 2))
    click_all(viewer, movie, mouse, place)
    point_at(viewer, to)
    press(viewer, "p")
    finish(movie)
    moved = table(movie).iloc[3]
    np.testing.assert_allclose(moved[["y", "x"]].astype(float), to[2:], atol=0.3)
    assert moved["intensity"] < before["intensity"]
    press(viewer, "u")
    finish(movie)
    assert table(movie).iloc[3]["intensity"] == before["intensity"]


@pytest.mark.parametrize("saved", [True, False])
def test_in_3d_the_image_is_found_that_a_session_was_made_over(viewer, movie, mouse, open_widget, tmp_path, saved):  # noqa: F811
    """The input is a layer of the session, or of its tracks; the image is beside it."""
    known, place = table(movie).iloc[3].copy(), delete_one(viewer, movie, mouse, 3)
    path = tmp_path / ("left.auctrack" if saved else "left.csv")
    movie.taking_away.export(str(path))
    finish(movie)
    viewer.window.remove_dock_widget("all")
    process_events()  # the marks have gone with it
    for name in [layer.name for layer in viewer.layers if layer.name != "movie"]:
        viewer.layers.remove(name)
        process_events()  # painted in between: Mesa's software GL crashes where all go at once, of napari alone too
    viewer.open(str(path), plugin="auctrack")
    widget = open_widget()
    widget.parts.input.choose_layer(path.name)
    finish(widget)
    widget.parts.input.take_up_button.click()
    finish(widget)
    look_from(viewer, 3)
    show(viewer, place)
    n = len(table(widget))
    point_at(viewer, place)
    press(viewer, "i")
    finish(widget)
    added = table(widget).iloc[-1]
    assert (len(table(widget)), widget.parts.bar.error.text()) == (n + 1, "")
    np.testing.assert_allclose(added[["z", "y", "x"]].astype(float), place[1:], atol=1e-6 if saved else 1.5)
    if saved:  # a session says how its particles were found
        assert added["intensity"] == pytest.approx(known["intensity"], rel=1e-6)
    else:
        assert np.isnan(added["intensity"])


# --- where there can be none -------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["i", "p"])
def test_no_particle_is_placed_on_another_one(viewer, lines, mouse, key):  # noqa: F811
    click_all(viewer, lines, mouse, CHOSEN[1])
    point_at(viewer, CHOSEN[0])
    press(viewer, key)
    finish(lines)
    assert "already" in lines.parts.bar.error.text()
    assert lines.parts.session.n_corrections == 0


@pytest.mark.parametrize("key", ["i", "p"])
def test_no_particle_is_placed_outside_the_movie(viewer, movie, mouse, key):  # noqa: F811
    click_all(viewer, movie, mouse, place_of(movie, 3))
    viewer.scene.camera.zoom /= 2
    process_events()
    viewer.scene.camera.center = (4, 32, 16)
    outside = (place_of(movie, 3)[0], 4, 70, 32)
    point_at(viewer, outside)
    press(viewer, key)
    finish(movie)
    assert "outside the movie" in movie.parts.bar.error.text()
    assert movie.parts.session.n_corrections == 0


def test_over_a_movie_what_is_farther_apart_than_a_diameter_is_not_merged(viewer, movie, mouse):  # noqa: F811
    first = table(movie)[table(movie)["frame"] == 0]
    pair = first[["frame", "z", "y", "x"]].to_numpy()[:2]
    click_all(viewer, movie, mouse, *pair)
    apart = np.linalg.norm((pair[0] - pair[1])[1:] * [1, 0.5, 0.5])
    assert apart > movie.parts.session.found_with.diameter
    press(viewer, "m")
    finish(movie)
    assert f"{apart:.3g} µm apart" in movie.parts.bar.error.text()
    assert movie.parts.session.n_corrections == 0


def test_without_a_movie_what_is_farther_apart_than_neighbours_is_not_merged(viewer, lines, mouse):  # noqa: F811
    click_all(viewer, lines, mouse, (2, 4, 0, 20), CHOSEN[0])
    press(viewer, "m")
    finish(lines)
    assert "24 pixels apart" in lines.parts.bar.error.text()
    assert lines.parts.session.n_corrections == 0


# --- napari's own tools ------------------------------------------------------------------------------------------


def select(viewer, mouse, *places) -> None:  # noqa: F811
    """Select particles with napari's tool, the second and third one with Shift."""
    use_tool(viewer, "select")
    for number, place in enumerate(places):
        show(viewer, place)
        click(viewer, mouse, place, shift=number > 0)
        process_events()


@pytest.mark.parametrize("count", [1, 2])
def test_the_delete_key_is_an_act_that_is_undone_and_made_again(viewer, lines, mouse, count):  # noqa: F811
    before, pictured = links(lines), drawn(viewer)
    select(viewer, mouse, *CHOSEN[:count])
    finish(lines)
    press_delete(viewer)
    finish(lines)
    assert acts(lines) == ["delete_detection" if count == 1 else "together"]
    assert len(table(lines)) == len(drawn(viewer)) == 20 - count
    assert not lines.parts.overlay.edits()
    assert ("particle in frame 2 deleted" if count == 1 else "2 particles deleted") in lines.parts.bar.status.text()
    after = links(lines)
    press(viewer, "u")
    finish(lines)
    assert (links(lines), acts(lines)) == (before, [])
    np.testing.assert_array_equal(drawn(viewer), pictured)
    press(viewer, "Shift-u")
    finish(lines)
    assert (links(lines), len(drawn(viewer))) == (after, 20 - count)
    use_tool(viewer, "pan_zoom")


def test_particles_that_are_dragged_together_are_moved_by_one_act(viewer, lines, mouse):  # noqa: F811
    before = drawn(viewer)
    select(viewer, mouse, *CHOSEN)
    drag(viewer, CHOSEN[0], (2, 4, 24, 26))
    finish(lines)
    assert acts(lines) == ["together"]
    for place in CHOSEN:
        row = rows_at(lines, *[tuple(at) for at in drawn(viewer) if at[0] == 2 and abs(at[2] - place[2]) < 1])[0]
        np.testing.assert_allclose(place_of(lines, row), np.add(place, (0, 0, 0, 6)), atol=0.5)
    press(viewer, "u")
    finish(lines)
    np.testing.assert_array_equal(drawn(viewer), before)
    use_tool(viewer, "pan_zoom")


@pytest.mark.parametrize("is_free", [True, False])
def test_the_tool_for_adding_points_is_an_act_or_is_refused(viewer, lines, mouse, is_free):  # noqa: F811
    before = drawn(viewer)
    place = (2, 4, 18, 25) if is_free else CHOSEN[0]
    show(viewer, place)
    use_tool(viewer, "add")
    click(viewer, mouse, place)
    finish(lines)
    if is_free:
        assert acts(lines) == ["add_detection"]
        np.testing.assert_allclose(place_of(lines, 20), place, atol=0.5)
        press(viewer, "u")
        finish(lines)
    else:
        assert "already" in lines.parts.bar.error.text()
    assert acts(lines) == []
    np.testing.assert_array_equal(drawn(viewer), before)
    assert not lines.parts.overlay.edits()
    use_tool(viewer, "pan_zoom")


def test_a_particle_dragged_onto_another_one_goes_back(viewer, lines):  # noqa: F811
    before = drawn(viewer)
    use_tool(viewer, "select")
    show(viewer, CHOSEN[0])
    drag(viewer, CHOSEN[0], CHOSEN[1])
    finish(lines)
    assert "already" in lines.parts.bar.error.text()
    assert acts(lines) == []
    np.testing.assert_array_equal(drawn(viewer), before)
    use_tool(viewer, "pan_zoom")


@pytest.mark.parametrize("rows_come_back", [True, False])
def test_the_delete_key_takes_no_other_particle_than_the_selected_one(viewer, lines, mouse, rows_come_back):  # noqa: F811
    """Though rows have shifted since it was selected: one before it came back by U, or it went itself by X."""
    if rows_come_back:
        delete_one(viewer, lines, mouse, 0)
    select(viewer, mouse, CHOSEN[0])
    finish(lines)
    assert len(particles(viewer).selected_data) == 1
    press(viewer, "u" if rows_come_back else "x")
    finish(lines)
    left = {tuple(place) for place in drawn(viewer)}
    press_delete(viewer)
    finish(lines)
    assert left - {tuple(place) for place in drawn(viewer)} <= {CHOSEN[0]}
    assert len(drawn(viewer)) == len(table(lines))
    use_tool(viewer, "pan_zoom")


@pytest.mark.parametrize("key", ["1", "Delete"])
@pytest.mark.parametrize("is_refused", [True, False])
def test_napari_goes_on_after_an_added_point_was_refused_or_undone(viewer, lines, mouse, is_refused, key):  # noqa: F811
    """napari had selected its row, which is the last one and gone."""
    before, place = drawn(viewer), CHOSEN[0] if is_refused else (2, 4, 18, 25)
    show(viewer, place)
    use_tool(viewer, "add")
    click(viewer, mouse, place)
    finish(lines)
    if not is_refused:
        press(viewer, "u")
        finish(lines)
    np.testing.assert_array_equal(drawn(viewer), before)
    press_delete(viewer) if key == "Delete" else press(viewer, key)
    process_events()
    finish(lines)
    np.testing.assert_array_equal(drawn(viewer), before)
    assert particles(viewer).selected_data == set()
    use_tool(viewer, "pan_zoom")


# --- where the mouse is not over the picture -----------------------------------------------------------------------


def test_nothing_is_placed_where_the_mouse_has_left_the_picture(viewer, movie, mouse):  # noqa: F811
    """napari's cursor stays at the edge: a particle there would take links away."""
    from qtpy.QtTest import QTest

    before, place = drawn(viewer), place_of(movie, 0)
    click_all(viewer, movie, mouse, place)
    point_at(viewer, place)
    for _ in range(5):  # a busy machine drops moves
        QTest.mouseMove(movie.parts.bar.run_button)
        QTest.qWait(50)
    for key, words in (("i", "Put the mouse where a particle is missing"), ("p", "point at where it belongs")):
        press(viewer, key)
        finish(movie)
        assert words in movie.parts.bar.status.text()
    assert movie.parts.session.n_corrections == 0
    np.testing.assert_array_equal(drawn(viewer), before)
