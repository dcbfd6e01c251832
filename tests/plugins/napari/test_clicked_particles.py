"""Acts on particles that are clicked on the canvas, in 2D and 3D, by key and from the menu, each undone again."""

from __future__ import annotations

import re

import numpy as np
import pytest

from auctrack import read_tracks

from .conftest import PHYSICAL, finish, process_events, spots, wait
from .in_one_widget import InOneWidget, tracked_once  # noqa: F401 - a fixture
from .test_by_mouse import mouse, on_canvas  # noqa: F401 - a fixture
from .test_correcting import links, press
from .test_on_the_canvas import click, lines, place_of, point_at, show  # noqa: F401 - a fixture among them

CHOSEN = ((2, 4, 24, 20), (2, 4, 36, 20))  # the same frame of two neighbours


def rows_at(widget, *places) -> list[int]:
    table = widget.parts.session.linked.linking.tracks.table[["frame", "z", "y", "x"]].to_numpy(float)
    return [int(np.flatnonzero((table == place).all(axis=1))[0]) for place in places]


def pairs(widget, *ends) -> set[tuple[int, int]]:
    return {tuple(rows_at(widget, *pair)) for pair in ends}


def click_all(viewer, widget, mouse, *places) -> None:  # noqa: F811
    for place in places:
        show(viewer, place)
        click(viewer, mouse, place)
        finish(widget)


def choose(widget, mouse, title: str) -> None:  # noqa: F811
    """Choose an entry of the menu of clicked particles by the mouse."""
    results = widget.parts.results
    widget.parts.steps.setCurrentWidget(results)
    results.tabs.setCurrentWidget(results.doubtful)
    menu = results.clicked_button.menu()
    menu.popup(results.clicked_button.mapToGlobal(results.clicked_button.rect().center()))
    process_events()
    (entry,) = (action for action in menu.actions() if action.text().partition("\t")[0] == title)
    mouse.click(menu, menu.actionGeometry(entry).center())
    finish(widget)


@pytest.fixture(params=[2, 3], ids=["2D", "3D"])
def shown(request, viewer, lines):  # noqa: F811
    look_along(viewer, request.param)
    return lines


def look_along(viewer, ndisplay: int) -> None:
    viewer.dims.ndisplay = ndisplay
    viewer.scene.camera.angles = (0, 25, 75)  # in 3D no particle lies behind another


def marked(viewer) -> set[tuple[float, ...]]:
    """The places (z, y, x) that are marked as clicked."""
    layers = [layer for layer in viewer.layers if layer.name == "clicked particles" and layer.visible]
    arms = layers[0].data[:, 2:].reshape(-1, 4, 2, 3) if layers else np.empty((0, 4, 2, 3))
    return {*map(tuple, arms.mean(axis=(1, 2)).round(6).tolist())}


def is_pointed_at(viewer, place) -> bool:
    """Whether yellow is seen where the lines around a clicked particle are, on both sides of it along y."""
    layer, radius = viewer.layers["particles of beads"], viewer.layers["particles of beads"].size[0] / 2
    seen = viewer.screenshot(canvas_only=True, flash=False)[..., :3].astype(int)
    ends = [on_canvas(viewer, layer, np.add(place, (0, 0, side * 1.45 * radius, 0))) for side in (-1, 1)]
    red, _, blue = np.transpose([seen[at.y(), at.x()] for at in ends])
    return bool((red - blue > 60).all())


def test_clicked_particles_are_marked_until_the_act_whatever_frame_is_shown(viewer, shown, mouse):  # noqa: F811
    first = (1, 4, 12, 10)
    planes = viewer.dims.range[:2]
    click_all(viewer, shown, mouse, first)
    assert marked(viewer) == {first[1:]}
    assert viewer.dims.range[:2] == planes  # no slider comes, or reaches farther
    assert is_pointed_at(viewer, first)
    click_all(viewer, shown, mouse, CHOSEN[0])
    assert marked(viewer) == {first[1:], CHOSEN[0][1:]}
    assert is_pointed_at(viewer, CHOSEN[0])
    show(viewer, (3, 4, 0, 0))
    assert is_pointed_at(viewer, (3, *first[1:]))
    press(viewer, "j")
    finish(shown)
    assert marked(viewer) == set()


