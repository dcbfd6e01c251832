"""Keys lead to what they change: frame, plane and camera go there; undo and redo choose link or particles again."""

from __future__ import annotations

import numpy as np
import pytest

from .conftest import finish, process_events
from .in_one_widget import InOneWidget, tracked_once  # noqa: F401 - a fixture
from .test_by_mouse import mouse  # noqa: F401 - a fixture
from .test_clicked_particles import CHOSEN, click_all, pairs, rows_at
from .test_correcting import links, press
from .test_on_the_canvas import lines, place_of, point_at, show  # noqa: F401 - a fixture among them
from .test_placing import movie, table  # noqa: F401 - a fixture
from .test_what_a_key_acts_on import NEIGHBOUR, marked, status, track_of

FAR = np.array([0.0, 500.0, 900.0])


@pytest.fixture
def do(viewer, lines):  # noqa: F811
    """Press keys, each once the one before is done."""

    def press_all(*keys: str) -> None:
        for key in keys:
            press(viewer, key)
            finish(lines)

    return press_all


def go_away(viewer) -> None:
    """Show another frame, and a part of the canvas where no particle is."""
    show(viewer, (4, 4, 0, 0))
    viewer.scene.camera.center = FAR


def clicked(widget) -> list[tuple[float, ...]]:
    rows = [row for _, row in widget.correcting._clicked]
    table = widget.parts.session.linked.linking.tracks.table[["frame", "z", "y", "x"]]
    return [*table.iloc[rows].itertuples(index=False, name=None)]


def assert_shown(viewer, place) -> None:
    layer = viewer.layers["particles of beads"]
    assert round(layer.world_to_data(viewer.dims.point)[0]) == place[0]
    np.testing.assert_allclose(viewer.scene.camera.center[1:], layer.data_to_world(place)[2:])


ACTS = {
    "b": ((NEIGHBOUR,), [(1, 4, 12, 10), NEIGHBOUR], NEIGHBOUR),
    "j": (((1, 4, 12, 10), CHOSEN[0]), None, CHOSEN[0]),
    "s": (CHOSEN, [*reversed(CHOSEN)], CHOSEN[0]),
    "d": (((1, 4, 24, 10), *CHOSEN), [(1, 4, 24, 10), *CHOSEN], CHOSEN[0]),
    "e": ((NEIGHBOUR,), [NEIGHBOUR], NEIGHBOUR),
    "m": (CHOSEN, [(2, 4, 30, 20)], (2, 4, 30, 20)),
    "x": ((NEIGHBOUR,), None, NEIGHBOUR),
}


def test_a_particle_added_is_led_to_though_it_is_gone(viewer, lines, do):  # noqa: F811
    show(viewer, (1, 4, 20, 25))
    point_at(viewer, (1, 4, 20, 25))
    do("i")
    layer = viewer.layers["particles of beads"]
    place = layer.data[~np.isin(layer.data[:, 2], (0, 12, 24, 36))][0]
    go_away(viewer)
    do("u")
    assert_shown(viewer, place)
    assert clicked(lines) == []


def test_without_anything_to_undo_nothing_moves(viewer, lines, do):  # noqa: F811
    go_away(viewer)
    do("u", "Shift-u")
    np.testing.assert_array_equal(viewer.scene.camera.center, FAR)
    assert lines.parts.session.link is None


def test_n_and_undo_go_there_though_the_layers_of_tracks_and_particles_are_deleted(viewer, lines, do):  # noqa: F811
    """As with napari's bin; they come back with the next correction."""
    do("n", "b", "n")
    for name in ("tracks of beads", "particles of beads"):
        viewer.layers.remove(name)
        process_events()
    beads = viewer.layers["beads"]
    ends = [lines.parts.session.place_of(row) for row in lines.parts.session.link]
    for key in ("Shift-n", "n"):
        viewer.dims.set_point(0, 4)
        viewer.scene.camera.center = FAR
        do(key)
    frame, place = ends[1]
    assert viewer.dims.point[0] == frame
    np.testing.assert_allclose(viewer.scene.camera.center[1:], beads.data_to_world((frame, *place))[2:])
    viewer.scene.camera.center = FAR
    do("u")
    assert "tracks of beads" in viewer.layers
    assert not np.allclose(viewer.scene.camera.center, FAR)


@pytest.mark.parametrize(("planes", "is_led"), [(1, False), (6, True)])
def test_a_key_leads_to_the_plane_of_a_particle_unless_the_one_shown_reaches_it(
    viewer,
    movie,  # noqa: F811
    mouse,  # noqa: F811
    planes,
    is_led,
):
    z = table(movie)["z"].to_numpy()
    row = int(np.argmin(z))
    frame, *place = place_of(movie, row)
    assert z[row] + planes < 8
    click_all(viewer, movie, mouse, (frame, *place))
    other = frame, place[0] + planes, *place[1:]
    show(viewer, other)
    press(viewer, "x")
    finish(movie)
    layer = viewer.layers["particles of movie"]
    assert movie.parts.session.n_corrections == 1
    shown = layer.world_to_data(viewer.dims.point)[1]
    assert shown == pytest.approx(place[0] if is_led else other[1])