def test_a_click_on_a_particle_is_no_progress_with_the_list_that_lacks_its_link(viewer, shown, mouse):  # noqa: F811
    listed = shown.parts.session.suspicious[["source", "target"]].to_numpy().tolist()
    for place in ((2, 4, 24, 20), (2, 4, 36, 20), (3, 4, 24, 30)):
        click_all(viewer, shown, mouse, place)
        assert [*shown.parts.session.link] not in listed
    assert shown.parts.session.progress.startswith("0 looked at")


def test_a_link_of_the_list_lets_go_of_the_particles_clicked_before(viewer, shown, mouse):  # noqa: F811
    click_all(viewer, shown, mouse, *CHOSEN)
    press(viewer, "n")
    finish(shown)
    assert (shown.parts.results.clicked.text(), marked(viewer)) == ("", set())
    assert shown.parts.session.progress.startswith("1 looked at")


def track_at(widget, place) -> int:
    (row,) = rows_at(widget, place)
    return int(widget.parts.session.data.tracks.table["track_id"].iloc[row])


def said_tracks(widget) -> list[int]:
    """Return the tracks that the status begins with."""
    subject, _, _ = widget.parts.bar.status.text().partition(":")
    return [int(number) for number in re.findall(r"\d+", subject)]


def test_what_was_said_since_an_act_stays_when_tracks_have_new_numbers(viewer, lines, mouse):  # noqa: F811
    click_all(viewer, lines, mouse, CHOSEN[0])
    press(viewer, "e")
    wait(lambda: "ended in frame 2" in lines.parts.bar.status.text())
    lines.parts.bar.say("something else")
    finish(lines)
    assert lines.parts.bar.status.text() == "something else"
    press(viewer, "u")
    finish(lines)
    press(viewer, "u")
    finish(lines)
    assert lines.parts.bar.status.text() == "There is nothing to undo."


@pytest.mark.parametrize("name", ["all.csv", "all.auctrack"])
def test_a_division_that_was_marked_is_exported(viewer, lines, mouse, tmp_path, name):  # noqa: F811
    click_all(viewer, lines, mouse, (1, 4, 24, 10), CHOSEN[0], CHOSEN[1])
    press(viewer, "d")
    finish(lines)
    lines.taking_away.export(str(tmp_path / name))
    finish(lines)
    assert lines.parts.bar.error.text() == ""
    assert read_tracks(tmp_path / name).parents


def test_a_particle_is_added_in_3d_where_the_image_is_brightest(viewer, open_widget, mouse):  # noqa: F811
    viewer.add_image(spots(), name="movie", **PHYSICAL)
    widget = open_widget()
    widget.running.run_all()
    finish(widget)
    viewer.window._qt_window.activateWindow()
    viewer.dims.ndisplay = 3
    viewer.scene.camera.angles = (10, 30, 100)
    layer = viewer.layers["particles of movie"]
    place = layer.data[3]
    click_all(viewer, widget, mouse, place)
    press(viewer, "x")
    finish(widget)
    n = len(widget.parts.session.linked.linking.tracks)
    point_at(viewer, place)
    press(viewer, "i")
    finish(widget)
    assert len(widget.parts.session.linked.linking.tracks) == n + 1
    added = place_of(widget, n)
    assert added[0] == place[0]
    assert np.abs(added - place).max() < 1.5


def test_a_2d_movie_is_corrected_in_3d_too_which_shows_its_frames_one_behind_the_other(viewer, open_widget):
    viewer.add_image(spots(shape=(64, 64)), name="movie", scale=(10, 0.5, 0.5), axis_labels=("t", "y", "x"))
    widget = open_widget()
    widget.running.run_all()
    finish(widget)
    widget.parts.results.tabs.setCurrentWidget(widget.parts.results.doubtful)
    viewer.window._qt_window.activateWindow()
    viewer.dims.ndisplay = 3
    press(viewer, "n")
    finish(widget)
    (source, target), before = widget.parts.session.link, links(widget)
    frame, place = widget.parts.session.place_of(target)
    np.testing.assert_allclose(viewer.scene.camera.center, np.multiply([frame, *place], (10, 0.5, 0.5)))
    press(viewer, "b")
    finish(widget)
    assert (source, target) not in links(widget)
    viewer.cursor.position, viewer.mouse_over_canvas = tuple(viewer.scene.camera.center), True
    press(viewer, "i")  # in which frame?
    finish(widget)
    assert widget.parts.bar.status.text().startswith("Put the mouse where a particle is missing, in 2D")
    press(viewer, "u")
    finish(widget)
    assert links(widget) == before


def test_what_was_clicked_is_forgotten_by_the_next_run_whose_rows_hold_other_particles(viewer, lines, mouse):  # noqa: F811
    click_all(viewer, lines, mouse, CHOSEN[0])
    assert lines.parts.results.clicked.text() != ""
    lines.parts.steps.setCurrentWidget(lines.parts.link)
    mouse.click(lines.parts.link.run_button)
    finish(lines)
    assert lines.parts.results.clicked.text() == ""
    before = links(lines)
    press(viewer, "x")
    finish(lines)
    assert links(lines) == before
    assert lines.parts.bar.status.text().startswith("Click")