class TestInOneWidget(InOneWidget):
    """What acts on the same links, one test after the other."""

    @pytest.mark.parametrize("key", ["b", "c"])
    def test_the_link_of_an_act_taken_back_is_shown_and_chosen(self, viewer, lines, mouse, do, key):  # noqa: F811
        (link,) = pairs(lines, ((1, 4, 12, 10), NEIGHBOUR))
        click_all(viewer, lines, mouse, NEIGHBOUR)
        do(key)
        click_all(viewer, lines, mouse, (3, 4, 36, 30))  # another track and link
        go_away(viewer)
        do("u")
        assert_shown(viewer, NEIGHBOUR)
        assert lines.parts.session.link == link
        np.testing.assert_array_equal(marked(viewer)[0], [(4, 12, 10), (4, 12, 20)])
        assert lines.parts.session.chosen == track_of(lines, NEIGHBOUR)
        assert lines.parts.results.plots_title.text().startswith(f"Track {lines.parts.session.chosen}:")
        go_away(viewer)
        do("b")
        assert link not in links(lines)

    @pytest.mark.parametrize("key", ACTS)
    def test_an_act_made_again_is_shown_where_it_is(self, viewer, lines, mouse, do, key):  # noqa: F811
        """Also where what it was about is gone; its particles, where they are there and few, are clicked again."""
        on, again, place = ACTS[key]
        click_all(viewer, lines, mouse, *on)
        do(key, "u")
        go_away(viewer)
        do("Shift-u")
        assert_shown(viewer, place)
        assert clicked(lines) == (again or [])

    def test_a_particle_that_is_back_can_be_deleted_again_at_once(self, viewer, lines, mouse, do):  # noqa: F811
        click_all(viewer, lines, mouse, NEIGHBOUR)
        do("x")
        go_away(viewer)
        do("u")
        assert_shown(viewer, NEIGHBOUR)
        assert "in frame 2" in lines.parts.results.clicked.text()
        do("x")
        assert "particle in frame 2 deleted" in status(lines)
        with pytest.raises(IndexError):
            rows_at(lines, NEIGHBOUR)

    def test_what_is_in_sight_stays_where_it_is(self, viewer, lines, mouse, do):  # noqa: F811
        click_all(viewer, lines, mouse, NEIGHBOUR)
        before = viewer.scene.camera.center, viewer.scene.camera.zoom
        do("b", "u", "Shift-u")
        assert (viewer.scene.camera.center, viewer.scene.camera.zoom) == before

    @pytest.mark.parametrize("angles", [(0, 0, 90), (0, 25, 75), (40, -60, 10)])
    def test_in_3d_the_camera_goes_there_from_wherever_it_looks(self, viewer, lines, mouse, do, angles):  # noqa: F811
        click_all(viewer, lines, mouse, NEIGHBOUR)
        do("b")
        viewer.dims.ndisplay = 3
        viewer.scene.camera.angles = angles
        near = viewer.scene.camera.center
        do("u")
        assert viewer.scene.camera.center == near  # all of it is in sight
        viewer.scene.camera.center = tuple(FAR)
        do("Shift-u")
        layer = viewer.layers["particles of beads"]
        np.testing.assert_allclose(viewer.scene.camera.center, layer.data_to_world(NEIGHBOUR)[1:])

    @pytest.mark.parametrize("key", ["b", "c", "j", "s", "d", "e", "m", "x"])
    def test_a_key_leads_to_what_it_changes_where_that_is_out_of_sight(self, viewer, lines, mouse, do, key):  # noqa: F811
        on, _, place = ACTS.get(key, ACTS["b"])
        click_all(viewer, lines, mouse, *on)
        go_away(viewer)
        do(key)
        assert lines.parts.session.n_corrections == 1
        assert_shown(viewer, place)

    @pytest.mark.parametrize(("key", "frame"), [("b", 3), ("j", 3), ("x", 2)])
    def test_a_link_is_in_sight_while_its_tail_is_and_a_particle_in_its_frame(
        self,
        viewer,
        lines,  # noqa: F811
        mouse,  # noqa: F811
        do,
        key,
        frame,
    ):
        click_all(viewer, lines, mouse, *ACTS[key][0])
        show(viewer, (3, 4, 0, 0))
        camera = viewer.scene.camera.center
        do(key)
        assert (viewer.dims.point[0], viewer.scene.camera.center) == (frame, camera)