class TestInOneWidget(InOneWidget):
    """What acts on the same particles, one test after the other."""

    @pytest.mark.parametrize("way", ["key", "menu"])
    def test_tracks_that_are_mixed_up_are_swapped_from_the_frame_that_is_clicked(self, viewer, shown, mouse, way):  # noqa: F811
        before = links(shown)
        click_all(viewer, shown, mouse, *CHOSEN)
        assert shown.parts.results.clicked.text().count("in frame 2") == 2
        if way == "key":
            press(viewer, "s")
            finish(shown)
        else:
            choose(shown, mouse, "Swap their tracks")
        (a, b), (c, d) = CHOSEN, ((1, 4, 24, 10), (1, 4, 36, 10))
        assert links(shown) - before == pairs(shown, (c, b), (d, a))
        assert before - links(shown) == pairs(shown, (c, a), (d, b))
        assert shown.parts.results.clicked.text() == ""
        press(viewer, "u")
        finish(shown)
        assert links(shown) == before

    @pytest.mark.parametrize(
        ("key", "places", "frames"),
        [
            ("m", ((1, 4, 24, 10), CHOSEN[0]), "frames 1 and 2"),
            ("s", ((1, 4, 24, 10), CHOSEN[0]), "frames 1 and 2"),
            ("j", CHOSEN, "frame 2"),
            ("d", (*CHOSEN, (2, 4, 12, 20)), "frame 2"),
        ],
    )
    def test_particles_that_do_not_suit_an_act_are_named_with_their_frames(
        self,
        viewer,
        lines,  # noqa: F811
        mouse,  # noqa: F811
        key,
        places,
        frames,
    ):
        click_all(viewer, lines, mouse, *places)
        press(viewer, key)
        finish(lines)
        said = lines.parts.bar.status.text()
        assert said.startswith("Click ")
        assert said.endswith(f"then press {key.upper()}. The last {len(places)} clicked are in {frames}.")
        assert lines.parts.session.n_corrections == 0

    def test_a_swap_that_is_undone_has_its_particles_chosen_again(self, viewer, shown, mouse):  # noqa: F811
        click_all(viewer, shown, mouse, *CHOSEN)
        for key in "su":
            press(viewer, key)
            finish(shown)
        assert shown.parts.results.clicked.text().count("in frame 2") == 2
        swapped = links(shown)
        press(viewer, "s")
        finish(shown)
        assert links(shown) != swapped

    def test_what_was_clicked_is_read_where_the_list_comes_after_it(self, viewer, shown, mouse):  # noqa: F811
        """As it does after an undone act, whose particles are clicked again: both stand in one place."""
        results = shown.parts.results
        results.tabs.setCurrentWidget(results.doubtful)
        click_all(viewer, shown, mouse, *CHOSEN)
        for key in ("s", "u"):
            press(viewer, key)
            finish(shown)
            in_sight = [label.text() for label in (results.clicked, results.suspicious_note) if label.isVisible()]
            assert len(in_sight) == 1
            assert in_sight[0].startswith("Clicked:" if key == "u" else "Most doubtful first")

    def test_a_track_is_ended_and_what_follows_is_one_of_its_own(self, viewer, shown, mouse):  # noqa: F811
        before, n = links(shown), len(shown.parts.session.data.measures)
        click_all(viewer, shown, mouse, CHOSEN[0])
        press(viewer, "e")
        finish(shown)
        assert before - links(shown) == pairs(shown, (CHOSEN[0], (3, 4, 24, 30)))
        assert len(shown.parts.session.data.measures) == n + 1
        press(viewer, "u")
        finish(shown)
        assert links(shown) == before

    def test_a_division_is_marked_although_none_were_looked_for(self, viewer, shown, mouse):  # noqa: F811
        mother, daughters = (1, 4, 24, 10), CHOSEN
        click_all(viewer, shown, mouse, mother, *daughters)
        press(viewer, "d")
        finish(shown)
        assert pairs(shown, *((mother, daughter) for daughter in daughters)) <= links(shown)
        parents = shown.parts.session.data.tracks.parents
        assert len(parents) == 2
        assert len({tuple(of) for of in parents.values()}) == 1
        assert {tuple(of) for of in viewer.layers["tracks of beads"].graph.values()} == {*map(tuple, parents.values())}
        assert said_tracks(shown) == [track_at(shown, place) for place in (mother, *daughters)]

    def test_two_particles_that_are_one_are_merged(self, viewer, shown, mouse):  # noqa: F811
        click_all(viewer, shown, mouse, *CHOSEN)
        press(viewer, "m")
        finish(shown)
        tracks = shown.parts.session.linked.linking.tracks
        assert len(tracks) == 19
        (merged,) = rows_at(shown, (2, 4, 30, 20))
        assert "by hand" in shown.parts.session.why_no_command
        press(viewer, "u")
        finish(shown)
        assert len(shown.parts.session.linked.linking.tracks) == 20
        assert place_of(shown, merged).tolist() != [2, 4, 30, 20]

    def test_a_particle_is_moved_to_the_mouse(self, viewer, shown, mouse):  # noqa: F811
        """In 3D as far as it needs to go to be under the mouse, and no nearer or farther."""
        before, (row,) = links(shown), rows_at(shown, CHOSEN[0])
        click_all(viewer, shown, mouse, CHOSEN[0])
        point_at(viewer, (2, 4, 26, 20))
        layer = viewer.layers["particles of beads"]
        meant = on_canvas(viewer, layer, np.array((2.0, 4, 26, 20)))
        press(viewer, "p")
        finish(shown)
        moved = place_of(shown, row)
        assert moved[0] == 2
        assert 0 < np.linalg.norm(moved - CHOSEN[0]) < 2.2
        assert (on_canvas(viewer, layer, moved) - meant).manhattanLength() <= 2
        assert links(shown) == before

    @pytest.mark.parametrize("key", ["j", "s", "d", "e", "m", "x", "p"])
    def test_an_act_without_its_particles_says_what_to_click(self, viewer, lines, key):  # noqa: F811
        press(viewer, key)
        assert lines.parts.bar.status.text().endswith(f"press {key.upper()}.")
        assert lines.parts.session.n_corrections == 0

    def test_clicks_before_a_correction_are_forgotten(self, viewer, lines, mouse):  # noqa: F811
        """Rows and track numbers may be others after it."""
        click_all(viewer, lines, mouse, CHOSEN[0])
        press(viewer, "e")
        finish(lines)
        press(viewer, "x")
        finish(lines)
        assert lines.parts.session.n_corrections == 1
